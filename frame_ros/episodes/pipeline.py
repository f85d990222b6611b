# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams in, metric samples out: the one place where live and offline values come from.

A node feeds it as messages arrive; the bag processor feeds it from a bag. Both get the same values, because everything
is ordered by stamps before it is used (`StampMerge`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from frame_ros.episodes.data import Event, EventType, MetricSample
from frame_ros.episodes.efficiency_state import EfficiencyState
from frame_ros.episodes.fields import (
    CONFIDENCE_FIELDS,
    EFFICIENCY_FIELDS,
    QUALITY_FIELDS,
    SAFETY_FIELDS,
)
from frame_ros.episodes.merge import StampMerge
from frame_ros.episodes.pipeline_config import PipelineConfig
from frame_ros.episodes.safety_state import SafetyState
from frame_ros.episodes.stamps import SECOND, StampGuard, Verdict
from frame_ros.episodes.summary import EpisodeAccount
from frame_ros.metrics import ActionStep, TrajectoryStep

NAN = math.nan
STREAMS = ('pose', 'action', 'contact', 'proximity', 'inference')
# EfficiencyMetrics comes at the first step that is this much later than the last one it came at, ns.
EFFICIENCY_PERIOD = SECOND // 10
TICK_STREAMS = frozenset(('action', 'inference'))
USE = Verdict.USE
LAGGING = {'pose': 1, 'contact': 2, 'proximity': 4}


class MetricPipeline:
    """The metrics of one robot, step by step.

    Feed with `feed(stream, stamp, value, now)`; `advance(now)` returns the samples that are due, `finish()` all that
    are left. Streams and values: 'pose' (x, y, z in m, quaternion x, y, z, w), 'action' (names, positions), 'contact'
    (in_contact, in_collision, force in N), 'proximity' (distance in m,), 'inference' (dict of
    `conversion.inference_values`), 'event' (`Event`). Values that are not finite, of a wrong length or badly stamped
    are dropped and counted in `counts`; nothing raises.
    """

    def __init__(
        self, config: PipelineConfig | None = None, lagging: dict[int, int] | None = None
    ) -> None:
        """`lagging`: stamp of a step -> bits LAGGING_*: what a live run had to do without, for an exact comparison."""
        self.config = config or PipelineConfig()
        self.counts: dict[str, int] = {}
        self.problems: dict[str, str] = {}
        self._samples: list[MetricSample] = []
        self._forced = lagging
        gaps = dict.fromkeys(STREAMS, self.config.gap) | {'inference': math.inf}
        self._guards = {stream: StampGuard(gap) for stream, gap in gaps.items()}
        checks = (
            self._check_pose,
            self._check_action,
            self._check_contact,
            self._check_proximity,
            self._check_inference,
        )
        self._inputs = {
            stream: (check, self._guards[stream]) for stream, check in zip(STREAMS, checks)
        }
        self._account = EpisodeAccount(self._samples.append, self.data_quality)
        self._make_merges()
        self._make_step_state()

    # -- feeding ---------------------------------------------------------------------------------------------------

    def feed(self, stream: str, stamp: int, value: Any, now: int = 0) -> None:
        """Takes one sample; stamp and now (its arrival) in ns on one clock."""
        if stream == 'event':
            self._push_event(value, now)
            return
        check, guard = self._inputs[stream]
        checked = check(value)
        if checked is None:
            self._count(f'{stream}.invalid')
            return
        verdict = guard.check(stamp)
        if verdict is not USE:
            if verdict is Verdict.DROP:
                return
            self._reset_clock()
        self._steps.push(stream, stamp, checked, now)
        if stream in TICK_STREAMS:
            self._ticks.push(stream, stamp, checked, now)

    def feed_block(self, stream: str, stamps: Sequence[int], values: Sequence[Any]) -> None:
        """Takes many samples of one stream, in recorded order."""
        for stamp, value in zip(stamps, values):
            self.feed(stream, int(stamp), value)

    def advance(self, now: int | None = None) -> list[MetricSample]:
        """Returns the samples that became due; without `now` only those that nothing can change any more."""
        self._steps.drain(now)
        if now is not None:
            self._ticks.drain(now)
        return self._take()

    def finish(self) -> list[MetricSample]:
        """Returns all samples that are left, as at the end of a bag: there is nothing to wait for any more."""
        self._is_finishing = True
        self._steps.flush()
        self._is_finishing = False
        self._ticks.flush()
        return self._take()

    def data_quality(self) -> dict[str, int]:
        """Counters by name, `stream.what`, of what was dropped or looked wrong; only those above zero."""
        counts = dict(self.counts)
        for stream, guard in self._guards.items():
            counts.update({f'{stream}.{what}': n for what, n in guard.counts.items() if n})
        for stream, late in self._steps.late.items():
            if late:
                counts[f'{stream}.late'] = counts.get(f'{stream}.late', 0) + late
        return counts

    # -- checks: a usable value, or None ---------------------------------------------------------------------------

    def _check_pose(self, value: Sequence[float]) -> Sequence[float] | None:
        # A sum is finite only if every term is: one test instead of seven.
        is_usable = len(value) == 7 and math.isfinite(sum(value)) and any(value[3:])
        return value if is_usable else None

    def _check_action(self, value: tuple[tuple[str, ...], Sequence[float]]) -> list[float] | None:
        names, positions = value
        order = self._action_order.get(names)
        if order is None:
            order = self._learn_action_order(names)
        if not order or len(positions) != len(names):
            return None
        action = [float(positions[i]) for i in order]
        return action if math.isfinite(sum(action)) else None

    def _learn_action_order(self, names: tuple[str, ...]) -> list[int]:
        """Where the wanted joints are in an action of these names; the first action decides which are wanted."""
        wanted = self._action_names
        if self._action is None:
            wanted = tuple(name for name in wanted if name in names) if wanted else tuple(names)
        missing = [name for name in wanted if name not in names]
        order: list[int] = []
        if missing or not wanted:
            expected = wanted or self.config.action_names
            self.problems['action'] = (
                f'an action names {list(names)}; expected are {list(expected)}'
            )
        else:
            order = [names.index(name) for name in wanted]
            self._prepare_action(wanted)
        self._action_order[names] = order
        return order

    def _prepare_action(self, names: tuple[str, ...]) -> None:
        if self._action is not None:
            return
        self._action_names, bounds = names, self.config.bounds
        if bounds is not None:
            at = [self.config.action_names.index(name) for name in names]
            bounds = tuple(bounds[0][i] for i in at), tuple(bounds[1][i] for i in at)
        self._action = ActionStep(len(names), bounds)

    @staticmethod
    def _check_contact(value: tuple[bool, bool, float]) -> tuple[bool, bool, float] | None:
        return None if math.isinf(value[2]) else value

    @staticmethod
    def _check_proximity(value: Sequence[float]) -> float | None:
        distance = value[0]
        return None if math.isinf(distance) or distance < 0 else distance

    @staticmethod
    def _check_inference(value: dict[str, float]) -> dict[str, float] | None:
        return None if value['latency'] < 0 or math.isinf(value['latency']) else value

    # -- ordering --------------------------------------------------------------------------------------------------

    def _make_merges(self) -> None:
        config = self.config
        self._steps = StampMerge(
            {
                'event': self._on_event,
                'contact': self._on_contact,
                'proximity': self._on_proximity,
                'pose': self._on_pose,
                'inference': self._on_inference,
                'action': self._on_action,
            },
            waits_for=('pose', 'action', 'contact', 'proximity'),
            hold=config.hold,
            silence=config.silence,
        )
        self._ticks = StampMerge(
            {
                'event': self._on_tick_event,
                'inference': self._on_tick_inference,
                'action': self._on_tick,
            },
            waits_for=(),
            hold=config.efficiency_hold,
        )

    def _push_event(self, event: Event, now: int) -> None:
        if event.stamp <= 0:
            self._count('event.zero')
            return
        self._steps.push('event', event.stamp, event, now, ahead=True)
        self._ticks.push('event', event.stamp, event, now, ahead=True)

    def _reset_clock(self) -> None:
        self._steps.forget()
        self._ticks.forget()
        self._efficiency.reset_rate()
        self._pose = None
        self._next_efficiency = self._begun = self._tick_begun = 0
        self._trajectory.reset_differences()
        if self._action is not None:
            self._action.reset_differences()
        self._last_step = None

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _take(self) -> list[MetricSample]:
        samples = self._samples[:]
        self._samples.clear()
        return samples

    # -- steps: pose, action, contact and proximity joined -----------------------------------------------------------

    def _make_step_state(self) -> None:
        config = self.config
        self._action_names = config.action_names
        self._action_order: dict[tuple[str, ...], list[int]] = {}
        self._action: ActionStep | None = None
        self._trajectory = TrajectoryStep(static_threshold=config.static_threshold)
        self._safety = SafetyState(config)
        self._efficiency = EfficiencyState()
        self._pose: Sequence[float] | None = None
        self._pose_stamp = 0
        self._pose_taken = -1
        self._gap = int(config.gap * SECOND)
        self._pose_age = int(config.max_pose_age * SECOND)
        self._last_step: int | None = None
        self._episode_id = self._tick_episode_id = ''
        self._start: int | None = None
        self._tick_start: int | None = None
        self._is_finishing = False
        self._next_efficiency = 0
        self._begun = self._tick_begun = 0
        self._step = self._tick = self._gaps = self._hold_expired = 0

    def _on_event(self, stamp: int, event: Event) -> None:
        if event.type is EventType.START:
            self._begin(event.episode_id, stamp)
            self._account.start(event, 'steps')
        elif event.type is EventType.END:
            self._account.end(event, 'steps')
            self._begin('', None)
        elif event.type is EventType.SUCCESS:
            self._account.success(event)

    def _begin(self, episode_id: str, start: int | None) -> None:
        self._trajectory.reset()
        if self._action is not None:
            self._action.reset()
        self._safety.reset()
        self._episode_id, self._start = episode_id, start
        # Samples of before the start that come late belong to no episode.
        self._begun = start or 0
        self._step = self._gaps = self._hold_expired = 0
        self._last_step = None
        self._pose_taken = -1

    def _on_pose(self, stamp: int, pose: Sequence[float]) -> None:
        if stamp >= self._pose_stamp or self._pose is None:
            self._pose, self._pose_stamp = pose, stamp

    def _on_contact(self, stamp: int, value: tuple[bool, bool, float]) -> None:
        if stamp >= self._begun:
            self._safety.update_contact(stamp, value)

    def _on_proximity(self, stamp: int, distance: float) -> None:
        if stamp >= self._begun:
            self._safety.update_distance(stamp, distance)

    def _lagging(self, stamp: int) -> int:
        if self._forced is not None:
            return self._forced.get(stamp, 0)
        if self._is_finishing or stamp <= self._steps.frontier:
            return 0
        bits = 0
        for stream in self._steps.lagging(stamp):
            bits |= LAGGING.get(stream, 0)
        return bits

    def _on_action(self, stamp: int, action: list[float]) -> None:
        if stamp < self._begun:
            return
        last = self._last_step
        if last is not None and stamp - last > self._gap:
            self._gaps += 1
            self._trajectory.reset_differences()
            self._action.reset_differences()
        self._last_step = stamp
        lagging = self._lagging(stamp)
        if lagging:
            self._hold_expired += 1
        pose_age = self._update_trajectory(stamp, lagging)
        self._action.update(action)
        start = self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        self._emit_step(stamp, time, lagging, pose_age)
        self._step += 1

    def _update_trajectory(self, stamp: int, lagging: int) -> float:
        """Takes the newest pose at the step; returns its age in s, NaN if there is none to take.

        Differences are over the pose's own stamps: where it was when, not when it was asked for. A pose that a step
        before has taken already is no new sample.
        """
        pose, age = self._pose, stamp - self._pose_stamp
        if pose is None or age > self._pose_age or lagging & 1:
            self._trajectory.reset_differences()
            self._count('pose.unavailable')
            return NAN
        if self._pose_stamp == self._pose_taken:
            self._count('pose.repeated')
        else:
            self._trajectory.update(self._pose_stamp, *pose)
            self._pose_taken = self._pose_stamp
        return age / SECOND

    def _emit_step(self, stamp: int, time: float, lagging: int, pose_age: float) -> None:
        t, a, step, episode_id = self._trajectory, self._action, self._step, self._episode_id
        quality = (
            step, time,
            t.pl, t.ps, t.cc, t.ti,
            t.tcp_pi, t.tcp_vi, t.tcp_ai, t.tcp_pi_step, t.tcp_vi_step, t.tcp_ai_step,
            t.tcp_pi_mean, t.tcp_vi_mean, t.tcp_ai_mean, t.tcp_speed, t.tcp_acceleration, t.tcp_jerk,
            a.a_pi, a.a_vi, a.a_ai, a.a_pi_step, a.a_vi_step, a.a_ai_step,
            a.a_pi_mean, a.a_vi_mean, a.a_ai_mean,
            NAN, NAN, NAN, NAN, NAN,
            t.is_static, self._gaps, t.short_segments, lagging, self._hold_expired, pose_age,
        )  # fmt: skip
        is_moving = t.tcp_speed >= self.config.moving_speed
        safety = (step, time) + self._safety.values(stamp, time, t.pl, is_moving, lagging)
        samples = self._samples
        samples.append(MetricSample('quality', stamp, episode_id, QUALITY_FIELDS, quality))
        samples.append(MetricSample('safety', stamp, episode_id, SAFETY_FIELDS, safety))
        self._account.step(quality, safety)

    def _on_inference(self, stamp: int, values: dict[str, float]) -> None:
        if stamp < self._begun:
            return
        start = self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        row = (
            int(values['sequence']), time,
            NAN, NAN, NAN, NAN, NAN, values['chunk_overlap'],
            NAN, NAN, NAN, NAN, NAN,
            int(values['token_count']), int(values['sample_count']),
        )  # fmt: skip
        self._samples.append(
            MetricSample('confidence', stamp, self._episode_id, CONFIDENCE_FIELDS, row)
        )
        self._account.confidence(row)

    # -- ticks: actions and inferences, for efficiency ---------------------------------------------------------------

    def _on_tick_event(self, stamp: int, event: Event) -> None:
        if event.type is EventType.START:
            self._account.start(event, 'ticks')
            self._begin_ticks(event.episode_id, stamp)
        elif event.type is EventType.END:
            self._account.end(event, 'ticks', self._efficiency_row(stamp) if self._tick else None)
            self._begin_ticks('', None)

    def _begin_ticks(self, episode_id: str, start: int | None) -> None:
        self._efficiency.reset()
        self._tick_episode_id, self._tick_start = episode_id, start
        self._tick_begun = start or 0
        self._tick = self._next_efficiency = 0

    def _on_tick_inference(self, stamp: int, values: dict[str, float]) -> None:
        if stamp >= self._tick_begun:
            self._efficiency.update_inference(values)

    def _on_tick(self, stamp: int, value: list[float]) -> None:
        if stamp < self._tick_begun:
            return
        self._efficiency.update_step(stamp)
        self._tick += 1
        if stamp < self._next_efficiency:
            return
        self._next_efficiency = stamp + EFFICIENCY_PERIOD
        row = self._efficiency_row(stamp)
        self._samples.append(
            MetricSample('efficiency', stamp, self._tick_episode_id, EFFICIENCY_FIELDS, row)
        )

    def _efficiency_row(self, stamp: int) -> tuple:
        start = self._tick_start
        time = (stamp - start) / SECOND if start is not None else NAN
        return (self._tick - 1, time) + self._efficiency.values()
