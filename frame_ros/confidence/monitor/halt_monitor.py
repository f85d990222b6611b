# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor that recommends a halt where a policy is unsure and the robot near something.

It is pure: it knows the stamps of what it is given and no clock, so that a recorded run gives the
verdicts that the live one gave.
"""

from __future__ import annotations

from itertools import cycle

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.monitor.drift_watch import DriftWatch
from frame_ros.confidence.monitor.nearness import Nearness, any_of
from frame_ros.confidence.monitor.options import DURATION, DURATION_TOPIC, PROGRESS, MonitorOptions
from frame_ros.confidence.monitor.records import (
    NAN,
    Cause,
    Level,
    MonitorSample,
    MonitorVerdict,
    Reason,
    is_of_future,
)
from frame_ros.confidence.monitor.score_limits import ScoreLimit, score_limits
from frame_ros.confidence.monitor.score_watch import ScoreWatch
from frame_ros.core.errors import CalibrationError
from frame_ros.core.time import SECOND


class HaltMonitor:
    """Takes samples, and gives a verdict on each.

    A halt is recommended where a score is beyond its threshold and the context holds, for as long
    as the options have it. What is missing or too old makes the verdict STALE rather than OK: the
    monitor is never silently blind. A halt ends when the rule is known to hold no more, not when an
    input is lost.

    Attributes:
        options: the rule.
        expected_duration: of an episode, s, from the options or the calibration; NaN: not known.
        drift: of the scores, over the episodes that have ended.
    """

    def __init__(self, options: MonitorOptions, calibration: CalibrationFile | None = None) -> None:
        """Finds the thresholds.

        Raises:
            CalibrationError: neither the options nor the calibration have a threshold of each
                score, or the expected duration where it is needed.
            ValueRangeError: no score has the name.
        """
        limits = score_limits(options, calibration)
        self.expected_duration = _expected_duration(options, calibration)
        needs_duration = options.completion_from == DURATION and any(
            limit.needs_completion for limit in limits
        )
        if needs_duration and not self.expected_duration > 0.0:
            raise CalibrationError(
                f'no expected duration: thresholds from {options.threshold_from} follow the '
                'completion of the task, and neither the calibration nor the option '
                'expected_duration gives the duration of an episode'
            )
        self._start: int | None = None
        self._watches = [ScoreWatch(limit, options, 0.0) for limit in limits]
        self._nearness = Nearness(options)
        self.drift = DriftWatch(limits, options, calibration)
        self.change(options)
        self._forget()

    def change(self, options: MonitorOptions) -> None:
        """Takes other values of the options that are live; the others must be as they were."""
        self.options = options
        self._nearness.options = options
        for watch, hysteresis in zip(self._watches, cycle(options.score_hysteresis)):
            watch.change(options, hysteresis)

    def start(self, stamp: int) -> None:
        """Starts an episode at `stamp` (ns), and forgets all before."""
        self._forget()
        self._start, self._now = stamp, stamp

    def end(self) -> None:
        """Ends the episode, if one is under way: it is tested for drift. Scores are still judged,
        without a time since its start.
        """
        if self._start is not None:
            self.drift.end()
        self._forget()

    def _forget(self) -> None:
        self.drift.start()
        self._start = None
        self._now = 0
        self._progress = self._duration = NAN
        self._since: int | None = None
        self._halt_end: int | None = None
        self._is_halted = False
        self._nearness.reset()
        for watch in self._watches:
            watch.reset()

    def update(self, sample: MonitorSample) -> MonitorVerdict:
        """Takes what has come, and judges the moment of its stamp.

        A stamp before the last one counts as the last one; inferences, distances and contact states
        that are older than those before, inferences from before the episode, and all that is
        stamped more than CLOCK_DIFFERENCE ahead are left out.
        """
        self._now = max(self._now, sample.stamp)
        self._progress = sample.progress
        if sample.expected_duration == sample.expected_duration:
            self._duration = sample.expected_duration
        self._nearness.update(sample, self._now)
        if sample.scores is not None:
            self._take_scores(sample)
        return self._verdict()

    def _take_scores(self, sample: MonitorSample) -> None:
        stamp = sample.scores_stamp or sample.stamp
        is_before = self._start is not None and stamp < self._start
        if is_before or is_of_future(stamp, self._now):
            return
        assert sample.scores is not None
        if self._start is not None:
            self.drift.take(stamp, sample.scores)
        elapsed = NAN if self._start is None else (stamp - self._start) / SECOND
        completion = self._completion(stamp)
        for watch in self._watches:
            if watch.stamp is None or stamp > watch.stamp:
                value = sample.scores.get(watch.limit.score, NAN)
                watch.update(stamp, value, watch.limit.threshold(elapsed, completion))

    def _completion(self, stamp: int) -> float:
        """Completion of the task at `stamp`, in [0, 1]; NaN: not known."""
        source = self.options.completion_from
        if source == PROGRESS:
            found = self._progress
        else:
            duration = self._duration if source == DURATION_TOPIC else self.expected_duration
            if self._start is None or not duration > 0.0:
                return NAN
            found = (stamp - self._start) / SECOND / duration
        return min(max(found, 0.0), 1.0) if found == found else NAN

    def _verdict(self) -> MonitorVerdict:
        problems = [self._score_problem(watch) for watch in self._watches]
        states = [
            None if problem else watch.is_beyond for problem, watch in zip(problems, self._watches)
        ]
        is_beyond = any_of(states)
        is_near, near, unknown = self._nearness.state(self._now)
        delays = self._follow(_all_of(is_beyond, is_near))
        missing = [*filter(None, problems), *unknown]
        reasons = [watch.reason() for watch, state in zip(self._watches, states) if state]
        if self._is_halted:
            return self._made(Level.HALT, [*reasons, *near, *missing])
        if missing:
            return self._made(Level.STALE, [*missing, *reasons, *near])
        if is_beyond:
            return self._made(Level.CAUTION, [*reasons, *near, *delays])
        return self._made(Level.OK, [])

    def _follow(self, rule: bool | None) -> list[Reason]:
        """Follows the rule over time, and returns what delays a halt."""
        if rule is False:
            if self._is_halted:
                self._halt_end = self._now
            self._is_halted, self._since = False, None
        if not rule or self._is_halted:
            return []
        if self._since is None:
            self._since = self._now
        options = self.options
        delays = [
            *self._delay(Cause.WARM_UP, 'START was', self._start, options.warm_up),
            *self._delay(Cause.MINIMUM_DURATION, 'it began', self._since, options.minimum_duration),
            *self._delay(Cause.COOL_DOWN, 'a halt ended', self._halt_end, options.cool_down),
        ]
        self._is_halted = not delays
        return delays

    def _delay(self, cause: Cause, event: str, stamp: int | None, seconds: float) -> list[Reason]:
        """A reason if less than so many seconds have passed since the event."""
        if stamp is None or self._now - stamp >= seconds * SECOND:
            return []
        age = (self._now - stamp) / SECOND
        return [Reason(cause, f'no halt yet: {event} {age:.2f} s ago, {seconds:g} s are needed')]

    def _score_problem(self, watch: ScoreWatch) -> Reason | None:
        name = watch.limit.score
        if watch.lacks_completion:
            return Reason(Cause.NO_COMPLETION, self._completion_problem(watch.limit))
        if watch.stamp is None:
            return Reason(Cause.NO_SCORE, f'no {name} yet')
        age = (self._now - watch.stamp) / SECOND
        if age <= self.options.score_timeout:
            return None
        return Reason(Cause.NO_SCORE, f'the last {name} is {age:.2f} s old')

    def _completion_problem(self, limit: ScoreLimit) -> str:
        if limit.needs_completion and self.options.completion_from == PROGRESS:
            lack = 'no progress has come, or none for too long'
        elif self._start is None:
            lack = 'no episode is under way'
        else:
            lack = 'no expected duration has come'
        horizon = 'completion of the task' if limit.needs_completion else 'time since START'
        return f'the threshold of {limit.score} follows the {horizon}, and {lack}'

    def _made(self, level: Level, reasons: list[Reason]) -> MonitorVerdict:
        shown = self._watches[0]
        for watch in self._watches[1:]:
            # One whose threshold was passed is shown rather than one that holds it, or has none.
            if watch.is_beyond and not shown.is_beyond:
                shown = watch
        return MonitorVerdict(
            self._now, level, tuple(reasons), shown.limit.score, shown.value, shown.threshold,
            self._completion(self._now), self._nearness.distance, self._nearness.in_contact,
        )  # fmt: skip


def _expected_duration(options: MonitorOptions, calibration: CalibrationFile | None) -> float:
    if options.expected_duration > 0.0:
        return options.expected_duration
    found = None if calibration is None else calibration.expected_duration
    return NAN if found is None else found


def _all_of(*states: bool | None) -> bool | None:
    """Returns False if one is, True if all are, else None: it is not known."""
    opposite = any_of(None if state is None else not state for state in states)
    return None if opposite is None else not opposite
