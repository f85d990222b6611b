# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Top and side view of a path as SVG: seen without scripts, without WebGL, and on paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from frame_ros.reports.model.numbers import PATH_POINTS, peak_indices, readable
from frame_ros.reports.model.series import Path

SIZE = 300
MARGIN = 34
COLOUR_STEPS = 24

# Viridis without its ends, which vanish on a dark or a white page; equal steps.
COLOURS = (
    '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26',
)  # fmt: skip

# Okabe and Ito: distinct for all common kinds of colour vision.
GREEN, ORANGE, VERMILLION, PURPLE = '#009E73', '#E69F00', '#D55E00', '#CC79A7'


@dataclass(frozen=True)
class PathMark:
    """A kind of mark. symbol: one of SHAPES, which is plotly's name for it, too."""

    name: str
    kind: str
    colour: str
    symbol: str
    size: int


MARKS = (
    PathMark('start', 'start', GREEN, 'circle', 6),
    PathMark('end', 'end', PURPLE, 'square', 6),
    PathMark('contact begins', 'contact', ORANGE, 'diamond', 6),
    PathMark('collision', 'collision', VERMILLION, 'x', 5),
)
# SVG paths around the origin, some 9 pixels wide.
SHAPES = {
    'circle': 'M-4.5,0a4.5,4.5 0 1 0 9,0a4.5,4.5 0 1 0 -9,0z',
    'square': 'M-4,-4h8v8h-8z',
    'diamond': 'M0,-5.4L5.4,0L0,5.4L-5.4,0z',
    'x': 'M-5,-5l10,10m0,-10l-10,10',
}


def marked_points(path: Path) -> list[tuple[PathMark, NDArray[np.float64]]]:
    """Returns each kind of mark that the path has, with its points (K, 3), m."""
    points = (path.positions[:1], path.positions[-1:], path.contacts, path.collisions)
    return [(mark, found) for mark, found in zip(MARKS, points) if len(found)]


def mark_svg(mark: PathMark, x: float = 0.0, y: float = 0.0) -> str:
    """Returns the mark's SVG element at pixel (x, y)."""
    where = f'transform="translate({x:.1f},{y:.1f})"'
    return f'<path class="mark {mark.kind}" {where} d="{SHAPES[mark.symbol]}"/>'


def legend_svg(mark: PathMark) -> Markup:
    """Returns the mark as a picture of its own, for a legend."""
    picture = mark_svg(mark)
    return Markup(f'<svg class="key-mark" viewBox="-7 -7 14 14" aria-hidden="true">{picture}</svg>')


def jerk_limit(path: Path) -> float:
    """The jerk shown in the brightest colour, m/s^3: the 98th percentile, so that one spike does
    not dim the rest.
    """
    known = path.jerk[np.isfinite(path.jerk)]
    return float(np.percentile(known, 98)) if len(known) and known.max() > 0 else 1.0


def view_svg(path: Path, axes: tuple[int, int], title: str) -> Markup:
    """Returns one orthographic view; `axes` are the horizontal and the vertical coordinate (0 x, 1
    y, 2 z).
    """
    kept = peak_indices(np.nan_to_num(path.jerk), PATH_POINTS // 2)
    points = path.positions[:, axes]
    to_pixels = _Scale(points)
    lines = _coloured_lines(to_pixels(points[kept]), path.jerk[kept], jerk_limit(path))
    dots = [
        mark_svg(mark, *pixel)
        for mark, marked in reversed(marked_points(path))
        for pixel in to_pixels(marked[:, axes])
    ]
    names = ['xyz'[axis] for axis in axes]
    return Markup(
        f'<svg class="view" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{title}">'
        f'<title>{title}</title>{to_pixels.frame(names, title)}{lines}{"".join(dots)}</svg>'
    )


class _Scale:
    """Metres to pixels, the same for both axes, centred."""

    def __init__(self, points: NDArray) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        self.centre = (low + high) / 2
        self.extent = max(float((high - low).max()) * 1.08, 1e-3)
        self.factor = (SIZE - 2 * MARGIN) / self.extent

    def __call__(self, points: NDArray) -> NDArray[np.float64]:
        offset = (points - self.centre) * self.factor
        return SIZE / 2 + offset * (1, -1)

    def frame(self, names: list[str], title: str) -> str:
        """The box, axis names and a scale bar of a round length."""
        length = round_length(self.extent / 3)
        bar, inner = length * self.factor, SIZE - 2 * MARGIN
        x, y = SIZE - MARGIN - bar - 8, SIZE - MARGIN - 10
        return (
            f'<rect class="frame" x="{MARGIN}" y="{MARGIN}" width="{inner}" height="{inner}"/>'
            f'<text class="heading" x="{MARGIN}" y="{MARGIN - 10}">{title}</text>'
            f'<text x="{SIZE / 2}" y="{SIZE - 12}" text-anchor="middle">{names[0]} →</text>'
            f'<text x="18" y="{SIZE / 2}" text-anchor="middle" '
            f'transform="rotate(-90 18 {SIZE / 2})">{names[1]} →</text>'
            f'<line class="scale" x1="{x:.1f}" x2="{x + bar:.1f}" y1="{y}" y2="{y}"/>'
            f'<text x="{x + bar / 2:.1f}" y="{y - 5}" text-anchor="middle">'
            f'{readable(length * 1e3)} mm</text>'
        )


def round_length(length: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is no longer than `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(m for m in (1, 2, 5) if m * power <= length * (1 + 1e-9)))


def _coloured_lines(pixels: NDArray, jerk: NDArray, limit: float) -> str:
    """Neighbouring pieces of the same colour make one polyline; pieces without a jerk are grey."""
    level = np.clip(np.nan_to_num(jerk / limit, nan=-1.0), -1, 1)
    colour = np.where(level < 0, -1, np.round(level * COLOUR_STEPS)).astype(int)[1:]
    if not len(colour):
        return ''
    begins = np.flatnonzero(np.diff(colour, prepend=-2))
    ends = np.append(begins[1:], len(colour))
    pieces = []
    for begin, end in zip(begins, ends):
        points = ' '.join(f'{x:.1f},{y:.1f}' for x, y in pixels[begin : end + 1])
        stroke = _colour_at(colour[begin] / COLOUR_STEPS) if colour[begin] >= 0 else '#999'
        pieces.append(f'<polyline class="path" stroke="{stroke}" points="{points}"/>')
    return ''.join(pieces)


def _colour_at(level: float) -> str:
    """Colour at `level` in [0, 1], linear between the steps."""
    place = level * (len(COLOURS) - 1)
    i = min(int(place), len(COLOURS) - 2)
    a, b = (_channels(COLOURS[i]), _channels(COLOURS[i + 1]))
    return '#' + ''.join(f'{round(p + (q - p) * (place - i)):02x}' for p, q in zip(a, b))


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
