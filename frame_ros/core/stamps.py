# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which stamps of a stream may be used: strictly increasing, or the clock was set anew."""

from __future__ import annotations

from enum import Enum

SECOND = 1_000_000_000


class Verdict(Enum):
    """What a guard says of a stamp."""

    USE = 1
    DROP = 2
    RESET = 3  # use it, and forget all that came before: the clock was set anew


class StampGuard:
    """Lets strictly increasing stamps through and counts the rest.

    Counters: zero (no stamp at all), duplicate, backward, jump (further ahead than time has
    passed), reset (the clock was set anew), gap (more than `gap` between two used stamps). One
    stamp far away is an error of that message; a run of stamps that follow one another there is a
    clock that was set anew, and is believed: after 3 if they are more than a second away, after 20
    if nearer, where old messages may just be repeated.

    used: how many stamps were used.
    """

    __slots__ = ('last', 'gap', 'jump', 'used', 'counts', '_arrival', '_candidate', '_run')

    def __init__(self, gap: float = 0.5, jump: float = 60.0) -> None:
        """`gap` and `jump` in s; an infinite gap counts none. A stamp may be `jump` further ahead
        of the last one than its message arrived after it.
        """
        self.last: int | None = None
        self.gap = gap * SECOND
        self.jump = int(jump * SECOND)
        self.used = 0
        self.counts = dict.fromkeys(('zero', 'duplicate', 'backward', 'jump', 'reset', 'gap'), 0)
        self._arrival = 0
        self._candidate: int | None = None
        self._run = 0

    def check(self, stamp: int, arrival: int = 0) -> Verdict:
        """Judges the next stamp of the stream, whose message arrived at `arrival`; ns."""
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

    def _suspect(self, stamp: int, step: int, arrival: int) -> Verdict:
        if step == 0:
            self.counts['duplicate'] += 1
            return Verdict.DROP
        follows = self._candidate is not None and 0 < stamp - self._candidate <= self.jump
        self._run = self._run + 1 if follows else 1
        self._candidate = stamp
        if self._run >= (3 if abs(step) > SECOND else 20):
            self.counts['reset'] += 1
            self.last, self._arrival, self._candidate = stamp, arrival, None
            return Verdict.RESET
        self.counts['backward' if step < 0 else 'jump'] += 1
        return Verdict.DROP
