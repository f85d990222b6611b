# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics, recording and markers for a real arm; with policy:=... also the policy.

robot:=NAME, or robot:=FILE.yaml of a profile outside of the package, chooses the arm: its topics,
limits and gripper are those of its profile. The network settings are left as they are: the arm's
driver may run on another machine.
`ros2 launch frame_ros arm.launch.py --show-args` lists the arguments.
"""

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes
from frame_ros.cli.ros2.launching import launch_description
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Returns the description that `ros2 launch` reads."""
    return launch_description(ArmOptions, arm_processes)
