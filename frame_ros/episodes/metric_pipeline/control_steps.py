# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses, actions, contacts and distances joined at control steps: quality and safety."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any

from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.core.turns import Unwrapper
from frame_ros.episodes.metric_pipeline.action_order import ActionOrder
from frame_ros.episodes.metric_pipeline.confidence_state import ConfidenceState
from frame_ros.episodes.metric_pipeline.live_metrics import LiveMetrics
from frame_ros.episodes.metric_pipeline.merge import StampMerge
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.metric_pipeline.options import (
    PipelineOptions,
    sporadic_streams,
    target_streams,
)
from frame_ros.episodes.metric_pipeline.safety_state import ContactSample, SafetyState
from frame_ros.episodes.metric_pipeline.summary import EpisodeSummaries
from frame_ros.episodes.metric_pipeline.target_state import GOAL, GRIPPER, OBJECT, TargetState
from frame_ros.metrics import ActionStep, PoseLowPass, ReferenceTracker, TrajectoryStep
from frame_ros.metrics.distance_bounds import bounded
from frame_ros.metrics.message_fields import (
    ACTION_FIELDS,
    FIELDS,
    LISTS,
    TRAJECTORY_FIELDS,
    metrics_of,
)
from frame_ros.metrics.record import PoseSample

NAN = math.nan
QUALITY, SAFETY = FIELDS['quality'], FIELDS['safety']
OF_TRAJECTORY = attrgetter(*TRAJECTORY_FIELDS)
OF_ACTION = attrgetter(*ACTION_FIELDS)
CONFIDENCE = (*FIELDS['confidence'], *LISTS['confidence'])
CONFIDENCE_ROW = itemgetter(*CONFIDENCE)
# Without a pose at a step: what has accumulated stands, what is of this step or its window is NaN.
STANDS = tuple(
    field == entry.episode_field and not entry.of_moments
    for entry in metrics_of('quality', TrajectoryStep)
    for field in entry.fields
)
# Bits of QualityMetrics.lagging.
LAGGING = {
    'pose': 1, 'contact': 2, 'proximity': 4, 'object': OBJECT, 'goal': GOAL, 'grasp': GRIPPER,
}  # fmt: skip
NONE: Mapping[int, int] = MappingProxyType({})
# Samples of contact and proximity that are kept while no episode runs: 2 s of two at 1 kHz.
MOST_BEFORE_START = 4000


def _tracker(config: PipelineOptions) -> ReferenceTracker | None:
    """None without references."""
    if not config.references:
        return None
    references = [(r.stamps, r.positions) for r in config.references]
    return ReferenceTracker(references, config.reference_match, config.rte_delta)


