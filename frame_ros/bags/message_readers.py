# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states, wrenches and images, read from their bytes, ten times as fast as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.fields import FieldReader, Serialised
from frame_ros.robots.joint_state_merge import FullJointState


class ReadJointState(NamedTuple):
    """The positions of a joint state."""

    stamp: int  # ns
    names: tuple[str, ...]  # as they came
    positions: NDArray[np.float64]  # (K,) rad or m, as they came
    data: bytes | None  # the bytes it was read from, if there is nothing else in them; else None


class JointStateReader(FieldReader):
    """Reads sensor_msgs/JointState."""

    def __init__(self) -> None:
        fields = ('header.stamp', 'name', 'position', 'velocity', 'effort')
        super().__init__('sensor_msgs/msg/JointState', fields)

    def positions(self, data: bytes) -> ReadJointState:
        """Returns the positions of a message."""
        stamp, names, positions, velocities, efforts = self.read(data)
        is_all = not (len(velocities) or len(efforts))
        return ReadJointState(stamp, names, positions, data if is_all else None)

    def full(self, data: bytes) -> FullJointState:
        """Returns all of a message."""
        return FullJointState(*self.read(data))


class StampedNumbers(NamedTuple):
    """Numbers with a header."""

    stamp: int  # ns
    frame: str  # header.frame_id
    values: tuple[float, ...]  # the numbers


class WrenchReader(FieldReader):
    """Reads geometry_msgs/WrenchStamped: force x, y, z (N) and torque x, y, z (N m)."""

    def __init__(self) -> None:
        parts = [f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz']
        fields = ('header.stamp', 'header.frame_id', *parts)
        super().__init__('geometry_msgs/msg/WrenchStamped', fields)

    def wrench(self, data: bytes) -> StampedNumbers:
        """Returns the wrench of a message."""
        stamp, frame, *values = self.read(data)
        return StampedNumbers(stamp, frame, tuple(values))


class SerialisedImage(NamedTuple):
    """A sensor_msgs/Image."""

    stamp: int  # ns
    frame: str  # header.frame_id
    height: int  # pixels
    width: int  # pixels
    encoding: str  # as of sensor_msgs/image_encodings
    is_bigendian: int  # byte order of the pixels
    step: int  # bytes of a row
    data: NDArray[np.uint8]  # (N,) uint8, a view of the message


class ImageReader(FieldReader):
    """Reads sensor_msgs/Image without copying the pixels, which rclpy copies twice."""

    def __init__(self, types: Mapping[str, Any] | None = None) -> None:
        """types: definitions of another version, as of FieldReader."""
        fields = ('header.stamp', 'header.frame_id', *SerialisedImage._fields[2:])
        super().__init__('sensor_msgs/msg/Image', fields, types)

    def image(self, data: Serialised) -> SerialisedImage:
        """Returns the image of a message."""
        return SerialisedImage(*self.read(data))
