# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One stream as it is judged: by its own samples, and its stamps against those of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.image_samples import ImageSample
from frame_ros.sensing.stream_health.offset_fusion import TimeOffset
from frame_ros.sensing.stream_health.steady_stamps import SteadyStamps
from frame_ros.sensing.stream_health.stream_check import StreamCheck
from frame_ros.sensing.stream_health.time_offset import TimeOffsetEstimator

UNKNOWN_OFFSET = 0.02  # s, that stamps may be apart before any motion has shown it
SPREAD = 2.0  # deviations of an estimate that its error may be
DEVIATIONS = 4.0  # by which an offset must lie apart from what is allowed, not to be used
SMOOTHED = 0.002  # s, deviation of how far smoothed stamps are before the others


@dataclass
class Judged:
    """One stream.

    Attributes:
        name: of the topic, or what it is.
        kind: 'joint states', 'efforts', 'wrench' or 'image'.
        check: by its own samples.
        offset: against the joints; None: it is not estimated.
        is_corrected: whether stamps are corrected by it, where it is too large.
        steady: smooths its stamps; None: they are taken as they are.
        given: ns, the newest stamp, smoothed where they scatter evidently.
    """

    name: str
    kind: str
    check: StreamCheck
    offset: TimeOffsetEstimator | None = None
    tolerance: float = 0.0  # s
    is_corrected: bool = False
    steady: SteadyStamps | None = None
    given: int = 0
    before: tuple[int, ImageSample] | None = None
    block: list[tuple[int, Sequence[float]]] = field(default_factory=list)
    # The last estimate that was judged, the tolerance by which, and what came of it.
    judged_offset: tuple[TimeOffset, float, str] | None = None

    def smoothed(self, stamp: int) -> int:
        """Takes every stamp, ns, after the last; returns it smoothed, where they scatter."""
        steady = self.steady
        if steady is None:
            self.given = stamp
            return stamp
        was_steady, scatter = steady.is_steady, steady.scatter
        self.given = steady.add(stamp)
        if steady.is_steady != was_steady and self.offset is not None:
            earlier = -scatter if was_steady else steady.scatter
            self.offset.shift(-earlier, SMOOTHED, stamp, is_jump=False)
        return self.given

    @property
    def jitter(self) -> float:
        """s by which its stamps may scatter, as they are given; NaN if it is not known."""
        if self.steady is not None and self.steady.is_steady:
            return SPREAD * self.steady.off
        return self.check.rate.newest_jitter

    @property
    def estimate(self) -> TimeOffset:
        """The last certain estimate of the offset."""
        return self.offset.newest if self.offset is not None else TimeOffset()

    @property
    def apart(self) -> float:
        """s by which its stamps are later than those of the joints, as far as anything shows it."""
        found = self.estimate
        return found.jump if found.unavailable else found.seconds

    @property
    def problem(self) -> str:
        """Describes the fault of its newest sample; '': it has none."""
        last = self.check.faults[-1] if self.check.faults else None
        return last.reason if last is not None and last.end >= self.check.newest else ''

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        check, rate = self.check, self.check.rate
        found = {
            'rate [Hz]': f'{rate.newest_rate:.1f}',
            'jitter [ms]': f'{1e3 * rate.newest_jitter:.2f}',
            'repeated': str(check.repeats),
            'a freeze is found': check.judged,
        }
        if self.offset is not None:
            found['stamps later than those of the joints'] = self.offset_in_words
        if self.steady is not None:
            found['stamps smoothed'] = self.steady.in_words
        return found

    @property
    def offset_in_words(self) -> str:
        """The time offset, or why it is not known."""
        found = self.estimate
        jump = f', and a jump by {1e3 * found.jump:+.1f} ms since' if found.jump else ''
        if found.unavailable:
            return f'not known: {found.unavailable}{jump}'
        return (
            f'{1e3 * found.seconds:+.1f} ms, give or take {1e3 * found.deviation:.1f} ms, by the '
            f'motion until {found.stamp / SECOND:.1f} s{jump}'
        )

    @property
    def excess(self) -> str:
        """Describes an offset of its stamps that is too large; '': it is not. One that is corrected
        stays so until motion shows that it is small: an estimate that is less certain than the last
        takes no correction away.
        """
        if self.offset is None:
            return ''
        found, before = self.offset.newest, self.judged_offset
        if before is None or before[0] is not found or before[1] != self.tolerance:
            stays = self.is_corrected and before is not None and bool(before[2])
            words = self._excess_of(found, stays)
            before = self.judged_offset = found, self.tolerance, words
        return before[2]

    def _excess_of(self, found: TimeOffset, stays: bool) -> str:
        size, side = abs(self.apart), 'later' if self.apart > 0.0 else 'earlier'
        if abs(found.jump) > self.tolerance:
            spread = 0.0  # however well the offset before was known, it has become another
        elif found.unavailable:
            return ''
        else:
            # What is not used must be certain; a stamp is truer corrected as soon as it is likely.
            begins = SPREAD if self.is_corrected else DEVIATIONS
            spread = (-SPREAD if stays else begins) * found.deviation
        if size - spread <= self.tolerance:
            return ''
        words = f'its stamps are {1e3 * size:.0f} ms {side} than '
        if found.unavailable:
            why = 'as their arrival shows; no motion has shown them against those of the joints'
            return f'{words}before, {why}'
        shown = (
            'an earlier motion and their arrival since show' if found.jump else 'the motion shows'
        )
        return f'{words}those of the joints, as {shown}'
