# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values of motors_file that name no file. Launch files read them: nothing here imports numpy."""

SIMULATED = 'simulated'  # those that the package has of the simulated robot
GENERIC = 'generic'  # the same for a real arm, with wide thresholds
