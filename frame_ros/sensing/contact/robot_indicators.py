# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact and collision flags of a Franka arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frame_ros.core.time import stamp_ns
from frame_ros.sensing.contact.robot_flags import RobotFlags

JOINTS = 7
VECTORS = (
    'is_cartesian_linear_collision',
    'is_cartesian_angular_collision',
    'is_cartesian_linear_contact',
    'is_cartesian_angular_contact',
)
UNTOUCHED = RobotFlags(*(np.zeros(size, dtype=bool) for size in (JOINTS, JOINTS, 6, 6)))


class Indicators(NamedTuple):
    """stamp: ns. flags: see RobotFlags."""

    stamp: int
    flags: RobotFlags


def indicators_of(message: Any) -> Indicators:
    """Returns the flags of a FrankaRobotState, live or from a bag."""
    flags = message.collision_indicators
    values = [getattr(getattr(flags, name), axis) for name in VECTORS for axis in 'xyz']
    values += [*flags.is_joint_collision, *flags.is_joint_contact]
    stamp = message.header.stamp
    return _indicators(stamp_ns(stamp), values)


def _indicators(stamp: int, values: Sequence[float]) -> Indicators:
    flags = np.array(values) != 0.0
    joints = 12 + JOINTS
    return Indicators(stamp, RobotFlags(flags[joints:], flags[12:joints], flags[6:12], flags[:6]))
