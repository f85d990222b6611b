# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests and intervals of successes and stages: paired episodes first, then unpaired ones."""
