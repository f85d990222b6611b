# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times to success: estimates, tests and resamples over whole episodes (PhAIL)."""
