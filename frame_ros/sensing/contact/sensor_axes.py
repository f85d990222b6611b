# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a sensor as parameters and its tool's file have it, which must agree."""

from __future__ import annotations

from math import degrees, radians

from frame_ros.core.errors import SetupError
from frame_ros.robots import Robot
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.sensor_mount import SensorMount, difference, given_mount
from frame_ros.sensing.contact.wrench.tool_file import ToolMount

TURNED = radians(2.0)  # of 1 kg it makes 0.34 N
MOVED = 0.001  # m


def chosen_mount(
    settings: SensingOptions, robot: Robot, of_tool: ToolMount | None
) -> SensorMount | None:
    """Returns the mount that holds whatever the sensor's frame is called: of the parameters, else
    of the tool's file where it was identified with one; None: the frame decides.

    Raises:
        SetupError: they contradict each other. RobotError: a link is unknown to the robot.
    """
    wrench = settings.wrench
    given = given_mount(wrench.mount_link, wrench.mount_xyz, wrench.mount_rpy)
    if given is None and (any(wrench.mount_xyz) or any(wrench.mount_rpy)):
        raise SetupError(
            'wrench.mount_xyz and wrench.mount_rpy are in the axes of wrench.mount_link, which is '
            'not set'
        )
    link = settings.frames.link(wrench.frame)
    framed = given_mount(link if link in robot.links else '', (0.0,) * 3, (0.0,) * 3)
    if given is not None:
        robot.parent_of(given.link)
        if framed is not None:
            _refuse_two_places(robot, wrench.frame, framed, given)
        check_axes(robot, given, of_tool, 'wrench.mount_link and wrench.mount_rpy')
        return given
    if framed is not None:
        check_axes(robot, framed, of_tool, f'wrench.frame {wrench.frame!r}')
        return None
    return of_tool.pose() if of_tool is not None and of_tool.xyz is not None else None


def _refuse_two_places(robot: Robot, frame: str, framed: SensorMount, given: SensorMount) -> None:
    """Raises SetupError if wrench.frame and the mount are two places."""
    apart = difference(robot, framed, given)
    if apart.turned <= TURNED and apart.moved <= MOVED:
        return
    how = (
        f'{", ".join(apart.joints)} lies between them'
        if apart.joints
        else f'they are {degrees(apart.turned):.1f} degrees and {apart.moved:.3f} m apart'
    )
    raise SetupError(
        f'wrench.frame is the link {frame!r}, and wrench.mount_link {given.link!r} with mount_xyz '
        f'and mount_rpy another place: {how}; set one of them'
    )


def check_axes(robot: Robot, mount: SensorMount, of_tool: ToolMount | None, what: str) -> None:
    """Refuses a mount with other axes than those in which the tool was identified.

    Args:
        what: says where the mount is from.

    Raises:
        SetupError: they are more than 2 degrees apart. RobotError: the file's link is unknown.
    """
    if of_tool is None:
        return
    apart = difference(robot, mount, of_tool.pose())
    if apart.turned <= TURNED:
        return
    how = (
        f'{", ".join(apart.joints)} between'
        if apart.joints
        else f'{degrees(apart.turned):.1f} degrees'
    )
    raise SetupError(
        f'the sensor has the axes of {mount.link} by {what}, but tool.file was identified with '
        f'those of {of_tool}: {how} apart; set wrench.mount_link and wrench.mount_rpy to the '
        'latter, or identify the tool again'
    )
