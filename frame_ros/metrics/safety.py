# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Safety: collision rate, obstacle proximity, risk factor (FRAME eq. 11-13)."""

from __future__ import annotations

from typing import Any

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, as_floats, check_variant, like
from frame_ros.metrics.definitions import RISK_FLOOR

# What the published library adds to every distance before it inverts it. m.
_AUTHORS_OFFSET = 1e-6


def collision_rate(collisions: Any, steps: Any) -> Array:
    """Collisions per control step. FRAME eq. 11.

    Args:
        collisions: number of collisions, scalar or (...,); `count_collisions` counts them. Per
            second or per metre: divide the number by those instead.
        steps: number of control steps, at least 1, scalar or the same shape.

    Raises:
        ValueRangeError: a negative number of collisions, or no steps.
    """
    xp, count = as_floats(collisions, 'collisions')
    of = like(count, steps, 'steps')
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
    """
    xp, flags = as_floats(in_collision, 'in_collision')
    if flags.ndim < 1:
        raise ShapeError('in_collision is a scalar; (..., T) is expected')
    now = flags != 0
    edges = xp.sum(xp.astype(now[..., 1:] & ~now[..., :-1], xp.int64), axis=-1)
    return edges + xp.sum(xp.astype(now[..., :1], xp.int64), axis=-1)


def obstacle_proximity(distances: Any) -> Array:
    """Least distance to any obstacle, m. FRAME eq. 12.

    Args:
        distances: (..., T), m; NaN where nothing was measured, negative in penetration.

    Returns:
        (...,) m; NaN where nothing was ever measured.

    Raises:
        ShapeError: no samples.
        ValueRangeError: an infinite distance.
    """
    xp, array, known = _measured(distances)
    least = xp.min(xp.where(known, array, xp.inf), axis=-1)
    return xp.where(xp.any(known, axis=-1), least, xp.nan)[()]


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
    safe = xp.where(known, array, 1.0)
    safe = safe + _AUTHORS_OFFSET if variant == 'authors' else xp.where(safe > floor, safe, floor)
    risk = xp.sum(xp.where(known, 1.0 / safe, 0.0), axis=-1)
    count = xp.sum(xp.astype(known, array.dtype), axis=-1)
    return xp.where(count > 0, risk / xp.where(count > 0, count, 1.0), xp.nan)[()]


def _measured(distances: Any) -> tuple[Any, Array, Array]:
    xp, array = as_floats(distances, 'distances', allow_nan=True)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'distances have shape {tuple(array.shape)}; '
            f'(..., T) with at least 1 sample is expected'
        )
    return xp, array, ~xp.isnan(array)
