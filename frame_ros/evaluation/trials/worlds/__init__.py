# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds whose geometry, motion and sensor noise others made or measured, for trials of sensing."""
