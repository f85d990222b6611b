# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Jumps of a stream's stamps, seen by when its messages arrive.

What lies between a message's stamp and its arrival varies with the load of machine and network, but
its least value over some hundredths of a second hardly does. Where stamps jump, one step from stamp
to stamp differs from the others, and from then on that least value differs by as much the other
way. Messages that are lost, or that take longer on their way, do one of both alone. Where stamps
and arrivals do not go at the same pace, as in a recording that is played faster, nothing is found.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf, nan

from frame_ros.core.time import SECOND

LEAST = SECOND // 200  # ns, of jumps that are looked for
LARGEST = SECOND  # ns, of those: beyond, the clock was set
BLOCK = SECOND // 20  # ns of arrivals whose least delay is kept
BEFORE = SECOND  # ns before a jump of which the least delay counts
AFTER = 3 * SECOND // 10  # ns behind it
LEAST_AFTER = 5  # samples
KNOWN = 3 * SECOND // 10  # ns of arrivals before a jump, at least
AGREEMENT = 0.2  # of the jump by which step and delay may differ
LEAST_AGREEMENT = SECOND // 500  # ns, likewise
SHARE = 1 / 32  # of a step in the running mean of usual ones
SPREAD_SHARE = 1 / 128  # of how far it is off in the running mean of that
TIMES_SPREAD = 3.0  # of it by which a step must be off more than `LEAST`
CANDIDATES = 8  # odd steps that are looked at at a time


@dataclass(frozen=True)
class StampJump:
    """Stamps that are apart from those before.

    Attributes:
        arrival: ns, of the first message behind the jump.
        before: ns, stamp of the one before it.
        seconds: by which stamps are later than before.
        deviation: s, about, of that.
    """

    arrival: int
    before: int
    seconds: float
    deviation: float


@dataclass
class _Candidate:
    """A step from stamp to stamp that is not as the others, ns. before: least delay. spread: by how
    much it usually was more in a block. after: least delays in both halves of what is behind. last:
    stamp before the step.
    """

    arrival: int
    last: int
    size: int
    before: int
    spread: int
    after: list[float]
    count: int = 0


class StampJumps:
    """Takes every message of one stream in the order of arrival, also those whose stamps are not
    after the last.
    """

    def __init__(self) -> None:
        self._stamp = self._arrival = 0
        self.restart()

    def restart(self) -> None:
        """The clock was set: delays are not those of before."""
        self._usual, self._spread = nan, 0.0  # ns from stamp to stamp, and how far steps are off
        self._begin = 0  # ns, first arrival of those that count
        self._block = (0, 0)  # of arrivals: begin, and least delay
        self._blocks: deque[tuple[int, int]] = deque()
        self._candidates: list[_Candidate] = []

    @property
    def least_delay(self) -> float:
        """s from stamp to arrival, the least of the last second; NaN before a message came."""
        if not self._begin:
            return nan
        return min([self._block[1], *(least for _, least in self._blocks)]) / SECOND

    def add(self, stamp: int, arrival: int) -> StampJump | None:
        """Takes a message, ns; returns the jump that it makes certain."""
        last = self._stamp
        step, since = stamp - last, arrival - self._arrival
        self._stamp, self._arrival = stamp, arrival
        if not self._begin or not -LARGEST < step - since < LARGEST or since < 0:
            self.restart()
            self._begin = arrival
            self._block = (arrival, arrival - stamp)
            return None
        self._note(step, last, arrival)
        delay = arrival - stamp
        found = None
        if self._candidates:
            found = self._judge(arrival, delay)
        self._keep(arrival, delay)
        return found

    def _note(self, step: int, last: int, arrival: int) -> None:
        """A step that differs from usual ones is a candidate, and hardly counts among these."""
        odd = step - self._usual
        if odd != odd:  # the first
            self._usual = float(step)
            return
        largest = LEAST + TIMES_SPREAD * self._spread
        off = abs(odd)
        self._spread += SPREAD_SHARE * (min(off, largest) - self._spread)
        if off < largest:
            self._usual += SHARE * odd
            return
        # Steps that are all odd become usual ones.
        self._usual += SHARE * (largest if odd > 0.0 else -largest)
        if arrival - self._begin >= KNOWN and len(self._candidates) < CANDIDATES:
            least = sorted([self._block[1], *(each for _, each in self._blocks)])
            spread = least[len(least) // 2] - least[0]
            after = [inf, inf]
            self._candidates.append(_Candidate(arrival, last, round(odd), least[0], spread, after))

    def _judge(self, arrival: int, delay: int) -> StampJump | None:
        for each in self._candidates:
            half = arrival - each.arrival > AFTER // 2
            each.after[half] = min(each.after[half], delay)
            each.count += 1
        first = self._candidates[0]
        if arrival - first.arrival < AFTER or first.count < LEAST_AFTER:
            return None
        del self._candidates[0]
        after = round(min(first.after))
        jump = first.before - after
        off = max(abs(jump - first.size), first.spread, max(first.after) - after)
        if abs(jump) < LEAST or off > max(AGREEMENT * abs(jump), LEAST_AGREEMENT):
            return None
        # What is behind it is judged by what is behind it.
        self._candidates.clear()
        self._blocks.clear()
        self._begin, self._block = first.arrival, (arrival, after)
        deviation = max(off, LEAST_AGREEMENT // 4) / SECOND
        return StampJump(first.arrival, first.last, jump / SECOND, deviation)

    def _keep(self, arrival: int, delay: int) -> None:
        begin, least = self._block
        if arrival - begin < BLOCK:
            if delay < least:
                self._block = (begin, delay)
            return
        self._blocks.append(self._block)
        self._block = (arrival, delay)
        while self._blocks and self._blocks[0][0] < arrival - BEFORE - BLOCK:
            self._blocks.popleft()
