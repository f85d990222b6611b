# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that need ROS 2's own tools (launch, launch_ros, ros2cli), which are not on PyPI."""
