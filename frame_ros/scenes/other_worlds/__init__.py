# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated worlds that others made, in which the same scenes, policies and rules are tried."""
