# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drift of torque sensors, which is followed in motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
FOLLOWED_IN = 200.0  # s of motion: far longer than a push, far shorter than sensors warm up in
MOVES = 0.05  # rad/s of any joint
SHARE = 0.5  # of the threshold at rest, beyond which a residual counts as that: it may be a push
MOST = 0.8  # of the threshold at rest: an offset alone never makes a contact


class TorqueDrift:
    """Offsets of the torque sensors of N joints since the identification, as they drift.

    What the model does not know of masses changes with the posture, so only a moving arm shows the
    drift: the mean of what is left over minutes, while nothing is felt or held. It is never as
    large as what is felt.

    Attributes:
        offset: (N,) N m.
    """

    __slots__ = ('offset', '_step', '_most')

    def __init__(self, motors: MotorModel) -> None:
        """Takes motors that were identified with their torque sensors."""
        self._step, self._most = SHARE * motors.threshold_base, MOST * motors.threshold_base
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.offset: Array = np.zeros(len(self._most))

    def update(self, residual: Array, velocity: Array, seconds: float) -> None:
        """Takes the external torque (N,) N m without the offset so far, `seconds` after the last
        one. What a sensor reads too much looks like a push the other way.
        """
        if np.abs(velocity).max() < MOVES:
            return
        share = min(seconds / FOLLOWED_IN, 1.0)
        offset = self.offset - share * np.clip(residual, -self._step, self._step)
        self.offset = np.clip(offset, -self._most, self._most)
