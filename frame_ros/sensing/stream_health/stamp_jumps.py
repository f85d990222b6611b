# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Jumps of a stream's stamps, seen by when its messages arrive.

What lies between a message's stamp and its arrival, its delay, varies with the load of machine and
network, but its least value over some hundredths of a second hardly does. Where stamps jump, one
step from stamp to stamp differs from the others, and from then on the least delay differs by as
much the other way. Messages that are lost, or that take longer on their way, do one of both alone.
Where stamps and arrivals do not go at the same pace, as in a recording that is played faster,
nothing is found.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from math import inf, nan

from frame_ros.core.time import SECOND

LEAST = SECOND // 200  # ns, of jumps that are looked for
LARGEST = SECOND  # ns, of those: beyond, the clock was set
BLOCK = SECOND // 20  # ns of arrivals whose least delay is kept
BLOCKS = 100  # that are kept
BEFORE = 20  # blocks before a jump of which the least delay counts
AFTER = 3 * SECOND // 10  # ns behind it
AROUND = SECOND // 10  # ns before and behind the jump of another stream that do not count
LEAST_AFTER = 5  # samples
KNOWN = 3 * SECOND // 10  # ns of arrivals before a jump, at least
FIRST = SECOND  # ns of arrivals whose least delay stamps can come back to
LOST = SECOND // 10  # ns of messages that may be missing where stamps jump
AGREEMENT = 0.2  # of the jump by which step and delay may differ
LEAST_AGREEMENT = SECOND // 500  # ns, likewise
SHARE = 1 / 32  # of a step in the running mean of usual ones
SPREAD_SHARE = 1 / 128  # of how far it is off in the running mean of that
TIMES_SPREAD = 3.0  # of it by which a step must be off more than `LEAST`
CANDIDATES = 16  # odd steps that are looked at at a time


@dataclass(frozen=True)
class StampJump:
    """Stamps that are apart from those before.

    Attributes:
        arrival: ns, of the first message behind the jump.
        before: ns, stamp of the one before it.
        seconds: by which stamps are later than before.
        deviation: s, about, of that.
        since_first: s by which they are later than in the first second, by the least delays.
        first: ns, arrival of the first message.
    """

    arrival: int
    before: int
    seconds: float
    deviation: float
    since_first: float = nan
    first: int = 0


