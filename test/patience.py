# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Longest wait of a test for what must come at all: only a failure takes so long."""

PATIENCE = 120.0  # s
