# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a simulation, their poses and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.scenes.simulation.rendering import CameraFrame, Intrinsics, SceneRenderer, intrinsics
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.scenes.simulation.state import SceneState
from frame_ros.scenes.simulation.visibility import VisibilityRule, visible_points
from frame_ros.sensing.proximity.link_distances import DistanceReading

if TYPE_CHECKING:
    import mujoco


class SceneCameras:
    """The cameras of a simulation, which is a subclass of this."""

    model: mujoco.MjModel
    data: mujoco.MjData
    robot: SceneRobot

    def __init__(self) -> None:
        self._mj = load_mujoco()
        self._renderers: dict[tuple[int, int], SceneRenderer] = {}

    def state(self) -> SceneState:
        """Returns a copy of the state for a renderer in another thread."""
        data = self.data
        return SceneState(
            data.time, data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()
        )

    def intrinsics(self, camera: str, width: int = 320, height: int = 240) -> Intrinsics:
        """The pinhole camera that `render` is."""
        return intrinsics(self.model, camera, width, height)

    def camera_pose(self, camera: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns position (3,) m and rotation (3, 3) of a camera's optical frame in the base."""
        found = self.data.cam(camera)
        return found.xpos.copy(), found.xmat.reshape(3, 3) * (1.0, -1.0, -1.0)

    def camera_mount(self, camera: str) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
        """Returns a camera's link, and its position (3,) m and quaternion xyzw in that link."""
        position, rotation = self.camera_pose(camera)
        body = int(self.model.cam_bodyid[self.model.cam(camera).id])
        link = self.model.body(body).name if body else self.robot.base_link
        link_rotation = self.data.body(link).xmat.reshape(3, 3)
        quaternion = np.zeros(4)
        self._mj.mju_mat2Quat(quaternion, (link_rotation.T @ rotation).ravel())
        return (
            link,
            link_rotation.T @ (position - self.data.body(link).xpos),
            np.roll(quaternion, -1),
        )

    def render(
        self, camera: str, width: int = 320, height: int = 240, with_depth: bool = False
    ) -> CameraFrame:
        """Draws the present state; always call it from the same thread."""
        return self._renderer(width, height).render(self.state(), camera, with_depth)

    def segment(self, camera: str, width: int = 320, height: int = 240) -> NDArray[np.int32]:
        """(H, W): the index in `body_names` of what each pixel shows; -1: nothing. 0 is 'world':
        floor and walls. Always call it from the thread that renders.
        """
        return self._renderer(width, height).segment(self.state(), camera)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Of all bodies: links of the robot and things of the scene."""
        return tuple(self.model.body(index).name for index in range(self.model.nbody))

    def visible(
        self,
        reading: DistanceReading,
        camera: str,
        width: int = 640,
        height: int = 480,
        rule: VisibilityRule | None = None,
        valid: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.bool_]:
        """Returns (L,) whether a camera sees the obstacle's closest point to each link of a true
        reading.

        The reading is of the present state, see `visible_points`. Always call it from the thread
        that renders.

        Args:
            valid: (H, W) pixels that count, such as those with a sensed depth; None: all.
        """
        depth = self.render(camera, width, height, with_depth=True).depth
        assert depth is not None
        names = self.body_names
        return visible_points(
            reading.points_on_obstacle,
            np.array([names.index(name) if name in names else -1 for name in reading.obstacles]),
            depth,
            self.segment(camera, width, height),
            self.intrinsics(camera, width, height),
            *self.camera_pose(camera),
            rule,
            valid,
        )

    def _renderer(self, width: int, height: int) -> SceneRenderer:
        if (width, height) not in self._renderers:
            self._renderers[width, height] = SceneRenderer(self.model, width, height)
        return self._renderers[width, height]

    def close(self) -> None:
        """Frees the renderers that `render` made."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()
