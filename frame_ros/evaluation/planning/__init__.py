# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of rollouts that a comparison of policies needs (PhAIL, section 4.3, appendix H)."""
