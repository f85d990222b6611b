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
import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_points,
    as_sequences,
    check_result,
    check_variant,
    difference,
    like,
    mean_magnitude,
    norm,
    pad_nan,
    pair_of,
    unavailable,
)
from frame_ros.metrics.constants import AUTHORS_DIFFERENCES, WINDOW
from frame_ros.metrics.contiguous_samples import Runs, runs_of

_VARIANTS = ('paper', 'authors')


def action_instability(
    actions: Any, order: int, bounds: Any = None, variant: str = 'paper', breaks: Any = None
) -> Array:
    """Mean over dimensions of the absolute n-th difference of the actions. VLA-UQ eq. 2, 4, 6.

    Args:
        actions: (..., T, D), T > order.
        order: 1 (A-PI), 2 (A-VI) or 3 (A-AI).
        bounds: (lower, upper), each (D,) or a scalar: actions are normalised to [0, 1] by them.
            None: raw.
        variant: 'paper'; or 'authors': mean over the newest 5 differences, halved for order 2 and
            quartered for order 3, and 0 in the first 7 steps.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            difference spans two runs, and each run has first steps of its own.

    Returns:
        (..., T), NaN in the first `order` steps; dimensionless with bounds, else the action's unit.

    Raises:
        ShapeError: another shape, too few samples, bounds of another dimension.
        ValueRangeError: a value is not finite, lower not below upper, unknown order or variant.
    """
    _check_order(order)
    check_variant(variant, _VARIANTS)
    xp, values = as_sequences(actions, order + 1, 'actions')
    runs = runs_of(breaks, values)
    # Normalising is dividing differences by the range: the offset drops out, and costs no digits.
    scale = None if bounds is None else _ranges(values, bounds)
    steps = mean_magnitude(xp, difference(values, order), scale, overwrite=True)
    if variant == 'authors':
        return _authors_window(xp, steps, order, runs)
    return pad_nan(xp, runs.masked(xp, steps), order)


def tcp_instability(
    positions: Any, order: int, dt: Any = None, variant: str = 'paper', breaks: Any = None
) -> Array:
    """Norm of the n-th difference of the TCP position. VLA-UQ eq. 17, 19, 21.

    Args:
        positions: (..., T, 2 or 3), m, T > order.
        order: 1 (TCP-PI), 2 (TCP-VI) or 3 (TCP-AI).
        dt: None, or the s between samples, a scalar or (..., T - 1): then rates in m/s^order.
        variant: 'paper'; or 'authors': mean over axes of the absolute differences instead of the
            norm, then as for `action_instability`.
        breaks: (T,) or (..., T) booleans, as for `action_instability`; the dt across a break does
            not count, and may be anything.

    Returns:
        (..., T), m or m/s^order, NaN in the first `order` steps.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite, dt is not positive, unknown order or variant.
    """
    _check_order(order)
    check_variant(variant, _VARIANTS)
    xp, points = as_points(positions, order + 1)
    runs = runs_of(breaks, points)
    changes, unit = _rates(points, dt, order, runs)
    size = mean_magnitude if variant == 'authors' else norm
    steps = size(xp, changes, overwrite=True)
    if unit is not None:
        steps = steps / unit
    if variant == 'authors':
        return _authors_window(xp, steps, order, runs)
    return pad_nan(xp, runs.masked(xp, steps), order)


def rms_jerk(positions: Any, dt: Any, variant: str = 'paper', breaks: Any = None) -> Array:
    """TI: root of the mean squared jerk over its T - 3 values, m/s^3. VLA-UQ eq. 25.

    Args:
        positions: (..., T, 2 or 3), m, T >= 4.
        dt: s between samples, a scalar or (..., T - 1); 'authors' does not look at it.
        variant: 'paper'; or 'authors': three central-difference gradients with dt = 1, mean of
            the norms.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            derivative spans two runs, and runs of fewer than 4 samples do not count; the dt across
            a break does not either, and may be anything.

    Returns:
        (...,) m/s^3 ('authors': m per step^3); 0 where nothing moves, NaN where no run has 4
        samples.

    Raises:
        ShapeError: another shape, or fewer than 4 samples.
        ValueRangeError: a value is not finite, dt is missing or not positive, unknown variant.
    """
    check_variant(variant, _VARIANTS)
    xp, points = as_points(positions, 4, check=breaks is not None)
    runs = runs_of(breaks, points)
    if variant == 'authors':
        jerk = _gradient_jerk(xp, points, runs)
    elif dt is None:
        raise ValueRangeError(
            'dt is None; s between samples, a scalar or (..., T - 1), is expected'
        )
    else:
        rates, unit = _rates(points, dt, 3, runs)
        jerk = runs.root_mean_square(xp, rates) / (1.0 if unit is None else unit)
    return check_result(xp, jerk, positions=points)


def window_mean(values: Any, order: int, window: int = WINDOW, breaks: Any = None) -> Array:
    """The live form of per-step values: mean over the last `window` samples. VLA-UQ, section V-D.

    Only values whose `order` + 1 samples all lie inside the window count. While fewer than `window`
    samples are there, the window is what there is.

    Args:
        values: (..., T), NaN in the first `order` steps.
        order: 0 to window - 1: how many samples before its own a value rests on.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`), and
            a new window; `values` have then to be of the same breaks.

    Returns:
        (..., T), NaN where no value is inside.

    Raises:
        ShapeError: values are a scalar, or breaks have another shape.
        ValueRangeError: a value is infinite, or order is not below window.
    """
    if not 0 <= order < window:
        raise ValueRangeError(f'order is {order}; 0 to {window - 1} is expected (window {window})')
    xp, array = as_floats(values, 'values', allow_nan=True)
    if array.ndim < 1:
        raise ShapeError('values are a scalar; (..., T) is expected')
    runs = runs_of(breaks, array, axis=-1)
    known = ~xp.isnan(array)
    width = min(window - order, max(array.shape[-1], 1))
    total = _moving_sum(xp, xp.where(known, array, 0.0), width, runs)
    count = _moving_sum(xp, xp.astype(known, array.dtype), width, runs)
    return total / xp.where(count > 0, count, xp.nan)


