# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Channels of a sensor that stay at an end of their range, declared or seen."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
IMPROBABLE = log(1e-4)  # that a channel stays the same for so long, and that at its very extreme
HELD = SECOND // 10  # ns for which a channel is at an end of its range, at least
RANGE_SHARE = 0.999  # of a declared range that counts as its end
FAR = 5.0  # usual deviations that an end as seen lies away from the usual values
USUAL = 10.0  # s over which these are taken


class Saturation:
    """Of one stream of N channels.

    A channel is at the end of its range as seen if it stays at the largest or smallest value that
    it ever had, far from its usual ones, for longer than its own noise allows while other channels
    change.
    """

    def __init__(self, names: Sequence[str], ranges: Sequence[float], has_idle_zero: bool) -> None:
        """ranges: (N,) ends of the channels' ranges; 0: as seen."""
        self._names = tuple(names)
        self._ends = np.where(np.asarray(ranges) > 0.0, np.asarray(ranges) * RANGE_SHARE, np.inf)
        self._has_idle_zero = has_idle_zero
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward."""
        count = len(self._names)
        self._before: Array | None = None
        self._stamp = 0
        self._since = np.zeros(count, np.int64)  # when a channel last changed, ns
        self._declared = np.zeros(count, np.int64)  # since when it is beyond a declared end
        self._most, self._least = np.full(count, -np.inf), np.full(count, np.inf)
        self._mean: Array = np.zeros(count)
        self._deviation: Array = np.zeros(count)

    def at_end(self, stamp: int, values: Array, log_same: Array) -> str:
        """Returns which channel is at an end of its range, in words; '' if none is.

        Args:
            stamp: ns. values: (N,).
            log_same: (N,) logarithm per ns of the probability that a channel stays the same.
        """
        is_inside = ~(np.abs(values) >= self._ends)
        self._declared[is_inside] = stamp
        if stamp - int(self._declared.min()) >= HELD // 2:
            return self._in_words(int(np.argmin(self._declared)), values, 'declared')
        np.fmax(self._most, values, out=self._most)
        np.fmin(self._least, values, out=self._least)
        if self._before is None:
            self._before, self._mean, self._stamp = values, values.copy(), stamp
            self._since[:] = stamp
            return ''
        self._since[(values != self._before) & np.isfinite(values)] = stamp
        held = stamp - self._since
        is_changing = held < HELD
        is_held = ~is_changing & (log_same * held < IMPROBABLE)
        is_held &= is_changing.any()  # where nothing changes, it is another fault
        found = is_held & ((values >= self._most) | (values <= self._least))
        found &= np.abs(values - self._mean) > FAR * self._deviation
        if self._has_idle_zero:
            found &= values != 0.0
        self._follow(stamp, values, is_changing)
        self._before, self._stamp = values, stamp
        return self._in_words(int(np.argmax(found)), values, 'seen') if found.any() else ''

    def _follow(self, stamp: int, values: Array, is_changing: NDArray[np.bool_]) -> None:
        """Usual values, without those that are held."""
        share = min((stamp - self._stamp) / (USUAL * SECOND), 1.0)
        distance = np.where(is_changing, values - self._mean, 0.0)
        self._mean += share * distance
        change = np.where(is_changing, np.abs(distance) - self._deviation, 0.0)
        self._deviation += share * change

    def _in_words(self, channel: int, values: Array, how: str) -> str:
        return (
            f'saturated: {self._names[channel]} stays at {values[channel]:g}, the end of its '
            f'range as {how}'
        )
