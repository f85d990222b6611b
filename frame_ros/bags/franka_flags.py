# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact and collision flags of a Franka arm, as franka_ros2 publishes them.

franka_msgs/FrankaRobotState begins with a header and franka_msgs/CollisionIndicators: four vectors
(linear and angular collision, linear and angular contact) and two times seven joints (collision,
contact), every one a float64 that is not 0 where the flag is raised (franka_msgs and
franka_semantic_components of franka_ros2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.fields import FieldReader
from frame_ros.core.time import stamp_ns
from frame_ros.sensing.contact.robot_flags import RobotFlags
from frame_ros.sensing.contact.robot_indicators import (
    INDICATOR_FIELDS,
    JOINTS,
    UNTOUCHED,
    Indicators,
    indicators,
)

ROBOT_STATE = 'franka_msgs/msg/FrankaRobotState'


class IndicatorReader:
    """Reads the flags from the bytes of a FrankaRobotState."""

    def __init__(self, types: Mapping[str, Any] | None = None) -> None:
        """types: definitions, as of FieldReader."""
        fields = ('header.stamp', *INDICATOR_FIELDS)
        self._reader = FieldReader(ROBOT_STATE, fields, types)

    def read(self, data: bytes) -> Indicators:
        """Returns what is in `data`."""
        stamp, *values = self._reader.read(data)
        return indicators(stamp, np.hstack(values))


class StateFlagReader:
    """Reads the flags from the bytes of a ContactState, as the simulator publishes them where
    franka_msgs is not installed.

    A joint's flag is raised where its residual is over its threshold; a collision is that of the
    joints that were when it began. If no joint's is, the first joint stands for an unknown one.
    Only the head of a message with neither is read.
    """

    def __init__(self, whole: Callable[[bytes], Any]) -> None:
        """whole: reads a ContactState as an object with its fields."""
        self._whole = whole
        self._collided: NDArray[np.bool_] = np.zeros(JOINTS, dtype=bool)
        fields = ('header.stamp', 'unavailable', 'in_contact', 'in_collision')
        self._head = FieldReader('frame_ros/msg/ContactState', fields)

    def read(self, data: bytes) -> Indicators | None:
        """Returns the indicators in `data`; None if it has none."""
        stamp, unavailable, in_contact, in_collision = self._head.read(data)
        if not (unavailable or in_contact or in_collision):
            self._collided = UNTOUCHED.joint_collision
            return Indicators(stamp, UNTOUCHED)
        message = self._whole(data)
        if message.unavailable:
            return None
        residuals = np.array(message.joint_residuals)
        thresholds = np.array(message.joint_thresholds)
        over = np.zeros(JOINTS, dtype=bool)
        if residuals.shape == thresholds.shape == over.shape:
            over = np.abs(residuals) >= thresholds
        if not over.any():
            over[0] = True
        if not message.in_collision:
            self._collided = np.zeros(JOINTS, dtype=bool)
        elif not self._collided.any():
            self._collided = over
        none = np.zeros(6, dtype=bool)
        stamp = message.header.stamp
        flags = RobotFlags(over & message.in_contact, self._collided, none, none)
        return Indicators(stamp_ns(stamp), flags)
