# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How much a joint has been doing lately: what the size of a model's errors depends on."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class JointActivity:
    """Held maxima of what has happened at each joint, which fade with a time constant.

    values: (3, N): nearness to rest or to a reversal, 0 to 1 (1 at zero speed, 0.37 at the
    Stribeck velocity), speed (rad/s), acceleration (rad/s^2, by differences). Friction is least
    known at the first, grows with the second, and samples far apart miss most at the third.
    """

    __slots__ = ('values', '_factor', '_time', '_velocity', '_fading')

    def __init__(self, count: int, stribeck_velocity: float, time: float) -> None:
        """count: of joints. stribeck_velocity: rad/s. time: s in which what was fades to 0.37."""
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
        # A sign that changed from one sample to the next has passed through zero between them.
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
