# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Serialised sensor_msgs/JointState read without making a message of it, which costs ten times as
much.

Common Data Representation (OMG DDS-RTPS 2.5, section 10): 4 bytes tell the byte order; numbers lie
at multiples of their size behind those; strings and sequences begin with their length. Nearly
always everything but stamp and values is as in the message before.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from frame_ros.core.time import stamp_of_serialised
from frame_ros.robots.joint_state import FullJointState

HEAD = 4  # bytes in front, from whose end places are counted
LITTLE_ENDIAN = b'\x00\x01'
MOST_LAYOUTS = 8
NO_MORE = bytes(8)  # no velocities and no efforts


class ReadJointState(NamedTuple):
    """stamp: ns. names, positions (K,): as they came. data: the bytes it was read from, if there is
    nothing else in them; else None.
    """

    stamp: int
    names: tuple[str, ...]
    positions: NDArray[np.float64]
    data: bytes | None


class _Layout(NamedTuple):
    """What the reader keeps of the messages of one publisher."""

    middle: bytes
    names: tuple[str, ...]
    start: int
    size: int


class JointStateReader:
    """Reads the joint states of one topic. Of damaged bytes it raises what is in
    `fitting_subscription.DAMAGED`.
    """

    def __init__(self) -> None:
        self._middle = b''  # from behind the stamp to the number of positions
        self._names: tuple[str, ...] = ()
        self._start = self._count = 0  # of the positions
        # Several publishers take turns on one topic: what each of them sends looks the same.
        self._layouts: deque[_Layout] = deque(maxlen=MOST_LAYOUTS)

    def read(self, data: bytes) -> ReadJointState:
        """What is in `data`, as a raw subscription hands it over."""
        middle = self._middle
        is_known = data[:2] == LITTLE_ENDIAN and middle and data[12 : 12 + len(middle)] == middle
        if not is_known and not self._recall(data):
            return self._learn(data)
        positions = np.frombuffer(data, np.float64, self._count, self._start)
        rest = data[self._start + 8 * self._count :]
        is_all = rest[:8] == NO_MORE
        return ReadJointState(
            stamp_of_serialised(data), self._names, positions, data if is_all else None
        )

    def layout(self, data: bytes) -> bytes:
        """What a message has between its stamp and its numbers, its names above all; empty if no
        such message was read of late.
        """
        for layout in self._layouts if data[:2] == LITTLE_ENDIAN else ():
            if data[12 : 12 + len(layout.middle)] == layout.middle:
                return layout.middle
        return b''

    def read_all(self, data: bytes) -> FullJointState:
        """The same with velocities and efforts."""
        stamp, names, positions, _ = self.read(data)
        if not self._middle:
            message = deserialize_message(data, JointState)
            velocities, efforts = np.array(message.velocity), np.array(message.effort)
            return FullJointState(stamp, names, positions, velocities, efforts)
        velocities, place = _numbers(data, self._start + 8 * self._count)
        efforts, _ = _numbers(data, place)
        return FullJointState(stamp, names, positions, velocities, efforts)

    def _recall(self, data: bytes) -> bool:
        """Whether a message looks like one of another publisher, which is used from now on."""
        for layout in self._layouts if data[:2] == LITTLE_ENDIAN else ():
            if data[12 : 12 + len(layout.middle)] == layout.middle:
                self._middle, self._names, self._start, self._count = layout
                return True
        return False

    def _learn(self, data: bytes) -> ReadJointState:
        """Reads it by a message, and keeps where things are."""
        message = deserialize_message(data, JointState)
        self._middle = b''
        if data[:2] == LITTLE_ENDIAN and message.position:
            place = _end_of_string(data, 12)
            place = _aligned(place, 4) + 4
            for _ in message.name:
                place = _end_of_string(data, _aligned(place, 4))
            place = _aligned(place, 4) + 4
            self._middle, self._names = data[12:place], tuple(message.name)
            self._start, self._count = _aligned(place, 8), len(message.position)
            layout = _Layout(self._middle, self._names, self._start, self._count)
            self._layouts.appendleft(layout)
        positions = np.array(message.position, dtype=np.float64)
        return ReadJointState(stamp_of_serialised(data), tuple(message.name), positions, None)


def _numbers(data: bytes, place: int) -> tuple[NDArray[np.float64], int]:
    """The sequence of float64 whose length is at `place`, and the place behind it."""
    (count,) = struct.unpack_from('<I', data, place)
    if not count:
        return np.empty(0), place + 4
    start = _aligned(place + 4, 8)
    return np.frombuffer(data, np.float64, count, start), start + 8 * count


def _end_of_string(data: bytes, place: int) -> int:
    (length,) = struct.unpack_from('<I', data, place)
    return place + 4 + int(length)


def _aligned(place: int, size: int) -> int:
    return HEAD + -(-(place - HEAD) // size) * size
