# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pose of the camera whose images are drawn into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from frame_ros.core.time import SECOND
from frame_ros.nodes.proximity.extrinsics import TransformListener
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.scene_overlay.options import OF_SCENE, SceneOverlayOptions
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.robot import Robot
from frame_ros.scenes.cards.camera import placed_camera
from frame_ros.scenes.description.scene import Scene
from frame_ros.sensing.proximity.mount import Mount, parse_mount

Array = NDArray[np.float64]
Pose = tuple[Array, Array]  # position (3,) m and rotation (3, 3) in the base


class CameraPose:
    """Places a camera in the robot's base: by the parameter, by the scene's camera, or by tf."""

    def __init__(self, node: Node, robot: Robot, settings: SceneOverlayOptions) -> None:
        """Raises SetupError for extrinsics that are none."""
        self._settings, self._robot = settings, robot
        given = settings.extrinsics
        self._mount: Mount | None = None
        if given and given != OF_SCENE:
            self._mount = parse_mount(settings.camera, given, robot.links)
        is_still = given == OF_SCENE or (
            self._mount is not None and self._mount.link == robot.base_link
        )
        self._tf: TransformListener | None = None
        if not given:
            self._tf = TransformListener(
                node, robot.links, robot.base_link, settings.frames, settings.transform_age
            )
        self._frames = LinkFrames(robot)
        self._joints = None if is_still else JointStateInput(node)
        self._positions: dict[str, float] = {}
        self._stamps: dict[str, int] = {}  # ns, of each joint's position

    def poll(self) -> None:
        """Takes what has arrived."""
        if self._tf is not None:
            self._tf.poll()
        if self._joints is None:
            return
        for state, _ in self._joints.take(500):
            if len(state.positions) == len(state.names):
                self._positions.update(zip(state.names, state.positions, strict=True))
                self._stamps.update(dict.fromkeys(state.names, state.stamp))

    def at(self, frame: str, stamp: int, scene: Scene) -> Pose | str:
        """Returns the pose of an optical frame at a stamp, ns, or why it is not known.

        Raises:
            ValueRangeError: the pose of the scene's camera is not known, or a link carries it.
        """
        if self._settings.extrinsics == OF_SCENE:
            return self._of_scene(scene)
        mount = self._mount
        if mount is None:
            assert self._tf is not None
            found = self._tf.mount(frame, stamp)
            if isinstance(found, str):
                return f'the frame {frame!r} of the images is not known: {found}'
            mount = found
        if mount.link == self._robot.base_link:
            return mount.translation, mount.rotation
        return self._on_link(mount, stamp)

    def _of_scene(self, scene: Scene) -> Pose | str:
        name = self._settings.camera
        found = {each.name: each for each in scene.cameras or ()}
        if name not in found:
            return (
                f'extrinsics is {OF_SCENE}, but the scene {scene.name} has no camera {name!r}; it '
                f'has {", ".join(found) or "none"}'
            )
        camera = placed_camera(found[name])
        return camera.position, camera.rotation

    def _on_link(self, mount: Mount, stamp: int) -> Pose | str:
        names = self._frames.joint_names
        if lacking := [name for name in names if name not in self._positions]:
            return (
                f'the camera is on {mount.link}, and no joint state of {", ".join(lacking)} '
                'has come'
            )
        age = max((abs(stamp - self._stamps[name]) for name in names), default=0) / SECOND
        if age > self._settings.joint_age:
            return f'the newest joint state differs by {age:.2f} s from the image'
        values = np.array([self._positions[name] for name in names])
        if not np.isfinite(values).all():
            return 'the joint states are not finite'
        rotations, translations = self._frames.compute(values)
        row = self._frames.index(mount.link)
        turn = rotations[row]
        return translations[row] + turn @ mount.translation, turn @ mount.rotation

    def change(self, settings: SceneOverlayOptions) -> None:
        """Takes other values of the options that are live."""
        self._settings = settings
