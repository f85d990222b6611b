# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The time by which a stream's stamps are later than those of the joints, from a motion that both
show.

Of two signals on a common grid, one predicted from the joints and one measured, the offset is the
shift at which they correlate best (Knapp and Carter, The generalized correlation method for
estimation of time delay, 1976), between the grid by a parabola, without the moments in which
something touches the robot (`signal_shift`). Its standard deviation follows from what the best fit
leaves over and from how fast the signal changes,

    sigma_tau^2 = sigma_residual^2 / (gain^2 sum |d reference / dt|^2),

the bound of Cramer and Rao for a known signal in white noise, of the derivative only what neither
an offset nor another gain explains.

What pulls as smoothly as the robot moves, as a cable does in slow motion, is not left over: it
looks like an offset, but like another one in the next motion. So the deviations are as much larger
as estimates of separate motion were seen to contradict each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import hypot, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.offset_fusion import OffsetFusion, TimeOffset
from frame_ros.sensing.stream_health.signal_shift import best_shift

Array = NDArray[np.float64]
GAP = SECOND // 4  # ns without a sample, behind which nothing is interpolated
GRID = 5_000_000  # ns
LARGEST = 0.15  # s, of offsets that are looked for
WINDOW = 2.5  # s of motion that are looked at
KEPT = round((WINDOW + 2 * LARGEST) * SECOND)  # ns of both signals
PERIOD = SECOND // 10  # ns from one estimate to the next
LEAST_SECONDS = 0.6  # s of both signals that an estimate needs, apart from the shift
KERNEL = np.hanning(27)[1:-1]  # of a low-pass, 0.06 s wide at half of its height
KERNEL /= KERNEL.sum()
LOOSEST = 0.006  # s, deviation of an estimate that says anything
LARGE_SHARE = 0.25  # of an offset that its deviation may be
SEPARATE = WINDOW + 2.0 * LARGEST  # s from one estimate to the next of none of its motion
SCATTER_SHARE = 0.004  # of two estimates, in what is known of their scatter
OUTLIER = 25.0  # chi-squared of two estimates, at most
EXACT = 1e-9  # s, two deviations at least: signals without noise leave nothing over


class _Samples:
    """The newest samples of a signal, in arrays that are written once and read in place."""

    def __init__(self) -> None:
        self._begin = self._end = 0
        self._stamps: NDArray[np.int64] = np.zeros(64, np.int64)
        self._values: Array = np.zeros((64, 0))
        self.newest = 0  # ns, stamp of the last

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def stamps(self) -> NDArray[np.int64]:
        """(n,) ns."""
        return self._stamps[self._begin : self._end]

    @property
    def values(self) -> Array:
        """(n, K)."""
        return self._values[self._begin : self._end]

    def add(self, stamp: int, values: Array | Sequence[float]) -> None:
        """Adds a sample (K,), and forgets those before what is looked at."""
        end = self._end
        if end == len(self._stamps) or self._values.shape[1] != len(values):
            self._make_room(len(values))
            end = self._end
        self._stamps[end], self._values[end] = stamp, values
        self._end, self.newest = end + 1, stamp
        while self._stamps[self._begin] < stamp - KEPT:
            self._begin += 1

    def _make_room(self, width: int) -> None:
        """Moves what is kept to the front of arrays of twice that length."""
        stamps, values = self.stamps, self.values
        if values.shape[1] != width:
            stamps, values = stamps[:0], np.zeros((0, width))
        count = len(stamps)
        size = max(2 * count, len(self._stamps))
        self._stamps, self._values = np.zeros(size, np.int64), np.zeros((size, width))
        self._stamps[:count], self._values[:count] = stamps, values
        self._begin, self._end = 0, count


