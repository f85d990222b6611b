# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Serialised geometry_msgs/WrenchStamped and the heads of franka_msgs/FrankaRobotState and
frame_ros/ContactState, read without making messages of them: a full robot state has 600 values, of
which 26 are wanted a thousand times a second.

Common Data Representation, see `joint_state_bytes`. A reader keeps what comes between the stamp and
the first number, the frame's name, which is nearly always that of the message before.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message

from frame_ros.core.time import stamp_of_serialised

HEAD = 4  # bytes in front, from whose end places are counted
STAMP_END = HEAD + 8
LITTLE_ENDIAN = b'\x00\x01'
INDICATORS = 26  # of FrankaRobotState.collision_indicators: 4 x 3 Cartesian, 2 x 7 of joints


class StampedNumbers(NamedTuple):
    """stamp: ns. frame: header.frame_id. values: the numbers behind it."""

    stamp: int
    frame: str
    values: tuple[float, ...]


class StampedReader:
    """Reads messages that begin with a header and `count` float64."""

    def __init__(self, count: int) -> None:
        self._numbers = struct.Struct(f'<{count}d')
        self._middle = b''  # the frame's length and name
        self._frame = ''
        self._start = 0  # of the numbers

    def read(self, data: bytes) -> StampedNumbers | None:
        """What is in `data`, as a raw subscription hands it over; None if it is not little-endian
        or too short.
        """
        if data[:2] != LITTLE_ENDIAN or len(data) < STAMP_END + 4:
            return None
        middle = self._middle
        if not middle or data[STAMP_END : STAMP_END + len(middle)] != middle:
            self._learn(data)
        if len(data) < self._start + self._numbers.size:
            return None
        values = self._numbers.unpack_from(data, self._start)
        return StampedNumbers(stamp_of_serialised(data), self._frame, values)

    def _learn(self, data: bytes) -> None:
        (length,) = struct.unpack_from('<I', data, STAMP_END)
        end = STAMP_END + 4 + length
        self._middle = data[STAMP_END:end]
        self._frame = self._middle[4:].rstrip(b'\0').decode('utf-8', 'replace')
        self._start = HEAD + -(-(end - HEAD) // 8) * 8


class WrenchReader:
    """Reads the wrenches of one topic: values are force x y z (N) and torque x y z (N m)."""

    def __init__(self) -> None:
        self._reader = StampedReader(6)

    def read(self, data: bytes) -> StampedNumbers:
        """What is in `data`."""
        found = self._reader.read(data)
        if found is not None:
            return found
        message = deserialize_message(data, WrenchStamped)
        force, torque = message.wrench.force, message.wrench.torque
        return StampedNumbers(
            stamp_of_serialised(data),
            message.header.frame_id,
            (force.x, force.y, force.z, torque.x, torque.y, torque.z),
        )


class StateHead(NamedTuple):
    """What a ContactState begins with. stamp: ns."""

    stamp: int
    unavailable: bool
    in_contact: bool
    in_collision: bool


def state_head(data: bytes) -> StateHead | None:
    """Of a serialised ContactState; None if it is not little-endian or too short."""
    if data[:2] != LITTLE_ENDIAN or len(data) < STAMP_END + 4:
        return None
    (frame,) = struct.unpack_from('<I', data, STAMP_END)
    place = STAMP_END + 4 + frame + 1  # behind the source
    place = HEAD + -(-(place - HEAD) // 4) * 4
    if len(data) < place + 4:
        return None
    (reason,) = struct.unpack_from('<I', data, place)  # with its end, a zero
    place += 4 + reason
    if len(data) < place + 2:
        return None
    return StateHead(
        stamp_of_serialised(data), reason > 1, bool(data[place]), bool(data[place + 1])
    )
