# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of messages: times, headers, vectors, contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3, Wrench
from numpy.typing import NDArray
from sensor_msgs.msg import Image
from std_msgs.msg import Header

from frame_ros.core.time import SECOND
from frame_ros.msg import ContactState


class OneContact(Protocol):
    """A contact as in ContactState; N, s, N s, m."""

    @property
    def link(self) -> str: ...
    @property
    def other(self) -> str: ...
    @property
    def is_expected(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def force(self) -> float: ...
    @property
    def peak_force(self) -> float: ...
    @property
    def duration(self) -> float: ...
    @property
    def impulse(self) -> float: ...
    @property
    def position(self) -> NDArray: ...
    @property
    def normal(self) -> NDArray: ...


def fill_time(message: Any, stamp: int) -> Any:
    """Writes ns into a Time or Duration, 0 if they are negative, and returns it."""
    message.sec, message.nanosec = divmod(max(stamp, 0), SECOND)
    return message


def time_message(stamp: int) -> Time:
    """Returns a stamp in ns as a Time."""
    return fill_time(Time(), stamp)


def header_message(stamp: int, frame: str = '') -> Header:
    """A header; stamp in ns."""
    return Header(stamp=time_message(stamp), frame_id=frame)


def fill_vector(message: Any, values: NDArray) -> Any:
    """Writes (3,) into a Point or Vector3, and returns it."""
    message.x, message.y, message.z = float(values[0]), float(values[1]), float(values[2])
    return message


# Type of a field -> what makes it of a value: times in ns, vectors (3,).
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    'boolean': bool,
    'string': str,
    'double': float,
    **dict.fromkeys(('uint8', 'uint32', 'uint64'), int),
    'sequence<string>': list,
    'builtin_interfaces/Time': time_message,
    'geometry_msgs/Point': lambda values: fill_vector(Point(), values),
    'geometry_msgs/Vector3': lambda values: fill_vector(Vector3(), values),
}


def fill_fields(message: Any, *records: object) -> Any:
    """Writes the fields, of the types above, that a record has under the same name; returns the
    message.
    """
    for name, kind in message.get_fields_and_field_types().items():
        for record in records:
            if kind in CONVERSIONS and hasattr(record, name):
                setattr(message, name, CONVERSIONS[kind](getattr(record, name)))
    return message


def fill_wrench(message: Wrench, wrench: NDArray) -> None:
    """Writes (6,), N and N m."""
    fill_vector(message.force, wrench)
    fill_vector(message.torque, wrench[3:])


def fill_contacts(message: ContactState, contacts: Sequence[OneContact]) -> None:
    """Writes the contacts one by one."""
    if not contacts:
        return
    message.links = [contact.link for contact in contacts]
    message.others = [contact.other for contact in contacts]
    message.is_expected = [contact.is_expected for contact in contacts]
    message.reasons = [contact.reason for contact in contacts]
    message.forces = [contact.force for contact in contacts]
    message.peak_forces = [contact.peak_force for contact in contacts]
    message.durations = [contact.duration for contact in contacts]
    message.impulses = [contact.impulse for contact in contacts]
    message.positions = [fill_vector(Point(), contact.position) for contact in contacts]
    message.normals = [fill_vector(Vector3(), contact.normal) for contact in contacts]


def optical_frame(camera: str) -> str:
    """The frame of a camera's images: x right, y down, z forward (REP-103)."""
    return f'{camera}_camera_optical_frame'


def image_message(header: Header, pixels: NDArray, encoding: str) -> Image:
    """pixels: (H, W) or (H, W, C), of the type of the encoding."""
    height, width = pixels.shape[:2]
    message = Image(header=header, height=height, width=width, encoding=encoding, is_bigendian=0)
    message.step = pixels.itemsize * pixels.size // height
    message.data = pixels.tobytes()  # bytes: an array would be copied element by element
    return message
