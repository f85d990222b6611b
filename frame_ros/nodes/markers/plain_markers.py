# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of all markers: colours, numbers as text, and a marker to fill in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray
from rclpy.duration import Duration
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

Numbers = Sequence[float] | NDArray[Any]

STOPS = ((0.15, 0.70, 0.30), (0.95, 0.80, 0.15), (0.85, 0.15, 0.15))  # green, yellow, red
EXPECTED = ColorRGBA(r=0.2, g=0.5, b=0.9, a=1.0)
UNEXPECTED = ColorRGBA(r=0.9, g=0.1, b=0.1, a=1.0)
UNKNOWN = ColorRGBA(r=0.6, g=0.6, b=0.6, a=1.0)
WARNING = ColorRGBA(r=1.0, g=0.65, b=0.1, a=1.0)
WHITE = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)


def new_marker(header: Header, space: str, number: int, kind: int, lifetime: float) -> Marker:
    """A white marker at its frame's origin that vanishes after `lifetime` s."""
    marker = Marker(header=header, ns=space, id=number, type=kind, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    marker.lifetime = Duration(seconds=lifetime).to_msg()
    marker.color = WHITE
    return marker


def attached(header: Header, frame: str) -> Header:
    """A header that lets RViz draw in `frame` as it stands now, whatever the time: its stamp is
    zero, the newest transform.
    """
    return Header(frame_id=frame) if frame else Header(frame_id=header.frame_id)


def set_pose(marker: Marker, translation: Numbers, quaternion: Numbers = (0, 0, 0, 1)) -> None:
    """Places a marker: m, and x, y, z, w."""
    place, turn = marker.pose.position, marker.pose.orientation
    place.x, place.y, place.z = map(float, translation)
    turn.x, turn.y, turn.z, turn.w = map(float, quaternion)


def set_scale(marker: Marker, scale: Numbers) -> None:
    """The edges of a marker, m."""
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)


def with_alpha(shade: ColorRGBA, alpha: float) -> ColorRGBA:
    """The same colour, more or less transparent."""
    return ColorRGBA(r=shade.r, g=shade.g, b=shade.b, a=alpha)


def point(place: Sequence[float]) -> Point:
    """Three coordinates as a point."""
    x, y, z = map(float, place)
    return Point(x=x, y=y, z=z)


def colour(fraction: float) -> ColorRGBA:
    """Green at 0, yellow at 0.5, red at 1 and beyond; grey where the value is NaN."""
    if not math.isfinite(fraction):
        return UNKNOWN
    place = min(max(fraction, 0.0), 1.0) * (len(STOPS) - 1)
    index = min(int(place), len(STOPS) - 2)
    part = place - index
    r, g, b = (low + part * (high - low) for low, high in zip(STOPS[index], STOPS[index + 1]))
    return ColorRGBA(r=r, g=g, b=b, a=1.0)


def greyed(shade: ColorRGBA, share: float) -> ColorRGBA:
    """The same colour with a share of grey, 0 to 1."""
    own, grey = ((each.r, each.g, each.b) for each in (shade, UNKNOWN))
    r, g, b = (one + share * (other - one) for one, other in zip(own, grey))
    return ColorRGBA(r=r, g=g, b=b, a=shade.a)


def log_fraction(value: float, low: float, high: float) -> float:
    """Returns where `value` lies between `low` (0) and `high` (1) on a logarithmic scale, or
    NaN.
    """
    if not math.isfinite(value):
        return math.nan
    return math.log(max(value, low) / low) / math.log(high / low)


def text(value: float, unit: str, scale: float = 1.0, digits: int = 1) -> str:
    """Returns a value for display; a dash if it is not available."""
    return f'{value * scale:.{digits}f} {unit}' if math.isfinite(value) else f'- {unit}'


def is_finite(point: Point | Vector3) -> bool:
    """Returns whether all three coordinates are numbers."""
    return math.isfinite(point.x) and math.isfinite(point.y) and math.isfinite(point.z)


def xyz(point: Point | Vector3) -> tuple[float, float, float]:
    """The three coordinates."""
    return point.x, point.y, point.z
