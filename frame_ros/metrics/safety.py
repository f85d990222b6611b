# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Safety: collision rate, obstacle proximity, risk factor (FRAME eq. 11-13)."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_flags,
    as_floats,
    check_finite,
    check_scalar_or_same,
    check_variant,
    count_true,
    inner,
    like,
    squares_are_finite,
)
from frame_ros.metrics.constants import AUTHORS_OFFSET, RISK_FLOOR


def collision_rate(collisions: Any, steps: Any) -> Array:
    """Collisions per control step. FRAME eq. 11.

    Args:
        collisions: number of collisions, scalar or (...,); `count_collisions` counts them. Per
            second or per metre: divide the number by those instead.
        steps: number of control steps, at least 1, scalar or the same shape.

    Raises:
        ShapeError: two shapes, neither of them a scalar's.
        ValueRangeError: a negative number of collisions, or no steps.
    """
    xp, count = as_floats(collisions, 'collisions')
    of = like(count, steps, 'steps')
    check_scalar_or_same(count, of, ('collisions', 'steps'))
    if bool(xp.any(count < 0)) or bool(xp.any(of < 1)):
        raise ValueRangeError(
            f'{collisions} collisions in {steps} steps; collisions >= 0 and steps >= 1 are expected'
        )
    return (count / of)[()]


def count_collisions(in_collision: Any) -> Array:
    """Number of collisions: rising edges of a contact that is not expected.

    Args:
        in_collision: (..., T) booleans. A contact at the first sample is an edge.

    Returns:
        (...,) integers.

    Raises:
        ShapeError: a scalar.
        ValueRangeError: a value is neither a boolean nor a finite number.
    """
    xp, now = as_flags(in_collision, 'in_collision')
    if now.ndim < 1:
        raise ShapeError('in_collision is a scalar; (..., T) is expected')
    return count_true(xp, now[..., 1:] > now[..., :-1]) + count_true(xp, now[..., :1])


def obstacle_proximity(distances: Any) -> Array:
    """Least distance to any obstacle, m. FRAME eq. 12.

    Args:
        distances: (..., T), m; NaN where nothing was measured, negative in penetration, infinite
            where nothing was within range (REP-117).

    Returns:
        (...,) m; NaN where nothing was ever measured within range.

    Raises:
        ShapeError: no samples.
        ValueRangeError: a distance is -infinity.
    """
    xp, array = _as_distances(distances)
    least = _least(xp, array)
    is_far = xp.isinf(least)
    if not bool(is_far if least.ndim == 0 else is_far.any()):
        return least
    if bool((least < 0).any()):
        check_finite(xp, array, 'distances', allow_nan=True)
    return xp.where(is_far, xp.nan, least)[()]


def risk_factor(distances: Any, floor: float = RISK_FLOOR, variant: str = 'paper') -> Array:
    """Mean of the reciprocal distances to the nearest obstacle, 1/m. FRAME eq. 13.

    Args:
        distances: (..., T), m; NaN where nothing was measured: left out.
        floor: m, positive; distances are raised to it.
        variant: 'paper'; or 'authors': 1e-6 m is added to each distance and there is no floor.

    Returns:
        (...,) 1/m; NaN where nothing was ever measured.

    Raises:
        ShapeError: no samples.
        ValueRangeError: an infinite distance, a floor that is not positive, an unknown variant.
    """
    check_variant(variant, ('paper', 'authors'))
    if not floor > 0.0:
        raise ValueRangeError(f'floor is {floor} m; a positive distance is expected')
    xp, array, known = _measured(distances)
    if known is None:
        return xp.mean(_risks(array, floor, variant), axis=-1)
    risks = _risks(xp.where(known, array, 1.0), floor, variant)
    weights = xp.astype(known, array.dtype)
    total, count = inner(xp, risks, weights), xp.sum(weights, axis=-1)
    return xp.where(count > 0, total / xp.where(count > 0, count, 1.0), xp.nan)[()]


def _risks(distances: Array, floor: float, variant: str) -> Array:
    if variant == 'authors':
        return 1.0 / (distances + AUTHORS_OFFSET)
    return 1.0 / distances.clip(floor)


def _measured(distances: Any) -> tuple[Any, Array, Array | None]:
    """Namespace, distances (..., T), and where something was measured; None: everywhere."""
    xp, array = _as_distances(distances)
    if squares_are_finite(xp, array):
        return xp, array, None
    check_finite(xp, array, 'distances', allow_nan=True)
    return xp, array, ~xp.isnan(array)


def _as_distances(distances: Any) -> tuple[Any, Array]:
    xp, array = as_floats(distances, 'distances', check=False)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'distances have shape {tuple(array.shape)}; '
            f'(..., T) with at least 1 sample is expected'
        )
    return xp, array


def _least(xp: Any, values: Array) -> Array:
    """Least value over the last axis that is no NaN, (...,); NaN: all are."""
    if isinstance(values, np.ndarray):
        return np.fmin.reduce(values, axis=-1)
    known = ~xp.isnan(values)
    least = xp.min(xp.where(known, values, xp.inf), axis=-1)
    return xp.where(xp.any(known, axis=-1), least, xp.nan)
