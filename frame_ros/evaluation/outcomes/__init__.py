# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ends of recorded episodes: their operations, stages and outcome, from bags and other files."""
