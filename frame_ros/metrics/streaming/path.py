# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming path length, path smoothness and curvature change (FRAME eq. 6-8)."""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, ceil, hypot, pi

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.constants import NAN, SHORT_SEGMENT
from frame_ros.metrics.engine.samples import Differences, RunningMean, finite


class PathLength:
    """PL so far, m; from 2 samples on. `gaps`: how often a way across one was left out.

    Batch form: `path_length`.
    """

    def __init__(self) -> None:
        self._differences = Differences(1)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN
        self.gaps = 0
        self._total = 0.0
        self._differences.reset()

    def reset_differences(self) -> None:
        """After a gap: the way across it does not count."""
        self.gaps += self._differences.reset()

    def update(self, position: Sequence[float]) -> None:
        """Takes one position, 2 or 3 values, m.

        Raises:
            ShapeError: another number of values than 2 or 3, or than before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        for segment in self._differences.update(finite(position, (2, 3), 'position')):
            self._total += hypot(*segment)
            self.value = self._total


class PathSmoothness:
    """PS so far; from 3 samples on, NaN while the path length is 0. Batch: `path_smoothness`.

    `gaps`: how often differences began anew.
    """

    def __init__(self, variant: str = 'paper') -> None:
        """`variant`: 'paper'; 'mean_second_difference' or 'authors', m, as of the batch form.

        Raises:
            ValueRangeError: an unknown variant.
        """
        check_variant(variant, ('paper', 'authors', 'mean_second_difference'))
        self._is_paper = variant == 'paper'
        self._differences = Differences(2)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN
        self.gaps = 0
        self._length = self._bends = 0.0
        self._bend_count = 0
        self._differences.reset()

    def reset_differences(self) -> None:
        """After a gap: no difference spans it."""
        self.gaps += self._differences.reset()

    def update(self, position: Sequence[float]) -> None:
        """Takes one position, 2 or 3 values, m.

        Raises:
            ShapeError: another number of values than 2 or 3, or than before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        differences = self._differences.update(finite(position, (2, 3), 'position'))
        if differences:
            self._length += hypot(*differences[0])
        if len(differences) > 1:
            self._bends += hypot(*differences[1])
            self._bend_count += 1
        if self._bend_count:
            if not self._is_paper:
                self.value = self._bends / self._bend_count
            elif self._length > 0.0:
                self.value = self._bends / self._length


class CurvatureChange:
    """CC so far, 1/m. Batch form: `curvature_change`.

    Every update gives a heading (rad), or every update an orientation (xyzw), or none does. From 3
    samples on, from 4 without either. `short_segments` counts the segments left out, `gaps` how
    often curvatures began anew.
    """

    def __init__(self, wrap: bool = True) -> None:
        """`wrap`: False leaves turns of headings unwrapped, as of the batch form."""
        self._wrap = wrap
        self._mean = RunningMean()
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.short_segments = 0
        self._mean.reset()
        self._kind = ''
        self.gaps = 0
        self._begin()

    def reset_differences(self) -> None:
        """After a gap: no segment and no change of curvature spans it."""
        self.gaps += self._position is not None
        self._begin()

    def _begin(self) -> None:
        self._position: list[float] | None = None
        self._theta: float | list[float] | None = None
        self._length = NAN
        self._curvature = NAN

    @property
    def value(self) -> float:
        """Mean absolute change of curvature so far."""
        return self._mean.value

    def update(
        self,
        position: Sequence[float],
        heading: float | None = None,
        orientation: Sequence[float] | None = None,
    ) -> None:
        """Takes one position (m, 2 or 3 values), with a heading (rad) or an orientation (xyzw).

        Raises:
            ShapeError: another number of values than 2 or 3, or than before; or headings,
                orientations and neither alternate.
            ValueRangeError: a value is not finite, a zero quaternion, or both a heading and an
                orientation. Nothing has changed in any case.
        """
        last = self._position
        point = finite(position, (2, 3) if last is None else (len(last),), 'position')
        theta, kind = _theta(heading, orientation), _kind(heading, orientation)
        if self._kind not in ('', kind):
            raise ShapeError(
                f'{kind} and {self._kind} alternate; one of them throughout is expected'
            )
        self._kind, self._position = kind, point
        segment = None if last is None else [b - a for a, b in zip(last, point, strict=True)]
        if theta is not None:
            before, self._theta = self._theta, theta
            if segment is not None and before is not None and self._is_long(hypot(*segment)):
                self._add(self._turn(before, theta) / hypot(*segment))
        elif segment is not None and self._is_long(hypot(*segment)):
            before, self._theta = self._theta, segment
            if before is not None:
                self._add(self._turn(before, segment) / self._length)
            self._length = hypot(*segment)

    def _is_long(self, length: float) -> bool:
        if length >= SHORT_SEGMENT:
            return True
        self.short_segments += 1
        return False

    def _turn(self, before: float | list[float], after: float | list[float]) -> float:
        if isinstance(before, list) and isinstance(after, list):
            if len(after) == 4:
                return rotation_angle(before, after)
            if len(after) == 3 or self._wrap:
                return direction_angle(before, after)
            turn = atan2(after[1], after[0]) - atan2(before[1], before[0])
        else:
            turn = after - before  # type: ignore[operator]
        return turn - 2.0 * pi * ceil((turn - pi) / (2.0 * pi)) if self._wrap else turn

    def _add(self, curvature: float) -> None:
        if self._curvature == self._curvature:
            self._mean.update(abs(curvature - self._curvature))
        self._curvature = curvature


def _kind(heading: float | None, orientation: Sequence[float] | None) -> str:
    if orientation is not None:
        return 'orientation'
    return 'positions alone' if heading is None else 'heading'


def _theta(
    heading: float | None, orientation: Sequence[float] | None
) -> float | list[float] | None:
    if heading is not None and orientation is not None:
        raise ValueRangeError('both heading and orientation are given; at most one is expected')
    if orientation is not None:
        quaternion = finite(orientation, (4,), 'orientation')
        size = hypot(*quaternion)
        if size == 0.0:
            raise ValueRangeError('orientation is a zero quaternion; a rotation is expected')
        return [part / size for part in quaternion]
    return None if heading is None else finite([heading], (1,), 'heading')[0]


def rotation_angle(before: Sequence[float], after: Sequence[float]) -> float:
    """Geodesic angle between two unit quaternions, rad in [0, pi]; exact when small."""
    sign = 1.0 if sum(a * b for a, b in zip(before, after, strict=True)) >= 0.0 else -1.0
    apart = hypot(*(sign * a - b for a, b in zip(before, after, strict=True)))
    return 4.0 * asin(0.5 * apart)


def direction_angle(before: Sequence[float], after: Sequence[float]) -> float:
    """Angle between two displacements, rad: signed in 2D, in [0, pi] in 3D."""
    dot = sum(a * b for a, b in zip(before, after, strict=True))
    if len(before) == 2:
        return atan2(before[0] * after[1] - before[1] * after[0], dot)
    (a, b, c), (d, e, f) = before, after
    return atan2(hypot(b * f - c * e, c * d - a * f, a * e - b * d), dot)
