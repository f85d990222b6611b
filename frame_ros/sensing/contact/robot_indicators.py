# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact and collision flags of a Franka arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.robot_flags import RobotFlags

JOINTS = 7
VECTORS = (
    'is_cartesian_linear_collision',
    'is_cartesian_angular_collision',
    'is_cartesian_linear_contact',
    'is_cartesian_angular_contact',
)
# The flags in the order of `indicators`; the last two are each of the joints.
INDICATOR_FIELDS = (
    *(f'collision_indicators.{name}.{axis}' for name in VECTORS for axis in 'xyz'),
    'collision_indicators.is_joint_collision',
    'collision_indicators.is_joint_contact',
)
UNTOUCHED = RobotFlags(*(np.zeros(size, dtype=bool) for size in (JOINTS, JOINTS, 6, 6)))


class Indicators(NamedTuple):
    """stamp: ns. flags: see RobotFlags."""

    stamp: int
    flags: RobotFlags


def indicators(stamp: int, values: Sequence[float] | NDArray[np.float64]) -> Indicators:
    """Returns the flags by their numbers (26,), in the order of INDICATOR_FIELDS."""
    flags = np.array(values) != 0.0
    joints = 12 + JOINTS
    return Indicators(stamp, RobotFlags(flags[joints:], flags[12:joints], flags[6:12], flags[:6]))
