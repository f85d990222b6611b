# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The depth image of an arm alone, drawn from its makers' meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, joined_surface
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.meshes.drawing import SurfaceDrawing

Array = NDArray[np.float64]
NEAREST = 0.05  # m that is drawn


class ArmDrawing:
    """Draws one arm as one camera sees it. Not thread-safe: it owns buffers."""

    def __init__(
        self,
        robot: Robot,
        meshes: Mapping[str, Array],
        joint_names: Sequence[str],
        camera: DepthCamera,
    ) -> None:
        """meshes: link -> (T, 3, 3) m, corners of triangles, in its frame."""
        self._frames = LinkFrames(robot, joint_names)
        self._rows = np.array([self._frames.index(link) for link in meshes])
        parts = tuple(joined_surface([merged_mesh(each)]) for each in meshes.values())
        surfaces = RobotSurfaces(tuple(meshes), self._rows, parts)
        self._drawing = SurfaceDrawing(camera, surfaces, NEAREST)

    def depth(self, positions: Array, rotation: Array, translation: Array) -> NDArray[np.float32]:
        """Returns (H, W) m, 0 where the arm is not.

        Args:
            positions: (J,) rad or m, of the joints.
            rotation, translation: (3, 3), (3,) m, of the optical frame in the base frame.
        """
        rotations, translations = self._frames.compute(positions)
        inverse = self._drawing.inverse_depths(
            rotations[self._rows].copy(), translations[self._rows].copy(), rotation, translation
        )
        return np.where(inverse > 0.0, 1.0 / np.maximum(inverse, 1e-6), 0.0).astype(np.float32)
