# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Object and goal: where they are, whether the object is held, and the progress that follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import dist

from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics import OptimalTrajectoryDifference
from frame_ros.metrics.families.progress import NO_TASK
from frame_ros.metrics.record import NO_POSE

NAN = math.nan
# Bits of QualityMetrics.lagging.
OBJECT, GOAL, GRIPPER = 8, 16, 32
Target = tuple[float, float, float, str]


class _Place:
    """The newest position of the object or the goal, and when it can be used."""

    __slots__ = ('name', 'value', 'stamp', 'max_age')

    def __init__(self, name: str, max_age: float) -> None:
        """`max_age` in s; 0: none is too old."""
        self.name = name
        self.max_age = int(max_age * SECOND) if max_age else None
        self.value: Target | None = None
        self.stamp = 0

    def update(self, stamp: int, value: Target) -> None:
        if stamp >= self.stamp or self.value is None:
            self.value, self.stamp = value, stamp

    def restart(self) -> None:
        """The clock was reset: of what may be published once the place holds until another comes,
        whatever its stamp.
        """
        self.stamp = 0
        if self.max_age is not None:
            self.value = None

    def begin(self) -> None:
        """Forgets what has an age limit: it is not known before its first sample in the episode,
        as a bag need not hold what was before.
        """
        if self.max_age is not None:
            self.value = None

    def problem(self, stamp: int, is_lagging: bool, frame: str) -> str:
        """Returns why there is no position to use at a step, in words; empty: there is one."""
        if is_lagging:
            return f'the {self.name} pose came too late at the last step'
        if self.value is None:
            return f'no {self.name} pose was received'
        if self.max_age is not None and stamp - self.stamp > self.max_age:
            return f'the {self.name} pose is older than {self.max_age / SECOND:g} s'
        if not self.is_in(frame):
            return f'the {self.name} pose is in the frame {self.value[3]!r}; expected is {frame!r}'
        return ''

    def is_in(self, frame: str) -> bool:
        """Returns whether the position is in a frame, as far as that is said."""
        return self.value is None or not frame or self.value[3] in ('', frame)


