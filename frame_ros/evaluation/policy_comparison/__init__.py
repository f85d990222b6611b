# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of policies over many episodes: scores, tests of all pairs, verdicts (PhAIL)."""
