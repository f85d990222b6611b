# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Validity of a stream's stamps: strictly increasing, unless the clock was reset; and limits of
rates by stamps."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND

LONGEST = 2**63 - 1  # ns that a stamp can have
# A step back of a node's clock by more than this, ns, is a clock that was set back: a simulation
# that began again.
SET_BACK = SECOND
JUMP = 60.0  # s: longest step ahead of a stream's stamps, unless as much time has passed
FAR_RUN, NEAR_RUN = 3, 20  # see `StampGuard`


class Verdict(Enum):
    """A guard's verdict on a stamp."""

    USE = 1
    DROP = 2
    RESET = 3  # use it, and forget all that came before: the clock was reset


class StampGuard:
    """Lets strictly increasing stamps through and counts the rest.

    One stamp far away is an error of that message. A run of consecutive stamps there means that the
    clock was reset, and is believed: after 3 if they are more than a second away, after 20 if
    nearer, where old messages may just be repeated.

    Attributes:
        used: stamps used.
        counts: messages without a stamp ('zero'), equal to or before the last one ('duplicate',
            'backward'), or more than `jump` further ahead than time has passed ('jump'); times that
            the clock was reset; and pauses longer than `gap` ('gap').
    """

    __slots__ = ('last', 'gap', 'jump', 'used', 'counts', '_arrival', '_candidate', '_run')

    def __init__(self, gap: float = 0.5, jump: float = JUMP) -> None:
        """`gap`: s, infinite to count none. `jump`: s, see above."""
        self.last: int | None = None
        self.gap = gap * SECOND
        self.jump = int(jump * SECOND)
        self.used = 0
        self.counts = dict.fromkeys(('zero', 'duplicate', 'backward', 'jump', 'reset', 'gap'), 0)
        self._arrival = 0
        self._candidate: int | None = None
        self._run = 0

    def check(self, stamp: int, arrival: int = 0) -> Verdict:
        """Judges the next stamp of the stream, whose message arrived at `arrival`; both in ns."""
        last = self.last
        if last is not None and stamp > 0:
            step = stamp - last
            if 0 < step <= self.jump or 0 < step - self.jump <= arrival - self._arrival:
                self.last, self._arrival = stamp, arrival
                self._candidate = None
                self.used += 1
                if step > self.gap:
                    self.counts['gap'] += 1
                return Verdict.USE
            return self._suspect(stamp, step, arrival)
        if stamp <= 0:
            self.counts['zero'] += 1
            return Verdict.DROP
        self.last, self._arrival = stamp, arrival
        self.used += 1
        return Verdict.USE

    def restart(self) -> None:
        """All clocks were set to another time: the next stamp is the first again."""
        self.last = self._candidate = None
        self._run = 0

    def _suspect(self, stamp: int, step: int, arrival: int) -> Verdict:
        if step == 0:
            self.counts['duplicate'] += 1
            return Verdict.DROP
        follows = self._candidate is not None and 0 < stamp - self._candidate <= self.jump
        self._run = self._run + 1 if follows else 1
        self._candidate = stamp
        if self._run >= (FAR_RUN if abs(step) > SECOND else NEAR_RUN):
            self.counts['reset'] += 1
            self.last, self._arrival, self._candidate = stamp, arrival, None
            return Verdict.RESET
        self.counts['backward' if step < 0 else 'jump'] += 1
        return Verdict.DROP


def may_reset(stamps: NDArray[np.int64], arrivals: NDArray[np.int64]) -> bool:
    """Returns whether a StampGuard may find that a clock was reset in stamps (T,) of messages that
    arrived at `arrivals` (T,), in this order; both in ns. If not, it uses every stamp that is above
    all before it, and no other.
    """
    is_set = stamps > 0
    stamps, arrivals = stamps[is_set], arrivals[is_set]
    newest, passed = np.maximum.accumulate(stamps), np.diff(arrivals)
    ahead = np.diff(newest) - int(JUMP * SECOND)
    if ((ahead > 0) & ((ahead > passed) | bool((passed < 0).any()))).any():
        return True
    is_behind = stamps[1:] <= newest[:-1]
    in_a_row = [is_behind[n : len(is_behind) - FAR_RUN + 1 + n] for n in range(FAR_RUN)]
    return len(is_behind) >= FAR_RUN and bool(np.logical_and.reduce(in_a_row).any())


class RateLimit:
    """Lets stamps through at a limited rate; a stream of that rate passes whole, with jitter."""

    def __init__(self, rate: float) -> None:
        """Sets the rate in Hz; 0 lets nothing through."""
        self._period = int(min(SECOND / rate, LONGEST)) if rate > 0 else 0
        self._next = 0

    def is_due(self, stamp: int) -> bool:
        """Returns whether to act at this stamp (ns)."""
        if not self._period or stamp < self._next:
            return False
        # At most a tenth of a period of lateness is made up for, so that no stamp is much too
        # early.
        self._next = stamp + self._period - min(stamp - self._next, self._period // 10)
        return True

    def reset(self) -> None:
        """Starts again after the clock was set back."""
        self._next = 0
