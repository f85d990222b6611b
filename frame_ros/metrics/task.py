# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Task performance: success, completion, action error (FRAME eq. 1-5)."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_numbers,
    as_sequences,
    check_result,
    check_same_shape,
    check_scalar_or_same,
    count_true,
    flattened,
    inner,
    like,
    pair_of,
    unavailable,
)

# Beyond so many last digits the mean of equal numbers is not off.
_ROUNDING = 1e3


def success_rate(successes: Any) -> Array:
    """Share of trials that succeeded, in [0, 1]. FRAME eq. 1.

    Args:
        successes: (..., N) booleans, or 0 and 1.

    Returns:
        (...,) shares.

    Raises:
        ShapeError: no trial.
        ValueRangeError: a value is neither 0 nor 1.
    """
    xp, values = as_numbers(successes, 'successes')
    if values.ndim < 1 or values.shape[-1] < 1:
        raise ShapeError(
            f'successes have shape {tuple(values.shape)}; '
            f'(..., N) with at least 1 trial is expected'
        )
    if values.dtype != xp.bool and not bool(xp.all((values == 0) | (values == 1))):
        raise ValueRangeError('successes hold other values than 0 and 1 (False and True)')
    dtype = values.dtype if xp.isdtype(values.dtype, 'real floating') else xp.float64
    return xp.astype(xp.asarray(count_true(xp, values)), dtype)[()] / values.shape[-1]


def task_completion_rate(completed: Any, total: Any) -> Array:
    """Completed tasks over task chains, in [0, 1]. FRAME eq. 2.

    Args:
        completed: number of completed tasks, scalar or (...,).
        total: number of task chains, scalar or the same shape.

    Raises:
        ShapeError: two shapes, neither of them a scalar's.
        ValueRangeError: total is not positive, or completed is not within 0 to total.
    """
    xp, done = as_floats(completed, 'completed')
    of = like(done, total, 'total')
    check_scalar_or_same(done, of, ('completed', 'total'))
    if bool(xp.any(of <= 0)) or bool(xp.any(done < 0)) or bool(xp.any(done > of)):
        raise ValueRangeError(
            f'{completed} completed of {total}; 0 <= completed <= total and total > 0 is expected'
        )
    return (done / of)[()]


def wilson_interval(
    successes: float, trials: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson score interval of a rate.

    Args:
        successes: number of successes.
        trials: number of trials, at least 1.
        confidence: two-sided coverage, in (0, 1).

    Returns:
        Lower and upper end, in [0, 1].

    Raises:
        ValueRangeError: no trials, more successes than trials, confidence outside (0, 1).
    """
    if not trials >= 1 or not 0 <= successes <= trials:
        raise ValueRangeError(
            f'{successes} successes in {trials} trials; 0 <= successes <= trials and trials >= 1 '
            f'is expected'
        )
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a value between 0 and 1 is expected')
    n = float(trials)
    rate = float(successes) / n
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    centre = rate + z * z / (2.0 * n)
    half = z * sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n))
    scale = 1.0 + z * z / n
    # The ends are exactly 0 and 1 when nothing or everything succeeded.
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def mse(actions: Any, predicted: Any) -> Array:
    """Mean over the steps of the squared error summed over action dimensions. FRAME eq. 3.

    Args:
        actions: (..., T, D) ground truth.
        predicted: (..., T, D).

    Returns:
        (...,) in the action's unit squared.

    Raises:
        ShapeError: shapes differ, or no samples.
        ValueRangeError: a value is not finite.
    """
    xp, truth = as_sequences(actions, 1, 'actions', check=False)
    guess = like(truth, predicted, 'predicted', check=False)
    check_same_shape(truth, guess, ('actions', 'predicted'))
    error = flattened(xp, truth - guess)
    mean = inner(xp, error, error) / truth.shape[-2]
    return check_result(xp, mean, actions=truth, predicted=guess)


def amse(pairs: Iterable[tuple[Any, Any]]) -> Array:
    """Mean of the trajectories' MSE, each trajectory weighing the same. FRAME eq. 4.

    Args:
        pairs: (ground truth, predicted) of each trajectory, (T, D) both; T may differ.

    Raises:
        ShapeError: no trajectory, or shapes differ within a pair.
    """
    errors = [mse(*pair_of(pair, 'pairs', '(T, D) arrays')) for pair in pairs]
    if not errors:
        raise ShapeError('pairs are empty; at least one pair of (T, D) arrays is expected')
    return sum(errors[1:], start=errors[0]) / len(errors)


def namse(pairs: Iterable[tuple[Any, Any]]) -> Array:
    """AMSE over the population variance of all flattened ground-truth entries. FRAME eq. 5.

    Args:
        pairs: (ground truth, predicted) of each trajectory, (T, D) both; T may differ.

    Returns:
        Dimensionless; NaN if the ground truth does not vary.

    Raises:
        ShapeError: no trajectory, or shapes differ within a pair.
    """
    kept = [pair_of(pair, 'pairs', '(T, D) arrays') for pair in pairs]
    error = amse(kept)
    xp, first = as_floats(kept[0][0], 'actions')
    flat = [xp.reshape(like(first, actions, 'actions'), (-1,)) for actions, _ in kept]
    entries = xp.concat(flat) if len(flat) > 1 else flat[0]
    mean = xp.mean(entries)
    centred = entries - mean
    variance = inner(xp, centred, centred) / centred.shape[0]
    # The mean of equal entries is rounded, so their variance need not be 0: one that could be
    # rounding alone is told apart by the entries.
    rounding = _ROUNDING * xp.finfo(entries.dtype).eps * mean
    is_doubtful = bool(variance <= rounding * rounding)
    if is_doubtful and not (bool(variance > 0) and bool(xp.any(entries != entries[0]))):
        return unavailable(error)
    return error / variance
