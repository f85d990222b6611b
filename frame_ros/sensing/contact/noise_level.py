# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The level of a contact sensor's noise in free space, and how unlikely a reading is by it."""

from __future__ import annotations

from math import log, pi

from frame_ros.core.time import SECOND

PERIOD = SECOND // 50  # ns from one sample that counts to the next
LEAST, MOST, USUAL = 0.02, 0.5, 0.3  # deviation of free space, as shares of a threshold
STEPS = 500.0  # samples over which it is learnt: 10 s
FREE_BELOW = 0.9  # share of a threshold from which a sample is none of free space
CONTACT = 2.0  # thresholds that the force of a usual contact comes to
HALF_NORMAL_MEDIAN = 0.6745  # of the deviation
DEGREES = 4.0  # of freedom of the noise: tails are far heavier than those of a normal distribution


class NoiseLevel:
    """The noise of a source, as a share of its threshold, and the weight of evidence of a share.

    The deviation is learnt from samples without contact, by their running median: a robust one,
    that a tenth of contacts below the threshold hardly moves (Robbins and Monro, "A stochastic
    approximation method", 1951). Until it is learnt, the thresholds count as three deviations.
    """

    def __init__(self) -> None:
        self._deviation = USUAL
        self._last: int | None = None

    @property
    def deviation(self) -> float:
        """Of free space, as a share of the threshold."""
        return self._deviation

    def learn(self, stamp: int, share: float) -> None:
        """Takes a sample without contact. stamp: ns. share: of the threshold."""
        if self._last is not None and 0 <= stamp - self._last < PERIOD:
            return
        self._last = stamp
        if share != share or share >= FREE_BELOW:
            return
        median = HALF_NORMAL_MEDIAN * self._deviation
        way = 1.0 if share > median else -1.0
        found = self._deviation * (1.0 + way * 4.0 / STEPS)
        self._deviation = min(max(found, LEAST), MOST)

    def evidence(self, share: float) -> float:
        """Returns the natural logarithm of how many times as likely a share is in contact as free.

        Free: half of Student's t of 4 degrees of freedom with that deviation. In contact: half of
        Cauchy's distribution about CONTACT thresholds, which excludes no force.
        """
        ratio = share / self._deviation
        free = 0.75 / self._deviation * (1.0 + ratio * ratio / DEGREES) ** (-(DEGREES + 1.0) / 2.0)
        touched = 2.0 / (pi * CONTACT) / (1.0 + (share / CONTACT) ** 2)
        return log(touched / free)
