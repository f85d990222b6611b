# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One stream of numbers: frozen, repeated, saturated, too seldom; sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.own_noise import ChangeWhileMoving, NoiseWhileStanding
from frame_ros.sensing.stream_health.rate import StampRate
from frame_ros.sensing.stream_health.saturation import Saturation

Array = NDArray[np.float64]
SPACING = SECOND // 50  # ns between two samples that count as independent
SETTLING = 0.3  # s after a motion until the robot stands
IMPROBABLE = log(1e-9)  # that values stay the same for so long, and yet nothing is wrong
TIMES_LONGEST = 5.0  # as long as the longest time for which they did while healthy
FORGETTING = 60.0  # s with which that is forgotten
REPEATED = log(1e-6)  # that one sample is the same as the one before it, by noise
SELDOM_THE_SAME = log(0.15)  # likewise while the robot moves: values there rarely stay the same
MOST_FAULTS = 1000  # that are kept


class Verdict(NamedTuple):
    """The fault of a sample. is_repeat: it is the one before it under a new stamp. unavailable: why
    the stream cannot be used; '': it can.
    """

    is_repeat: bool = False
    unavailable: str = ''


HEALTHY, REPEAT = Verdict(), Verdict(True)


@dataclass(frozen=True)
class Fault:
    """A stretch [begin, end] (ns) in which a stream was wrong.

    Attributes:
        kind: 'frozen', 'saturated', 'offset', 'rate', 'limits' or 'publishers'.
        reason: in words, the first of the stretch.
        found: ns, when it was noticed.
    """

    kind: str
    reason: str
    begin: int
    end: int
    found: int


