# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses, actions, contacts and distances joined at control steps: quality and safety."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from frame_ros.episodes.data import Event, EventType, MetricSample
from frame_ros.episodes.fields import CONFIDENCE_FIELDS, QUALITY_FIELDS, SAFETY_FIELDS
from frame_ros.episodes.merge import StampMerge
from frame_ros.episodes.pipeline_config import PipelineConfig
from frame_ros.episodes.safety_state import SafetyState
from frame_ros.episodes.sample_checks import ActionOrder
from frame_ros.episodes.stamps import SECOND
from frame_ros.episodes.summary import EpisodeAccount
from frame_ros.metrics import ActionStep, TrajectoryStep

NAN = math.nan
# Bits of QualityMetrics.lagging.
LAGGING = {'pose': 1, 'contact': 2, 'proximity': 4}


class StepSide:
    """The samples of all streams in stamp order; each action is a step and takes what is newest."""

    def __init__(
        self,
        config: PipelineConfig,
        account: EpisodeAccount,
        samples: list[MetricSample],
        count: Callable[[str], None],
        lagging: dict[int, int] | None = None,
    ) -> None:
        """Samples are appended to `samples`; `count` adds one to a counter of the data quality.

        lagging: stamp of a step -> bits LAGGING_*, instead of what lags here.
        """
        self.merge = StampMerge(
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
        self._config = config
        self._account = account
        self._samples = samples
        self._count = count
        self._forced = lagging
        self._gap = int(config.gap * SECOND)
        self._max_pose_age = int(config.max_pose_age * SECOND)
        self._trajectory = TrajectoryStep(static_threshold=config.static_threshold)
        self.actions = ActionOrder(config.action_names)
        self._action: ActionStep | None = None
        self._safety = SafetyState(config)
        self._pose: Sequence[float] | None = None
        self._pose_stamp = 0
        self._is_finishing = False
        self._start: int | None = None
        self._last_step: int | None = None
        self._begin('', None)

    def reset_clock(self, stream: str, stamp: int) -> None:
        """The clock of a stream was set anew, to `stamp`: its differences begin again."""
        self.merge.forget(stream, stamp)
        if stream == 'pose':
            self._pose = None
            self._pose_taken = -1
            self._trajectory.reset_differences()
        elif stream == 'action':
            self._last_step = self._start = None
            self._begun = 0
            if self._action is not None:
                self._action.reset_differences()

    def finish(self) -> None:
        """Hands on all that is waiting: there is nothing to wait for any more."""
        self._is_finishing = True
        self.merge.flush()
        self._is_finishing = False

    def _begin(self, episode_id: str, start: int | None) -> None:
        self._trajectory.reset()
        self.actions.begin()
        self._action = None
        self._safety.reset()
        self._episode_id = episode_id
        self._start = start
        # Samples of before the start that come late belong to no episode.
        self._begun = start or 0
        self._step = self._gaps = self._hold_expired = 0
        self._last_step = None
        self._pose_taken = -1

    def _reset_differences(self) -> None:
        self._trajectory.reset_differences()
        if self._action is not None:
            self._action.reset_differences()

    def _on_event(self, stamp: int, event: Event) -> None:
        if event.type is EventType.START:
            self._begin(event.episode_id, stamp)
            self._account.start(event, 'steps')
        elif event.type is EventType.END and self._account.is_of(event, 'steps'):
            self._account.end(event, 'steps', self._final_safety(stamp))
            self._begin('', None)
        elif event.type is EventType.SUCCESS:
            self._account.success(event)

    def _on_pose(self, stamp: int, pose: Sequence[float]) -> None:
        if stamp >= self._pose_stamp or self._pose is None:
            self._pose, self._pose_stamp = pose, stamp

    def _on_contact(self, stamp: int, value: tuple[bool, bool, float]) -> None:
        if stamp >= self._begun:
            self._safety.update_contact(stamp, value)

    def _on_proximity(self, stamp: int, distance: float) -> None:
        if stamp >= self._begun:
            self._safety.update_distance(stamp, distance)

    def _on_action(self, stamp: int, value: tuple[tuple[str, ...], list[float]]) -> None:
        if stamp < self._begun:
            return
        action = self.actions.order(*value)
        if action is None:
            self._count('action.invalid')
            return
        step = self._action or self._prepare_action()
        last = self._last_step
        if last is not None and stamp - last > self._gap:
            self._gaps += 1
            self._count('action.gap')
            self._reset_differences()
        self._last_step = stamp
        lagging = self._lagging(stamp)
        if lagging:
            self._hold_expired += 1
        pose_age = self._update_trajectory(stamp, lagging)
        step.update(action)
        self._emit(stamp, step, lagging, pose_age)
        self._step += 1

    def _prepare_action(self) -> ActionStep:
        """For the joints that the episode's first action has."""
        names, bounds = self.actions.names, self._config.bounds
        if bounds is not None:
            at = [self._config.action_names.index(name) for name in names]
            bounds = tuple(bounds[0][i] for i in at), tuple(bounds[1][i] for i in at)
        self._action = ActionStep(len(names), bounds)
        return self._action

    def _lagging(self, stamp: int) -> int:
        """Bits of the streams that had not passed the step, or were past it when it came late."""
        if self._forced is not None:
            return self._forced.get(stamp, 0)
        bits, merge = 0, self.merge
        if stamp < merge.released:  # it came late: what is known may be of a later time
            bits = self._safety.ahead_of(stamp)
            if self._pose is not None and self._pose_stamp > stamp:
                bits |= LAGGING['pose']
        if self._is_finishing or stamp <= merge.passed:
            return bits
        for stream in self.merge.lagging(stamp):
            bits |= LAGGING.get(stream, 0)
        return bits

    def _update_trajectory(self, stamp: int, lagging: int) -> float:
        """Takes the newest pose at the step; returns its age in s, NaN if there is none to take.

        Differences are over the pose's own stamps: where it was when, not when it was asked for. A
        pose that a step before has taken already is no new sample, and a step without a pose takes
        none: the next one is differenced over the longer time, unless that is a gap.
        """
        pose, taken, age = self._pose, self._pose_taken, stamp - self._pose_stamp
        if pose is None or age > self._max_pose_age or lagging & 1:
            self._count('pose.unavailable')
            return NAN
        if self._pose_stamp == taken:
            self._count('pose.repeated')
            return age / SECOND
        if taken >= 0 and self._pose_stamp - taken > self._gap:
            self._trajectory.reset_differences()
        self._trajectory.update(self._pose_stamp, *pose)
        self._pose_taken = self._pose_stamp
        return age / SECOND

    def _emit(self, stamp: int, a: ActionStep, lagging: int, pose_age: float) -> None:
        t, step, episode_id, start = self._trajectory, self._step, self._episode_id, self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        is_moving = False
        if pose_age == pose_age:
            is_moving = t.tcp_speed >= self._config.moving_speed
            quality = (
                step, time, t.pl, t.ps, t.cc, t.ti,
                t.tcp_pi, t.tcp_vi, t.tcp_ai, t.tcp_pi_step, t.tcp_vi_step, t.tcp_ai_step,
                t.tcp_pi_mean, t.tcp_vi_mean, t.tcp_ai_mean,
                t.tcp_speed, t.tcp_acceleration, t.tcp_jerk,
                a.a_pi, a.a_vi, a.a_ai, a.a_pi_step, a.a_vi_step, a.a_ai_step,
                a.a_pi_mean, a.a_vi_mean, a.a_ai_mean,
                NAN, NAN, NAN, NAN, NAN, -1, False,
                t.is_static, self._gaps, t.short_segments, lagging, self._hold_expired, pose_age,
                NAN,
            )  # fmt: skip
        else:
            quality = (
                step, time, t.pl, t.ps, t.cc, t.ti,
                NAN, NAN, NAN, NAN, NAN, NAN, t.tcp_pi_mean, t.tcp_vi_mean, t.tcp_ai_mean,
                NAN, NAN, NAN,
                a.a_pi, a.a_vi, a.a_ai, a.a_pi_step, a.a_vi_step, a.a_ai_step,
                a.a_pi_mean, a.a_vi_mean, a.a_ai_mean,
                NAN, NAN, NAN, NAN, NAN, -1, False,
                t.is_static, self._gaps, t.short_segments, lagging, self._hold_expired, NAN,
                NAN,
            )  # fmt: skip
        safety = (step, time) + self._safety.values(stamp, time, t.pl, is_moving, lagging)
        samples = self._samples
        samples.append(MetricSample('quality', stamp, episode_id, QUALITY_FIELDS, quality))
        samples.append(MetricSample('safety', stamp, episode_id, SAFETY_FIELDS, safety))
        self._account.step(quality)

    def _final_safety(self, stamp: int) -> tuple | None:
        """The episode's own values, whatever was missing at its last step."""
        if not self._step:
            return None
        time = (stamp - self._start) / SECOND if self._start is not None else NAN
        return (self._step - 1, time) + self._safety.totals(time, self._trajectory.pl)

    def _on_inference(self, stamp: int, values: dict[str, float]) -> None:
        if stamp < self._begun:
            return
        start = self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        row = (
            int(values['sequence']), time,
            NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
            values['chunk_overlap'], NAN, NAN, NAN, NAN, NAN,
            int(values['token_count']), int(values['sample_count']), 0,
        )  # fmt: skip
        self._samples.append(
            MetricSample('confidence', stamp, self._episode_id, CONFIDENCE_FIELDS, row)
        )
        self._account.confidence(row)
