# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiency: latency statistics, control rate, chunk overlap (FRAME eq. 14 and beside it)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import NANOSECOND, SECOND
from frame_ros.metrics.arrays import Array, as_floats, as_numbers, like, unavailable
from frame_ros.metrics.constants import NAN


@dataclass(frozen=True)
class LatencySummary:
    """Inference latency over many calls, s. FRAME eq. 14.

    `jitter` is the population standard deviation; percentiles interpolate linearly.
    """

    mean: float
    p50: float
    p95: float
    p99: float
    jitter: float
    worst: float


def latency_statistics(latencies: Any) -> LatencySummary:
    """Summarises the latencies (N,) of whole calls, s, N >= 1.

    Raises:
        ShapeError: another shape, or no call.
        ValueRangeError: a latency is negative or not finite.
    """
    values = _on_cpu(as_numbers(latencies, 'latencies')[1]).astype(np.float64)
    if values.ndim != 1 or not len(values):
        raise ShapeError(f'latencies have shape {values.shape}; (N,), N >= 1, is expected')
    if not np.all((values >= 0.0) & np.isfinite(values)):
        raise ValueRangeError(
            'latencies hold negative or infinite values; s, 0 or more, are expected'
        )
    p50, p95, p99 = (float(q) for q in np.percentile(values, (50, 95, 99)))
    return LatencySummary(
        float(values.mean()), p50, p95, p99, float(values.std()), float(values.max())
    )


@dataclass(frozen=True)
class ControlRates:
    """Rate of executed actions, Hz: over all, over the last second, over the worst second."""

    mean: float
    now: float
    worst: float


def control_rate(stamps: Any) -> ControlRates:
    """Rates of actions executed at `stamps`, (N,) integers in ns, not decreasing.

    mean: intervals over the time they took. now: the same since the newest stamp that is at least a
    second old (since the first, if none is). worst: the lowest `now` at any action that is at least
    a second after the first: intervals over the time they took, so a steady rate is its own worst,
    and a pause counts with its whole length. NaN: fewer than 2 stamps, no time between them, less
    than a second.

    Raises:
        ShapeError: stamps are not (N,).
        ValueRangeError: stamps are no integers, or decrease.
    """
    given = _on_cpu(as_numbers(stamps, 'stamps')[1])
    if given.ndim != 1:
        raise ShapeError(f'stamps have shape {given.shape}; (N,) is expected')
    if given.dtype.kind not in 'iu' and len(given):
        raise ValueRangeError(f'stamps have type {given.dtype}; integers, in ns, are expected')
    times = given.astype(np.int64)
    if np.any(np.diff(times) < 0):
        raise ValueRangeError('stamps decrease; sort them')
    if len(times) < 2 or times[-1] == times[0]:
        return ControlRates(NAN, NAN, NAN)
    starts = np.maximum(np.searchsorted(times, times - SECOND, side='right') - 1, 0)
    is_full = times - times[0] >= SECOND
    full = _rates(times, np.flatnonzero(is_full), starts[is_full])
    last = np.array([len(times) - 1])
    mean, now = (float(_rates(times, last, start)[0]) for start in (last * 0, starts[last]))
    return ControlRates(mean, now, float(full.min()) if len(full) else NAN)


def _on_cpu(array: Array) -> NDArray[Any]:
    return array.detach().cpu().numpy() if array_api_compat.is_torch_array(array) else array


def _rates(
    times: NDArray[np.int64], ends: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Intervals from starts to ends, places in `times`, over the time they took, Hz."""
    return (ends - starts) / ((times[ends] - times[starts]) * NANOSECOND)


def chunk_overlap_disagreement(chunk: Any, last: Any, shift: int) -> Array:
    """Mean absolute difference of two chunks over the steps that both predict.

    Args:
        chunk: (H, D), the newer chunk.
        last: (H', D), the chunk before it.
        shift: steps from the beginning of `last` to the beginning of `chunk`, 0 or more.

    Returns:
        A scalar in the action's unit; NaN if no step is in both.

    Raises:
        ShapeError: not (H, D) both with one D.
        ValueRangeError: a value is not finite, or a negative shift.
    """
    xp, new = as_floats(chunk, 'chunk')
    old = like(new, last, 'last')
    if new.ndim != 2 or old.ndim != 2 or new.shape[1] != old.shape[1]:
        raise ShapeError(
            f'chunks have shapes {tuple(new.shape)} and {tuple(old.shape)}; (H, D) both is expected'
        )
    if shift < 0:
        raise ValueRangeError(f'shift is {shift}; 0 steps or more is expected')
    steps = min(new.shape[0], old.shape[0] - shift)
    if steps < 1:
        return unavailable(xp.sum(new))
    return xp.mean(xp.abs(new[:steps, :] - old[shift : shift + steps, :]))
