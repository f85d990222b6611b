# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from joint states, wrenches and flags as they come: what the contact node and
`frame-ros sense` have in common.
"""
