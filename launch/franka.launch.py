# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics, recording and markers beside a real Franka arm (franka_ros2); with policy:=... also the
policy.

The network settings are left as they are: the arm's driver may run on another machine.
`ros2 launch frame_ros franka.launch.py --show-args` lists the arguments.
"""

from frame_ros.bringup.arm_options import FrankaOptions
from frame_ros.bringup.process_table import franka_processes
from frame_ros.cli.ros2.launching import launch_description
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` reads."""
    return launch_description(FrankaOptions, franka_processes)
