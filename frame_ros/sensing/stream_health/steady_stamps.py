# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps that scatter about a steady rate, and the steady ones behind them.

A sensor measures at a steady rate. Where its driver stamps a sample when it reads it, the stamp is
later than the sample by what the machine did meanwhile, never earlier. So the k-th sample is of the
time a + b k of the line below the stamps that the earliest of them touch (Olson, A passive solution
to the sensor synchronization problem, 2010, of the stamps' arrival there). The line is fitted to
the earliest stamp of each quarter of a second, of the last four seconds: what is later by chance
does not move it, and clocks that run apart slowly are followed.

It counts where stamps scatter evidently, and the earliest ones do not: lost samples, which the
count k lacks, move the earliest ones, too.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

from frame_ros.core.time import SECOND

BLOCK = SECOND // 4  # ns of which the earliest stamp counts
BLOCKS, LEAST_BLOCKS = 16, 6  # that are looked at, at most and at least
LEAST_SAMPLES = 25  # of a block
ROUNDS = 4  # the earliest stamps against a line that is fitted to them
SCATTER, SCATTER_KEPT = 0.002, 0.001  # s, mean of stamps behind the line, to begin and to go on
OFF, OFF_KEPT = 0.0015, 0.003  # s, RMS of the earliest stamps about the line, likewise
SHARE = 0.3  # of the scatter, that this may be
# Of the scatter, that all stamps of a quarter of a second are behind the line: samples were lost.
LOST = 0.8
PAUSE = SECOND // 10  # ns from stamp to stamp, behind which the count begins again
LEAST_STEP = 1000  # ns between two stamps


class SteadyStamps:
    """Takes every stamp of a stream, in order.

    Attributes:
        is_steady: whether stamps are smoothed.
        scatter: s by which stamps are later than smoothed ones, the mean; NaN if nothing is.
        off: s, RMS of the earliest stamps about the line; NaN if nothing is smoothed.
    """

    def __init__(self) -> None:
        self._last = self._given = 0
        self.restart()

    def restart(self) -> None:
        """The clock was set, or samples are missing: the count says nothing."""
        self.is_steady, self.scatter, self.off = False, nan, nan
        self._stamps: list[int] = []
        self._ends: list[int] = []  # samples until the end of each block
        self._block_end = 0
        # The line: ns at sample `_from`, and per sample.
        self._from, self._at, self._step = 0, 0.0, 0.0
        self._look_end, self._least = 0.0, inf

    @property
    def in_words(self) -> str:
        """Describes what is smoothed, for diagnostics."""
        if not self.is_steady:
            return 'no: they do not scatter about a steady rate'
        return f'yes: they come {1e3 * self.scatter:.1f} ms late on average, by chance'

    def add(self, stamp: int) -> int:
        """Takes a stamp, ns, after the last; returns it smoothed, or as it is, after the last."""
        if not 0 < stamp - self._last <= PAUSE:
            self.restart()
            self._given = 0
        self._last = stamp
        stamps = self._stamps
        if not stamps:
            self._block_end = stamp + BLOCK
        elif stamp >= self._block_end:
            self._end_block(stamp)
            stamps = self._stamps
        stamps.append(stamp)
        given = self._smoothed(stamp) if self.is_steady else stamp
        self._given = max(given, min(self._given + LEAST_STEP, stamp))
        return self._given

    def _smoothed(self, stamp: int) -> int:
        line = self._at + self._step * (len(self._stamps) - 1 - self._from)
        late = stamp - line
        if late < self._least:
            self._least = late
        # By the line: stamps that stand still and leap say nothing of how long that takes.
        if line >= self._look_end:
            if self._look_end and self._least > LOST * self.scatter * SECOND:
                self.restart()
                return stamp
            self._look_end, self._least = line + BLOCK, inf
        return stamp if late < 0.0 else round(line)

    def _end_block(self, stamp: int) -> None:
        self._block_end = stamp + BLOCK
        self._ends.append(len(self._stamps))
        if len(self._ends) > BLOCKS:
            first = self._ends.pop(0)
            del self._stamps[:first]
            self._ends = [end - first for end in self._ends]
            self._from -= first
        if len(self._ends) >= LEAST_BLOCKS:
            self._fit()

    def _fit(self) -> None:
        begins = [0, *self._ends[:-1]]
        sizes = np.diff([0, *self._ends])
        if sizes.min() < LEAST_SAMPLES:
            self._take(nan, nan)
            return
        first = self._stamps[0]
        late = (np.array(self._stamps, np.int64) - first).astype(np.float64)
        count = np.arange(len(late), dtype=np.float64)
        step, at = np.polyfit(count, late, 1)
        for _ in range(ROUNDS):
            behind = late - step * count
            earliest = [
                begin + int(np.argmin(behind[begin:end]))
                for begin, end in zip(begins, self._ends, strict=True)
            ]
            step, at = np.polyfit(count[earliest], late[earliest], 1)
        behind = (late - at - step * count) / SECOND
        off = float(np.sqrt(np.mean(behind[earliest] ** 2)))
        self._from, self._at, self._step = 0, first + float(at), float(step)
        self._take(float(behind.mean()), off)

    def _take(self, scatter: float, off: float) -> None:
        least, most = (SCATTER_KEPT, OFF_KEPT) if self.is_steady else (SCATTER, OFF)
        is_steady = scatter >= least and off <= min(most, SHARE * scatter)
        if is_steady and not self.is_steady:
            self._look_end, self._least = 0.0, inf
        self.is_steady = is_steady
        self.scatter, self.off = (scatter, off) if is_steady else (nan, nan)
