# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Dry friction of joints between their torque sensors and their links."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.joints.friction_direction import FrictionDirection
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.sticking import StickWatch

Array = NDArray[np.float64]


class JointFriction:
    """The part of the torques measured behind the gears that goes into the bearings of the joints.

    No gear lies between encoder and joint, as there does before a motor that sticks: the positions
    show over which way friction has turned round, also at rest (`FrictionDirection`). Before a
    joint has moved that is not known.

    Attributes:
        friction: (N,) N m, as it opposes the motor.
        doubt: (N,) N m that what is unexplained may be off by, as friction is not known.
        held: (N,) N m of a push that a joint at rest may hold before it gives way; 0 in motion.
    """

    __slots__ = ('friction', 'doubt', 'held', '_coulomb', '_gain', '_direction', '_watch')

    def __init__(self, motors: MotorModel, gain: float) -> None:
        """Takes the gain, 1/s, of the observer that follows the external torque."""
        self._coulomb, self._gain = motors.coulomb, gain
        count = len(motors.joint_names)
        self._direction = FrictionDirection(count, motors.presliding)
        self._watch = StickWatch(count)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._direction.reset()
        self._watch.reset()
        self.friction: Array = np.zeros_like(self._coulomb)
        self.doubt: Array = self._coulomb
        self.held: Array = np.zeros_like(self._coulomb)

    def update(self, q: Array, seconds: float) -> Array:
        """Takes the positions (N,) rad, `seconds` after the last ones (NaN: at the beginning);
        returns `friction`.
        """
        direction = self._direction.update(q)
        self._watch.update(q, seconds)
        kept = math.exp(-self._gain * seconds) if seconds > 0.0 else 1.0
        self.doubt = np.maximum(self._coulomb * self._direction.uncertainty, kept * self.doubt)
        self.friction = self._coulomb * direction
        self.held = np.where(self._watch.is_stuck, self._coulomb + np.abs(self.friction), 0.0)
        return self.friction
