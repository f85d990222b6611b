# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Low-pass filters of positions, actions and orientations, before they are differenced.

One formula: first-order exponential stages in a row. A stage moves by the share
1 - exp(-2 pi f dt) of the way to the newest sample, which is exact for a sample that is held for
dt, however irregular dt is. `order` stages are at -3 dB together at the cut-off if each has
f = cutoff / sqrt(2^(1/order) - 1). That is the filter in continuous time: of sampled values less is
lost at the cut-off when it nears the sampling rate (2.9 dB at a twentieth of it, 2.3 at a sixth).
Causal, the output lags, at low frequencies by order * (1 / (2 pi f) - dt / 2) s. With `zero_phase`
(offline only, it sees the future) the same stages run forward and then backward, without lag, each
with f = cutoff / sqrt(2^(1/(2 order)) - 1), so that both passes are at -3 dB together.
"""

from __future__ import annotations

from math import isfinite, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, array_api_compat, as_numbers, as_sequences, like, norm
from frame_ros.metrics.contiguous_samples import runs_of

# Beyond so many time constants of a stage, what a sample adds is below the last digit.
_MEMORY = 40.0


def stage_frequency(cutoff: float, order: int, passes: int = 1) -> float:
    """Cut-off of each stage, Hz, so that `passes` times `order` of them are at -3 dB at `cutoff`.

    Raises:
        ValueRangeError: cutoff is not positive, or order is not a whole number from 1.
    """
    if not (isfinite(cutoff) and cutoff > 0.0):
        raise ValueRangeError(f'cutoff is {cutoff} Hz; a positive frequency is expected')
    if order != int(order) or order < 1:
        raise ValueRangeError(f'order is {order}; a whole number of stages, 1 or more, is expected')
    return cutoff / sqrt(2.0 ** (1.0 / (passes * order)) - 1.0)


def low_pass(
    values: Any,
    dt: Any,
    cutoff: float,
    order: int = 2,
    zero_phase: bool = False,
    breaks: Any = None,
) -> Array:
    """Values without what is faster than `cutoff`: the module's filter, from the first sample on.

    Args:
        values: (..., T, D), T >= 1.
        dt: s between samples, a scalar or (T - 1,), the same for every leading index.
        cutoff: Hz, where the filter is at -3 dB; below half the (median) sampling rate.
        order: stages, 1 or more.
        zero_phase: forward and backward; each end is continued by its point reflection.
        breaks: (T,) booleans, True where a sample begins a new run (`find_breaks`): each run is
            filtered alone, and the dt across a break may be anything.

    Returns:
        (..., T, D), in the unit of the values. The first causal value is the first sample.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is not finite, dt or cutoff is not positive, or the cut-off is not
            below half the sampling rate.
    """
    xp, array = as_sequences(values, 1, 'values')
    runs = _runs(xp, breaks, array)
    spacing = _spacing(dt, array.shape[-2], runs)
    stage = stage_frequency(cutoff, order, 2 if zero_phase else 1)
    _check_nyquist(cutoff, spacing)
    decay = 2.0 * pi * stage * spacing
    parts = []
    for begin, end in runs:
        run, steps = array[..., begin:end, :], decay[begin : end - 1]
        parts.append((_both_ways if zero_phase else _one_way)(xp, run, steps, order))
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-2)


def low_pass_orientations(
    orientations: Any,
    dt: Any,
    cutoff: float,
    order: int = 2,
    zero_phase: bool = False,
    breaks: Any = None,
) -> Array:
    """Orientations without what is faster than `cutoff`, unit quaternions.

    `low_pass` of each component, every quaternion first given the sign nearest to the one before
    it, the result brought back to length 1. This is an approximation of a filter on the sphere (see
    `PoseLowPass` for how near). Where filtered components cancel out, the sample stands as it is.

    Args:
        orientations: (..., T, 4), xyzw, of any length but 0.

    Returns:
        (..., T, 4). Other arguments and errors: see `low_pass`.
    """
    xp, array = as_sequences(orientations, 1, 'orientations')
    if array.shape[-1] != 4:
        raise ShapeError(
            f'orientations have shape {tuple(array.shape)}; (..., T, 4) (xyzw) is expected'
        )
    size = norm(xp, array)
    if bool(xp.any(size == 0)):
        raise ValueRangeError('orientations hold a zero quaternion; a rotation is expected')
    unit = array / size[..., None]
    aligned = [_aligned(xp, unit[..., a:b, :]) for a, b in _runs(xp, breaks, unit)]
    unit = aligned[0] if len(aligned) == 1 else xp.concat(aligned, axis=-2)
    mean = low_pass(unit, dt, cutoff, order, zero_phase, breaks)
    length = norm(xp, mean)[..., None]
    return xp.where(length > 0, mean / xp.where(length > 0, length, 1.0), unit)


def _runs(xp: Any, breaks: Any, array: Array) -> list[tuple[int, int]]:
    """Begin and end of each run of (..., T, D) samples; breaks: (T,) booleans, or None."""
    samples = array.shape[-2]
    one = xp.reshape(array, (-1, samples, array.shape[-1]))[0, ...]
    bounds = [part.indices(samples)[:2] for part in runs_of(breaks, one).slices(xp)]
    return [(begin, end) for begin, end in bounds if end > begin]


def _spacing(dt: Any, samples: int, runs: list[tuple[int, int]]) -> NDArray[np.float64]:
    """The s between samples, (T - 1,), NaN between two runs."""
    given = as_numbers(dt, 'dt')[1]
    if array_api_compat.is_torch_array(given):
        given = given.detach().cpu().numpy()
    spacing = np.asarray(given, dtype=np.float64)
    if spacing.shape not in ((), (samples - 1,)):
        raise ShapeError(
            f'dt has shape {spacing.shape}; a scalar or ({samples - 1},), '
            f'one less than the samples, is expected'
        )
    spacing = np.array(np.broadcast_to(spacing, (samples - 1,)))
    inside = np.ones(samples - 1, dtype=bool)
    inside[[begin - 1 for begin, _ in runs[1:]]] = False
    if not np.all((spacing[inside] > 0.0) & np.isfinite(spacing[inside])):
        raise ValueRangeError('dt holds values that are not positive; stamps must increase')
    spacing[~inside] = np.nan
    return spacing


def _check_nyquist(cutoff: float, spacing: NDArray[np.float64]) -> None:
    inside = spacing[~np.isnan(spacing)]
    if not len(inside):
        return
    rate = 1.0 / float(np.median(inside))
    if not cutoff < 0.5 * rate:
        raise ValueRangeError(
            f'cutoff is {cutoff} Hz; below half the sampling rate of {rate:.6g} Hz is expected'
        )


def _both_ways(xp: Any, values: Array, decay: NDArray[np.float64], order: int) -> Array:
    """Forward and backward over values (..., T, D), continued at both ends."""
    before, after = _tail(decay), _tail(decay[::-1])
    first, last = values[..., :1, :], values[..., -1:, :]
    head = 2.0 * first - xp.flip(values[..., 1 : before + 1, :], axis=-2)
    samples = values.shape[-2]
    tail = 2.0 * last - xp.flip(values[..., samples - 1 - after : samples - 1, :], axis=-2)
    longer = xp.concat([head, values, tail], axis=-2)
    steps = np.concatenate([decay[:before][::-1], decay, decay[len(decay) - after :][::-1]])
    forward = _one_way(xp, longer, steps, order)
    backward = _one_way(xp, xp.flip(forward, axis=-2), steps[::-1], order)
    return xp.flip(backward, axis=-2)[..., before : before + samples, :]


def _tail(decay: NDArray[np.float64]) -> int:
    """Samples until a stage has forgotten what was before; at most all but the first."""
    return min(int(np.searchsorted(np.cumsum(decay), _MEMORY)) + 1, len(decay))


def _one_way(xp: Any, values: Array, decay: NDArray[np.float64], order: int) -> Array:
    """`order` stages in a row over values (..., T, D), `decay` (T - 1,) time constants apart."""
    if not len(decay):
        return values
    blocks = _blocks(decay, 0.25 * float(np.log(xp.finfo(values.dtype).max)))
    # From the first sample: no transient from 0, and no digits lost far from the origin.
    start = values[..., :1, :]
    filtered = values[..., 1:, :] - start
    for _ in range(order):
        filtered = _stage(xp, filtered, decay, blocks)
    return xp.concat([start, filtered + start], axis=-2)


def _blocks(decay: NDArray[np.float64], limit: float) -> list[tuple[int, int]]:
    """Cuts samples into blocks over which exp of the sum of `decay` stays in range."""
    total = np.cumsum(decay)
    edges = [0]
    while edges[-1] < len(decay):
        reach = total[edges[-1]] + limit
        edges.append(max(int(np.searchsorted(total, reach, side='right')), edges[-1] + 1))
    return list(zip(edges[:-1], edges[1:]))


def _stage(
    xp: Any, values: Array, decay: NDArray[np.float64], blocks: list[tuple[int, int]]
) -> Array:
    """One stage that was at 0 before values (..., T, D): y = y' exp(-decay) + share * value.

    Solved for a block at once: y exp(sum of decay) is a running sum.
    """
    state = values[..., :1, :] * 0.0
    parts = []
    for begin, end in blocks:
        steps = decay[begin:end]
        growth = np.exp(np.concatenate([[0.0], np.cumsum(steps[1:])]))
        share = like(values, (-np.expm1(-steps) * growth)[:, None], 'share')
        total = xp.cumulative_sum(share * values[..., begin:end, :], axis=-2)
        start = state * float(np.exp(-steps[0]))
        parts.append((start + total) / like(values, growth[:, None], 'growth'))
        state = parts[-1][..., -1:, :]
    return xp.concat(parts, axis=-2)


def _aligned(xp: Any, unit: Array) -> Array:
    """Unit quaternions (..., T, 4), each with the sign nearest to the one before it."""
    before, after = unit[..., :-1, :], unit[..., 1:, :]
    dot = sum(before[..., i] * after[..., i] for i in range(4))
    turns = xp.cumulative_sum(xp.astype(dot < 0, xp.int64), axis=-1)
    sign = xp.astype(1 - 2 * (turns % 2), unit.dtype)
    return xp.concat([unit[..., :1, :], after * sign[..., None]], axis=-2)