class TargetState:
    """Takes poses of object and goal and what the gripper holds, and gives OT at steps.

    ot, ot_step, ot_mean: see QualityMetrics; the first two NaN where something is missing.
    is_grasped: the object is held, as used; False where that is not known. reason: why OT was
    unavailable at the newest step; empty: it was not. problem: that of a whole run, in words, for a
    person; '' if none. frame: that of the TCP poses, '' if not known.
    """

    def __init__(self, config: PipelineOptions, count: Callable[[str], None]) -> None:
        """`count` adds one to a counter of the data quality."""
        self._is_on = bool(config.ot_task)
        self._has_goal = config.has_goal
        self._count = count
        self._object = _Place('object', config.max_object_age)
        self._goal = _Place('goal', config.max_goal_age)
        self._grasp: tuple[int, bool | None, str] | None = None  # stamp, is held, why not known
        self._grasp_age = int(config.max_gripper_age * SECOND) or None
        self._reach = config.grasp_distance
        self._gap = int(config.gap * SECOND)
        self._ot = OptimalTrajectoryDifference(config.ot_second_term)
        self.frame = config.pose_frame
        self._was_known = False
        self.problem = ''
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._ot.reset()
        self._taken = 0
        self._object.begin()
        self._goal.begin()
        self._grasp = None
        self.ot = self.ot_step = self.ot_mean = NAN
        self.is_grasped = False
        self.reason = '' if self._is_on else NO_TASK.text

    def reset_differences(self) -> None:
        """After a gap: no difference spans it."""
        self._ot.reset_differences()

    def reset_clock(self, stream: str) -> None:
        """The clock of a stream was reset: what it said before is of another time."""
        if stream == 'object':
            self._object.restart()
        elif stream == 'goal':
            self._goal.restart()
        elif stream == 'grasp':
            self._grasp = None
        elif stream == 'pose':
            self._taken = 0
            self._ot.reset_differences()

    def update_object(self, stamp: int, value: Target) -> None:
        """value: x, y, z (m) and the frame."""
        self._object.update(stamp, value)

    def update_goal(self, stamp: int, value: Target) -> None:
        """value: x, y, z (m) and the frame."""
        self._goal.update(stamp, value)

    def update_grasp(self, stamp: int, value: tuple[bool | None, str]) -> None:
        """value: whether something is held; None: it is not known, and why not."""
        self._grasp = stamp, *value

    def ahead_of(self, stamp: int) -> int:
        """Bits LAGGING_* of what is known of a later time than a step that came late."""
        bits = 0
        if self._object.value is not None and self._object.stamp > stamp:
            bits = OBJECT
        if self._goal.value is not None and self._goal.stamp > stamp:
            bits |= GOAL
        if self._grasp is not None and self._grasp[0] > stamp:
            bits |= GRIPPER
        return bits

    def update(self, stamp: int, pose_stamp: int, tcp: Sequence[float], lagging: int) -> None:
        """A step with a new pose, taken at `pose_stamp`; tcp: x, y, z (m)."""
        if not self._is_on:
            return
        grasped = self._look(stamp, tcp, lagging)
        if self.reason:
            return
        if not self._was_known:
            self._was_known, self.problem = True, ''
        ot = self._ot
        if self._taken and pose_stamp - self._taken > self._gap:
            ot.reset_differences()
        self._taken = pose_stamp
        target = self._object.value[:3]  # type: ignore[index]
        if self._has_goal:
            ot.update(tcp, target, self._goal.value[:3], grasped)  # type: ignore[index]
        else:
            ot.update(tcp, target)
        self.ot, self.ot_step, self.ot_mean = ot.value, ot.step, ot.mean

    def update_without_pose(self) -> None:
        """A step at which there is no pose."""
        if self._is_on:
            self._miss(NO_POSE.text)

    def update_again(self, stamp: int, tcp: Sequence[float], lagging: int) -> None:
        """A step with the pose that the one before has taken: progress has no new sample."""
        if self._is_on:
            before = self.ot, self.ot_step, self.reason
            self._look(stamp, tcp, lagging)
            if not self.reason:
                self.ot, self.ot_step, self.reason = before

    def _miss(self, reason: str) -> None:
        self.ot = self.ot_step = NAN
        self.is_grasped = False
        self.reason = reason

    def _look(self, stamp: int, tcp: Sequence[float], lagging: int) -> bool | None:
        """Finds `reason` and `is_grasped` at a step; returns the latter, None if not known."""
        where = self._object.problem(stamp, bool(lagging & OBJECT), self.frame)
        grasped, why = self._held(stamp, lagging)
        if grasped and self._reach:
            grasped = not where and dist(tcp, self._object.value[:3]) <= self._reach  # type: ignore[index]
        self.is_grasped = bool(grasped)
        if not where and self._has_goal:
            where = self._goal.problem(stamp, bool(lagging & GOAL), self.frame) or why
        if where:
            self._note(where)
            self.ot = self.ot_step = NAN
        self.reason = where
        return grasped

    def _held(self, stamp: int, lagging: int) -> tuple[bool | None, str]:
        """Returns whether the gripper holds something, None if not known, and why not."""
        if lagging & GRIPPER:
            return None, 'the grasp came too late at the last step'
        if self._grasp is None:
            return None, 'the grasp was not received'
        decided, is_held, why = self._grasp
        if self._grasp_age is not None and stamp - decided > self._grasp_age:
            return None, f'the grasp is older than {self._grasp_age / SECOND:g} s'
        return is_held, '' if is_held is not None else f'the grasp is not known: {why}'

    def _note(self, reason: str) -> None:
        self._count('ot.unavailable')
        wrong = [p for p in (self._object, self._goal) if not p.is_in(self.frame)]
        for place in wrong:
            self._count(f'{place.name}.wrong_frame')
        if wrong or not self._was_known:
            self.problem = f'ot: {reason}'
