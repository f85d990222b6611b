# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What motors_file may be in place of a file; without numpy, for launch files."""

SIMULATED = 'simulated'  # those that the package has of the simulated robot
GENERIC = 'generic'  # the same for a real arm, with wide thresholds
