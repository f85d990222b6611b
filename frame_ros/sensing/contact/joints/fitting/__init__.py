# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors identified from a recorded motion of the arm: the motion, the fits, the thresholds."""
