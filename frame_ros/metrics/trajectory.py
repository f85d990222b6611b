# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory quality of a path: length, smoothness, curvature change, whether it moved at all."""

from __future__ import annotations

from math import pi
from typing import Any

import array_api_compat

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_result,
    check_variant,
    count_true,
    difference,
    inner,
    like,
    norm,
    unavailable,
)
from frame_ros.metrics.constants import SHORT_SEGMENT, STATIC_THRESHOLD
from frame_ros.metrics.contiguous_samples import Runs, runs_of

# Unit quaternions no further apart than this, sqrt(2), are on the same side of the sphere.
_SAME_SIDE = 2.0**0.5


def path_length(positions: Any, breaks: Any = None) -> Array:
    """Sum of the distances between consecutive positions, m. FRAME eq. 6.

    Args:
        positions: (..., T, 2 or 3), m, T >= 2.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): the
            way across does not count.

    Returns:
        (...,) m; 0 where nothing moves, NaN where no two samples are in one run.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    xp, points = as_points(positions, 2, check=breaks is not None)
    lengths = norm(xp, difference(points), overwrite=True)
    length = runs_of(breaks, points).sum(xp, lengths)
    return check_result(xp, length, positions=points)


def path_smoothness(positions: Any, variant: str = 'paper', breaks: Any = None) -> Array:
    """Sum of the norms of the second differences over the path length. FRAME eq. 7.

    Args:
        positions: (..., T, 2 or 3), m, T >= 3.
        variant: 'paper'; or 'mean_second_difference' (also 'authors'), as the published library has
            it: the mean of the norms, in m.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            difference spans two runs.

    Returns:
        (...,) dimensionless ('paper') or m; NaN for 'paper' where the path length is 0, and where
        no run has 3 samples.

    Raises:
        ShapeError: another shape, or fewer than 3 samples.
        ValueRangeError: a value is not finite, or an unknown variant.
    """
    check_variant(variant, ('paper', 'authors', 'mean_second_difference'))
    xp, points = as_points(positions, 3, check=breaks is not None)
    runs = runs_of(breaks, points)
    first = difference(points)
    second = norm(xp, difference(first), overwrite=True)
    if variant != 'paper':
        return check_result(xp, runs.mean(xp, second), positions=points)
    length = runs.sum(xp, norm(xp, first, overwrite=True))
    moved = length > 0
    ratio = runs.sum(xp, second) / xp.where(moved, length, 1.0)
    return check_result(xp, xp.where(moved, ratio, xp.nan)[()], positions=points)


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


def wrapped(xp: Any, angles: Array) -> Array:
    """Angles (...,) in rad brought to (-pi, pi]; those already there stay exactly as they are."""
    return angles - 2.0 * pi * xp.ceil((angles - pi) / (2.0 * pi))


def rotation_angle(xp: Any, before: Array, after: Array) -> Array:
    """Angle between unit quaternions, (..., 4) -> (...,), rad in [0, pi]; exact when small."""
    apart = norm(xp, before - after, overwrite=True)
    # q and -q are the same rotation: the nearer one counts.
    if bool(xp.any(apart > _SAME_SIDE)):
        apart = xp.minimum(apart, norm(xp, before + after, overwrite=True))
    return 4.0 * xp.asin(0.5 * apart)


def vector_product(xp: Any, a: Array, b: Array) -> Array:
    """Vector product of (..., 3)."""
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return xp.stack(parts, axis=-1)


def as_orientations(points: Array, orientations: Any, name: str = 'orientations') -> Array:
    """Unit quaternions in the library of `points`, (..., T, 4)."""
    xp = array_api_compat.array_namespace(points)
    quaternions = like(points, orientations, name, check=False)
    expected = (*points.shape[:-1], 4)
    if tuple(quaternions.shape) != expected:
        raise ShapeError(
            f'{name} have shape {tuple(quaternions.shape)}; {expected} (xyzw) is expected'
        )
    size = norm(xp, quaternions)
    check_result(xp, xp.sum(size, axis=-1), **{name: quaternions})
    if bool(xp.any(size == 0)):
        raise ValueRangeError(f'{name} hold a zero quaternion; a rotation is expected')
    return quaternions / size[..., None]


def count_short_segments(positions: Any) -> Array:
    """Number of segments shorter than 1e-6 m: positions (..., T, 2 or 3) -> (...,) integers."""
    xp, points = as_points(positions, 2)
    return count_true(xp, norm(xp, difference(points), overwrite=True) < SHORT_SEGMENT)


def is_static(positions: Any, threshold: float = STATIC_THRESHOLD) -> Array:
    """Whether the path stays within `threshold` (m) of its first position. VLA-UQ, finding 9.

    The distance from the beginning, not the path length, so that sensor noise adds up to no motion.

    Args:
        positions: (..., T, 2 or 3), m, T >= 1.

    Returns:
        (...,) booleans.
    """
    xp, points = as_points(positions, 1)
    return xp.all(norm(xp, points - points[..., :1, :], overwrite=True) < threshold, axis=-1)
