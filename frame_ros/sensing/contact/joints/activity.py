# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recent activity of each joint, on which the size of a model's errors depends."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class JointActivity:
    """Maxima of each joint's activity, which fade with a time constant.

    values: (3, N): nearness to rest or to a reversal, 0 to 1 (1 at zero speed, 0.37 at the Stribeck
    velocity), speed (rad/s), acceleration (rad/s^2, by differences). Friction is least known at the
    first, grows with the second, and widely spaced samples miss most at the third.
    """

    __slots__ = ('values', '_factor', '_time', '_velocity', '_fading')

    def __init__(self, count: int, stribeck_velocity: float, time: float) -> None:
        """Takes the Stribeck velocity, rad/s, and the time of fading to 0.37, s."""
        self._factor, self._time = -1.0 / stribeck_velocity**2, time
        self.values: Array = np.zeros((3, count))
        self._velocity: Array | None = None
        self._fading = (math.nan, 0.0)

    def reset(self) -> None:
        """Forgets everything."""
        self.values = np.zeros_like(self.values)
        self._velocity = None

    def update(self, velocity: Array, interval: float) -> Array:
        """Takes one sample: velocity (N,) rad/s, interval s since the last, NaN at the first."""
        now = np.empty_like(self.values)
        nearness, speed = now[0], now[1]
        np.abs(velocity, out=speed)
        before = velocity if self._velocity is None else self._velocity
        # A sign that changed between two samples has passed through zero.
        np.multiply(speed, velocity * before >= 0.0, out=nearness)
        nearness *= nearness
        nearness *= self._factor
        np.exp(nearness, out=nearness)
        if interval == interval:
            if interval != self._fading[0]:
                self._fading = (interval, math.exp(-interval / self._time))
            change = velocity - before
            change /= interval
            np.abs(change, out=now[2])
            self.values = np.maximum(now, self._fading[1] * self.values, out=now)
        else:
            now[2] = 0.0
            self.values = now
        self._velocity = velocity
        return self.values
