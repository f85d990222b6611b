# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A robot's surfaces at one instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import LinkShapes
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlacedSurfaces:
    """A robot's surfaces at one instant.

    Attributes:
        surfaces: of K links.
        rotations, translations: (K, 3, 3), (K, 3) m, of these links in the base frame.
        bare: (S,) which of the robot's shapes are of links without a surface.
    """

    surfaces: RobotSurfaces
    rotations: Array
    translations: Array
    bare: NDArray[np.bool_]


class PlacingSurfaces:
    """Places the surfaces of a robot."""

    def __init__(self, surfaces: RobotSurfaces, shapes: LinkShapes) -> None:
        """shapes: of the same robot."""
        self.surfaces = surfaces
        self._bare = ~np.isin(shapes.frames, surfaces.rows)

    def place(self, rotations: Array, translations: Array) -> PlacedSurfaces:
        """Returns them for poses (L, 3, 3), (L, 3) m of all links of the robot."""
        rows = self.surfaces.rows
        return PlacedSurfaces(self.surfaces, rotations[rows], translations[rows], self._bare)
