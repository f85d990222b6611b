# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming errors against a reference (FRAME eq. 9, 10), and progress (VLA-UQ eq. 26-29)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import dist, hypot

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.definitions import NAN, WINDOW
from frame_ros.metrics.streaming.samples import RunningMean, StepValue, finite


def _pair(position: Sequence[float], reference: Sequence[float]) -> tuple[list[float], list[float]]:
    point = finite(position, (2, 3), 'position')
    return point, finite(reference, (len(point),), 'reference')


class AbsoluteTrajectoryError:
    """ATE so far, m. Batch form: `absolute_trajectory_error`."""

    def __init__(self) -> None:
        self._mean = RunningMean()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()

    def update(self, position: Sequence[float], reference: Sequence[float]) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m."""
        self._mean.update(dist(*_pair(position, reference)))

    @property
    def value(self) -> float:
        """Mean distance."""
        return self._mean.value


class RelativeTrajectoryError:
    """RTE so far over `delta` samples, m. Batch form: `relative_trajectory_error`."""

    def __init__(self, delta: int = 1) -> None:
        if delta < 1:
            raise ValueRangeError(f'delta is {delta}; 1 sample or more is expected')
        self._pairs: deque[tuple[list[float], list[float]]] = deque(maxlen=delta)
        self._mean = RunningMean()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()
        self.reset_differences()

    def reset_differences(self) -> None:
        """After a gap: no displacement spans it."""
        self._pairs.clear()

    def update(self, position: Sequence[float], reference: Sequence[float]) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m."""
        point, wanted = _pair(position, reference)
        if len(self._pairs) == self._pairs.maxlen:
            before, wanted_before = self._pairs[0]
            parts = zip(point, before, wanted, wanted_before, strict=True)
            self._mean.update(hypot(*((p - q) - (w - v) for p, q, w, v in parts)))
        self._pairs.append((point, wanted))

    @property
    def value(self) -> float:
        """Mean difference of the displacements."""
        return self._mean.value


class OptimalTrajectoryDifference(StepValue):
    """OT: `step`, `value` (window), `mean`. Batch form: `optimal_trajectory_difference`."""

    def __init__(self, second_term: str = 'object_to_goal', window: int = WINDOW) -> None:
        check_variant(second_term, ('object_to_goal', 'tcp_to_goal'))
        super().__init__(1, window)
        self._second_term = second_term
        self._initial = NAN
        self._left = NAN

    def reset(self) -> None:
        """Forgets everything: the next distance is the initial one."""
        super().reset()
        self._initial = NAN

    def reset_differences(self) -> None:
        """After a gap: no difference spans it, and a new window begins."""
        super().reset_differences()
        self._left = NAN

    def update(
        self,
        tcp: Sequence[float],
        target: Sequence[float],
        goal: Sequence[float] | None = None,
        grasped: bool | None = None,
    ) -> None:
        """Takes the positions (m) of TCP, object and goal, and whether the object is held."""
        distance = self._distance(tcp, target, goal, grasped)
        if self._initial != self._initial:
            self._initial = distance
        if not self._initial > 0.0:
            return
        before, self._left = self._left, distance / self._initial
        if before == before:
            self._add(0.5 * (1.0 + self._left - before))

    def _distance(
        self,
        tcp: Sequence[float],
        target: Sequence[float],
        goal: Sequence[float] | None,
        grasped: bool | None,
    ) -> float:
        point, thing = _pair(tcp, target)
        if goal is None and grasped is None:
            return dist(point, thing)
        if goal is None or grasped is None:
            missing = 'goal' if goal is None else 'grasped'
            raise ShapeError(f'{missing} is missing; goal and grasped are expected together')
        end = finite(goal, (len(point),), 'goal')
        if grasped:
            return dist(point, end)
        start = point if self._second_term == 'tcp_to_goal' else thing
        return dist(point, thing) + dist(start, end)
