# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities towards the ends of the joints' ranges: an FR3 allows the less, the nearer a joint is
to its end, and stops itself with a joint_velocity_violation beyond that. The figures are those of
the URDF that the arm hands out.

franky lets all joints change their velocity in the same time, that of the joint which takes the
longest: one that reverses would keep another from braking. So none is given more to change than it
can in a short time.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.device_error import DeviceError

Array = NDArray[np.float64]
# Of what the arm allows and of the acceleration that a motion may have: the rest is for commands
# that come late.
BRAKING = 0.7
# rad before the end: the commanded position is ahead of the measured one, and what other joints do
# pushes one that stands there.
MARGIN = 0.005
BACK = 0.1  # s in which what a joint is beyond that shrinks to a third
# s that a joint goes on with its velocity until the next one counts: a period of the servo, and the
# time in which the acceleration changes.
AHEAD = 0.02
SOON = 0.02  # s in which a velocity that is sent can be reached
JOINT = re.compile(r'(?:.*_)?joint([1-7])')


class Approach:
    """Bounds of the joints' velocities, by where they are.

    At `x` before the end of a joint's range the arm allows sqrt(2 d x) - o, with the deceleration d
    and the offset o of its URDF (libfranka's Robot::getUpperJointVelocityLimits); here d is less,
    so that the motion can brake with it.

    Attributes:
        ends: (2, 7) rad, lower and upper, beyond which no joint is sent.
    """

    def __init__(self, urdf: str, accelerations: Array) -> None:
        """urdf: of the arm. accelerations: (7,) rad/s^2, that a motion may have.

        Raises:
            DeviceError: the arm's URDF cannot be read.
        """
        self.ends = np.tile([[-np.inf], [np.inf]], len(accelerations))
        self._offsets = np.zeros(len(accelerations))
        self._decelerations = np.ones(len(accelerations))
        self._change = SOON * accelerations
        try:
            for joint in ElementTree.fromstring(urdf).iter('joint') if urdf else ():
                self._take(joint, accelerations)
        except (ElementTree.ParseError, ValueError) as error:
            raise DeviceError(f'the URDF that the arm hands out cannot be read: {error}') from error

    def _take(self, joint: ElementTree.Element, most: Array) -> None:
        named = JOINT.fullmatch(joint.get('name', ''))
        limit, shrinking = joint.find('limit'), joint.find('position_based_velocity_limits')
        if named is None or limit is None or shrinking is None:
            return
        which = int(named[1]) - 1
        offset = float(shrinking.get('velocity_offset', 'nan'))
        deceleration = float(shrinking.get('deceleration_limit', 'nan'))
        lower, upper = (float(limit.get(name, 'nan')) for name in ('lower', 'upper'))
        is_usable = np.isfinite((lower, upper, offset, deceleration)).all()
        if not (is_usable and offset >= 0.0 and deceleration > 0.0):
            raise ValueError(
                f'{named[0]} has no finite limits, or a deceleration that is not above 0'
            )
        # From there on nothing more is allowed.
        before = offset**2 / (2.0 * deceleration) + MARGIN
        self.ends[:, which] = lower + before, upper - before
        self._offsets[which] = offset
        self._decelerations[which] = BRAKING * min(deceleration, most[which])

    def bounds(self, positions: Array, velocities: Array, commanded: Array) -> tuple[Array, Array]:
        """Returns the least and the largest velocities (7,) rad/s to be sent at positions (7,) rad
        with velocities (7,) rad/s, while those that the arm goes by are `commanded` (7,) rad/s.
        """
        ahead = positions + AHEAD * velocities
        left = np.array((ahead - self.ends[0], self.ends[1] - ahead))
        offsets, inside = self._offsets, np.maximum(0.0, left)
        speeds = np.sqrt(2.0 * self._decelerations * inside + offsets**2) - offsets
        # Beyond it nothing is allowed, also not what rounding makes of a velocity that ends.
        least, largest = np.where(left < 0.0, np.maximum(left, -MARGIN) / BACK, speeds)
        lowest, highest = commanded - self._change, commanded + self._change
        bounds: tuple[Array, Array] = (
            np.clip(-least, lowest, highest), np.clip(largest, lowest, highest)
        )  # fmt: skip
        return bounds
