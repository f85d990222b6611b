# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances from depth images: which pixels show the robot, which is nearest to each link."""
