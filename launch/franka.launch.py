# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""arm.launch.py for a real Franka arm (franka_ros2)."""

from pathlib import Path

from frame_ros.cli.ros2.launching import arm_preset
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Returns the description that `ros2 launch` reads."""
    return arm_preset(Path(__file__).with_name('arm.launch.py'), robot='fr3')
