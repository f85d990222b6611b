# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Franka arm by the Franka Control Interface: franky-control, with libfranka in its wheel."""
