# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Units of time, and the stamps of messages in nanoseconds."""

from __future__ import annotations

import struct
from typing import Any

SECOND = 1_000_000_000  # ns
MILLISECOND = 1_000_000  # ns
NANOSECOND = 1e-9  # s


def stamp_ns(stamp: Any) -> int:
    """Returns a builtin_interfaces/Time (or Duration) as integer nanoseconds."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def stamp_of_serialised(serialised: bytes) -> int:
    """Returns the stamp (ns) of a serialised message that begins with a std_msgs/Header.

    Its first 4 bytes give the byte order.

    Raises:
        ValueError, struct.error, IndexError: the bytes are damaged.
    """
    seconds, nanoseconds = struct.unpack_from('<iI' if serialised[1] & 1 else '>iI', serialised, 4)
    if nanoseconds >= SECOND:
        raise ValueError(f'a stamp with {nanoseconds} ns in its nanosec field')
    return int(seconds) * SECOND + int(nanoseconds)
