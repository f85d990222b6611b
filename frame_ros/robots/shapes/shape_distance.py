# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of many points to spheres, capsules, boxes and cylinders, exact and in closed form.

In the frame of a shape: of all kinds but the cylinder the signed distance of a point is that
to the box of its half sizes, less the radius. A cylinder is the box of its radius and half length
in the plane through its axis and the point.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


def signed_distances(shapes: Shapes, points: Array) -> Array:
    """Returns (N, S) distances in m of points (N, 3) to shapes' surfaces, negative inside."""
    columns = [
        paired_distances(shapes, points, np.full(len(points), row, np.intp))
        for row in range(len(shapes.radii))
    ]
    return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))


def paired_distances(shapes: Shapes, points: Array, rows: NDArray[np.intp]) -> Array:
    """Returns (N,) signed distances in m of points (N, 3), each to shape rows[i]."""
    excess, round_by, _ = _excess(shapes, points, rows)
    outside = np.sqrt((np.maximum(excess, 0.0) ** 2).sum(axis=1))
    result: Array = outside + np.minimum(excess.max(axis=1), 0.0) - round_by
    return result


def closest_points(shapes: Shapes, points: Array, rows: NDArray[np.intp]) -> Array:
    """Returns (N, 3) in m: the point closest to points[i] on the surface of shape rows[i]."""
    excess, round_by, axes = _excess(shapes, points, rows)
    outward = np.maximum(excess, 0.0)
    # Inside the core the nearest face is the least deep one.
    is_inside = (excess <= 0.0).all(axis=1)
    nearest = np.argmax(excess, axis=1)
    inside = np.flatnonzero(is_inside)
    outward[inside, nearest[inside]] = excess[inside, nearest[inside]]
    length = np.sqrt((outward**2).sum(axis=1))
    sign = np.where(is_inside, -1.0, 1.0)
    unit = outward / np.where(length > 0.0, sign * length, 1.0)[:, None]
    at_core = length == 0.0
    unit[at_core, nearest[at_core]] = 1.0
    back = outward - unit * round_by[:, None]
    result: Array = points - np.matmul(axes, back[:, :, None])[:, :, 0]
    return result


def _excess(shapes: Shapes, points: Array, rows: NDArray[np.intp]) -> tuple[Array, Array, Array]:
    """Returns each point's excess over the core's faces, (N, 3), negative inside. Also the radius
    around the core, (N,), and the directions of the excess, (N, 3, 3) by columns.
    """
    axes = shapes.rotations[rows]
    local = np.matmul((points - shapes.translations[rows])[:, None, :], axes)[:, 0, :]
    half, radii = shapes.half_sizes[rows].copy(), shapes.radii[rows].copy()
    is_cylinder = shapes.is_cylinder[rows]
    if is_cylinder.any():
        local, half, radii, axes = _flattened(local, half, radii, axes, is_cylinder)
    signs = np.where(local < 0.0, -1.0, 1.0)
    return np.abs(local) - half, radii, axes * signs[:, None, :]


def _flattened(
    local: Array, half: Array, radii: Array, axes: Array, chosen: NDArray[np.bool_]
) -> tuple[Array, Array, Array, Array]:
    """Returns cylinders as boxes in the plane of axis and point: x radial, y across it."""
    x, y = local[chosen, 0], local[chosen, 1]
    distance = np.hypot(x, y)
    cosine = np.where(distance > 0.0, x / np.where(distance > 0.0, distance, 1.0), 1.0)
    sine = np.where(distance > 0.0, y / np.where(distance > 0.0, distance, 1.0), 0.0)
    radial = axes[chosen, :, 0] * cosine[:, None] + axes[chosen, :, 1] * sine[:, None]
    across = axes[chosen, :, 1] * cosine[:, None] - axes[chosen, :, 0] * sine[:, None]
    local, axes = local.copy(), axes.copy()
    local[chosen, 0], local[chosen, 1] = distance, 0.0
    axes[chosen, :, 0], axes[chosen, :, 1] = radial, across
    # No face lies across: one so far away that it is never the nearest.
    half[chosen, 0], half[chosen, 1] = radii[chosen], 1e9
    radii[chosen] = 0.0
    return local, half, radii, axes
