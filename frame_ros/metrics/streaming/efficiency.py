# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming latency statistics and control rate (FRAME eq. 14 and beside it)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from math import isfinite, sqrt

from frame_ros.errors import ValueRangeError
from frame_ros.metrics.definitions import NAN, NANOSECOND

_SECOND = 1_000_000_000


class LatencyStatistics:
    """Mean, percentiles and jitter of all calls so far, s. Batch form: `latency_statistics`.

    Keeps every latency, sorted: 8 bytes and a short move of memory per inference. `value` is the
    mean.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.last = NAN
        self._sorted: list[float] = []
        self._mean = 0.0
        self._squares = 0.0

    def update(self, latency: float) -> None:
        """Takes the latency of one call, s.

        Raises:
            ValueRangeError: it is negative or not finite.
        """
        if not (isfinite(latency) and latency >= 0.0):
            raise ValueRangeError(f'latency is {latency} s; a finite time, 0 or more, is expected')
        self.last = float(latency)
        insort(self._sorted, self.last)
        # Welford: the sum of squared distances to the mean, without subtracting large sums.
        change = self.last - self._mean
        self._mean += change / len(self._sorted)
        self._squares += change * (self.last - self._mean)

    @property
    def count(self) -> int:
        """Number of calls."""
        return len(self._sorted)

    @property
    def mean(self) -> float:
        """Mean; NaN before the first call."""
        return self._mean if self._sorted else NAN

    value = mean

    @property
    def jitter(self) -> float:
        """Population standard deviation."""
        return sqrt(self._squares / len(self._sorted)) if self._sorted else NAN

    def percentile(self, percent: float) -> float:
        """The percentile, linearly interpolated; NaN before the first call."""
        if not self._sorted:
            return NAN
        place = (len(self._sorted) - 1) * percent / 100.0
        below = int(place)
        low = self._sorted[below]
        high = self._sorted[min(below + 1, len(self._sorted) - 1)]
        return low + (high - low) * (place - below)

    @property
    def p50(self) -> float:
        """Median."""
        return self.percentile(50.0)

    @property
    def p95(self) -> float:
        """95th percentile."""
        return self.percentile(95.0)

    @property
    def p99(self) -> float:
        """99th percentile."""
        return self.percentile(99.0)


class ControlRate:
    """Rates of executed actions, Hz: `value` over all, `now`, `worst`. Batch: `control_rate`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = self.now = self.worst = NAN
        self._first = 0
        self._count = 0
        self._recent: deque[int] = deque()
        self._second = 0
        self._in_second = 0

    def update(self, stamp: int) -> None:
        """Takes the stamp of one executed action, ns.

        Raises:
            ValueRangeError: it is before the last one. Nothing has changed then.
        """
        recent = self._recent
        if not self._count:
            self._first = stamp
        elif stamp < recent[-1]:
            raise ValueRangeError(f'stamp {stamp} ns is before the last one, {recent[-1]} ns')
        recent.append(stamp)
        # recent[0] stays the newest stamp that is at least a second old, or the first.
        while len(recent) > 1 and recent[1] <= stamp - _SECOND:
            recent.popleft()
        self._count += 1
        self._count_in_second((stamp - self._first) // _SECOND)
        if stamp > self._first:
            self.value = (self._count - 1) / ((stamp - self._first) * NANOSECOND)
            self.now = (len(recent) - 1) / ((stamp - recent[0]) * NANOSECOND)

    def _count_in_second(self, second: int) -> None:
        """One more action in this second since the first; a later one completes those before it."""
        if second > self._second:
            least = 0 if second > self._second + 1 else self._in_second
            self.worst = float(least) if not self.worst <= least else self.worst
            self._second = second
            self._in_second = 0
        self._in_second += 1