def _moving_sum(xp: Any, values: Array, width: int, runs: Runs) -> Array:
    """Sum over the newest `width` values of the run so far, (..., T) -> (..., T)."""
    samples = values.shape[-1]
    total = xp.astype(values, values.dtype, copy=True)
    for back in range(1, width):
        total[..., back:] += runs.masked(xp, values[..., : samples - back], 0.0)
    return total


def _rates(points: Array, dt: Any, order: int, runs: Runs) -> tuple[Array, Array | None]:
    """n-th divided difference, (..., T, D) -> (..., T - order, D), and what is left to divide by.

    Without dt: the n-th difference.
    """
    if dt is None:
        return difference(points, order), None
    xp = array_api_compat.array_namespace(points)
    spacing = _spacing(xp, points, dt, runs)
    if not spacing.ndim:
        return difference(points, order), spacing**order
    # Samples last: the divisions run along memory, not along 2 or 3 components.
    parts = xp.matrix_transpose(points)
    if isinstance(parts, np.ndarray):
        parts = np.ascontiguousarray(parts)
    for n in range(1, order + 1):
        parts = (parts[..., 1:] - parts[..., :-1]) / _span(spacing, n)[..., None, :]
    return xp.matrix_transpose(parts), None


def _spacing(xp: Any, points: Array, dt: Any, runs: Runs) -> Array:
    """dt in the library of `points`, a scalar or (..., T - 1), 1 s across breaks."""
    spacing = like(points, dt, 'dt', allow_nan=runs.numbers is not None)
    if spacing.ndim:
        batch = tuple(points.shape[:-2])
        expected = (points.shape[-2] - 1,)
        if tuple(spacing.shape) not in (expected, batch + expected):
            raise ShapeError(
                f'dt has shape {tuple(spacing.shape)}; a scalar or {batch + expected}, one less '
                f'than the samples, is expected'
            )
        if runs.numbers is not None:
            spacing = runs.masked(xp, xp.broadcast_to(spacing, batch + expected), 1.0)
    if not bool(xp.all(spacing > 0)):
        raise ValueRangeError('dt holds values that are not positive; stamps must increase')
    return spacing


def _span(spacing: Array, count: int) -> Array:
    """Mean of `count` consecutive spacings: (..., T - 1) -> (..., T - count)."""
    width = spacing.shape[-1] - count + 1
    return sum(spacing[..., i : i + width] for i in range(count)) / count


def _gradient_jerk(xp: Any, points: Array, runs: Runs) -> Array:
    """Mean norm of three gradients in a row, each run for itself; (..., T, D) -> (...,)."""
    if runs.numbers is None:
        return xp.mean(_third_gradients(xp, points), axis=-1)
    if points.ndim > 2:
        rows = range(points.shape[0])
        return xp.stack([_gradient_jerk(xp, points[i, ...], runs.row(i)) for i in rows])
    each = [points[part, :] for part in runs.slices(xp)]
    norms = [_third_gradients(xp, run) for run in each if run.shape[0] > 3]
    return xp.mean(xp.concat(norms)) if norms else unavailable(xp.sum(points))


def _third_gradients(xp: Any, points: Array) -> Array:
    """Norms of three central differences in a row with step 1, one-sided at both ends."""
    for _ in range(3):
        inner = (points[..., 2:, :] - points[..., :-2, :]) / 2.0
        start = points[..., 1:2, :] - points[..., :1, :]
        end = points[..., -1:, :] - points[..., -2:-1, :]
        points = xp.concat([start, inner, end], axis=-2)
    return norm(xp, points)


def _authors_window(xp: Any, steps: Array, order: int, runs: Runs) -> Array:
    """(..., T - order) per-step values -> (..., T), as the authors' code reports them."""
    samples = steps.shape[-1] + order
    device = array_api_compat.device(steps)
    head = (*steps.shape[:-1], min(WINDOW - 1, samples))
    zeros = xp.zeros(head, dtype=steps.dtype, device=device)
    if samples < WINDOW:
        return zeros
    last = samples - WINDOW + 1
    begin = steps.shape[-1] - last - AUTHORS_DIFFERENCES + 1
    window = [steps[..., begin + i : begin + i + last] for i in range(AUTHORS_DIFFERENCES)]
    means = sum(window) / (AUTHORS_DIFFERENCES * 2 ** (order - 1))
    return xp.concat([zeros, runs.masked(xp, means, 0.0)], axis=-1)


def _check_order(order: int) -> None:
    if order not in (1, 2, 3):
        raise ValueRangeError(
            f'order is {order}; 1 (position), 2 (velocity) or 3 (acceleration) is expected'
        )


def _ranges(actions: Array, bounds: Any) -> Array:
    """upper - lower, (D,) or a scalar, in the library of `actions`."""
    xp = array_api_compat.array_namespace(actions)
    sides = pair_of(bounds, 'bounds', 'scalars or (D,) arrays, (lower, upper),')
    lower, upper = (like(actions, side, 'bounds') for side in sides)
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
