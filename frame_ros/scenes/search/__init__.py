# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The space of scenes that operators span: its cells, what of it was covered, ways through it."""
