# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The self-filter by meshes: the robot's surface is drawn as the camera sees it at the image's
stamp, and pixels that show it are taken out.

A pixel shows it if its depth is no more than the padding (and the noise of the depth) nearer than
the nearest depth drawn about it, nor further than the furthest. About it are the pixels of a
window, which is as wide as the padding is at that depth, and some pixels wider. So both errors
along the ray and across it, of extrinsics, joints and camera, are covered by the padding, and an
obstacle is seen as soon as it is further than that from the real surface. Up to those pixels from
an edge of the robot, what is behind it is taken out at any depth: cameras mix the two there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, joined_surface
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.meshes import filter_kernels as kernels
from frame_ros.sensing.proximity.depth.meshes.drawing import Drawn, SurfaceDrawing
from frame_ros.sensing.proximity.depth.meshes.options import MeshOptions
from frame_ros.sensing.proximity.depth.meshes.placing import PlacedSurfaces
from frame_ros.sensing.proximity.depth.options import DepthOptions

Array = NDArray[np.float64]
# Share of the least depth that a camera measures, beyond which surfaces are drawn: the housing that
# the camera itself looks out of is not.
NEAR_SHARE = 0.5


class MeshFilter:
    """Takes the robot out of one camera's images. Not thread-safe: it owns buffers."""

    def __init__(
        self,
        camera: DepthCamera,
        surfaces: RobotSurfaces,
        settings: MeshOptions,
        noise: float,
        min_range: float,
    ) -> None:
        """noise: m at 1 m. min_range: m, the least depth that is measured."""
        self._camera, self._settings, self._noise = camera, settings, float(noise)
        self._drawing = SurfaceDrawing(camera, surfaces, NEAR_SHARE * min_range)
        rows, columns = -(-camera.height // kernels.SIDE), -(-camera.width // kernels.SIDE)
        self._drawn: Drawn = np.zeros((camera.height, camera.width), np.float32)
        self._low, self._high = np.zeros((2, rows, columns), np.float32)

    def depths(self, placed: PlacedSurfaces, rotation: Array, translation: Array) -> Drawn:
        """Returns (H, W) m, the depths of the surface; 0 where none is. It is overwritten by the
        next call.

        rotation, translation: (3, 3), (3,) m, of the optical frame in the base frame.
        """
        drawn = self._drawing.inverse_depths(
            placed.rotations, placed.translations, rotation, translation
        )
        kernels.depths(drawn, self._low, self._high)
        self._drawn = drawn
        return drawn

    def take_out(
        self,
        image: NDArray[np.float32],
        scale: float,
        placed: PlacedSurfaces,
        rotation: Array,
        translation: Array,
        extra: float = 0.0,
    ) -> int:
        """Sets the pixels that show the robot to 0, in place; returns their number.

        image: (H, W) or larger, 0 where there is nothing; scale: m per unit of it. extra: m, added
        to the padding, where a camera's place is less certain.
        """
        drawn = self.depths(placed, rotation, translation)
        focal = max(self._camera.fx, self._camera.fy)
        return int(
            kernels.take_out(
                image, scale, drawn, self._low, self._high, focal, self.padding(extra),
                self._noise, self._settings.pixels,
            )
        )  # fmt: skip

    def padding(self, extra: float = 0.0) -> float:
        """Returns the padding, m, with what is added to it."""
        return self._settings.padding + extra

    def found_own(
        self,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        depths: Array,
        extra: float = 0.0,
    ) -> NDArray[np.bool_]:
        """Returns (K,) which pixels show the robot where it was drawn last, by `take_out`.

        rows, columns: (K,), contiguous. depths: (K,) m, above 0. extra: as for `take_out`.
        """
        own = np.empty(len(rows), np.bool_)
        focal = max(self._camera.fx, self._camera.fy)
        kernels.find_own(
            rows, columns, depths, self._drawn, focal, self.padding(extra), self._noise,
            self._settings.pixels, own,
        )  # fmt: skip
        return own

    def is_own(
        self,
        depth: Depth,
        placed: PlacedSurfaces,
        rotation: Array,
        translation: Array,
        extra: float = 0.0,
    ) -> NDArray[np.bool_]:
        """Returns (H, W) which pixels of an image, mm or m by its type, show the robot; extra: as
        for `take_out`.
        """
        image = np.nan_to_num(depth.astype(np.float32), posinf=0.0, neginf=0.0)
        before = image > 0
        scale = 1e-3 if depth.dtype == np.uint16 else 1.0
        self.take_out(image, scale, placed, rotation, translation, extra)
        return np.asarray(before & (image <= 0))


def mesh_filter(
    camera: DepthCamera,
    placed: PlacedSurfaces | None,
    settings: MeshOptions,
    depth: DepthOptions,
) -> MeshFilter | None:
    """Returns the filter of a robot's surfaces; None if they are not known."""
    if placed is None:
        return None
    return MeshFilter(camera, placed.surfaces, settings, depth.depth_noise, depth.min_range)


def compile_drawing() -> None:
    """Compiles what the filter needs, or loads it.

    Raises:
        MissingExtraError: numba is not installed.
    """
    # One corner lies behind the camera.
    corners = np.array([[[-1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, 1.0, -1.0]]])
    surface = joined_surface([merged_mesh(corners)])
    surfaces = RobotSurfaces(('a',), np.zeros(1, np.intp), (surface,))
    camera = DepthCamera(9, 9, 9.0, 9.0, 4.0, 4.0)
    own = MeshFilter(camera, surfaces, MeshOptions(), 0.0, 0.2)
    placed = PlacedSurfaces(surfaces, np.eye(3)[None], np.zeros((1, 3)), np.zeros(0, np.bool_))
    own.is_own(np.full((9, 9), 900, np.uint16), placed, np.eye(3), np.array([0.0, 0.0, -0.5]))
    own.found_own(np.zeros(1, np.intp), np.zeros(1, np.intp), np.ones(1))
