# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated SO-101 or FR3 with a policy, live metrics, a bag per episode; ends after the last
episode.

Its nodes find each other on this machine only, unless ROS_AUTOMATIC_DISCOVERY_RANGE or a Fast DDS
profile is set. `ros2 launch frame_ros demo.launch.py --show-args` lists the arguments.
"""

from frame_ros.bringup.process_table import demo_environment, demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.cli.ros2.launching import launch_description
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Returns the launch description."""
    return launch_description(DemoOptions, demo_processes, demo_environment)
