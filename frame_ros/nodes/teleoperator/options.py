# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The teleoperator node's options."""

from __future__ import annotations

from frame_ros.core.options import UNCONFIGURED, option, options
from frame_ros.hardware.lerobot.device_parameters import DeviceParameters
from frame_ros.hardware.lerobot.robot import DeviceOptions
from frame_ros.nodes.runtime.options import ManagedOptions
from frame_ros.robots import Robot
from frame_ros.robots.options import RobotOptions

MODES = ('takeover', 'always', 'record')


@options
class TeleoperatorOptions(DeviceParameters, RobotOptions, ManagedOptions):
    """Teleoperator (lifecycle node): a LeRobot leader -> teleop_commands or joint_commands."""

    teleoperator_type: str = option(
        'so101_leader', 'name under which LeRobot has it registered, as in --teleop.type'
    )
    teleoperator_id: str = option(
        '', 'name of the calibration file; as --teleop.id', live=UNCONFIGURED
    )
    teleoperator_options: tuple[str, ...] = option((), "more of LeRobot's options, each name=value")
    rate: float = option(
        50.0, 'rate of reading it and of the commands', unit='Hz', above=0.0, at_most=500.0
    )
    mode: str = option(
        'takeover',
        'takeover: teleop_commands while ~/takeover is on; always: all the time; record: '
        'joint_commands',
        choices=MODES,
    )
    max_start_difference: float = option(
        0.35,
        "distance of a joint from the robot's when driving begins; 0: any",
        unit='rad',
        at_least=0.0,
    )

    def device(self, robot: Robot) -> DeviceOptions:
        """The teleoperator to connect to."""
        kind, identity = self.teleoperator_type, self.teleoperator_id
        return self.device_of(robot, kind, identity, self.teleoperator_options)
