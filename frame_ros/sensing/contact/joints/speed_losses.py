# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Losses of the motors by speed, beyond those that were identified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BOOLS = NDArray[np.bool_]
SPREAD = 0.25  # intervals between samples: deviation of the time that is not known at first
LARGEST = 0.75  # intervals, at most
DRIFT = 1e-4  # s: deviation by which the time may change in a second of motion
DEVIATIONS = 3.0  # of a residual in a threshold
CLIPPED = 0.5  # of a threshold, beyond which a residual counts as that: it may be a push


class SpeedLosses:
    """A time, one for all joints, by which a servo's torque is measured early or late.

    A servo's torque is its stiffness times the distance from the goal. Goals come in steps, so
    while a joint moves at v, the torque rises and falls by stiffness times v times the period of
    the goals, and what a sample shows of it depends on when in a period it is taken. That time is
    the same for all joints and stays as it is, but need not be what it was in the identification:
    another program sends the goals. What it changes looks like friction per speed, `stiffness`
    times the time, and is found by what free motion leaves unexplained of all joints together: a
    Kalman filter of one state that hardly changes. A push is not in proportion to the speed of all.

    Attributes:
        seconds: the time by which samples are later behind the goals than in the identification:
            times stiffness, friction per speed that there seems to be less.
    """

    def __init__(self, stiffness: Array, gain: float) -> None:
        """stiffness: (N,) N m/rad as identified; 0: unknown. Without any, nothing is found. gain:
        1/s, of the observer.
        """
        # The servos are taken to be alike: friction hides that of joints that bear little.
        self._stiffness = np.full_like(stiffness, stiffness.max())
        self._gain = gain
        self.is_used = bool(stiffness.max() > 0.0)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.seconds = 0.0
        self._variance = -1.0
        self._speed: Array = np.zeros_like(self._stiffness)

    def pause(self) -> None:
        """The observer begins again; the time stays."""
        self._speed = np.zeros_like(self._stiffness)

    @property
    def doubt(self) -> Array:
        """(N,) N m, the residual's deviation by what is not known of the time yet."""
        doubt: Array = np.sqrt(max(self._variance, 0.0)) * self._stiffness * np.abs(self._speed)
        return doubt

    @property
    def viscous(self) -> Array:
        """(N,) N m s/rad, to be added to what was identified."""
        return -self.seconds * self._stiffness

    def update(
        self, velocity: Array, decay: Array, interval: float, residual: Array, threshold: Array,
        slides: BOOLS,
    ) -> None:  # fmt: skip
        """Takes a sample.

        Args:
            velocity: (N,) rad/s.
            decay: (N,) of the observer in that interval.
            interval: s since the last sample.
            residual, threshold: (N,) N m.
            slides: (N,).
        """
        if self._variance < 0.0:
            self._variance = (SPREAD * interval) ** 2
        self._speed = decay * self._speed + (1.0 - decay) * velocity
        shown = np.where(slides & np.isfinite(threshold), self._stiffness * self._speed, 0.0)
        if not shown.any():
            return
        self._variance += DRIFT * DRIFT * interval
        # Neighbouring samples are of one error: the observer's filter.
        alike = max(2.0 / (self._gain * interval), 1.0)
        deviation = threshold / DEVIATIONS
        weights = shown / (alike * deviation * deviation)
        left = np.clip(residual, -CLIPPED * threshold, CLIPPED * threshold)
        left = np.where(shown == 0.0, 0.0, left)
        self._variance = 1.0 / (1.0 / self._variance + float(shown @ weights))
        most = LARGEST * interval
        found = self.seconds + self._variance * float(np.where(shown == 0.0, 0.0, weights) @ left)
        self.seconds = min(max(found, -most), most)
