# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Curvature change (FRAME eq. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, ceil, hypot, pi
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_result,
    count_true,
    difference,
    inner,
    like,
    norm,
    unavailable,
)
from frame_ros.metrics.constants import NAN, SHORT_SEGMENT
from frame_ros.metrics.contiguous_samples import Runs, runs_of
from frame_ros.metrics.engine.samples import RunningMean, finite
from frame_ros.metrics.motion import motion_metric
from frame_ros.metrics.orientations import as_orientations, rotation_angle, vector_product, wrapped
from frame_ros.metrics.record import RATE

__all__ = ['CurvatureChange', 'count_short_segments', 'curvature_change']


def curvature_change(
    positions: Any,
    headings: Any = None,
    orientations: Any = None,
    wrap: bool = True,
    breaks: Any = None,
) -> Array:
    """Mean absolute change of curvature between consecutive segments, 1/m. FRAME eq. 8.

    The curvature of the segment from p_i to p_i+1 is the turn from theta_i to theta_i+1 over its
    length. theta is one of
    - `headings`: signed angles, the turn wrapped to (-pi, pi];
    - `orientations`: quaternions, the turn is the geodesic angle (`cc_orientation`, the live `cc`);
    - neither: the direction in which the path leaves p_i (`cc_path`), signed in 2D.
    Segments shorter than 1e-6 m are left out (`count_short_segments` counts them).

    Args:
        positions: (..., T, 2 or 3), m, T >= 3; T >= 4 without headings and orientations.
        headings: (..., T), rad.
        orientations: (..., T, 4), xyzw, of any length but 0.
        wrap: False leaves turns of headings unwrapped, as the published library does.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            segment and no change of curvature spans two runs.

    Returns:
        (...,) 1/m; NaN where fewer than two curvatures are left, so where nothing moves.

    Raises:
        ShapeError: shapes that do not match, or too few samples.
        ValueRangeError: a value is not finite, a zero quaternion, both headings and orientations.
    """
    if headings is not None and orientations is not None:
        raise ValueRangeError('both headings and orientations are given; at most one is expected')
    directed = headings is None and orientations is None
    xp, points = as_points(positions, 4 if directed else 3, check=False)
    runs = runs_of(breaks, points)
    segments = difference(points)
    lengths = norm(xp, segments)
    check_result(xp, xp.sum(lengths, axis=-1), positions=points)
    if directed:
        thetas = segments
    elif orientations is not None:
        thetas = as_orientations(points, orientations)
    else:
        thetas = like(points, headings, 'headings')
        if tuple(thetas.shape) != tuple(points.shape[:-1]):
            raise ShapeError(
                f'headings have shape {tuple(thetas.shape)}; {tuple(points.shape[:-1])} is expected'
            )
    return _curvature_change(xp, segments, lengths, thetas, wrap, runs)


def _curvature_change(
    xp: Any, segments: Array, lengths: Array, thetas: Array, wrap: bool, runs: Runs
) -> Array:
    """CC of segments (..., S, 2 or 3); without short ones all rows at once, else row by row."""
    keep = lengths >= SHORT_SEGMENT
    kept_runs = Runs()
    directed = thetas is segments
    if runs.numbers is None and bool(xp.all(keep)):
        curvatures = _turns(xp, thetas, segments.ndim, wrap) / (
            lengths[..., :-1] if directed else lengths
        )
    elif segments.ndim > 2:
        return xp.stack(
            [
                _curvature_change(
                    xp, part := segments[i, ...], lengths[i, ...],
                    part if directed else thetas[i, ...], wrap, runs.row(i),
                )
                for i in range(segments.shape[0])
            ]
        )  # fmt: skip
    else:
        inside = runs.same(1)
        keep = keep if inside is None else keep & inside
        kept_runs = Runs(None if runs.numbers is None else runs.numbers[1:][keep])
        lengths = lengths[keep]
        if directed:
            curvatures = _turns(xp, segments[keep, :], 2, wrap) / lengths[:-1]
        else:
            curvatures = _turns(xp, thetas, 2, wrap)[keep] / lengths
    if curvatures.shape[-1] < 2:
        return unavailable(xp.sum(lengths, axis=-1))
    return kept_runs.mean(xp, xp.abs(curvatures[..., 1:] - curvatures[..., :-1]))


