# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Differences of order 1 to 3 of actions and positions, and the forms that their sizes take.

Rates with respect to time are n! times Newton's divided differences: velocity over dt, its change
over the mean of 2 dt, the change of that over the mean of 3 dt. So the rate of a polynomial of
degree n is exact however irregular dt is, and equals the n-th difference over dt^n when dt is
constant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import hypot
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    array_api_compat,
    as_floats,
    check_variant,
    difference,
    like,
)
from frame_ros.metrics.constants import AUTHORS_DIFFERENCES, WINDOW
from frame_ros.metrics.contiguous_samples import Runs, runs_of
from frame_ros.metrics.engine.samples import Differences, StepValue, finite

VARIANTS = ('paper', 'authors')


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


def divided_differences(
    points: Array, dt: Any, order: int, runs: Runs
) -> tuple[Array, Array | None]:
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


def authors_window(xp: Any, steps: Array, order: int, runs: Runs) -> Array:
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


def check_order(order: int) -> None:
    """Raises ValueRangeError unless the order of a difference is 1, 2 or 3."""
    if isinstance(order, bool) or not hasattr(order, '__index__') or order not in (1, 2, 3):
        raise ValueRangeError(
            f'order is {order!r}; 1 (position), 2 (velocity) or 3 (acceleration) is expected'
        )


class StreamingInstability(StepValue):
    """Base of the streaming instabilities: the size of the newest n-th difference."""

    def __init__(self, order: int, window: int = WINDOW, variant: str = 'paper') -> None:
        check_order(order)
        check_variant(variant, VARIANTS)
        self._is_authors = variant == 'authors'
        self._samples = 0
        self._recent: deque[float] = deque(maxlen=AUTHORS_DIFFERENCES)
        self._differences = Differences(order)
        # The authors' value is a mean over a window already: `step` and `value` are one.
        super().__init__(*((0, 1) if self._is_authors else (order, window)))

    def _forget(self) -> bool:
        self._samples = 0
        self._recent.clear()
        return self._differences.reset()

    def _take(self, differences: list[list[float]], size: Callable[[list[float]], float]) -> None:
        """The differences that end in a new sample, and what turns one into a number."""
        order = self._differences.order
        newest = size(differences[-1]) if len(differences) == order else None
        if not self._is_authors:
            if newest is not None:
                self.add(newest)
            return
        self._samples += 1
        if newest is not None:
            self._recent.append(newest)
        scale = AUTHORS_DIFFERENCES * 2 ** (order - 1)
        self.add(sum(self._recent) / scale if self._samples >= WINDOW else 0.0)


class StreamingPositionInstability(StreamingInstability):
    """Size of the newest n-th difference of the TCP position, m."""

    def update(self, position: Sequence[float]) -> None:
        """Takes one TCP position, 2 or 3 values, m.

        Raises:
            ShapeError: another number of values than 2 or 3, or than before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        point = finite(position, (2, 3), 'position')
        self._take(self._differences.update(point), self._size)

    def _size(self, change: list[float]) -> float:
        return sum(map(abs, change)) / len(change) if self._is_authors else hypot(*change)
