# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks in scenes: what may be asked for, its steps, and how often each is reached."""
