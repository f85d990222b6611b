# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An offset between two streams' stamps, known ever better as separate motions show it.

Estimates come ten times a second, of windows that overlap. Only those of separate motion are
independent, and are fused, by the inverse of their variances: a Kalman filter of one value that
walks at random (Kalman, A new approach to linear filtering and prediction problems, 1960). Of all
ways to choose windows that do not overlap, that counts which leaves the least deviation, by the
recursion for intervals with weights,

    best(k) = the better of best(k - 1) and best(the last that ends before k begins) fused with k.

Where an estimate contradicts what is known, the offset has become another one, or the motion misled
the estimate. So it takes the place of what is known where a second one, of separate motion, agrees.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from math import hypot, inf, nan, sqrt

from frame_ros.core.time import SECOND

DOUBLING = 10.0  # s in which the error that is allowed for doubles
WALK = 3e-4  # s in a second, by which two clocks may run apart at random
CONTRADICTS = 3.5  # deviations
NO_MOTION = 'no motion yet that would show it'


@dataclass(frozen=True)
class TimeOffset:
    """An estimate.

    Attributes:
        seconds: by which the stream's stamps are later than those of the joints; NaN if unknown.
        deviation: s, its standard deviation.
        correlation: of the two signals at the best shift.
        stamp: ns, of the newest sample that it is of.
        unavailable: why it is not known.
        jump: s by which the stamps have become later since, as their arrival shows; a part of
            `seconds` where that is known.
        span: ns of motion that it is of, the newest.
    """

    seconds: float = nan
    deviation: float = inf
    correlation: float = nan
    stamp: int = 0
    unavailable: str = NO_MOTION
    jump: float = 0.0
    span: int = 0

    def deviation_at(self, stamp: int) -> float:
        """Returns s that its error may be at a later stamp, ns: no motion since has shown the
        offset better.
        """
        return self.deviation * (1.0 + max(stamp - self.stamp, 0) / (DOUBLING * SECOND))


class OffsetFusion:
    """Takes estimates in the order of their stamps.

    Attributes:
        best: what they show together.
    """

    def __init__(self) -> None:
        self.best = TimeOffset()
        # What was the best at some stamp, for as long as windows and the search for jumps go back.
        self._past: deque[TimeOffset] = deque(maxlen=100)
        self._rival: TimeOffset | None = None  # contradicts it

    def add(self, found: TimeOffset, is_certain: bool = True) -> bool:
        """Takes an estimate; returns whether `best` is new. is_certain: whether it may contradict
        what is known.
        """
        best = self.best
        if best.unavailable:
            self._take(found)
            return True
        before = self._before(found.stamp - found.span)
        if before is None:
            # Of the same motion as all that is known.
            is_better = found.deviation <= best.deviation_at(found.stamp)
            if is_better:
                self._take(found)
            return is_better
        known = walked(before, found.stamp)
        apart = abs(found.seconds - before.seconds)
        if apart > CONTRADICTS * hypot(found.deviation, known):
            return is_certain and self._contradict(found)
        self._rival = None
        fused = _fused(before, known, found)
        is_better = fused.deviation <= walked(best, found.stamp)
        if is_better:
            self._take(fused)
        return is_better

    def _contradict(self, found: TimeOffset) -> bool:
        """Takes an estimate that contradicts what is known; returns whether it takes its place."""
        rival = self._rival
        known = inf if rival is None else walked(rival, found.stamp)
        spread = hypot(found.deviation, known)
        if rival is None or abs(found.seconds - rival.seconds) > CONTRADICTS * spread:
            self._rival = found
        elif found.stamp - found.span < rival.stamp:
            # Of the same motion: the more certain one stays.
            self._rival = found if found.deviation <= known else rival
        else:
            self._rival = None
            self._past.clear()
            self._take(_fused(rival, known, found))
            return True
        return False

    def shift(self, seconds: float, deviation: float, before: int) -> None:
        """The stamps have jumped, by s that are known as well as that, behind the stamp `before`,
        ns: what was found of the time since is neither the offset before nor that of now.
        """
        while self.best.stamp > before and self._past:
            self._past.pop()
            self.best = self._past[-1] if self._past else TimeOffset()
        best, self._rival = self.best, None
        self._past.clear()
        if best.unavailable:
            return
        deviation = hypot(best.deviation, deviation)
        self._take(replace(best, seconds=best.seconds + seconds, deviation=deviation))

    def _take(self, found: TimeOffset) -> None:
        self.best = found
        self._past.append(found)

    def _before(self, stamp: int) -> TimeOffset | None:
        """Returns the newest that is of motion before a stamp alone."""
        return next((each for each in reversed(self._past) if each.stamp <= stamp), None)


def walked(found: TimeOffset, stamp: int) -> float:
    """Returns s, the deviation of an estimate at a later stamp, ns, as the offset walks."""
    return sqrt(found.deviation**2 + WALK * WALK * max(stamp - found.stamp, 0) / SECOND)


def _fused(before: TimeOffset, known: float, found: TimeOffset) -> TimeOffset:
    """Returns both by the inverse of their variances; known: s, the deviation of the first now."""
    share = known * known / (known * known + found.deviation * found.deviation)
    seconds = before.seconds + share * (found.seconds - before.seconds)
    return replace(found, seconds=seconds, deviation=sqrt(share) * found.deviation)
