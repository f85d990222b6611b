# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as a line from its base along its links, for orientation in the picture of a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.bounds import within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded_robot import known_robot
from frame_ros.robots import Robot
from frame_ros.robots.transforms import product, turned


@dataclass(frozen=True)
class RobotOutline:
    """Origins of the links from base to tip, (L, 3) in m, in the frame of the path: in the first
    and in the last posture of an episode.
    """

    robot: str
    start: NDArray[np.float64]
    end: NDArray[np.float64]


def robot_outline(episode: Episode) -> RobotOutline | None:
    """Returns the outline; None where the robot is not known, its joint states were not recorded,
    or the poses are in another frame than that of its base.
    """
    joints, pose = episode.streams.get('joint_states'), episode.streams.get('pose')
    robot = known_robot(episode)
    if robot is None or joints is None or pose is None or 'positions' not in joints.values:
        return None
    if pose.frame_id.split('/')[-1] not in ('', robot.base_link):
        return None
    joints = within(episode, joints)
    if not len(joints):
        return None
    names, positions = joints.values['names'], joints.values['positions']
    drawn = [_links(robot, dict(zip(names[i], positions[i]))) for i in (0, -1)]
    if not all(np.isfinite(points).all() for points in drawn):
        return None
    return RobotOutline(robot.name, *drawn)


def _links(robot: Robot, positions: dict[str, float]) -> NDArray[np.float64]:
    """Origins of base, links and tip, (L, 3)."""
    chain = [robot.tip_link]
    while (parent := robot.parent_of(chain[-1])) is not None:
        chain.append(parent)
    poses = robot.link_poses({str(name): float(value) for name, value in positions.items()})
    at, rotation = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    points = [at]
    for link in chain[-2::-1]:
        translation, quaternion = poses[link]
        x, y, z = turned(rotation, tuple(translation))
        at = at[0] + x, at[1] + y, at[2] + z
        points.append(at)
        rotation = product(rotation, tuple(quaternion))
    return np.array(points)
