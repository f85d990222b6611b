# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver node's options."""

from __future__ import annotations

from frame_ros.core.options import UNCONFIGURED, group, option, options
from frame_ros.hardware.franky.options import FciOptions
from frame_ros.hardware.lerobot.device_parameters import DeviceParameters
from frame_ros.hardware.lerobot.robot import DeviceOptions
from frame_ros.nodes.runtime.options import ManagedOptions
from frame_ros.robots import Robot
from frame_ros.robots.options import FrameOptions, RobotOptions

TORQUE_ON_EXIT = ('hold', 'release')


@options
class RobotDriverOptions(DeviceParameters, FrameOptions, RobotOptions, ManagedOptions):
    """Driver of a LeRobot arm, or with `host` of a Franka arm (lifecycle node): joint_states,
    joint_commands and cameras.
    """

    host: str = option(
        '',
        'name or address of a Franka arm, driven by its control interface with the options fci.*; '
        'empty: a LeRobot arm on `port`',
        live=UNCONFIGURED,
    )
    fci: FciOptions = group(FciOptions)

    robot_type: str = option(
        'so101_follower', 'name under which LeRobot has the robot registered, as in --robot.type'
    )
    robot_id: str = option(
        '', 'name of the calibration file <robot_id>.json; as --robot.id', live=UNCONFIGURED
    )
    write_calibration: bool = option(
        False, 'write the file into motors that hold another calibration; false: refuse to start'
    )
    robot_options: tuple[str, ...] = option(
        (), "more of LeRobot's options, each name=value: ['position_p_coefficient=24']"
    )
    rate: float = option(
        50.0,
        'rate of reading the robot and joint_states; at most one command is sent per cycle',
        unit='Hz',
        above=0.0,
        at_most=500.0,
    )
    command_timeout: float = option(
        0.5,
        'time without a command after which the arm holds; an older stamp is refused',
        unit='s',
        above=0.0,
    )
    hold_tolerance: float = option(
        0.1,
        'distance: holding, a joint so near its goal keeps the goal, others stop where they are',
        unit='rad',
        at_least=0.0,
    )
    limit_tolerance: float = option(
        0.02, 'distance beyond a limit that is clipped; more is refused', unit='rad', at_least=0.0
    )
    max_relative_target: float = option(
        0.5,
        'distance of a goal from where the joint is, but of a gripper; 0: any',
        unit='rad',
        at_least=0.0,
    )
    retries: int = option(
        2, 'attempts to read once more before the robot counts as lost', at_least=0, at_most=10
    )
    reconnect_period: float = option(
        1.0, 'time between attempts to connect a lost robot again', unit='s', above=0.0
    )
    effort_per_ampere: float = option(
        1.0, 'effort in joint_states per A of motor current; 1: effort is in A; N m/A makes it N m'
    )
    torque_on_exit: str = option(
        'hold',
        'hold: the arm stays stiff when the node ends; release: it goes limp, and falls',
        choices=TORQUE_ON_EXIT,
    )
    cameras: str = option(
        '',
        "as LeRobot's --robot.cameras: '{front: {type: opencv, index_or_path: 0, width: "
        "640, height: 480, fps: 30}}'",
    )
    camera_timeout: float = option(
        1.0, 'time without an image after which a camera is opened again', unit='s', above=0.0
    )

    def device(self, robot: Robot) -> DeviceOptions:
        """The robot to connect to."""
        kind, identity = self.robot_type, self.robot_id
        return self.device_of(robot, kind, identity, self.robot_options)