@dataclass
class _Candidate:
    """A step from stamp to stamp that is not as the others; ns.

    Attributes:
        arrival: of the message behind it; last: stamp of the one before.
        step, since: between their stamps and their arrivals. usual: of other steps.
        before: least delay before it; spread: by how much it usually was more in a block.
        after: least delays in both halves of what is behind it; count: samples there; as_before: of
            these, with a delay as before or more.
    """

    arrival: int
    last: int
    step: int
    since: int
    usual: float
    spread_of_steps: float
    before: int
    spread: int
    after: list[float] = field(default_factory=lambda: [inf, inf])
    count: int = 0
    as_before: int = 0

    def add(self, arrival: int, delay: int) -> None:
        """Takes a message behind it."""
        half = arrival - self.arrival > AFTER // 2
        self.after[half] = min(self.after[half], delay)
        self.count += 1
        self.as_before += delay >= self.before

    def jump(self) -> StampJump | None:
        """Returns the jump that it is, if it is one."""
        after = round(min(self.after))
        jump = self.before - after
        size, allowed = abs(jump), allowance(jump)
        off = max(self.spread, max(self.after) - after)
        if size < LEAST or off > allowed:
            return None
        # Of two senders on one topic one may have stamps that are later.
        if jump > 0 and self.as_before > self.count // 2:
            return None
        # A step as usual is none, nor one that lost messages alone explain.
        odd, allowed = self.step - self.usual, allowed + 2.0 * self.spread_of_steps
        rest = self.step - jump
        longest = max(self.since, self.usual)
        is_odd = (odd if jump > 0 else -odd) >= 0.5 * size
        is_plausible = self.usual - allowed <= rest <= longest + allowed
        if not (is_odd and is_plausible and self.since <= self.usual + LOST):
            return None
        deviation = max(off, LEAST_AGREEMENT // 4) / SECOND
        return StampJump(self.arrival, self.last, jump / SECOND, deviation)


@dataclass
class _Block:
    """Some hundredths of a second of arrivals, ns: first and last, least delay, samples."""

    begin: int
    end: int
    least: int
    count: int = 1


class StampJumps:
    """Takes every message of one stream in the order of arrival, also those whose stamps are not
    after the last.
    """

    def __init__(self) -> None:
        self._stamp = self._arrival = 0
        self.restart()

    def restart(self) -> None:
        """The clock was set: delays are not those of before."""
        self._usual = nan  # ns from stamp to stamp
        # How far steps differ from usual ones, and from those between arrivals.
        self._spread = self._late_spread = 0.0
        self._begin = self._start = 0  # ns, first arrival behind the last jump, and of all
        self._first = inf  # ns, least delay in the first second
        self._blocks: deque[_Block] = deque(maxlen=BLOCKS)
        self._candidates: list[_Candidate] = []

    @property
    def least_delay(self) -> float:
        """s from stamp to arrival, the least of the last second; NaN before a message came."""
        blocks = list(self._blocks)[-BEFORE:]
        return min(block.least for block in blocks) / SECOND if blocks else nan

    def add(self, stamp: int, arrival: int) -> StampJump | None:
        """Takes a message, ns; returns the jump that it makes certain."""
        last = self._stamp
        step, since = stamp - last, arrival - self._arrival
        self._stamp, self._arrival = stamp, arrival
        delay = arrival - stamp
        if not self._blocks or not -LARGEST < step - since < LARGEST or since < 0:
            self.restart()
            self._begin = self._start = arrival
            self._first = delay
            self._blocks.append(_Block(arrival, arrival, delay))
            return None
        if arrival - self._start < FIRST:
            self._first = min(self._first, delay)
        if self._is_odd(step, since):
            self._note(step, since, last, arrival)
        found = self._judge(arrival, delay) if self._candidates else None
        block = self._blocks[-1]
        if arrival - block.begin < BLOCK:
            block.end = arrival
            block.count += 1
            if delay < block.least:
                block.least = delay
        else:
            self._blocks.append(_Block(arrival, arrival, delay))
        return found

    def change(self, at: int) -> float | None:
        """Returns s by which stamps are later behind an arrival `at`, ns, than before it, by the
        least delays alone; None while that is not known.
        """
        before = [block for block in self._blocks if block.end < at - AROUND][-BEFORE:]
        after = [block for block in self._blocks if block.begin > at + AROUND]
        if not before or sum(block.count for block in after) < LEAST_AFTER:
            return None
        if after[-1].end - after[0].begin < AFTER // 2:
            return None
        least = min(block.least for block in before), min(block.least for block in after)
        return (least[0] - least[1]) / SECOND

    def _is_odd(self, step: int, since: int) -> bool:
        """Returns whether a step differs from usual ones, or from that of the arrivals."""
        odd = step - self._usual
        if odd != odd:  # the first
            self._usual = float(step)
            return False
        off, late = abs(odd), abs(step - since)
        most = LEAST + TIMES_SPREAD * self._spread
        most_late = LEAST + TIMES_SPREAD * self._late_spread
        self._spread += SPREAD_SHARE * (min(off, most) - self._spread)
        self._late_spread += SPREAD_SHARE * (min(late, most_late) - self._late_spread)
        # Steps that are all odd become usual ones.
        self._usual += SHARE * min(max(odd, -most), most)
        return off >= most or (off >= LEAST // 2 and late >= most_late)

    def _note(self, step: int, since: int, last: int, arrival: int) -> None:
        if arrival - self._begin < KNOWN or len(self._candidates) >= CANDIDATES:
            return
        blocks = [block for block in self._blocks if block.begin >= self._begin][-BEFORE:]
        if not blocks:
            return
        least = sorted(block.least for block in blocks)
        spread = least[len(least) // 2] - least[0]
        self._candidates.append(
            _Candidate(
                arrival, last, step, since, self._usual, self._spread, least[0], spread
            )
        )  # fmt: skip

    def _judge(self, arrival: int, delay: int) -> StampJump | None:
        for each in self._candidates:
            each.add(arrival, delay)
        first = self._candidates[0]
        if arrival - first.arrival < AFTER or first.count < LEAST_AFTER:
            return None
        del self._candidates[0]
        if (found := first.jump()) is not None:
            # What is behind it is judged by what is behind it.
            self._candidates.clear()
            self._begin = first.arrival
            found = self._since_first(found, min(first.after))
        return found

    def _since_first(self, found: StampJump, delay: float) -> StampJump:
        """Returns a jump with how stamps are since the first second; delay: ns, the least behind
        it.
        """
        is_known = found.arrival - self._start >= FIRST
        later = (self._first - delay) / SECOND if is_known else nan
        return replace(found, since_first=later, first=self._start)


def allowance(jump: float) -> float:
    """Returns ns by which what belongs to a jump may differ from it, ns."""
    return max(AGREEMENT * abs(jump), LEAST_AGREEMENT)
