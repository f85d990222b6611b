# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of scenes that ran without ROS, as bags like those of the episode recorder."""
