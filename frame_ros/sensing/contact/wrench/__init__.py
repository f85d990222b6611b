# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A force-torque sensor: tare, tool, inertia, drift, payload; and how a tool is identified."""