class ControlStepMetrics:
    """The samples of all streams in stamp order; each action is a step and takes what is newest."""

    _start: int | None
    _last_step: int | None
    _turns: Unwrapper  # of the joints of the actions, once they are known

    def __init__(
        self,
        config: PipelineOptions,
        account: EpisodeSummaries,
        samples: list[MetricSample],
        count: Callable[[str], None],
        lagging: Mapping[int, int] | None = None,
        unseen: Mapping[int, int] = NONE,
    ) -> None:
        """Samples are appended to `samples`; `count` adds one to a counter of the data quality.

        lagging: stamp of a step -> bits LAGGING_*, instead of what lags here. unseen: the same of
        streams of which nothing had come yet, which is no lag.
        """
        self.merge = StampMerge(
            {
                'event': self._on_event,
                'contact': self._on_contact,
                'proximity': self._on_proximity,
                'object': self._on_object,
                'goal': self._on_goal,
                'grasp': self._on_grasp,
                'pose': self._on_pose,
                'inference': self._on_inference,
                'action': self._on_action,
            },
            waits_for=('pose', 'action', 'contact', 'proximity', *target_streams(config)),
            hold=config.hold,
            silence=config.silence,
            sporadic=sporadic_streams(config),
        )
        self._config = config
        self._lasting = sporadic_streams(config)
        self._account = account
        self._samples = samples
        self._count = count
        self._forced, self._unseen = lagging, unseen
        self._gap = int(config.gap * SECOND)
        self._max_pose_age = int(config.max_pose_age * SECOND)
        self._trajectory = TrajectoryStep(static_threshold=config.static_threshold)
        self.actions = ActionOrder(config.action_names)
        self._action: ActionStep | None = None
        self._action_names: tuple[str, ...] = ()
        self._safety = SafetyState(config)
        self.confidence = ConfidenceState(count, config)
        self.target = TargetState(config, count)
        self._live = LiveMetrics('quality', config)
        self._references = _tracker(config)
        self._reference_frames = frozenset(r.frame for r in config.references if r.frame)
        self._low_pass = PoseLowPass(config.low_pass_cutoff) if config.low_pass_cutoff else None
        self._cutoff = config.low_pass_cutoff or NAN
        self._pose: Sequence[float] | None = None
        self._pose_stamp = 0
        self._position: Sequence[float] = ()  # as it was taken last, filtered
        self._is_finishing = False
        # Of contact and proximity, while no episode runs: what counts once its START has come.
        self._before_start: deque[tuple[Callable[[int, Any], None], int, Any]] = deque(
            maxlen=MOST_BEFORE_START
        )
        self._begin('', None)

    def reset_clock(self, stream: str, stamp: int) -> None:
        """The clock of a stream was reset, to `stamp`: its differences begin again."""
        self.merge.forget(stream, stamp)
        self.target.reset_clock(stream)
        if stream == 'pose':
            self._pose = None
            self._pose_taken = -1
            self._reset_path()
            self._lose_references('the clock of the poses was reset')
        elif stream == 'action':
            self._last_step = self._start = None
            self._begun = 0
            if self._action is not None:
                self._action.reset_differences()
            self.confidence.reset_differences()
        elif stream in ('contact', 'proximity'):
            self._before_start.clear()

    def finish(self) -> None:
        """Hands on all that is waiting: there is nothing to wait for any more."""
        self._is_finishing = True
        self.merge.flush()
        self._is_finishing = False

    def _begin(self, episode_id: str, start: int | None) -> None:
        self._trajectory.reset()
        self._live.reset()
        self.actions.begin()
        self._action = None
        self._safety.reset()
        self.confidence.reset()
        self.target.reset()
        if self._references is not None:
            self._references.reset()
        self._is_lost = ''
        if self._low_pass is not None:
            self._low_pass.reset()
        self._episode_id = episode_id
        self._start = start
        self._is_between_episodes = start is None
        # Samples of before the start that come late belong to no episode.
        self._begun = start or 0
        self._step = self._gaps = self._hold_expired = 0
        self._last_step = None
        self._pose_taken = -1

    def _reset_path(self) -> None:
        """No difference of poses spans a gap, and the low-pass restarts."""
        self._trajectory.reset_differences()
        self._live.reset_differences('pose')
        self.target.reset_differences()
        if self._references is not None:
            self._references.reset_differences()
        if self._low_pass is not None:
            self._low_pass.reset_differences()

    def _reset_differences(self) -> None:
        self._reset_path()
        self._live.reset_differences('action')
        self.confidence.reset_differences()
        if self._action is not None:
            self._action.reset_differences()

    def _on_event(self, stamp: int, event: Event) -> None:
        if event.type is EventType.START:
            self._begin(event.episode_id, stamp)
            self._account.start(event, 'steps')
            self._count_from(stamp)
        elif event.type is EventType.END and self._account.is_of(event, 'steps'):
            final, is_compared = self._final_safety(stamp), self._references is not None
            self._account.end(event, 'steps', final, self._reasons(), is_compared)
            self._begin('', None)
        elif event.type is EventType.SUCCESS:
            self._account.success(event)

    def _on_pose(self, stamp: int, pose: Sequence[float]) -> None:
        if stamp >= self._pose_stamp or self._pose is None:
            self._pose, self._pose_stamp = pose, stamp

    def _count_from(self, start: int) -> None:
        """Counts what was handed on before the START that it is behind, as that came late."""
        waiting = list(self._before_start)
        self._before_start.clear()
        for update, stamp, value in waiting:
            if stamp >= start:
                update(stamp, value)

    def _on_contact(self, stamp: int, value: ContactSample) -> None:
        self._update_safety(self._safety.update_contact, stamp, value)

    def _on_proximity(self, stamp: int, value: tuple[float, float]) -> None:
        distance = bounded(*value, self._config.distance_bound)
        self._update_safety(self._safety.update_distance, stamp, distance)

    def _update_safety(self, update: Callable[[int, Any], None], stamp: int, value: Any) -> None:
        if stamp >= self._begun:
            update(stamp, value)
        if self._is_between_episodes:
            self._before_start.append((update, stamp, value))

    def _on_object(self, stamp: int, value: tuple[float, float, float, str]) -> None:
        if stamp >= self._begun or 'object' in self._lasting:
            self.target.update_object(stamp, value)

    def _on_goal(self, stamp: int, value: tuple[float, float, float, str]) -> None:
        if stamp >= self._begun or 'goal' in self._lasting:
            self.target.update_goal(stamp, value)

    def _on_grasp(self, stamp: int, value: tuple[bool | None, str]) -> None:
        if stamp >= self._begun:
            self.target.update_grasp(stamp, value)

    def _on_action(self, stamp: int, value: tuple[tuple[str, ...], list[float]]) -> None:
        if stamp < self._begun:
            return
        action = self.actions.order(*value)
        if action is None:
            self._count('action.invalid')
            return
        step = self._action
        if step is None or self.actions.names != self._action_names:
            step = self._prepare_action()
        action = self._turns.update(action)
        last = self._last_step
        if last is not None and stamp - last > self._gap:
            self._gaps += 1
            self._count('action.gap')
            self._reset_differences()
        self._last_step = stamp
        lagging = self._lagging(stamp)
        if lagging:
            self._hold_expired += 1
        missing = lagging | self._unseen.get(stamp, 0)
        pose_age = self._update_trajectory(stamp, missing)
        step.update(action)
        if 'action' in self._live.streams:
            self._live.update('action', action)
        self.confidence.update_action(action, None if pose_age != pose_age else self._position)
        self._emit(stamp, step, lagging, missing, pose_age)
        self._step += 1

    def _prepare_action(self) -> ActionStep:
        """For the joints of the episode's actions, which those before may not have had."""
        if self._action is not None:
            self._live.reset_differences('action')
            self.confidence.reset_differences()
            self._last_step = None
        names, bounds = self.actions.names, self._config.bounds
        self._action_names = names
        if bounds is not None:
            at = [self._config.action_names.index(name) for name in names]
            bounds = tuple(bounds[0][i] for i in at), tuple(bounds[1][i] for i in at)
        self._turns = Unwrapper(names, self._config.continuous)
        self._action = ActionStep(len(names), bounds)
        return self._action

    def _lagging(self, stamp: int) -> int:
        """Bits of the streams that had not passed the step, or were past it when it came late."""
        if self._forced is not None:
            return self._forced.get(stamp, 0)
        bits, merge = 0, self.merge
        if stamp < merge.released:  # it came late: what is known may be of a later time
            bits = self._safety.ahead_of(stamp) | self.target.ahead_of(stamp)
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
        pose, taken, pose_stamp = self._pose, self._pose_taken, self._pose_stamp
        age = stamp - pose_stamp
        if pose is None or age > self._max_pose_age or lagging & 1:
            self._count('pose.unavailable')
            self.target.update_without_pose()
            return NAN
        if pose_stamp == taken:
            self._count('pose.repeated')
            self.target.update_again(stamp, self._position, lagging)
            return age / SECOND
        if taken >= 0 and pose_stamp - taken > self._gap:
            self._reset_path()
        # Distances to objects and references are not differences: they are of the pose as it is.
        self._position = position = tuple(pose[:3])
        if self._low_pass is not None:
            pose = self._low_pass.update(pose_stamp, *pose)
        trajectory = self._trajectory
        trajectory.update(pose_stamp, *pose)
        if 'pose' in self._live.streams:
            dt = (pose_stamp - taken) / SECOND if taken >= 0 else NAN
            sample = PoseSample(pose_stamp, dt, tuple(pose[:3]), tuple(pose[3:]))
            self._live.update('pose', sample)
        self.target.update(stamp, pose_stamp, position, lagging)
        if self._references is not None and self._start is not None and self._is_comparable():
            time = (pose_stamp - self._start) / SECOND
            self._references.update(time, trajectory.pl, *position)
        self._pose_taken = pose_stamp
        return age / SECOND

    def _emit(self, stamp: int, a: ActionStep, lagging: int, missing: int, pose_age: float) -> None:
        t, step, episode_id, start = self._trajectory, self._step, self._episode_id, self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        has_pose = pose_age == pose_age
        is_moving = has_pose and t.tcp_speed >= self._config.moving_speed
        trajectory = OF_TRAJECTORY(t)
        if not has_pose:
            trajectory = tuple(v if stands else NAN for v, stands in zip(trajectory, STANDS))
        target, references = self.target, self._references
        nearest = (-1, -1)
        if references is not None:
            nearest = references.ate_reference, references.rte_reference
        ate, rte = (NAN, NAN) if references is None else (references.ate, references.rte)
        live = self._live.values(() if has_pose else ('pose',)) if self._live.fields else ()
        quality = (
            step, time, *nearest, target.is_grasped, t.is_static, self._gaps, t.short_segments,
            lagging, self._hold_expired, self._cutoff, *trajectory, *OF_ACTION(a),
            ate, rte, target.ot, target.ot_step, target.ot_mean, pose_age,
            *live,
        )  # fmt: skip
        safety = (step, time, *self._safety.values(stamp, time, t.pl, is_moving, missing))
        samples = self._samples
        samples.append(MetricSample('quality', stamp, episode_id, QUALITY, quality))
        samples.append(MetricSample('safety', stamp, episode_id, SAFETY, safety))
        self._account.step(quality)

    def _reasons(self) -> dict[str, str]:
        """Metric -> why it is unavailable, where only this side knows it."""
        reasons = {'ot': self.target.reason} | self.confidence.reasons
        return reasons | {'ate': self._is_lost, 'rte': self._is_lost}

    def _is_comparable(self) -> bool:
        """Returns whether the poses can still be compared with the references in this episode."""
        frame, known = self.target.frame, self._reference_frames
        if not self._is_lost and known and frame and known != {frame}:
            self._count('reference.wrong_frame')
            others = ', '.join(map(repr, sorted(known)))
            self._lose_references(f'the references are in {others}; the TCP poses in {frame!r}')
        return not self._is_lost

    def _lose_references(self, why: str) -> None:
        """No more of them in this episode: when its samples were, is no longer known."""
        if self._references is not None:
            self._references.reset()
            self._is_lost = why

    def _final_safety(self, stamp: int) -> tuple | None:
        """The episode's own values, whatever was missing at its last step."""
        if not self._step:
            return None
        time = (stamp - self._start) / SECOND if self._start is not None else NAN
        totals = self._safety.totals(time, self._trajectory.pl)
        return (self._step - 1, time, *totals)

    def _on_inference(self, stamp: int, values: dict[str, Any]) -> None:
        if stamp < self._begun:
            return
        start = self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        row = CONFIDENCE_ROW(
            self.confidence.update(values, time, self._action, self._safety.newest)
        )
        self._samples.append(MetricSample('confidence', stamp, self._episode_id, CONFIDENCE, row))
        self._account.confidence(row)
