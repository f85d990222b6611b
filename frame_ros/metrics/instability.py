# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instability of actions and of the TCP: differences of order 1 to 3, and RMS jerk (VLA-UQ).

Rates with respect to time are n! times Newton's divided differences: velocity over dt, its change
over the mean of 2 dt, the change of that over the mean of 3 dt. So the rate of a polynomial of
degree n is exact however irregular dt is, and equals the n-th difference over dt^n when dt is
constant.
"""

from __future__ import annotations

from typing import Any

import array_api_compat

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_points,
    as_sequences,
    check_variant,
    difference,
    like,
    norm,
    pad_nan,
)
from frame_ros.metrics.definitions import WINDOW

_VARIANTS = ('paper', 'authors')

# The authors' code averages this many differences of each order, whatever the window.
_AUTHORS_DIFFERENCES = 5


def action_instability(
    actions: Any, order: int, bounds: Any = None, variant: str = 'paper'
) -> Array:
    """Mean over dimensions of the absolute n-th difference of the actions. VLA-UQ eq. 2, 4, 6.

    Args:
        actions: (..., T, D), T > order.
        order: 1 (A-PI), 2 (A-VI) or 3 (A-AI).
        bounds: (lower, upper), each (D,) or a scalar: actions are normalised to [0, 1] by them.
            None: raw.
        variant: 'paper'; or 'authors': mean over the newest 5 differences, halved for order 2 and
            quartered for order 3, and 0 in the first 7 steps.

    Returns:
        (..., T), NaN in the first `order` steps; dimensionless with bounds, else the action's unit.

    Raises:
        ShapeError: another shape, too few samples, bounds of another dimension.
        ValueRangeError: a value is not finite, lower not below upper, unknown order or variant.
    """
    _check_order(order)
    check_variant(variant, _VARIANTS)
    xp, values = as_sequences(actions, order + 1, 'actions')
    first = difference(values)
    if bounds is not None:
        # Differences first: the offset of the normalisation drops out, and costs no digits.
        first = first / _ranges(values, bounds)
    steps = xp.mean(xp.abs(difference(first, order - 1)), axis=-1)
    if variant == 'authors':
        return _authors_window(xp, steps, order)
    return pad_nan(xp, steps, order)


def tcp_instability(positions: Any, order: int, dt: Any = None, variant: str = 'paper') -> Array:
    """Norm of the n-th difference of the TCP position. VLA-UQ eq. 17, 19, 21.

    Args:
        positions: (..., T, 2 or 3), m, T > order.
        order: 1 (TCP-PI), 2 (TCP-VI) or 3 (TCP-AI).
        dt: None, or the s between samples, a scalar or (..., T - 1): then rates in m/s^order.
        variant: 'paper'; or 'authors': mean over axes of the absolute differences instead of the
            norm, then as for `action_instability`.

    Returns:
        (..., T), m or m/s^order, NaN in the first `order` steps.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite, dt is not positive, unknown order or variant.
    """
    _check_order(order)
    check_variant(variant, _VARIANTS)
    xp, points = as_points(positions, order + 1)
    changes = difference(points, order) if dt is None else _rates(points, dt, order)
    if variant == 'authors':
        return _authors_window(xp, xp.mean(xp.abs(changes), axis=-1), order)
    return pad_nan(xp, norm(xp, changes), order)


def rms_jerk(positions: Any, dt: Any, variant: str = 'paper') -> Array:
    """TI: root of the mean squared jerk over its T - 3 values, m/s^3. VLA-UQ eq. 25.

    Args:
        positions: (..., T, 2 or 3), m, T >= 4.
        dt: s between samples, a scalar or (..., T - 1).
        variant: 'paper'; or 'authors': three central-difference gradients with dt = 1, mean of
            the norms.

    Returns:
        (...,) m/s^3 ('authors': m per step^3).

    Raises:
        ShapeError: another shape, or fewer than 4 samples.
        ValueRangeError: a value is not finite, dt is not positive, unknown variant.
    """
    check_variant(variant, _VARIANTS)
    xp, points = as_points(positions, 4)
    if variant == 'authors':
        for _ in range(3):
            points = _gradient(xp, points)
        return xp.mean(norm(xp, points), axis=-1)
    jerk = norm(xp, _rates(points, dt, 3))
    return xp.sqrt(xp.mean(jerk * jerk, axis=-1))


def window_mean(values: Any, order: int, window: int = WINDOW) -> Array:
    """The live form of per-step values: mean over the last `window` samples. VLA-UQ, section V-D.

    Only values whose `order` + 1 samples all lie inside the window count. While fewer than `window`
    samples are there, the window is what there is.

    Args:
        values: (..., T), NaN in the first `order` steps.
        order: 0 to window - 1: how many samples before its own a value rests on.

    Returns:
        (..., T), NaN where no value is inside.
    """
    if not 0 <= order < window:
        raise ValueRangeError(f'order is {order}; 0 to {window - 1} is expected (window {window})')
    xp, array = as_floats(values, 'values', allow_nan=True)
    if array.ndim < 1:
        raise ShapeError('values are a scalar; (..., T) is expected')
    width = window - order
    padded = pad_nan(xp, array, width - 1)
    shifted = [padded[..., i : i + array.shape[-1]] for i in range(width)]
    known = [~xp.isnan(part) for part in shifted]
    total = sum(xp.where(k, part, 0.0) for k, part in zip(known, shifted, strict=True))
    count = sum(xp.astype(k, array.dtype) for k in known)
    return xp.where(count > 0, total / xp.where(count > 0, count, 1.0), xp.nan)


def _rates(points: Array, dt: Any, order: int) -> Array:
    """n-th derivative by divided differences: (..., T, D) -> (..., T - order, D)."""
    xp = array_api_compat.array_namespace(points)
    spacing = like(points, dt, 'dt')
    if spacing.ndim and spacing.shape[-1] != points.shape[-2] - 1:
        raise ShapeError(
            f'dt has shape {tuple(spacing.shape)}; a scalar or (..., {points.shape[-2] - 1}), '
            f'one less than the samples, is expected'
        )
    if not bool(xp.all(spacing > 0)):
        raise ValueRangeError('dt holds values that are not positive; stamps must increase')
    for n in range(1, order + 1):
        points = difference(points) / (_span(spacing, n)[..., None] if spacing.ndim else spacing)
    return points


def _span(spacing: Array, count: int) -> Array:
    """Mean of `count` consecutive spacings: (..., T - 1) -> (..., T - count)."""
    width = spacing.shape[-1] - count + 1
    return sum(spacing[..., i : i + width] for i in range(count)) / count


def _gradient(xp: Any, points: Array) -> Array:
    """Central differences with step 1 along the samples, one-sided at both ends."""
    inner = (points[..., 2:, :] - points[..., :-2, :]) / 2.0
    start = points[..., 1:2, :] - points[..., :1, :]
    end = points[..., -1:, :] - points[..., -2:-1, :]
    return xp.concat([start, inner, end], axis=-2)


def _authors_window(xp: Any, steps: Array, order: int) -> Array:
    """(..., T - order) per-step values -> (..., T), as the authors' code reports them."""
    samples = steps.shape[-1] + order
    device = array_api_compat.device(steps)
    head = (*steps.shape[:-1], min(WINDOW - 1, samples))
    zeros = xp.zeros(head, dtype=steps.dtype, device=device)
    if samples < WINDOW:
        return zeros
    last = samples - WINDOW + 1
    begin = steps.shape[-1] - last - _AUTHORS_DIFFERENCES + 1
    window = [steps[..., begin + i : begin + i + last] for i in range(_AUTHORS_DIFFERENCES)]
    means = sum(window) / (_AUTHORS_DIFFERENCES * 2 ** (order - 1))
    return xp.concat([zeros, means], axis=-1)


def _check_order(order: int) -> None:
    if order not in (1, 2, 3):
        raise ValueRangeError(
            f'order is {order}; 1 (position), 2 (velocity) or 3 (acceleration) is expected'
        )


def _ranges(actions: Array, bounds: Any) -> Array:
    """upper - lower, (D,) or a scalar, in the library of `actions`."""
    if len(bounds) != 2:
        raise ShapeError(f'bounds have {len(bounds)} entries; (lower, upper) is expected')
    xp = array_api_compat.array_namespace(actions)
    lower, upper = (like(actions, side, 'bounds') for side in bounds)
    for side in (lower, upper):
        if tuple(side.shape) not in ((), (actions.shape[-1],)):
            raise ShapeError(
                f'bounds have shape {tuple(side.shape)}; '
                f'a scalar or ({actions.shape[-1]},) is expected'
            )
    if not bool(xp.all(upper > lower)):
        raise ValueRangeError(
            f'bounds are {lower}, {upper}; each lower below its upper is expected'
        )
    return upper - lower
