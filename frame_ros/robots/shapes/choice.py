# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words that choose the shapes of a robot, for those who start nodes without loading shapes."""

URDF = 'urdf'  # in place of a file: the collision primitives of the URDF
