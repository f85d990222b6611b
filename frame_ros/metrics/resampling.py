# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""References brought to the samples of a trajectory, and aligned with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    array_api_compat,
    as_numbers,
    as_points,
    as_times,
    check_same_shape,
    check_variant,
    difference,
    like,
    norm,
)
from frame_ros.metrics.contiguous_samples import runs_of

ALIGNMENTS = ('none', 'se3', 'sim3')
MATCHES = ('time', 'arc_length')  # what brings a sample to its place on a reference


def index_of_least(errors: Sequence[Array]) -> int:
    """Index of the least of some scalars, the first of equal ones."""
    best = 0
    for index, error in enumerate(errors):
        if bool(error < errors[best]):
            best = index
    return best


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
    times, wanted = as_numbers(stamps, 'stamps')[1], as_numbers(new_stamps, 'new_stamps')[1]
    if points.ndim != 2 or tuple(times.shape) != (points.shape[0],) or wanted.ndim != 1:
        raise ShapeError(
            f'positions, stamps and new_stamps have shapes {tuple(points.shape)}, '
            f'{tuple(times.shape)} and {tuple(wanted.shape)}; '
            f'(T, 2 or 3), (T,) and (S,) are expected'
        )
    as_times(times, 'stamps')
    # From the first stamp, in the stamps' own type: ns since 1970 have more digits than a float.
    start = times[0].item()
    places = like(points, signed(times) - start, 'stamps')
    return interpolated(xp, points, places, like(points, signed(wanted) - start, 'new_stamps'))


def signed(stamps: Array) -> Array:
    """Stamps of a type that differences of either sign fit in: integers and booleans as int64."""
    xp = array_api_compat.array_namespace(stamps)
    return stamps if xp.isdtype(stamps.dtype, 'real floating') else xp.astype(stamps, xp.int64)


def interpolated(xp: Any, points: Array, places: Array, wanted: Array) -> Array:
    """Points (T, D) at increasing places (T,) -> (S, D) at the wanted (S,); at the ends beyond."""
    if isinstance(points, np.ndarray):
        columns = [np.interp(wanted, places, points[:, axis]) for axis in range(points.shape[1])]
        return np.stack(columns, axis=1, dtype=points.dtype)
    if points.shape[0] == 1:
        return points[xp.zeros_like(wanted, dtype=xp.int64), :]
    after = xp.clip(xp.searchsorted(places, wanted), 1, places.shape[0] - 1)
    share = (wanted - places[after - 1]) / (places[after] - places[after - 1])
    share = xp.clip(share, 0.0, 1.0)[:, None]
    return (1.0 - share) * points[after - 1, :] + share * points[after, :]


def resample_at_arc_length(reference: Any, lengths: Any) -> Array:
    """Returns where a path is after the given lengths of way along it; at its ends beyond them.

    Args:
        reference: (T, 2 or 3), m, T >= 2.
        lengths: (S,), m along the path from its first position, in any order.

    Returns:
        (S, 2 or 3) m.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a value is not finite, or a path without length.
    """
    xp, points = one_path(reference, 2, 'reference')
    points, along = without_pauses(xp, points, points, 'reference')
    wanted = like(points, lengths, 'lengths')
    if wanted.ndim != 1:
        raise ShapeError(f'lengths have shape {tuple(wanted.shape)}; (S,) is expected')
    return interpolated(xp, points, along, wanted)


def travelled_lengths(positions: Any, breaks: Any = None) -> Array:
    """The way along the path from the first position to each: (..., T, 2 or 3) -> (..., T), m.

    Args:
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): the
            way across does not count.

    Raises:
        ShapeError: another shape, or no sample.
        ValueRangeError: a value is not finite.
    """
    xp, points = as_points(positions, 1)
    lengths = runs_of(breaks, points).masked(xp, norm(xp, difference(points)), 0.0)
    start = xp.zeros_like(points[..., :1, 0])
    return xp.concat([start, xp.cumulative_sum(lengths, axis=-1)], axis=-1)


def without_pauses(xp: Any, points: Array, rows: Array, name: str) -> tuple[Array, Array]:
    """Rows (T, ...) of the points (T, D) that are not where the last one was, and arc lengths.

    Raises:
        ValueRangeError: a path without length.
    """
    lengths = norm(xp, difference(points))
    moved = lengths > 0
    if not bool(xp.any(moved)):
        raise ValueRangeError(f'{name} are all the same; a path with a length is expected')
    start = xp.zeros_like(points[:1, 0])
    along = xp.concat([start, xp.cumulative_sum(lengths[moved])])
    return xp.concat([rows[:1, :], rows[1:, :][moved, :]]), along


def one_path(positions: Any, minimum: int, name: str) -> tuple[Any, Array]:
    """Namespace and array of one path (T, 2 or 3), T at least `minimum`; ShapeError: no such."""
    xp, points = as_points(positions, minimum, name)
    if points.ndim != 2:
        raise ShapeError(
            f'{name} have shape {tuple(points.shape)}; (T, 2 or 3), one path, is expected'
        )
    return xp, points


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
    rotation, scale = _fit(xp, points, wanted, with_scale)
    turned = xp.matmul(points - centre, xp.matrix_transpose(rotation))
    return (turned * scale if with_scale else turned) + wanted_centre


def _fit(xp: Any, points: Array, wanted: Array, with_scale: bool) -> tuple[Array, Any]:
    """Rotation (..., D, D) and scale (..., 1, 1), 1 if it is not asked for, of the alignment."""
    centred, wanted_centred = (a - xp.mean(a, axis=-2, keepdims=True) for a in (points, wanted))
    covariance = xp.matmul(xp.matrix_transpose(wanted_centred), centred)
    left, singular, right = xp.linalg.svd(covariance)
    # A reflection is no rotation: where the best matrix is one, the weakest axis is turned round.
    mirrored = xp.linalg.det(left) * xp.linalg.det(right) < 0
    one = xp.ones_like(singular[..., 0])
    last = xp.where(mirrored, -one, one)[..., None]
    signs = xp.concat([xp.ones_like(singular[..., :-1]), last], axis=-1)
    rotation = xp.matmul(left * signs[..., None, :], right)
    if not with_scale:
        return rotation, 1.0
    extent = xp.sum(centred * centred, axis=(-2, -1))
    if bool(xp.any(extent == 0)):
        raise ValueRangeError('positions are all the same; a scale needs a path with extent')
    return rotation, (xp.sum(singular * signs, axis=-1) / extent)[..., None, None]


def _pair(
    positions: Any, reference: Any, minimum: int, alignment: str, check: bool
) -> tuple[Any, Array, Array]:
    """Namespace, positions, aligned if that is asked for (then checked), and reference."""
    check_variant(alignment, ALIGNMENTS, 'align')
    xp, points = as_points(positions, minimum, check=check)
    wanted = like(points, reference, 'reference', check=check)
    check_same_shape(points, wanted, ('positions', 'reference'))
    if alignment != 'none':
        points = align(points, wanted, with_scale=alignment == 'sim3')
    return xp, points, wanted
