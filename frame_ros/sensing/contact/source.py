# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of contacts; the numbers are those of msg/ContactState and msg/ContactEvent."""

from __future__ import annotations

from enum import IntEnum


class ContactSource(IntEnum):
    """SOURCE_* of ContactState."""

    UNKNOWN = 0
    SIMULATOR = 1
    WRENCH = 2
    JOINT_EFFORT = 3
    ROBOT = 4
    FUSED = 5
