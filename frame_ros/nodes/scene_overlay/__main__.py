# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m frame_ros.nodes.scene_overlay`, as `ros2 run frame_ros scene_overlay`."""

from frame_ros.nodes.start import start

start('scene_overlay')
