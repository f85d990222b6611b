# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates at which tests reject where there is no difference (PhAIL, appendix J)."""
