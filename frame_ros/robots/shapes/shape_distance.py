# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of many points to spheres, capsules, boxes and cylinders, also rounded ones, exact and
in closed form.

In the frame of a shape: of all kinds but cylinders the signed distance of a point is that to the
box of its half sizes, less the radius. A cylinder is the box of its radius and half length in the
plane through its axis and the point; so is the core of a rounded one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_FAR = 1e8  # m


class Shapes(Protocol):
    """S shapes in one frame, as in PlacedShapes."""

    @property
    def rotations(self) -> Array: ...
    @property
    def translations(self) -> Array: ...
    @property
    def half_sizes(self) -> Array: ...
    @property
    def radii(self) -> Array: ...
    @property
    def is_cylinder(self) -> NDArray[np.bool_]: ...
    @property
    def is_round_core(self) -> NDArray[np.bool_]: ...


def signed_distances(shapes: Shapes, points: Array) -> Array:
    """Returns (N, S) distances in m of points (N, 3) to shapes' surfaces, negative inside."""
    columns = [
        paired_distances(shapes, points, np.full(len(points), row, np.intp))
        for row in range(len(shapes.radii))
    ]
    return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))


def paired_distances(shapes: Shapes, points: Array, rows: NDArray[np.intp]) -> Array:
    """Returns (N,) signed distances in m of points (N, 3), each to shape rows[i]."""
    excess, round_by = _excess(shapes, points, rows)
    outside = np.sqrt((np.maximum(excess, 0.0) ** 2).sum(axis=1))
    result: Array = outside + np.minimum(excess.max(axis=1), 0.0) - round_by
    return result


def _excess(shapes: Shapes, points: Array, rows: NDArray[np.intp]) -> tuple[Array, Array]:
    """Returns each point's excess over the core's faces, (N, 3), negative inside, and the radius
    around the core, (N,).
    """
    axes = shapes.rotations[rows]
    local = np.abs(np.matmul((points - shapes.translations[rows])[:, None, :], axes)[:, 0, :])
    half, radii = shapes.half_sizes[rows].copy(), shapes.radii[rows].copy()
    chosen = shapes.is_cylinder[rows]
    # Cylinders are boxes in the plane of axis and point: x radial, y across it, where no face lies:
    # one so far away that it is never the nearest.
    local[chosen, 0], local[chosen, 1] = np.hypot(local[chosen, 0], local[chosen, 1]), 0.0
    half[chosen, 0], half[chosen, 1] = radii[chosen], _FAR
    radii[chosen] = 0.0
    chosen = shapes.is_round_core[rows]
    local[chosen, 0], local[chosen, 1] = np.hypot(local[chosen, 0], local[chosen, 1]), 0.0
    half[chosen, 1] = _FAR
    return local - half, radii
