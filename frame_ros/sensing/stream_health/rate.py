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
        self._newest: deque[int] = deque()  # ns
        self._newest_sum = self._newest_squares = 0  # of them, exactly
        self._sum = self._squares = self._intervals = 0.0
        self._first = 0.0
        self.count = 0
        self.longest = 0.0

    def restart(self) -> None:
        """The clock was set: the next sample has no interval."""
        self._last = 0
        self._newest.clear()
        self._newest_sum = self._newest_squares = 0

    def add(self, stamp: int) -> None:
        """Takes the stamp of the next sample, ns, after the last."""
        stamp = int(stamp)  # squares of ns do not fit into 64 bits
        if self._last:
            step = stamp - self._last
            interval = step / SECOND
            if interval > self.longest:
                self.longest = interval
            if 0.0 < interval <= PAUSE:
                self._keep(step)
                self._first = self._first or interval
                change = interval - self._first  # a sum of squares far from 0 loses digits
                self._sum += change
                self._squares += change * change
                self._intervals += 1.0
        self._last = stamp
        self.count += 1

    def _keep(self, interval: int) -> None:
        newest = self._newest
        newest.append(interval)
        if len(newest) <= MEMORY:
            self._newest_sum += interval
            self._newest_squares += interval * interval
            return
        oldest = newest.popleft()
        if oldest != interval:
            self._newest_sum += interval - oldest
            self._newest_squares += interval * interval - oldest * oldest

    @property
    def is_known(self) -> bool:
        """True if there are enough intervals."""
        return len(self._newest) >= MEMORY // 2

    @property
    def newest_rate(self) -> float:
        """Hz, of the newest intervals; NaN before there are enough."""
        return len(self._newest) * SECOND / self._newest_sum if self.is_known else nan

    @property
    def newest_jitter(self) -> float:
        """s, standard deviation of the newest intervals; NaN before there are enough."""
        if not self.is_known:
            return nan
        count = len(self._newest)
        squares = count * self._newest_squares - self._newest_sum * self._newest_sum
        return sqrt(squares) / (count * SECOND)

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
