# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the simulated worlds, as on the command line."""

OURS = 'frame_ros'
SO101_LIFT = 'so101-lift'
WORLD_NAMES = (OURS, SO101_LIFT)
