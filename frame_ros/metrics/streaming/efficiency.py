# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming efficiency: latency, computation time, memory, control rate (FRAME eq. 14, 15)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from math import isfinite, sqrt

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import NANOSECOND, SECOND
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean


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
            ValueRangeError: it is negative or not finite. Nothing has changed then.
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
        latencies = self._sorted
        if not latencies:
            return NAN
        last = len(latencies) - 1
        place = last * percent / 100.0
        below = int(place)
        low = latencies[below]
        return low + (latencies[below + 1] - low) * (place - below) if below < last else low

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


# FRAME's name for it: IL is its `value`, the mean.
InferenceLatency = LatencyStatistics


class ComputationTime(RunningMean):
    """CT so far: mean CPU seconds per decision step, s; `last`: the newest. FRAME, table 1."""

    def reset(self) -> None:
        """Forgets everything."""
        super().reset()
        self.last = NAN

    def update(self, value: float) -> None:
        """Takes the CPU time of one decision step, s.

        Raises:
            ValueRangeError: it is negative or not finite. Nothing has changed then.
        """
        if not (isfinite(value) and value >= 0.0):
            raise ValueRangeError(f'CPU time is {value} s; a finite time, 0 or more, is expected')
        super().update(value)
        self.last = float(value)


class MemoryUsage:
    """MU so far: `value`, the peak of resident and device memory together, bytes; `last`: the
    newest. FRAME eq. 15.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = self.last = NAN

    def update(self, resident: float, device: float = 0.0) -> None:
        """Takes the resident memory of the process and what it has allocated on a device, bytes.

        Raises:
            ValueRangeError: one is negative or not finite. Nothing has changed then.
        """
        if not (isfinite(resident + device) and resident >= 0.0 and device >= 0.0):
            raise ValueRangeError(
                f'memory is {resident} and {device} bytes; finite sizes, 0 or more, are expected'
            )
        self.last = float(resident + device)
        if not self.value >= self.last:
            self.value = self.last


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
        while len(recent) > 1 and recent[1] <= stamp - SECOND:
            recent.popleft()
        self._count += 1
        passed = stamp - self._first
        if passed:
            self.value = (self._count - 1) / (passed * NANOSECOND)
            self.now = (len(recent) - 1) / ((stamp - recent[0]) * NANOSECOND)
            if passed >= SECOND and not self.worst <= self.now:
                self.worst = self.now
