# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The probability that the values of a stream stay the same, as the stream itself shows it.

A sensor that reads in steps may stand still on one of them for as long as it likes; one whose noise
spans several steps cannot. How many steps the noise spans is bounded from below by how often two
samples lie two steps or more apart: that two readings in the same noise do, wherever between two
steps the value lies, needs a difference of the noise of more than one step,

    P(two steps or more) <= P(|N(0, 2 sigma^2)| > step) = 2 Phi(-step / (sqrt(2) sigma)) = q

so that with z = Phi^-1(1 - q / 2) a sample stays on its step with at most the probability of one in
the middle of one, erf(step / (2 sqrt(2) sigma)) = erf(z / 2). A value that merely hops between two
steps, as one does that happens to lie between them, has q = 0 and proves nothing.
"""

from __future__ import annotations

from collections import deque
from math import erf
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_NORMAL = NormalDist()
BIN_SAMPLES, BIN_SECONDS = 20, 1.0  # of which a share is taken, at least
BINS = 30  # that are remembered
WEAKEST = 3  # of them, in which noise was least, that count; before there are so many, none does
STEPS = 1.5  # between one step and two
LEAST_LOG = -15.0  # of one channel and sample


class NoiseWhileStanding:
    """The noise of each channel, and how long it lets one stay the same. Of the seconds that are
    remembered, those in which noise was least count: pushes and vibrations end.

    Attributes:
        log_same: (N,) logarithm of the probability that a channel stays the same from one sample to
            the next; 0: nothing is known.
    """

    def __init__(self, channels: int) -> None:
        self._step = np.full(channels, np.inf)
        self._bins: deque[Array] = deque(maxlen=BINS)
        self.log_same = np.zeros(channels)
        self._jumps = np.zeros(channels)
        self._count, self._seconds = 0, 0.0

    def see(self, difference: Array) -> None:
        """Takes absolute differences (N,) between two samples, whether or not anything moves: the
        least of them is the step in which the sensor reads.
        """
        np.minimum(self._step, difference, out=self._step, where=difference > 0.0)

    def add(self, difference: Array, seconds: float) -> None:
        """Takes absolute differences (N,) between two samples `seconds` apart, nothing moving."""
        self._jumps += difference > STEPS * self._step
        self._count += 1
        self._seconds += seconds
        if self._count >= BIN_SAMPLES and self._seconds >= BIN_SECONDS:
            self._close()

    def _close(self) -> None:
        self._bins.append(self._jumps / self._count)
        if len(self._bins) >= WEAKEST:
            share = np.sort(self._bins, axis=0)[:WEAKEST].mean(axis=0)
            # Two deviations less than was counted.
            share -= 2.0 * np.sqrt(share / (WEAKEST * self._count))
            same = np.array([_probability_to_stay(value) for value in share.tolist()])
            with np.errstate(divide='ignore'):
                self.log_same = np.maximum(np.log(same), LEAST_LOG)
        self._jumps = np.zeros(len(self._jumps))
        self._count, self._seconds = 0, 0.0


def _probability_to_stay(share: float) -> float:
    """Returns erf(z / 2) of the share q, see above."""
    middle = 1.0 - 0.5 * min(max(share, 0.0), 1.0)
    return erf(0.5 * _NORMAL.inv_cdf(middle)) if middle < 1.0 else 1.0


class ChangeWhileMoving:
    """The share of samples that were the one before them again while the robot moved.

    Attributes:
        log_same: logarithm of that probability, at most; 0: nothing is known.
        usual: logarithm of its median.
    """

    def __init__(self) -> None:
        self._bins: deque[float] = deque(maxlen=BINS)
        self._same = self._count = 0
        self.log_same = self.usual = 0.0

    def add(self, is_same: bool) -> None:
        """Takes one pair of samples."""
        self._same += is_same
        self._count += 1
        if self._count >= BIN_SAMPLES:
            self._bins.append(float(np.log((self._same + 1.0) / (self._count + 2.0))))
            self._same = self._count = 0
            if len(self._bins) >= WEAKEST:
                self.log_same, self.usual = max(self._bins), float(np.median(self._bins))
