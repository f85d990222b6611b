# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes as data: their fields, files and geometry. Needs neither MuJoCo nor ROS."""
