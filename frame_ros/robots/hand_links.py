# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The hand of an arm: everything that its last joint carries."""

from __future__ import annotations

from frame_ros.robots.robot import Robot


def hand_links(robot: Robot) -> frozenset[str]:
    """Returns the links behind the last moving joint before the tip, fingers included."""
    last = robot.tip_link
    while last not in robot.joint_of_link and (parent := robot.parent_of(last)) is not None:
        last = parent
    # A tip on a finger's joint is not there: the gripper's joint does not belong to the arm.
    return frozenset(link for link in robot.collision_geometry if _is_behind(robot, link, last))


def _is_behind(robot: Robot, link: str | None, ancestor: str) -> bool:
    while link is not None and link != ancestor:
        link = robot.parent_of(link)
    return link is not None
