# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a force-torque sensor on the robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.robots import Robot
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.transforms import TransformTree

Array = NDArray[np.float64]


class SensorMount(NamedTuple):
    """link: of the URDF. rotation (3, 3), translation (3,) m: pose of the sensor in the link."""

    link: str
    rotation: Array
    translation: Array


class SensorFrames:
    """Finds the mount of a frame: it is a link, is told by parameters, or tf_static has it."""

    def __init__(
        self, robot: Robot, told: SensorMount | None = None, names: FrameNames | None = None
    ) -> None:
        """told: the mount of the sensor whatever its frame is called. names: of the links in tf.

        Raises:
            RobotError: the mount's link is none of the robot's.
        """
        self._robot, self._told, self._names = robot, told, names or FrameNames()
        self._tree = TransformTree()
        if told is not None:
            robot.parent_of(told.link)

    def add(
        self, parent: str, child: str, translation: Sequence[float], rotation: Sequence[float]
    ) -> bool:
        """Takes a fixed transform: translation in m, quaternion xyzw; whether it can be used."""
        return self._tree.add(parent, child, 0, translation, rotation, is_static=True)

    def find(self, frame: str) -> SensorMount | None:
        """The mount of a frame; None if it is not known, see `problem`."""
        if self._told is not None:
            return self._told
        link = self._names.link(frame)
        if link in self._robot.links:
            return SensorMount(link, np.eye(3), np.zeros(3))
        name = frame.lstrip('/')
        for link in self._robot.links:
            pose = self._tree.pose_of(name, self._names.of(link).lstrip('/'))
            if pose is not None:
                rotation = Rotation.from_quat(pose.rotation).as_matrix()
                return SensorMount(link, rotation, np.array(pose.translation))
        return None

    def problem(self, frame: str) -> str:
        """Why a frame has no mount, in words."""
        known = ', '.join(self._robot.links)
        return (
            f'wrench in an unknown frame: {frame!r} is no link of {self._robot.name} ({known}), '
            'and tf_static does not fix it to one; set wrench_frame to the link whose axes the '
            'sensor has, or wrench_mount_link, wrench_mount_xyz and wrench_mount_rpy to its place'
        )


def told_mount(link: str, xyz: Sequence[float], rpy: Sequence[float]) -> SensorMount | None:
    """The mount that parameters tell: xyz in m, rpy in rad as in a URDF; None without a link."""
    if not link:
        return None
    return SensorMount(link, Rotation.from_euler('xyz', rpy).as_matrix(), np.array(xyz, float))


def ancestors(robot: Robot, link: str) -> list[str]:
    """The link itself and all above it, the base left out.

    Raises:
        RobotError: there is no such link.
    """
    found = []
    parent = robot.parent_of(link)
    while parent is not None:
        found.append(link)
        link, parent = parent, robot.parent_of(parent)
    return found


def pose_at_zero(robot: Robot, chain: Sequence[str]) -> tuple[Array, Array]:
    """Translation (3,) and rotation (3, 3) of the first of a chain of links, all joints at 0."""
    poses = robot.link_poses({})
    translation, rotation = np.zeros(3), np.eye(3)
    for link in chain:
        shift, quaternion = poses[link]
        turn = Rotation.from_quat(quaternion).as_matrix()
        translation, rotation = shift + turn @ translation, turn @ rotation
    return translation, rotation
