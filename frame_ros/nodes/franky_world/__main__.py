# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m frame_ros.nodes.franky_world`, as `ros2 run frame_ros franky_world`."""

from frame_ros.nodes.start import start

start('franky_world')
