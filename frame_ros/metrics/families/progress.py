# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Progress towards the target: the optimal trajectory difference (VLA-UQ eq. 26-29)."""

from __future__ import annotations

from collections.abc import Sequence
from math import dist
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_same_shape,
    check_variant,
    like,
    norm,
    pad_nan,
)
from frame_ros.metrics.constants import NAN, WINDOW
from frame_ros.metrics.engine.samples import StepValue
from frame_ros.metrics.record import RATE

__all__ = ['OptimalTrajectoryDifference', 'optimal_trajectory_difference', 'remaining_distance']

SECOND_TERMS = ('object_to_goal', 'tcp_to_goal')


def optimal_trajectory_difference(
    tcp: Any,
    target: Any,
    goal: Any = None,
    grasped: Any = None,
    second_term: str = 'object_to_goal',
) -> Array:
    """OT: q_t = (1 + d_t - d_t-1) / 2, d the share of the initial distance left. Eq. 26-29.

    Picking (no goal): the distance from the TCP to the target object. Moving, putting: before the
    grasp that plus the distance from the object to the goal; once grasped, from the TCP to the
    goal. Below 0.5: the TCP came closer.

    Args:
        tcp: (T, 3), m, T >= 2.
        target: (T, 3), position of the object, m.
        goal: (T, 3), where it has to go, m; None for picking.
        grasped: (T,) booleans; needed with a goal.
        second_term: 'object_to_goal'; or 'tcp_to_goal', as eq. 27 is printed.

    Returns:
        (T,), NaN in the first step; NaN throughout if the initial distance is 0.

    Raises:
        ShapeError: shapes that do not match, fewer than 2 samples, goal without grasped or the
            reverse.
        ValueRangeError: a value is not finite, or an unknown second term.
    """
    xp, _ = as_points(tcp, 2, 'tcp')
    distances = remaining_distance(tcp, target, goal, grasped, second_term)
    initial = distances[..., :1]
    began = initial > 0
    left = xp.where(began, distances / xp.where(began, initial, 1.0), xp.nan)
    return pad_nan(xp, 0.5 * (1.0 + left[..., 1:] - left[..., :-1]), 1)


def remaining_distance(
    tcp: Any,
    target: Any,
    goal: Any = None,
    grasped: Any = None,
    second_term: str = 'object_to_goal',
) -> Array:
    """The distance left, (T,) m; arguments and errors as of `optimal_trajectory_difference`."""
    check_variant(second_term, SECOND_TERMS, 'second_term')
    xp, points = as_points(tcp, 1, 'tcp')
    thing = like(points, target, 'target')
    check_same_shape(points, thing, ('tcp', 'target'))
    reach = norm(xp, points - thing)
    if goal is None and grasped is None:
        return reach
    if goal is None or grasped is None:
        missing = 'goal' if goal is None else 'grasped'
        raise ShapeError(f'{missing} is missing; goal and grasped are expected together')
    end = like(points, goal, 'goal')
    check_same_shape(points, end, ('tcp', 'goal'))
    held = like(points, grasped, 'grasped') != 0
    if tuple(held.shape) != tuple(reach.shape):
        raise ShapeError(f'grasped has shape {tuple(held.shape)}; {tuple(reach.shape)} is expected')
    to_goal = norm(xp, points - end)
    carry = to_goal if second_term == 'tcp_to_goal' else norm(xp, thing - end)
    return xp.where(held, to_goal, reach + carry)