class TimeOffsetEstimator:
    """Takes both signals in the order of their stamps; `newest` is the last estimate that is
    certain enough, `since` the stamp (ns) from which on the motion is that it is of.
    """

    def __init__(
        self, most_deviation: float, least_correlation: float, has_known_sign: bool = True
    ) -> None:
        """Takes what makes an estimate count.

        Args:
            most_deviation: s.
            least_correlation: of both signals.
            has_known_sign: whether the measured signal grows with the predicted one; a force-torque
                sensor may read the force on the tool or that of the tool.
        """
        self._most_deviation, self._least = most_deviation, least_correlation
        self._has_known_sign = has_known_sign
        # Chi-squared of two estimates of separate motion, a running mean; a gap does not change it.
        self._scatter = 1.0
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward: an offset to another one may have gone with it."""
        self.newest = TimeOffset()
        self._fusion = OffsetFusion()
        self._restart()

    def shift(self, seconds: float, deviation: float, before: int, is_jump: bool = True) -> None:
        """The stamps are later from now on, by s that are known as well as that, behind the stamp
        `before`, ns: what both signals showed of the time since is neither the offset before nor
        that of now. is_jump: whether they have jumped, so that they may be apart.
        """
        self._restart()
        self._fusion.shift(seconds, deviation, before)
        newest, best = self.newest, self._fusion.best
        jump = newest.jump + (seconds if is_jump else 0.0)
        is_known = not (newest.unavailable or best.unavailable)
        self.newest = replace(best, jump=jump) if is_known else TimeOffset(jump=jump)

    def _restart(self) -> None:
        """Forgets the samples; the last estimate stays, and becomes less certain with its age."""
        self._reference, self._measured = _Samples(), _Samples()
        self._next = 0
        self._candidate: TimeOffset | None = None
        self._past: deque[TimeOffset] = deque()

    def add_reference(self, stamp: int, values: Array) -> None:
        """Takes the signal (K,) that the joints predict, at `stamp`, ns."""
        self._restart_after_gap(self._reference, stamp)
        self._reference.add(stamp, values)

    def add_measured(self, stamp: int, values: Array | Sequence[float]) -> bool:
        """Takes the measured signal (K,); returns whether `newest` is new."""
        self._restart_after_gap(self._measured, stamp)
        self._measured.add(stamp, values)
        if stamp < self._next or not len(self._reference):
            return False
        self._next = stamp + PERIOD
        found = self._as_seen(self.estimate())
        before, self._candidate = self._candidate, None
        if not (found.deviation <= LOOSEST and found.correlation >= self._least):
            return False
        self._candidate = found
        most = self._most_of(found.seconds)
        # Two that follow each other agree, or it is chance.
        if before is None or abs(before.seconds - found.seconds) > 3.0 * max(most, found.deviation):
            return False
        return self.take(found)

    def take(self, found: TimeOffset) -> bool:
        """Takes an estimate that is no chance; returns whether `newest` is new."""
        is_new = self._fusion.add(found, found.deviation <= self._most_of(found.seconds))
        best = self._fusion.best
        if not is_new or best.deviation > self._most_of(best.seconds):
            return False
        self.newest = best
        return True

    def _most_of(self, seconds: float) -> float:
        """Returns s, the deviation at most of an offset that counts: a large one need not be known
        as well as a small one.
        """
        return max(self._most_deviation, min(LARGE_SHARE * abs(seconds), LOOSEST))

    def _as_seen(self, found: TimeOffset) -> TimeOffset:
        """Returns an estimate with the deviation that such ones were seen to have. Of those of the
        last seconds nothing is learnt yet: the offset may just have become another.
        """
        if found.correlation >= self._least and isfinite(found.deviation):
            self._past.append(found)
        while self._past and found.stamp - self._past[0].stamp > 2.0 * SEPARATE * SECOND:
            old = self._past.popleft()
            least = old.stamp + SEPARATE * SECOND
            other = next((each for each in self._past if each.stamp >= least), None)
            if other is not None and other.stamp - least < SECOND:
                spread = max(hypot(other.deviation, old.deviation), EXACT)
                apart = (other.seconds - old.seconds) / spread
                self._scatter += SCATTER_SHARE * (min(apart * apart, OUTLIER) - self._scatter)
        return replace(found, deviation=found.deviation * sqrt(max(self._scatter, 1.0)))

    def _restart_after_gap(self, samples: _Samples, stamp: int) -> None:
        if len(samples) and not 0 < stamp - samples.newest <= GAP:
            self._restart()

    def estimate(self) -> TimeOffset:
        """Returns the offset by the samples that are kept."""
        reference, measured = self._reference, self._measured
        if not (len(reference) and len(measured)):
            return TimeOffset()
        begin = max(int(reference.stamps[0]), int(measured.stamps[0]))
        end = min(reference.newest, measured.newest)
        lags = round(LARGEST * SECOND / GRID)
        count = int((end - begin) // GRID) + 1
        if count - len(KERNEL) - 2 * lags < LEAST_SECONDS * SECOND / GRID:
            return TimeOffset()
        grid = begin + GRID * np.arange(count)
        # The same zero-phase low-pass for both, which moves neither against the other.
        predicted = _smoothed(_resampled(grid, reference))
        seen = _smoothed(_resampled(grid, measured))
        count -= len(KERNEL) - 1
        seen = seen[:, lags : count - lags]
        margin = len(KERNEL) // 2
        found = best_shift(predicted, seen, lags, self._has_known_sign, margin)
        if found is None:
            return TimeOffset()
        seconds, deviation = found.later * GRID / SECOND, found.deviation * GRID / SECOND
        span = seen.shape[1] * GRID
        return TimeOffset(seconds, deviation, found.correlation, end, '', span=span)


def _smoothed(values: Array) -> Array:
    """Returns (K, n - len(KERNEL) + 1) of (K, n)."""
    return np.array([np.convolve(row, KERNEL, 'valid') for row in values])


def _resampled(grid: NDArray[np.int64], samples: _Samples) -> Array:
    """Returns (K, n) on the grid, linearly between the samples."""
    first = samples.stamps[0]
    seconds, known = (grid - first) / SECOND, (samples.stamps - first) / SECOND
    return np.array([np.interp(seconds, known, column) for column in samples.values.T])
