# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Losses of the motors by speed, beyond those that were identified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BOOLS = NDArray[np.bool_]
SPREAD = 0.25  # periods of the samples: deviation of the time that is not known at first
LARGEST = 1.5  # periods, at most: stiffness may be identified too low
DRIFT = 1e-4  # s: deviation by which the time may change in a second of motion
DEVIATIONS = 3.0  # of a residual in a threshold
CLIPPED = 0.5  # of a threshold, beyond which a residual counts as that: it may be a push
KNOWN = 0.5  # of the deviation at first, below which what is felt is taken for a push
LONGEST_PUSH = 3.0  # s on end, behind which it is not any more
PERIOD_SHARE = 0.02  # of a change of the usual interval in what is taken for it
LEAST_SHOWN = 1e-9  # N m per s: a joint at rest, whose filtered speed falls for ever
LEAST_JOINTS = 1.5  # joints that move, as an effective number, which a push of one is not


class SpeedLosses:
    """A time, one for all joints, by which a servo's torque is measured early or late.

    A servo's torque is its stiffness times the distance from the goal. Goals come in steps, so
    while they go at v, the torque rises and falls by stiffness times v times their period, and what
    a sample shows of it depends on when in a period it is taken. (The goals' speed, not the
    joint's: a motor's back EMF makes it go ahead while the joint accelerates.) That time is the
    same for all joints and stays as it is, but need not be what it was in the identification:
    another program sends the goals. What it changes looks like friction per speed of the goals,
    `stiffness` times the time, and is found by what free motion leaves unexplained of all joints
    together: a Kalman filter of one state that hardly changes. A push is not in proportion to the
    speed of all; while one is felt, for LONGEST_PUSH at most, nothing is learnt.

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
        self._felt_for = self._period = 0.0  # s
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
        """(N,) N m s/rad of the goals' speed, to be added to what was identified."""
        return -self.seconds * self._stiffness

    def update(
        self, velocity: Array, decay: Array, interval: float, period: float, residual: Array,
        threshold: Array, slides: BOOLS,
    ) -> None:  # fmt: skip
        """Takes a sample.

        Args:
            velocity: (N,) rad/s, of the goals where they are known.
            decay: (N,) of the observer in that interval.
            interval: s since the last sample.
            period: s, the usual one.
            residual, threshold: (N,) N m.
            slides: (N,).
        """
        # One interval may be anything, the first one, too.
        self._period += PERIOD_SHARE * (period - self._period) if self._period else period
        if self._variance < 0.0:
            self._variance = (SPREAD * self._period) ** 2
        self._speed = decay * self._speed + (1.0 - decay) * velocity
        shown = np.where(slides & np.isfinite(threshold), self._stiffness * self._speed, 0.0)
        if _effective_number(shown) < LEAST_JOINTS or self._is_push(
            interval, period, residual, threshold
        ):
            return
        self._variance += DRIFT * DRIFT * interval
        # Neighbouring samples are of one error: the observer's filter.
        alike = max(2.0 / (self._gain * self._period), 1.0)
        deviation = threshold / DEVIATIONS
        weights = shown / (alike * deviation * deviation)
        left = np.clip(residual, -CLIPPED * threshold, CLIPPED * threshold)
        left = np.where(shown == 0.0, 0.0, left)
        self._variance = 1.0 / (1.0 / self._variance + float(shown @ weights))
        most = LARGEST * self._period
        found = self.seconds + self._variance * float(np.where(shown == 0.0, 0.0, weights) @ left)
        self.seconds = min(max(found, -most), most)

    def _is_push(self, interval: float, period: float, residual: Array, threshold: Array) -> bool:
        """Returns whether what is felt is taken for a push."""
        is_felt = bool((np.abs(residual) > threshold).any())
        self._felt_for = self._felt_for + interval if is_felt else 0.0
        is_known = self._variance < (KNOWN * SPREAD * self._period) ** 2
        return is_felt and is_known and self._felt_for < LONGEST_PUSH


def _effective_number(shown: Array) -> float:
    """Returns of how many joints the squares are, if they were alike; 0 of none."""
    largest = float(np.abs(shown).max())
    if not largest > LEAST_SHOWN:
        return 0.0
    squares = (shown / largest) ** 2
    total = float(squares.sum())
    return total * total / float(squares @ squares)
