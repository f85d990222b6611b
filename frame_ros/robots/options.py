# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options that name a robot and its frames."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.profiles import DEFAULT_ROBOT, OF_ROBOT, ROBOT_NAMES
from frame_ros.robots.robot import Robot

TIPS = "or a short name of the profile's tips, such as tcp; '': the default"


@options
class RobotOptions:
    """The robot."""

    robot: str = option(DEFAULT_ROBOT, OF_ROBOT, known=ROBOT_NAMES)


@options
class TipOptions(RobotOptions):
    """The robot and its tip."""

    tip: str = option('', f'link whose pose is looked at; {TIPS}')

    def load_robot(self) -> Robot:
        """The robot with this tip.

        Raises:
            RobotError: there is no such robot, or no such link.
        """
        return load_robot(self.robot, self.tip or None)


@options
class FrameOptions:
    """The frames of the robot in tf."""

    frame_prefix: str = option('', "text in front of the names of the robot's links in tf")

    @property
    def frames(self) -> FrameNames:
        """Names of the links in tf."""
        return FrameNames(self.frame_prefix)