def _turns(xp: Any, thetas: Array, point_rank: int, wrap: bool) -> Array:
    """Turns between thetas: headings (an axis fewer than points), vectors or quaternions."""
    if thetas.ndim < point_rank:
        return (
            wrapped(xp, thetas[..., 1:] - thetas[..., :-1])
            if wrap
            else (thetas[..., 1:] - thetas[..., :-1])
        )
    before, after = thetas[..., :-1, :], thetas[..., 1:, :]
    if thetas.shape[-1] == 4:
        return rotation_angle(xp, before, after)
    dot = inner(xp, before, after)
    if thetas.shape[-1] == 3:
        return xp.atan2(norm(xp, vector_product(xp, before, after), overwrite=True), dot)
    cross = before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0]
    if wrap:
        return xp.atan2(cross, dot)
    headings = xp.atan2(thetas[..., 1], thetas[..., 0])
    return headings[..., 1:] - headings[..., :-1]


def count_short_segments(positions: Any) -> Array:
    """Number of segments shorter than 1e-6 m: positions (..., T, 2 or 3) -> (...,) integers."""
    xp, points = as_points(positions, 2)
    return count_true(xp, norm(xp, difference(points), overwrite=True) < SHORT_SEGMENT)


class CurvatureChange:
    """CC so far, 1/m. Batch form: `curvature_change`.

    Every update gives a heading (rad), or every update an orientation (xyzw), or none does. From 3
    samples on, from 4 without either. `short_segments` counts the segments left out, `gaps` how
    often curvatures began again.
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
                return _turned_angle(before, after)
            if len(after) == 3 or self._wrap:
                return _direction_angle(before, after)
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


def _turned_angle(before: Sequence[float], after: Sequence[float]) -> float:
    """Geodesic angle between two unit quaternions, rad in [0, pi]; exact when small."""
    sign = 1.0 if sum(a * b for a, b in zip(before, after, strict=True)) >= 0.0 else -1.0
    apart = hypot(*(sign * a - b for a, b in zip(before, after, strict=True)))
    return 4.0 * asin(0.5 * apart)


def _direction_angle(before: Sequence[float], after: Sequence[float]) -> float:
    """Angle between two displacements, rad: signed in 2D, in [0, pi] in 3D."""
    dot = sum(a * b for a, b in zip(before, after, strict=True))
    if len(before) == 2:
        return atan2(before[0] * after[1] - before[1] * after[0], dot)
    (a, b, c), (d, e, f) = before, after
    return atan2(hypot(b * f - c * e, c * d - a * f, a * e - b * d), dot)


CURVATURE_CHANGE = motion_metric(
    id='cc', name='curvature change', unit='1/m', minimum_samples=3, source='FRAME eq. 8',
    reasons=(
        record.NO_POSE, record.TOO_FEW_STEPS,
        record.Reason('fewer than 2 segments of at least 1e-6 m in a row'),
    ),
    batch=curvature_change, streaming=CurvatureChange,
    live=record.Live(
        'pose', lambda metric, pose: metric.update(pose.position, orientation=pose.orientation),
    ),
    torch='CurvatureChange', axis=4,
    formula='CC = 1/(n−1) Σᵢ |κᵢ₊₁ − κᵢ|\nκᵢ = turn from θᵢ to θᵢ₊₁ / ‖pᵢ₊₁ − pᵢ‖',
    shows='How abruptly the motion turns. Made for vehicles with a heading; for an arm, the live '
        'value takes the turn of the end effector’s orientation per metre.',
    misleads=f'{RATE}It divides by the length of a segment, so an end effector that turns '
        '(almost) in place, or creeps, gives huge values: segments below 1e-6 m are left out and '
        'counted, those just above still dominate the mean. Turning the gripper on purpose counts.',
    variants='`cc_orientation` (with orientations; the live form): geodesic angle between '
        'orientations. `cc_path` (neither): angle between displacements. Headings in 2D: signed; '
        '`wrap=False` leaves them unwrapped, as the published library does.',
)  # fmt: skip
