# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that others recorded: what is wrong with them, what their topics may be, and which options
make episodes of them.
"""
