# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Links of a robot that a contact sensor feels, from its place in the kinematic tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.solid_shapes import solid_shapes
from frame_ros.sensing.contact.sensor_mount import ancestors

# Link -> why a source does not feel a contact on it, or only an unusually strong one; '': it does.
Coverage = Mapping[str, str]


def solid_links(robot: Robot) -> tuple[str, ...]:
    """Returns the links that something can touch: those with shapes; all links if none has any."""
    solid = solid_shapes(robot)
    return tuple(link for link in robot.links if link in solid) or tuple(robot.links)


def beyond_sensor(robot: Robot, mount: str) -> dict[str, str]:
    """Returns the coverage of a force-torque sensor: the link `mount`, which carries it, and all
    links beyond; of a robot that is described without its tool, so that none of these is solid,
    the link `mount` for the tool.

    Raises:
        RobotError: there is no such link.
    """
    robot.parent_of(mount)
    before = f'before the force-torque sensor on {mount}'
    found = {
        link: '' if mount == link or mount in ancestors(robot, link) else before
        for link in solid_links(robot)
    }
    return found if '' in found.values() else {**found, mount: ''}


def behind_joints(robot: Robot, joints: Iterable[str]) -> dict[str, str]:
    """Returns the coverage by the torques of `joints`: links that at least two of them move.

    One joint feels only the part of a force that turns it.
    """
    felt, found = set(joints), {}
    for link in solid_links(robot):
        moving = [
            robot.joint_of_link[each]
            for each in ancestors(robot, link)
            if robot.joint_of_link.get(each) in felt
        ]
        if not moving:
            found[link] = 'no joint with a known torque moves it'
        elif len(moving) == 1:
            found[link] = (
                f'only {moving[0]} moves it, which feels no force along or through its axis'
            )
        else:
            found[link] = ''
    return found