class StreamCheck:
    """Judges the samples of one stream, in the order of their stamps.

    Attributes:
        rate: of its stamps.
        repeats: samples that were the one before them again.
        longest_repeat: s that passed at most from a sample to the last of its repeats, where that
            was no freeze.
        faults: stretches so far; the last may go on.
    """

    def __init__(
        self,
        names: Sequence[str],
        settings: StreamHealthOptions | None = None,
        ranges: Sequence[float] | None = None,
        has_idle_zero: bool = False,
    ) -> None:
        """Takes the channels' names.

        Args:
            ranges: (N,) ends of the channels' ranges, 0: as seen; None: nothing is saturated.
            has_idle_zero: whether a channel that is exactly 0 may stay so, as the current of a
                motor that does nothing.
        """
        self.names, self._settings = tuple(names), settings or StreamHealthOptions()
        self._has_idle_zero = has_idle_zero
        self._has_rate_bounds = bool(self._settings.least_rate or self._settings.largest_jitter)
        self.rate = StampRate()
        self._noise, self._change = NoiseWhileStanding(len(self.names)), ChangeWhileMoving()
        self._range = None if ranges is None else Saturation(self.names, ranges, has_idle_zero)
        self.repeats, self.longest_repeat = 0, 0.0
        self.faults: list[Fault] = []
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward; what was learnt and found stays."""
        self._key: bytes | None = None
        # The samples with the same values now: since when, how many, and ns of it in which the
        # robot moved.
        self._same_since = self._same_count = self._same_moving = 0
        self._last = self._faded = 0
        self._moved: int | None = None  # when the robot last moved, ns
        self._taken: tuple[int, Array, bytes] | None = None
        # s for which values stayed the same at most, the robot moving all the time or not.
        self._longest = {True: 0.0, False: 0.0}
        self._frozen = self._saturated = ''
        self.rate.restart()
        if self._range is not None:
            self._range.reset()

    @property
    def is_judged_standing(self) -> bool:
        """True if the stream's noise is known to contradict a freeze while nothing moves."""
        return bool(self._noise.log_same.any())

    @property
    def is_judged_moving(self) -> bool:
        """True if a freeze is contradicted by how the values change while the robot moves."""
        return self.is_judged_standing or self._change.log_same < SELDOM_THE_SAME

    @property
    def judged(self) -> str:
        """Describes the conditions under which a freeze would be found."""
        if self.is_judged_standing:
            return 'standing and moving'
        if self.is_judged_moving:
            return 'while the robot moves: at rest its values stay the same anyway'
        return 'not yet: too little was seen of its noise and of motion'

    @property
    def newest(self) -> int:
        """ns, stamp of the newest sample."""
        return self._last

    def update(
        self,
        stamp: int,
        values: Array | Sequence[float],
        is_moving: bool | None,
        key: bytes | None = None,
    ) -> Verdict:
        """Takes one sample.

        Args:
            stamp: ns, after the last.
            values: (N,); NaN where there is none. A sequence of floats is made an array only where
                that is needed.
            is_moving: whether the robot moves; None: unknown, then nothing is learnt.
            key: bytes that are the same where all of the sample is; None: those of the values.
        """
        self.rate.add(stamp)
        if key is None:
            key = np.asarray(values, np.float64).tobytes()
        is_same = key == self._key
        if is_same:
            self._same_count += 1
            self._same_moving += stamp - self._last if is_moving else 0
        else:
            self._begin_run(stamp, key)
        self._last = stamp
        if is_moving or self._moved is None:
            self._moved = stamp
        is_spaced = self._taken is None or stamp - self._taken[0] >= SPACING
        if not (is_spaced or is_same):
            return self._verdict(stamp, False)
        values = np.asarray(values, np.float64)
        if is_spaced and not self._frozen:
            self._learn(stamp, values, key, is_moving)
        is_repeat = is_same and self._judge_same(stamp, values, is_moving)
        if is_spaced and self._range is not None:
            log_same = self._noise.log_same / SPACING
            self._saturated = '' if self._frozen else self._range.at_end(stamp, values, log_same)
        return self._verdict(stamp, is_repeat)

    def _begin_run(self, stamp: int, key: bytes) -> None:
        """The values have changed. How long they had not is what a healthy stream does, unless it
        was frozen.
        """
        self._key = key
        if self._same_count > 1 and not self._frozen:
            lasted = self._last - self._same_since
            fading = exp((self._faded - self._last) / (FORGETTING * SECOND))
            self._longest = {kind: value * fading for kind, value in self._longest.items()}
            self._faded = self._last
            kind = self._same_moving >= lasted
            self._longest[kind] = max(self._longest[kind], lasted / SECOND)
        if self._frozen:
            self._frozen, self._taken = '', None
        self._same_since, self._same_count, self._same_moving = stamp, 1, 0

    def _learn(self, stamp: int, values: Array, key: bytes, is_moving: bool | None) -> None:
        before, self._taken = self._taken, (stamp, values, key)
        if before is None or stamp - before[0] > 10 * SPACING:
            return
        difference = np.abs(values - before[1])
        self._noise.see(difference)
        if is_moving:
            self._change.add(key == before[2])
        elif is_moving is False and before[0] - (self._moved or 0) >= SETTLING * SECOND:
            self._noise.add(difference, (stamp - before[0]) / SECOND)

    def _judge_same(self, stamp: int, values: Array, is_moving: bool | None) -> bool:
        """Judges a sample that is as the one before it; returns whether it is a repeat."""
        log_same = self._noise.log_same
        noise = float((log_same[values != 0.0] if self._has_idle_zero else log_same).sum())
        motion = self._change.log_same
        if not self._frozen and self._is_frozen(stamp, noise, motion):
            self._frozen = self._reason(self._same_moving > 0)
        is_repeat = noise < REPEATED or (bool(is_moving) and self._change.usual < SELDOM_THE_SAME)
        if is_repeat:
            self.repeats += 1
            if not self._frozen:
                seconds = (stamp - self._same_since) / SECOND
                self.longest_repeat = max(self.longest_repeat, seconds)
        return is_repeat

    def _is_frozen(self, stamp: int, noise: float, motion: float) -> bool:
        """Returns whether the values have been the same for longer than can be."""
        lasted, least = stamp - self._same_since, self._settings.frozen_time
        if lasted < least * SECOND:
            return False
        count = min(lasted / SPACING, self._same_count - 1)
        if noise * count < IMPROBABLE:
            return lasted > TIMES_LONGEST * max(self._longest.values()) * SECOND
        moving = self._same_moving
        if motion * count * moving / lasted > IMPROBABLE:
            return False
        return moving > max(least, TIMES_LONGEST * self._longest[True]) * SECOND

    def _reason(self, is_moving: bool) -> str:
        how = 'although the robot moves' if is_moving else 'longer than its noise allows'
        return f'frozen: new stamps, but the same values, {how}'

    def _verdict(self, stamp: int, is_repeat: bool) -> Verdict:
        if not (self._frozen or self._saturated or self._has_rate_bounds):
            return REPEAT if is_repeat else HEALTHY
        kind, why = 'frozen', self._frozen
        begin = self._same_since if why else stamp
        if not why:
            kind, why = 'saturated', self._saturated
        if not why:
            kind, why = 'rate', self._too_seldom()
        if why:
            self.note(kind, why, begin, stamp)
            return Verdict(is_repeat, why)
        return REPEAT if is_repeat else HEALTHY

    def refuse(self, stamp: int, kind: str, why: str) -> Verdict:
        """Takes a sample that cannot be used for the reason `why`, and learns nothing of it but its
        stamp.
        """
        self.rate.add(stamp)
        self.note(kind, why, stamp, stamp)
        self._last = stamp
        self._key, self._taken, self._same_count = None, None, 0
        return Verdict(False, why)

    def note(self, kind: str, why: str, begin: int, stamp: int) -> None:
        """Notes a fault: it goes on, or begins at `begin` (ns) and is found at `stamp`."""
        last = self.faults[-1] if self.faults else None
        if last is not None and last.kind == kind and begin - last.end < SECOND // 2:
            self.faults[-1] = replace(last, end=stamp)
        elif len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(kind, why, begin, stamp, stamp))

    def _too_seldom(self) -> str:
        settings = self._settings
        rate, jitter = self.rate.newest_rate, self.rate.newest_jitter
        if rate < settings.least_rate:
            return f'comes at {rate:.1f} Hz; the least is {settings.least_rate:g} Hz'
        if 0.0 < settings.largest_jitter < jitter:
            most = 1e3 * settings.largest_jitter
            return f'its stamps jitter by {1e3 * jitter:.1f} ms; the most is {most:g} ms'
        return ''
