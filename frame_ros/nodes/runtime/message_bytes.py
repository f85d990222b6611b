# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of kilohertz streams as bytes: one message is serialised, and the numbers of the next
are written over its own.

Making and serialising a JointState costs as much as ten of these. The layout is that of the OMG's
CDR, version 1: a number lies at a multiple of its size behind the 4 bytes that tell the byte order;
the last numbers of a message lie at its end.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
LITTLE_ENDIAN = b'\x00\x01'
HEAD = 4  # bytes in front
_STAMP = struct.Struct('<iI')
_GAP = 8  # bytes between two sequences of numbers: the length of the next, at a multiple of 8


class JointStateBytes:
    """Serialised sensor_msgs/JointState of the same joints."""

    def __init__(self, names: Sequence[str], frame: str = '') -> None:
        """frame: of the header."""
        count = len(names)
        message = JointState(header=Header(frame_id=frame), name=list(names))
        message.position = [1.0] * count
        message.velocity = [2.0] * count
        message.effort = [3.0] * count
        self._bytes, end = _template(message)
        size = 8 * count
        self._places = [end - 3 * size - 2 * _GAP, end - 2 * size - _GAP, end - size]
        self._size = size

    def data(self, stamp: int, positions: Array, velocities: Array, efforts: Array) -> bytes:
        """stamp: ns. positions, velocities, efforts: (D,) each."""
        _write_stamp(self._bytes, stamp)
        for place, values in zip(self._places, (positions, velocities, efforts), strict=True):
            self._bytes[place : place + self._size] = values.astype('<f8', copy=False).tobytes()
        return bytes(self._bytes)


class StampedBytes:
    """Serialised message of one frame that ends in `count` float64."""

    def __init__(self, message: PoseStamped | WrenchStamped, count: int) -> None:
        self._bytes, end = _template(message)
        self._place = end - 8 * count

    def data(self, stamp: int, *values: Array) -> bytes:
        """stamp: ns. values: the numbers in the order of the message, `count` in all."""
        _write_stamp(self._bytes, stamp)
        place = self._place
        for part in values:
            end = place + 8 * len(part)
            self._bytes[place:end] = part.astype('<f8', copy=False).tobytes()
            place = end
        return bytes(self._bytes)


class WrenchBytes(StampedBytes):
    """Serialised geometry_msgs/WrenchStamped: force (3,) in N and torque (3,) in N m, or both
    (6,).
    """

    def __init__(self, frame: str) -> None:
        super().__init__(WrenchStamped(header=Header(frame_id=frame)), 6)


class PoseBytes(StampedBytes):
    """Serialised geometry_msgs/PoseStamped: position (3,) in m and quaternion xyzw (4,)."""

    def __init__(self, frame: str) -> None:
        super().__init__(PoseStamped(header=Header(frame_id=frame)), 7)


def _template(message: JointState | PoseStamped | WrenchStamped) -> tuple[bytearray, int]:
    """The serialised message, and where it ends."""
    data = bytearray(serialize_message(message))
    if data[:2] != LITTLE_ENDIAN:
        raise AssertionError('rclpy serialises to little-endian CDR on every machine it runs on')
    return data, len(data)


def _write_stamp(data: bytearray, stamp: int) -> None:
    _STAMP.pack_into(data, HEAD, stamp // SECOND, stamp % SECOND)
