# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of kilohertz streams as bytes: one message is serialised, and the numbers of the next
are written over its own. Making and serialising a JointState costs as much as ten of these.

Where the middleware's bytes are not those that are expected here, each message is serialised.
"""

from __future__ import annotations

import contextlib
import struct
from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from frame_ros.bags.fields import FieldWriter
from frame_ros.core.errors import FrameRosError
from frame_ros.nodes.runtime.message_parts import fill_time

Array = NDArray[np.float64]
MIDDLEWARE_ERRORS = (rclpy_implementation.RCLError, rclpy_implementation.RMWError)
TRIED_STAMP = 1_234_567_890_123_456_789  # ns


class SerialisingWriter:
    """Writes numbers into a message and serialises it: what FieldWriter does, for whatever bytes
    the middleware makes.
    """

    def __init__(self, message: Any, *groups: Sequence[str]) -> None:
        """groups: as of FieldWriter."""
        self._message, self._groups = message, groups
        self._parts = [np.array(self._read(group)) for group in groups]

    def data(self, stamp: int, *values: Array) -> bytes:
        """Returns the message with a stamp, ns, and the numbers (N,) of each group."""
        return bytes(serialize_message(self.fill(stamp, values)))

    def part(self, group: int) -> Array:
        """Returns the numbers (N,) of a group: what is written into them is in the next
        `stamped`.
        """
        return self._parts[group]

    def stamped(self, stamp: int) -> bytes:
        """Returns the message with a stamp, ns, and the numbers as they are."""
        return self.data(stamp, *self._parts)

    def fill(self, stamp: int, values: Sequence[Array]) -> Any:
        """Returns the message itself, as of `data`."""
        fill_time(self._message.header.stamp, stamp)
        for group, part, numbers in zip(self._groups, self._parts, values, strict=True):
            part[:] = numbers
            left = iter(part.tolist())
            for path in group:
                parent, name = self._place(path)
                before = getattr(parent, name)
                is_one = isinstance(before, float)
                value = next(left) if is_one else array('d', islice(left, len(before)))
                setattr(parent, name, value)
        return self._message

    def _read(self, group: Sequence[str]) -> list[float]:
        found: list[float] = []
        for path in group:
            value = getattr(*self._place(path))
            found += [value] if isinstance(value, float) else value
        return found

    def _place(self, path: str) -> tuple[Any, str]:
        """Returns the message that has the last field of a path, and the field."""
        *parents, name = path.split('.')
        found = self._message
        for parent in parents:
            found = getattr(found, parent)
        return found, name


Writer = FieldWriter | SerialisingWriter


def writer_of(type_name: str, make: Callable[[], Any], *groups: Sequence[str]) -> Writer:
    """Returns what writes numbers into serialised messages of one kind.

    type_name: 'package/msg/Name'. make: returns such a message, with a header, and with as many
    elements as every other. groups: paths of what one value fills: of a sequence of float64, or of
    several numbers.
    """
    unreadable = FrameRosError, ValueError, LookupError, struct.error, *MIDDLEWARE_ERRORS
    with contextlib.suppress(*unreadable):
        tried, found = (FieldWriter(type_name, serialize_message(make()), *groups) for _ in '12')
        if _agrees(tried, SerialisingWriter(make(), *groups), len(groups)):
            return found
    return SerialisingWriter(make(), *groups)


def _agrees(writer: FieldWriter, reference: SerialisingWriter, groups: int) -> bool:
    """Returns whether numbers written over others are read as the message that has them. Bytes
    between two fields may differ.
    """
    values: list[Array] = [
        np.arange(len(reference.part(k)), dtype=float) + 100.5 * (k + 1) for k in range(groups)
    ]
    wanted = reference.fill(TRIED_STAMP, values)
    found = writer.data(TRIED_STAMP, *values)
    # In words: a message with a NaN does not equal itself.
    return repr(deserialize_message(found, type(wanted))) == repr(wanted)


def sender_of(publisher: Publisher) -> Callable[[bytes], None]:
    """Returns what publishes serialised messages as `publisher.publish` does, without its checks of
    each: for as long as the publisher is neither destroyed nor deactivated.
    """
    return getattr(publisher.handle, 'publish_raw', publisher.publish)


def joint_state_writer(names: Sequence[str], frame: str = '') -> Writer:
    """Returns the writer of sensor_msgs/JointState of the same joints: `data` takes positions,
    velocities and efforts, (D,) each. frame: of the header.
    """

    def make() -> JointState:
        zeros = [0.0] * len(names)
        header = Header(frame_id=frame)
        return JointState(
            header=header, name=list(names), position=zeros, velocity=zeros, effort=zeros
        )

    return writer_of('sensor_msgs/msg/JointState', make, ('position',), ('velocity',), ('effort',))


def wrench_writer(frame: str) -> Writer:
    """Returns the writer of geometry_msgs/WrenchStamped: `data` takes force in N and torque in N m,
    (6,).
    """
    paths = [f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz']
    make = lambda: WrenchStamped(header=Header(frame_id=frame))  # noqa: E731
    return writer_of('geometry_msgs/msg/WrenchStamped', make, paths)


def pose_writer(frame: str) -> Writer:
    """Returns the writer of geometry_msgs/PoseStamped: `data` takes position (3,) in m and
    quaternion xyzw (4,).
    """
    groups = (
        [f'pose.position.{axis}' for axis in 'xyz'],
        [f'pose.orientation.{axis}' for axis in 'xyzw'],
    )
    make = lambda: PoseStamped(header=Header(frame_id=frame))  # noqa: E731
    return writer_of('geometry_msgs/msg/PoseStamped', make, *groups)