class OptimalTrajectoryDifference(StepValue):
    """OT: `step`, `value` (window), `mean`, `gaps`. Batch form: `optimal_trajectory_difference`."""

    def __init__(self, second_term: str = 'object_to_goal', window: int = WINDOW) -> None:
        """`second_term`: as of the batch form. Raises ValueRangeError: it is unknown."""
        check_variant(second_term, SECOND_TERMS, 'second_term')
        super().__init__(1, window)
        self._is_from_tcp = second_term == 'tcp_to_goal'
        self._initial = NAN
        self._last = NAN

    def reset(self) -> None:
        """Forgets everything: the next distance is the initial one."""
        super().reset()
        self._initial = NAN

    def _forget(self) -> bool:
        had_sample = self._last == self._last
        self._last = NAN
        return had_sample

    def update(
        self,
        tcp: Sequence[float],
        target: Sequence[float],
        goal: Sequence[float] | None = None,
        grasped: bool | None = None,
    ) -> None:
        """Takes the positions (m) of TCP, object and goal, and whether the object is held.

        Raises:
            ShapeError: not 2 or 3 values each, or one of goal and grasped without the other.
            ValueRangeError: a value, or grasped, is not finite. Nothing has changed in either case.
        """
        distance = self._distance(tcp, target, goal, grasped)
        before, initial = self._last, self._initial
        self._last = distance
        if initial > 0.0:
            if before == before:
                self.step = step = 0.5 * (1.0 + distance / initial - before / initial)
                self._window.append(step)
                self._total += step
                self._count += 1
        elif initial != initial:
            self._initial = distance

    def _distance(
        self,
        tcp: Sequence[float],
        target: Sequence[float],
        goal: Sequence[float] | None,
        grasped: bool | None,
    ) -> float:
        """The distance left, m."""
        size = len(tcp)
        if size not in (2, 3) or len(target) != size or (goal is not None and len(goal) != size):
            sizes = [len(each) for each in (tcp, target, goal) if each is not None]
            raise ShapeError(f'positions have {sizes} values; 2 or 3, all alike, are expected')
        reach = dist(tcp, target)
        if goal is None and grasped is None:
            left = total = reach
        elif goal is None or grasped is None:
            missing = 'goal' if goal is None else 'grasped'
            raise ShapeError(f'{missing} is missing; goal and grasped are expected together')
        else:
            to_goal = dist(tcp, goal)
            total = reach + to_goal
            if grasped != grasped:
                raise ValueRangeError(f'grasped is {grasped}; True or False is expected')
            if grasped:
                left = to_goal
            else:
                left = total if self._is_from_tcp else reach + dist(target, goal)
        if total - total != 0.0:  # true for NaN and infinity: a distance is finite if its ends are
            raise ValueRangeError(f'positions {tcp}, {target}, {goal} are not finite')
        return left


NO_TASK = record.Reason('no task is set (ot_task)', record.Lack.TASK)
NO_TARGET = record.Reason(
    'object, goal or grasp was not received, or is too old', record.Lack.TARGET
)

OPTIMAL_TRAJECTORY = record.quality_metric(
    id='ot', name='optimal trajectory difference', unit='1', higher_is_better=False,
    minimum_samples=2, source='VLA-UQ eq. 29',
    reasons=(
        NO_TASK, record.NO_POSE, NO_TARGET,
        record.Reason('fewer than two steps with a new pose, or an initial distance of 0'),
    ),
    batch=optimal_trajectory_difference, streaming=OptimalTrajectoryDifference,
    torch='OptimalTrajectoryDifference',
    torch_form=record.TorchForm(
        ('positions', 'target', 'goal', 'grasped'), ('second_term',), first=1,
    ),
    has_three_forms=True, sampled_at=record.CONTROL_STEPS,
    options=(
        'ot_task', 'ot_second_term', 'max_pose_age', 'max_object_age', 'max_goal_age',
        'max_gripper_age', 'grasp_distance', 'gap',
    ),
    line=record.Line(
        record.Chart('Optimal trajectory difference (window of 8)', is_from_zero=False), 'ot',
    ),
    formula='qₜ = ½ (1 + Δdₜ)               dₜ: distance left over its initial value\n'
        'picking:  d ∝ ‖tcp − object‖\n'
        'placing:  d ∝ ‖tcp − object‖ + ‖object − goal‖, once grasped ‖tcp − goal‖',
    shows='Whether each step brings the task closer: below 0.5 it does, above 0.5 it moves away.',
    misleads='One step changes little, so good and bad episodes differ in the third digit: look '
        f'at the distance from 0.5. {RATE}Going round an obstacle counts as moving away. The mean '
        'telescopes: it says how much of the distance is left at the end over the number of '
        'steps, not how straight the way was. At the grasp d jumps by the offset between TCP and '
        'object, and a wrong grasp state changes what distance is measured. A robot that does not '
        'move has exactly 0.5.',
    variants='`object_to_goal` (default) and, as eq. 27 is printed, `tcp_to_goal` for the second '
        'term before the grasp.',
)  # fmt: skip
