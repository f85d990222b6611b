# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The depth image of a robot's surface, drawn on the processor: no context of a graphics library is
needed, and any thread may do it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.surface_meshes import LinkSurface, RobotSurfaces
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.meshes import drawing_kernels as kernels

Array = NDArray[np.float64]
Drawn = NDArray[np.float32]


class SurfaceDrawing:
    """Draws the surfaces of one robot as one camera sees them. Not thread-safe: it owns buffers."""

    def __init__(self, camera: DepthCamera, surfaces: RobotSurfaces, near: float) -> None:
        """near: m along the optical axis; what is nearer is not drawn."""
        self._surfaces, self._near = surfaces.surfaces, float(near)
        self._lens = np.array([camera.fx, camera.fy, camera.cx, camera.cy], np.float64)
        self._buffer = np.zeros((camera.height, camera.width), np.float32)
        self._sides = _sides(camera)
        most = max((len(each.vertices) for each in self._surfaces), default=0)
        self._placed = np.empty((most, 3), np.float32)

    def inverse_depths(
        self, rotations: Array, translations: Array, rotation: Array, translation: Array
    ) -> Drawn:
        """Returns (H, W) 1/m, the reciprocals of the depths along the optical axis; 0 where no
        surface is. It is overwritten by the next call.

        Args:
            rotations, translations: (K, 3, 3), (K, 3) m, of the links of the surfaces.
            rotation, translation: (3, 3), (3,) m, of the optical frame, in the same frame.
        """
        self._buffer[:] = 0.0
        for row, surface in enumerate(self._surfaces):
            turn = np.ascontiguousarray(rotation.T @ rotations[row])
            place = rotation.T @ (translations[row] - translation)
            if self._may_see(turn @ surface.middle + place, surface.reach):
                self._draw(surface, turn, place)
        return self._buffer

    def _may_see(self, middle: Array, reach: float) -> bool:
        """Returns whether a ball, in the optical frame, reaches into the view."""
        return bool(middle[2] + reach > self._near and (self._sides @ middle > -reach).all())

    def _draw(self, surface: LinkSurface, turn: Array, place: Array) -> None:
        lens, near, placed = self._lens, self._near, self._placed
        count = len(surface.vertices)
        nearer = kernels.project(surface.vertices, 0, count, turn, place, lens, near, placed)
        if nearer == count:
            return
        parts = ((0, surface.closed, True), (surface.closed, len(surface.triangles), False))
        for first, last, is_closed in parts:
            if first < last:
                given = surface.triangles, first, last, is_closed, placed, self._buffer
                kernels.draw(*given)
                if nearer:
                    kernels.draw_cut(*given, surface.vertices, turn, place, lens, near)


def _sides(camera: DepthCamera) -> Array:
    """Returns (4, 3) unit normals, inwards, of the planes that bound the view, half a pixel out."""
    left, right = (-0.5 - camera.cx) / camera.fx, (camera.width - 0.5 - camera.cx) / camera.fx
    top, bottom = (-0.5 - camera.cy) / camera.fy, (camera.height - 0.5 - camera.cy) / camera.fy
    normals = np.array([[1, 0, -left], [-1, 0, right], [0, 1, -top], [0, -1, bottom]], np.float64)
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))
