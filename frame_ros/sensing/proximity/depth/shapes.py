# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Placed shapes as the camera sees them, in the form that the compiled loops take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.depth import kernels

Array = NDArray[np.float64]


class CameraShapes:
    """S shapes in the optical frame, including a held object.

    Attributes:
        exact: the shapes.
        links: names.
        owners: (S,) the link of each, -1 for unwatched links.
        table: (S, 23) float64, see kernels.
    """

    def __init__(
        self,
        shapes: PlacedShapes,
        rotation: Array,
        translation: Array,
        held: PlacedShapes | None = None,
    ) -> None:
        """rotation (3, 3), translation (3,) m: pose of the optical frame in that of the shapes."""
        self.links = shapes.links
        if held is not None and len(held):
            shapes = shapes.joined(held)
        self.exact = exact = shapes.seen_from(rotation, translation)
        self.owners = np.ascontiguousarray(exact.owners, np.int64)
        is_cylinder = exact.is_cylinder
        turn = exact.rotations.transpose(0, 2, 1)
        self.table: Array = np.empty((len(exact), kernels.COLUMNS))
        self.table[:, : kernels.SHIFT] = turn.reshape(-1, 9)
        shift = np.matmul(turn, exact.translations[:, :, None])[:, :, 0]
        np.negative(shift, out=self.table[:, kernels.SHIFT : kernels.HALF])
        self.table[:, kernels.HALF : kernels.RADIUS] = exact.half_sizes
        self.table[is_cylinder, kernels.HALF] = exact.radii[is_cylinder]
        self.table[:, kernels.RADIUS] = np.where(is_cylinder, 0.0, exact.radii)
        self.table[:, kernels.IS_CYLINDER] = is_cylinder | exact.is_round_core
        # A cylinder's radius counts as that of a ball around its axis.
        reach = (np.abs(exact.rotations[:, 2]) * exact.half_sizes).sum(axis=1) + exact.radii
        self.table[:, kernels.LOW] = exact.translations[:, 2] - reach
        self.table[:, kernels.HIGH] = exact.translations[:, 2] + reach
        self.table[:, kernels.MIDDLE : kernels.BALL] = exact.translations
        self.table[:, kernels.BALL] = exact.reaches + kernels.ROUNDING

    def distances(self, points: NDArray[np.floating[Any]]) -> Array:
        """Returns (N,) m of points (N, 3) to the nearest shape, infinite without any; within a
        core, minus the radius around that.
        """
        result = np.empty(len(points))
        kernels.least_distances(self.table, np.ascontiguousarray(points, np.float64), result)
        return result
