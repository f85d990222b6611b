# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a force-torque sensor on the robot."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots import Robot
from frame_ros.robots.description import rotation_from_rpy
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.transforms import TransformTree

Array = NDArray[np.float64]


class SensorMount(NamedTuple):
    """The pose of a sensor in a link of the URDF: rotation (3, 3), translation (3,) m."""

    link: str
    rotation: Array
    translation: Array


class SensorFrames:
    """Finds the mount of a frame: a link, parameters, or tf_static."""

    def __init__(
        self, robot: Robot, given: SensorMount | None = None, names: FrameNames | None = None
    ) -> None:
        """Takes the robot, and any mount given by parameters.

        Args:
            given: the sensor's mount whatever its frame is called.
            names: of the links in tf.

        Raises:
            RobotError: the mount's link is unknown to the robot.
        """
        self._robot, self._given, self._names = robot, given, names or FrameNames()
        self._tree = TransformTree()
        if given is not None:
            robot.parent_of(given.link)

    @property
    def is_given(self) -> bool:
        """True if the mount is the same whatever the frame is called."""
        return self._given is not None

    def add(
        self, parent: str, child: str, translation: Sequence[float], rotation: Sequence[float]
    ) -> bool:
        """Takes a static transform, m and xyzw; returns whether it can be used."""
        return self._tree.add(parent, child, 0, translation, rotation, is_static=True)

    def find(self, frame: str) -> SensorMount | None:
        """Returns the mount of a frame; None if unknown, see `problem`."""
        if self._given is not None:
            return self._given
        link = self._names.link(frame)
        if link in self._robot.links:
            return SensorMount(link, np.eye(3), np.zeros(3))
        name = frame.lstrip('/')
        for link in self._robot.links:
            pose = self._tree.pose_of(name, self._names.of(link).lstrip('/'))
            if pose is not None:
                rotation = rotation_of(np.array(pose.rotation))
                return SensorMount(link, rotation, np.array(pose.translation))
        return None

    def problem(self, frame: str) -> str:
        """Returns why a frame has no mount, in words."""
        known = ', '.join(self._robot.links)
        return (
            f'wrench in an unknown frame: {frame!r} is not a link of {self._robot.name} ({known}), '
            'and tf_static does not fix it to one; set wrench.frame to the link whose axes the '
            'sensor has, or wrench.mount_link, wrench.mount_xyz and wrench.mount_rpy to its place'
        )


def given_mount(link: str, xyz: Sequence[float], rpy: Sequence[float]) -> SensorMount | None:
    """Returns the mount given by parameters: xyz in m, rpy in rad; None without a link."""
    if not link:
        return None
    return SensorMount(link, rotation_from_rpy(*rpy), np.array(xyz, float))


def joints_between(robot: Robot, link: str, other: str) -> list[str]:
    """Returns the joints that move one link against the other; none: both are one body.

    Raises:
        RobotError: there is no such link.
    """
    between = set(ancestors(robot, link)).symmetric_difference(ancestors(robot, other))
    return sorted(robot.joint_of_link[each] for each in between if each in robot.joint_of_link)


class MountDifference(NamedTuple):
    """The difference of two mounts: turned by rad and moved by m; joints that lie between, where
    both are infinite.
    """

    turned: float
    moved: float
    joints: tuple[str, ...] = ()


def difference(robot: Robot, one: SensorMount, other: SensorMount) -> MountDifference:
    """Returns by how much two mounts differ.

    Raises:
        RobotError: a link is unknown to the robot.
    """
    if joints := joints_between(robot, one.link, other.link):
        return MountDifference(inf, inf, tuple(joints))
    places = []
    for mount in (one, other):
        shift, turn = pose_at_zero(robot, ancestors(robot, mount.link))
        places.append((shift + turn @ mount.translation, turn @ mount.rotation))
    (place, turn), (place_other, turn_other) = places
    cosine = 0.5 * (float(np.trace(turn.T @ turn_other)) - 1.0)
    moved = float(np.linalg.norm(place - place_other))
    return MountDifference(acos(min(max(cosine, -1.0), 1.0)), moved)


def links_with_axes(robot: Robot, mount: SensorMount, within: float) -> list[str]:
    """Returns the links fixed to that of a mount whose axes are the mount's within so many rad."""
    found = []
    for link in robot.links:
        of_link = SensorMount(link, np.eye(3), mount.translation)
        if difference(robot, mount, of_link).turned <= within:
            found.append(link)
    return found


def ancestors(robot: Robot, link: str) -> list[str]:
    """Returns the link itself and all above it, without the base.

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
    """Returns translation (3,) and rotation (3, 3) of the first link, all joints at 0."""
    poses = robot.link_poses({})
    translation: Array = np.zeros(3)
    rotation: Array = np.eye(3)
    for link in chain:
        shift, quaternion = poses[link]
        turn = rotation_of(quaternion)
        translation, rotation = shift + turn @ translation, turn @ rotation
    return translation, rotation
