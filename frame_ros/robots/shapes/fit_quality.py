# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Quality of shapes fitted to a surface: how much they leave out, and how far they stand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.free_space import CELL, FreeSpace, dense_points
from frame_ros.robots.shapes.link_shapes import PlacedShapes, Shape, placed

Array = NDArray[np.float64]
_SHELL = 0.001  # m, about a shape, whose points are moved onto it
_DRAWN = 40_000  # about each shape
_MOST = 1_000  # points on each
_STEP = 1e-6  # m


@dataclass(frozen=True)
class FitQuality:
    """Fit of shapes to one link's surface; m, but for `waste`.

    Attributes:
        outside: the largest distance of a point of the surface from the shapes.
        far_outside: share of the surface that is more than 10 mm out.
        beyond: median, 95th percentile and largest distance of points on the shapes from the
            surface.
        waste: m^3 of free space within the shapes.
    """

    outside: float
    far_outside: float
    beyond: tuple[float, float, float]
    waste: float


def fit_quality(triangles: Array, shapes: Sequence[Shape], seed: int = 0) -> FitQuality:
    """Returns how shapes fit a surface of triangles (T, 3, 3), m, in the same frame."""
    rng = np.random.default_rng(seed)
    points = dense_points(triangles, rng)
    space, one = FreeSpace(points), placed('link', shapes)
    distances = one.link_distances(points)[:, 0]
    on = np.concatenate([_on_shape(one, row, rng) for row in range(len(shapes))])
    beyond = space.distances(on[space.is_free(on)])
    if not len(beyond):
        beyond = np.zeros(1)
    inside = one.link_distances(space.cells)[:, 0] < 0.0
    return FitQuality(
        max(0.0, float(distances.max())),
        float((distances > 0.01).mean()),
        (*np.percentile(beyond, (50, 95)).tolist(), float(beyond.max())),
        float(inside.sum() * CELL**3),
    )  # fmt: skip


def _on_shape(shapes: PlacedShapes, row: int, rng: np.random.Generator) -> Array:
    """Returns points evenly on one shape, outside of all the others."""
    one = shapes.select([row])
    reach = float(one.half_sizes.max() + one.radii[0]) + _SHELL
    size = np.minimum(one.half_sizes[0] + one.radii[0] + _SHELL, reach)
    points = rng.uniform(-1.0, 1.0, (_DRAWN, 3)) * size @ one.rotations[0].T + one.translations[0]
    distance = one.shape_distances(points)[:, 0]
    points = points[(distance > 0.0) & (distance < _SHELL)][:_MOST]
    # The gradient of a distance is the way from the nearest point.
    steps = [one.shape_distances(points + _STEP * axis)[:, 0] for axis in np.eye(3)]
    distance = one.shape_distances(points)[:, 0]
    points = points - distance[:, None] * (np.stack(steps, axis=1) - distance[:, None]) / _STEP
    others = shapes.select([other for other in range(len(shapes)) if other != row])
    if len(others):
        points = points[others.link_distances(points)[:, 0] > -1e-6]
    return points
