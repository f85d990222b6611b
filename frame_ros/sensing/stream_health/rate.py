# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rate and jitter of a stream, by its stamps."""

from __future__ import annotations

from collections import deque
from math import nan, sqrt

from frame_ros.core.time import SECOND

MEMORY = 50  # intervals
PAUSE = 1.0  # s; a longer interval is a pause, and no part of the rate


class StampRate:
    """Of the newest intervals, and of all. count: samples. longest: s between two."""

    def __init__(self) -> None:
        self._last = 0
        self._newest: deque[float] = deque(maxlen=MEMORY)
        self._sum = self._squares = self._intervals = 0.0
        self._first = 0.0
        self.count = 0
        self.longest = 0.0

    def restart(self) -> None:
        """The clock was set: the next sample has no interval."""
        self._last = 0
        self._newest.clear()

    def add(self, stamp: int) -> None:
        """Takes the stamp of the next sample, ns, after the last."""
        if self._last:
            interval = (stamp - self._last) / SECOND
            self.longest = max(self.longest, interval)
            if 0.0 < interval <= PAUSE:
                self._newest.append(interval)
                self._first = self._first or interval
                change = interval - self._first  # a sum of squares far from 0 loses digits
                self._sum += change
                self._squares += change * change
                self._intervals += 1.0
        self._last = stamp
        self.count += 1

    @property
    def is_known(self) -> bool:
        """True if there are enough intervals."""
        return len(self._newest) >= MEMORY // 2

    @property
    def newest_rate(self) -> float:
        """Hz, of the newest intervals; NaN before there are enough."""
        return len(self._newest) / sum(self._newest) if self.is_known else nan

    @property
    def newest_jitter(self) -> float:
        """s, standard deviation of the newest intervals; NaN before there are enough."""
        if not self.is_known:
            return nan
        mean = sum(self._newest) / len(self._newest)
        return sqrt(sum((each - mean) ** 2 for each in self._newest) / len(self._newest))

    @property
    def rate(self) -> float:
        """Hz, of all without pauses; NaN without an interval."""
        total = self._sum + self._intervals * self._first
        return self._intervals / total if total > 0.0 else nan

    @property
    def jitter(self) -> float:
        """s, standard deviation of all intervals without pauses; NaN without one."""
        if not self._intervals:
            return nan
        mean = self._sum / self._intervals
        return sqrt(max(self._squares / self._intervals - mean * mean, 0.0))
