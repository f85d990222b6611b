# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of a policy in generated scenes: results, campaigns and what they say about factors."""
