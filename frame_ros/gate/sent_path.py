# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The recent path of commands to an arm: an arm that lags is somewhere on it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class SentPath:
    """The range of the positions commanded to D joints in the last `span` to 1.5 `span` ns. now:
    (D,) the last position of each; NaN: it had no command, and may be anywhere.
    """

    def __init__(self, size: int, span: int) -> None:
        self._half, self._began = span // 2, 0
        self.now: Array = np.full(size, math.nan)
        self._low: Array = np.full((3, size), math.inf)
        self._high: Array = np.full((3, size), -math.inf)

    def add(self, indices: Indices, positions: Array, time: int) -> None:
        """Adds `positions` (K,) commanded at `time` (ns)."""
        self._drop_old(time)
        self.now[indices] = positions
        np.minimum(self._low[0], self.now, out=self._low[0], where=np.isfinite(self.now))
        np.maximum(self._high[0], self.now, out=self._high[0], where=np.isfinite(self.now))

    def forget(self) -> None:
        """Forgets the path: the joints may be anywhere until their next command."""
        self.now[:] = math.nan
        self._low[:], self._high[:] = math.inf, -math.inf

    def range(self, time: int) -> tuple[Array, Array]:
        """Returns the (D,) least and (D,) largest position; NaN for joints without a command."""
        self._drop_old(time)
        is_sent = np.isfinite(self.now)
        low = np.where(is_sent, np.minimum(self._low.min(axis=0), self.now), math.nan)
        high = np.where(is_sent, np.maximum(self._high.max(axis=0), self.now), math.nan)
        return low, high

    def _drop_old(self, time: int) -> None:
        """Drops old positions, but for the last."""
        for _ in range(3):
            if 0 <= time - self._began < self._half:
                return
            self._low[1:], self._high[1:] = self._low[:-1].copy(), self._high[:-1].copy()
            self._low[0], self._high[0] = math.inf, -math.inf
            self._began += self._half
        self._began = time
