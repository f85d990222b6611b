# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Interpolation between infrequent commands, as in a controller."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Interpolator:
    """Goes to each new target in a straight line, as trajectory controllers do. Targets that move
    evenly and come more often than the time it takes are followed evenly, that time late.
    """

    def __init__(self, start: Array, duration: float) -> None:
        """start: (D,) where it is. duration: s to a new target; 0: it is there at once."""
        self._duration = duration
        self.restart(start)

    def restart(self, position: Array) -> None:
        """Goes on from somewhere else, (D,)."""
        self._first = self._target = position.copy()
        self._elapsed = 0.0

    def rows(self, target: Array, steps: int, timestep: float) -> Array:
        """(steps, D) where it is at the next timesteps (s) on the way to a target (D,)."""
        if not self._duration:
            return np.repeat(target[None], steps, axis=0)
        if not np.array_equal(target, self._target):
            self._first, self._target, self._elapsed = self._at(self._elapsed), target.copy(), 0.0
        times = self._elapsed + timestep * np.arange(1, steps + 1)
        self._elapsed += steps * timestep
        share = np.minimum(times / self._duration, 1.0)[:, None]
        return self._first + share * (self._target - self._first)

    def _at(self, elapsed: float) -> Array:
        share = min(elapsed / self._duration, 1.0)
        return self._first + share * (self._target - self._first)
