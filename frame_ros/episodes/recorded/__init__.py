# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Facts of a recording: its robot, units, settings, actions and chunks, as far as it says them."""
