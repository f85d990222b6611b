# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams in, metric samples out: the one place where live and offline values come from.

A node feeds it as messages arrive; the bag processor feeds it from a bag. Both get the same values,
because everything is ordered by stamps before it is used (`StampMerge`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from frame_ros.bags.streams.table import STREAMS
from frame_ros.confidence.applied_calibration import AppliedCalibration
from frame_ros.core.events import Event
from frame_ros.core.stamps import SET_BACK, StampGuard, Verdict
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.control_steps import NONE, ControlStepMetrics
from frame_ros.episodes.metric_pipeline.control_ticks import ControlTickMetrics
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.metric_pipeline.options import (
    PipelineOptions,
    sporadic_streams,
    target_streams,
)
from frame_ros.episodes.metric_pipeline.summary import EpisodeSummaries

TICK_STREAMS = frozenset(('action', 'inference'))
ALWAYS = ('pose', 'action', 'contact', 'proximity', 'inference')
USE = Verdict.USE
# A stamp further ahead of its message's arrival is counted: two clocks that are not set alike, ns.
AHEAD = SECOND // 2
# Events that were announced ahead and wait for their stamps; an episode has a handful.
MOST_EVENTS = 1000
EARLIEST = 1  # ns: a stamp that is before all others; 0 is none


class MetricPipeline:
    """The metrics of one robot, step by step.

    Feed with `feed(stream, stamp, value, now)`; `advance(now)` returns the samples that are due,
    `finish()` all that are left. Streams and values: 'pose' (x, y, z in m, quaternion x, y, z, w),
    'action' (names, positions), 'contact' (in_contact, in_collision, force in N), 'proximity'
    (distance, and that of the nearest place not seen, in m), 'inference' (dict of
    `inference_values`), 'event' (`Event`); with a task of OT also 'object' and 'goal' (x, y, z in
    m, frame) and 'grasp' (`grasp_values`). Values that are not finite, of a wrong length or badly
    stamped are dropped and counted in `counts`; nothing raises.
    """

    def __init__(
        self,
        config: PipelineOptions | None = None,
        lagging: Mapping[int, int] | None = None,
        unseen: Mapping[int, int] = NONE,
    ) -> None:
        """`lagging`: stamp of a step -> bits LAGGING_*: what a live run had to do without, for an
        exact comparison. `unseen`: the same of streams of which nothing had come yet.
        """
        self.config = config or PipelineOptions()
        self.counts: dict[str, int] = {}
        self._samples: list[MetricSample] = []
        self._room = MOST_EVENTS
        self._account = account = EpisodeSummaries(self._samples.append, self.data_quality)
        self._steps = ControlStepMetrics(
            self.config, account, self._samples, self._count, lagging, unseen
        )
        self._ticks = ControlTickMetrics(
            self.config.efficiency_hold, self.config.action_names, account, self._samples
        )
        self._now = self._strays_until = 0
        # Stream -> stamp and value of its newest pose: what an episode may have to start from.
        self.newest: dict[str, tuple[int, Any]] = {}
        self._inputs = {role: self._input(role) for role in (*ALWAYS, *target_streams(self.config))}

    def _input(self, role: str) -> tuple[Callable[[Any], Any], StampGuard]:
        """Returns what checks the samples of a stream, and their stamps. What comes when it comes
        misses nothing; gaps of actions are counted at the steps.
        """
        row = STREAMS[role]
        return row.usable, StampGuard(self.config.gap if row.is_steady else math.inf)

    @property
    def problems(self) -> list[str]:
        """Returns what is wrong with the input, in words."""
        steps = self._steps
        found = (steps.actions.problem, steps.target.problem, steps.confidence.problem)
        return [problem for problem in found if problem]

    @property
    def calibration(self) -> AppliedCalibration | None:
        """The calibration as it is applied; None without one."""
        return self._steps.confidence.calibrated.applied

    @property
    def is_in_episode(self) -> bool:
        """Returns whether an episode runs; outside of one, samples count for nothing."""
        return self._account.is_running

    @property
    def samples(self) -> dict[str, int]:
        """Stream -> how many samples were used since the pipeline was made."""
        return {stream: guard.used for stream, (_, guard) in self._inputs.items()}

    @property
    def pose_frame(self) -> str:
        """The frame of the TCP poses, in which object and goal are expected; '' if not known."""
        return self._steps.target.frame

    @pose_frame.setter
    def pose_frame(self, frame: str) -> None:
        self._steps.target.frame = frame or self.config.pose_frame

    def feed(self, stream: str, stamp: int, value: Any, now: int | None = None) -> None:
        """Takes one sample; stamp and now (its arrival; none: at its stamp) in ns on one clock."""
        if stream == 'event':
            self._feed_event(value, now)
            return
        known = self._inputs.get(stream)
        if known is None:  # of a task that is not set
            return
        check, guard = known
        checked = check(value)
        if checked is None:
            self._count(f'{stream}.invalid')
            return
        arrival = stamp if now is None else now
        if arrival < self._strays_until and stamp - arrival > AHEAD:
            guard.counts['jump'] += 1
            return
        verdict = guard.check(stamp, arrival)
        if verdict is not USE:
            if verdict is Verdict.DROP:
                return
            # What is complete is of the time before, and is not to be mixed with what follows.
            self._steps.merge.drain()
            self._steps.reset_clock(stream, stamp)
            self._ticks.reset_clock(stream, stamp)
        if stamp - arrival > AHEAD:
            self._count(f'{stream}.ahead')
        self._steps.merge.push(stream, stamp, checked, arrival)
        if STREAMS[stream].is_target:
            self.newest[stream] = stamp, checked
        if stream in TICK_STREAMS:
            self._ticks.merge.push(stream, stamp, checked, arrival)

    def look(self, now: int) -> None:
        """Notices whether the clock was set back by more than a second; `now` in ns. To be called
        before samples are fed that arrived since, and by `advance`.
        """
        if now < self._now - SET_BACK:
            self._set_back(now)
        self._now = now

    def advance(self, now: int | None = None, settled: int = 0) -> list[MetricSample]:
        """Returns the samples that became due; without `now` only those that nothing can change any
        more. settled: ns, of a bag's reader: no tick or inference of an earlier stamp is still to
        come.
        """
        if now is not None:
            self.look(now)
        self._steps.merge.drain(now)
        if now is not None:
            self._ticks.merge.drain(now)
        else:  # an episode begins with its steps
            self._ticks.merge.drain_before(min(settled, self._steps.merge.released))
        return self._take()

    def finish(self) -> list[MetricSample]:
        """Returns all samples that are left, as at the end of a bag."""
        self._steps.finish()
        self._ticks.merge.flush()
        return self._take()

    def data_quality(self) -> dict[str, int]:
        """Counters by name, `stream.what`, of what was dropped or looked wrong; only those above
        zero.
        """
        counts = dict(self.counts)
        for stream, (_, guard) in self._inputs.items():
            counts.update({f'{stream}.{what}': n for what, n in guard.counts.items() if n})
        for stream, late in self._steps.merge.late.items():
            if late:
                counts[f'{stream}.late'] = late
        return counts

    def _set_back(self, now: int) -> None:
        """The clock was set back to `now`, ns: what is held is of the time before, and so are the
        stamps that streams came to, also of those that are silent; what may be published once
        holds. For a moment samples of that time may still be on their way.
        """
        self._steps.merge.flush()
        self._ticks.merge.flush()
        for stream, (_, guard) in self._inputs.items():
            if self.is_in_episode and guard.last is not None:
                guard.counts['reset'] += 1
            guard.restart()
            self._steps.reset_clock(stream, now)
            self._ticks.reset_clock(stream, now)
        lasting = set(sporadic_streams(self.config)) & self.newest.keys()
        self.newest = {stream: (EARLIEST, self.newest[stream][1]) for stream in lasting}
        self._strays_until = now + SET_BACK

    def _feed_event(self, event: Event, now: int | None) -> None:
        if event.stamp <= 0:
            self._count('event.zero')
            return
        merges = (self._steps.merge, self._ticks.merge)
        if self._room <= 0:
            self._room = MOST_EVENTS - max(merge.waiting('event') for merge in merges)
        if self._room <= 0:
            self._count('event.too_many')
            return
        self._room -= 1
        for merge in merges:
            merge.push('event', event.stamp, event, now, ahead=True)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _take(self) -> list[MetricSample]:
        samples = self._samples[:]
        self._samples.clear()
        return samples
