# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances from depth images: the robot's own pixels, and the nearest other one to each link."""
