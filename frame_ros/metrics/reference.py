# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors against a reference trajectory: ATE, RTE, resampling, alignment (FRAME eq. 9, 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_same_shape,
    check_variant,
    difference,
    like,
    norm,
)


def absolute_trajectory_error(positions: Any, reference: Any, align: str = 'none') -> Array:
    """Mean distance to the reference, sample by sample, m. FRAME eq. 9.

    Args:
        positions: (..., T, 2 or 3), m, T >= 1.
        reference: the same shape; `resample` brings a reference to the trajectory's stamps.
        align: 'none'; or 'se3' or 'sim3': `positions` are first aligned to the reference as a
            whole.

    Returns:
        (...,) m.

    Raises:
        ShapeError: shapes differ, or no samples.
        ValueRangeError: a value is not finite, or an unknown alignment.
    """
    xp, points, wanted = _pair(positions, reference, 1, align)
    return xp.mean(norm(xp, points - wanted), axis=-1)


def relative_trajectory_error(
    positions: Any, reference: Any, delta: int = 1, align: str = 'none'
) -> Array:
    """Mean difference of the displacements over `delta` samples, m. FRAME eq. 10.

    Arguments, returns and errors as for `absolute_trajectory_error`; T > delta >= 1.
    """
    if delta < 1:
        raise ValueRangeError(f'delta is {delta}; 1 sample or more is expected')
    xp, points, wanted = _pair(positions, reference, delta + 1, align)
    moved = points[..., delta:, :] - points[..., :-delta, :]
    meant = wanted[..., delta:, :] - wanted[..., :-delta, :]
    return xp.mean(norm(xp, moved - meant), axis=-1)


def nearest_reference(
    error: Callable[[Any, Any], Array], positions: Any, references: Iterable[Any]
) -> tuple[Array, int]:
    """The smallest error over several references, and the index of the reference that gave it.

    Args:
        error: `absolute_trajectory_error`, `relative_trajectory_error` or a partial of one.
        positions: (T, 2 or 3), m.
        references: (T, 2 or 3) each.

    Raises:
        ShapeError: no reference, or shapes differ.
    """
    errors = [error(positions, reference) for reference in references]
    if not errors:
        raise ShapeError('references are empty; at least one trajectory is expected')
    best = min(range(len(errors)), key=lambda i: float(errors[i]))
    return errors[best], best


def resample(positions: Any, stamps: Any, new_stamps: Any) -> Array:
    """Positions at other stamps, interpolated linearly; at rest before the start and after the end.

    Args:
        positions: (T, 2 or 3), m.
        stamps: (T,), strictly increasing, in any unit.
        new_stamps: (S,), in the same unit and from the same zero.

    Returns:
        (S, 2 or 3) m.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a value is not finite, or stamps that do not increase.
    """
    xp, points = as_points(positions, 1)
    times, wanted = like(points, stamps, 'stamps'), like(points, new_stamps, 'new_stamps')
    if points.ndim != 2 or tuple(times.shape) != (points.shape[0],) or wanted.ndim != 1:
        raise ShapeError(
            f'positions, stamps and new_stamps have shapes {tuple(points.shape)}, '
            f'{tuple(times.shape)} and {tuple(wanted.shape)}; '
            f'(T, 2 or 3), (T,) and (S,) are expected'
        )
    if not bool(xp.all(times[1:] > times[:-1])):
        raise ValueRangeError('stamps do not increase strictly; sort them and drop the doubles')
    if points.shape[0] == 1:
        return points[xp.zeros(wanted.shape, dtype=xp.int64), :]
    after = xp.clip(xp.searchsorted(times, wanted), 1, times.shape[0] - 1)
    share = (wanted - times[after - 1]) / (times[after] - times[after - 1])
    share = xp.clip(share, 0.0, 1.0)[:, None]
    return (1.0 - share) * points[after - 1, :] + share * points[after, :]


def resample_by_arc_length(positions: Any, samples: int) -> Array:
    """A path at `samples` points equally far apart along it: (T, 2 or 3) -> (samples, 2 or 3), m.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a path without length.
    """
    xp, points = as_points(positions, 2)
    if points.ndim != 2 or samples < 2:
        raise ShapeError(
            f'positions have shape {tuple(points.shape)}, samples is {samples}; '
            f'(T, 2 or 3) and at least 2 samples are expected'
        )
    lengths = norm(xp, difference(points))
    moved = lengths > 0
    if not bool(xp.any(moved)):
        raise ValueRangeError('positions are all the same; a path with a length is expected')
    kept = xp.concat([points[:1, :], points[1:, :][moved, :]])
    along = xp.concat([lengths[:1] * 0.0, xp.cumulative_sum(lengths[moved])])
    share = like(points, [i / (samples - 1) for i in range(samples)], 'share')
    return resample(kept, along, share * along[-1])


def align(positions: Any, reference: Any, with_scale: bool = False) -> Array:
    """`positions` moved as a rigid whole (and scaled) closest to the reference (Umeyama, 1991).

    Args:
        positions: (..., T, 2 or 3), m.
        reference: the same shape.
        with_scale: also fit one scale: Sim(3) instead of SE(3).

    Raises:
        ShapeError: shapes differ.
        ValueRangeError: a value is not finite, or a scale is asked of a path without extent.
    """
    xp, points = as_points(positions, 2)
    wanted = like(points, reference, 'reference')
    check_same_shape(points, wanted, ('positions', 'reference'))
    centre, wanted_centre = (xp.mean(a, axis=-2, keepdims=True) for a in (points, wanted))
    centred, wanted_centred = points - centre, wanted - wanted_centre
    covariance = xp.matmul(xp.matrix_transpose(wanted_centred), centred)
    left, singular, right = xp.linalg.svd(covariance)
    # A reflection is no rotation: where the best matrix is one, the weakest axis is turned round.
    mirrored = xp.linalg.det(left) * xp.linalg.det(right) < 0
    last = xp.where(mirrored, -1.0, 1.0)[..., None] * xp.ones_like(singular[..., -1:])
    signs = xp.concat([xp.ones_like(singular[..., :-1]), last], axis=-1)
    rotation = xp.matmul(left * signs[..., None, :], right)
    turned = xp.matmul(centred, xp.matrix_transpose(rotation))
    if with_scale:
        extent = xp.sum(centred * centred, axis=(-2, -1))
        if bool(xp.any(extent == 0)):
            raise ValueRangeError('positions are all the same; a scale needs a path with extent')
        turned = turned * (xp.sum(singular * signs, axis=-1) / extent)[..., None, None]
    return turned + wanted_centre


def _pair(positions: Any, reference: Any, minimum: int, alignment: str) -> tuple[Any, Array, Array]:
    check_variant(alignment, ('none', 'se3', 'sim3'))
    xp, points = as_points(positions, minimum)
    wanted = like(points, reference, 'reference')
    check_same_shape(points, wanted, ('positions', 'reference'))
    if alignment != 'none':
        points = align(points, wanted, with_scale=alignment == 'sim3')
    return xp, points, wanted
