# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From what a policy knew of its own certainty to a confidence."""

from frame_ros.metrics.token_statistics import ReducedTokens, token_statistics

__all__ = ['ReducedTokens', 'token_statistics']
