# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Top and side view of a path as SVG: seen without scripts, without WebGL, and on paper."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from frame_ros.reports.html.downsample import PATH_POINTS, peak_indices
from frame_ros.reports.html.path_marks import mark_svg, marked_points
from frame_ros.reports.model.numbers import readable
from frame_ros.reports.model.series import Path

SIZE = 300
MARGIN = 34
COLOUR_STEPS = 24

# Viridis without its ends, which vanish on a dark or a white page; equal steps.
COLOURS = (
    '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26',
)  # fmt: skip


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
