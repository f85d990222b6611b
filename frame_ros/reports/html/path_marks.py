# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is marked on a path, with the same symbol and colour in the 3D view, in the plane views and
in their legend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from frame_ros.reports.model.series import Path

# Okabe and Ito: told apart by all common kinds of colour vision.
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
