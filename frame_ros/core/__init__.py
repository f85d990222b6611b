# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors, stamps, rate limits, files: the foundations of every room."""
