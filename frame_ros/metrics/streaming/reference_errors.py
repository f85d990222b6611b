# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming errors against a reference (FRAME eq. 9, 10), and progress (VLA-UQ eq. 26-29)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import dist, hypot

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.constants import NAN, WINDOW
from frame_ros.metrics.engine.samples import RunningMean, StepValue, finite
from frame_ros.metrics.relative_pose import RTE_VARIANTS, check_orientations_are_used

_Turns = tuple[list[float], list[float]] | None


def _pair(position: Sequence[float], reference: Sequence[float]) -> tuple[list[float], list[float]]:
    point = finite(position, (2, 3), 'position')
    return point, finite(reference, (len(point),), 'reference')


def _unit(orientation: Sequence[float], name: str) -> list[float]:
    values = finite(orientation, (4,), name)
    length = hypot(*values)
    if not length > 0.0:
        raise ValueRangeError(f'{name} is a zero quaternion; a rotation is expected')
    return [value / length for value in values]


def _turned_back(unit: list[float], vector: list[float]) -> list[float]:
    """A vector in the frame whose orientation is the unit quaternion."""
    x, y, z, w = unit
    a, b, c = vector
    # Twice the vector product of the vector and the quaternion's axis.
    p, q, r = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return [a + w * p + (q * z - r * y), b + w * q + (r * x - p * z), c + w * r + (p * y - q * x)]


class AbsoluteTrajectoryError:
    """ATE so far, m. Batch form: `absolute_trajectory_error`."""

    def __init__(self) -> None:
        self._mean = RunningMean()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()

    def update(self, position: Sequence[float], reference: Sequence[float]) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m.

        Raises:
            ShapeError: not 2 or 3 values each.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        self._mean.update(dist(*_pair(position, reference)))

    @property
    def value(self) -> float:
        """Mean distance."""
        return self._mean.value


class RelativeTrajectoryError:
    """RTE so far over `delta` samples, m. Batch form: `relative_trajectory_error`.

    `gaps`: how often displacements began anew.
    """

    def __init__(self, delta: int = 1, variant: str = 'paper') -> None:
        """`variant`: 'paper' or 'evo'. Raises ValueRangeError: delta is below 1, or an unknown
        variant.
        """
        if delta < 1:
            raise ValueRangeError(f'delta is {delta}; 1 sample or more is expected')
        check_variant(variant, RTE_VARIANTS)
        self._is_evo = variant == 'evo'
        self._pairs: deque[tuple[list[float], list[float], _Turns]] = deque(maxlen=delta)
        self._mean = RunningMean()
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()
        self._pairs.clear()
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: no displacement spans it."""
        self.gaps += bool(self._pairs)
        self._pairs.clear()

    def update(
        self,
        position: Sequence[float],
        reference: Sequence[float],
        orientation: Sequence[float] | None = None,
        reference_orientation: Sequence[float] | None = None,
    ) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m; variant
        'evo' also both orientations, xyzw, and 3 values.

        Raises:
            ShapeError: not 2 or 3 values each, not as many as before, or missing orientations.
            ValueRangeError: a value is not finite, a zero quaternion, or orientations for the
                variant 'paper'. Nothing has changed in either case.
        """
        point, wanted = _pair(position, reference)
        turns = self._turns(len(point), orientation, reference_orientation)
        if self._pairs and len(point) != len(self._pairs[0][0]):
            raise ShapeError(
                f'position has {len(point)} values; {len(self._pairs[0][0])} are expected'
            )
        if len(self._pairs) == self._pairs.maxlen:
            before, wanted_before, turns_before = self._pairs[0]
            moved = [p - q for p, q in zip(point, before)]
            wanted_moved = [w - v for w, v in zip(wanted, wanted_before)]
            if turns_before is not None:
                moved = _turned_back(turns_before[0], moved)
                wanted_moved = _turned_back(turns_before[1], wanted_moved)
            self._mean.update(hypot(*(p - w for p, w in zip(moved, wanted_moved))))
        self._pairs.append((point, wanted, turns))

    def _turns(
        self, size: int, own: Sequence[float] | None, reference: Sequence[float] | None
    ) -> _Turns:
        """Both orientations of the variant 'evo', of length 1."""
        check_orientations_are_used('evo' if self._is_evo else 'paper', own, reference)
        if not self._is_evo:
            return None
        if size != 3 or own is None or reference is None:
            raise ShapeError(
                "variant 'evo' compares poses; 3 values of position and 4 of orientation each are "
                'expected'
            )
        return _unit(own, 'orientation'), _unit(reference, 'reference_orientation')

    @property
    def value(self) -> float:
        """Mean difference of the displacements."""
        return self._mean.value


class OptimalTrajectoryDifference(StepValue):
    """OT: `step`, `value` (window), `mean`, `gaps`. Batch form: `optimal_trajectory_difference`."""

    def __init__(self, second_term: str = 'object_to_goal', window: int = WINDOW) -> None:
        """`second_term`: as of the batch form. Raises ValueRangeError: it is unknown."""
        check_variant(second_term, ('object_to_goal', 'tcp_to_goal'))
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
            ValueRangeError: a value is not finite. Nothing has changed in either case.
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
            if grasped:
                left = to_goal
            else:
                left = total if self._is_from_tcp else reach + dist(target, goal)
        if total - total != 0.0:  # true for NaN and infinity: a distance is finite if its ends are
            raise ValueRangeError(f'positions {tcp}, {target}, {goal} are not finite')
        return left
