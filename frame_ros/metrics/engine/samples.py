# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the streaming metrics: checked samples, n-th differences, means."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from operator import sub

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import NANOSECOND
from frame_ros.metrics.constants import NAN, WINDOW


def finite(values: Sequence[float], dimensions: Sequence[int], name: str) -> list[float]:
    """Returns the values as plain floats.

    Raises:
        ShapeError: their number is not one of `dimensions` (empty: any number).
        ValueRangeError: they are no real numbers, or one is not finite.
    """
    try:
        numbers = list(map(float, values))
    except (TypeError, ValueError) as error:
        raise ValueRangeError(f'{name} {values!r} is no sequence of real numbers') from error
    if dimensions and len(numbers) not in dimensions:
        wanted = ' or '.join(map(str, dimensions))
        raise ShapeError(f'{name} has {len(numbers)} values; {wanted} are expected')
    if not (isfinite(sum(numbers)) or all(map(isfinite, numbers))):
        raise ValueRangeError(f'{name} {numbers} is not finite')
    return numbers


def positive_gap(gap: float | None) -> float:
    """The step, s, that counts as a gap when it is longer; infinite for None: no step does.

    Raises:
        ValueRangeError: it is not positive.
    """
    if gap is None:
        return float('inf')
    if not gap > 0.0:
        raise ValueRangeError(f'gap is {gap} s; a positive time, or None, is expected')
    return float(gap)


def gap_nanoseconds(gap: float | None) -> float:
    """`positive_gap` in whole ns, as stamps are."""
    seconds = positive_gap(gap)
    return round(seconds / NANOSECOND) if isfinite(seconds) else seconds


class Differences:
    """Differences of order 1 to n of a stream of vectors: O(n) memory, O(n) work."""

    def __init__(self, order: int) -> None:
        self.order = order
        self._last: list[list[float]] = []

    def reset(self) -> bool:
        """Forgets the samples: the next one is the first. Returns whether there were any."""
        had_samples = bool(self._last)
        self._last = []
        return had_samples

    def update(self, sample: list[float]) -> list[list[float]]:
        """Returns the differences of order 1 to n that end in this sample; at first fewer.

        Raises:
            ShapeError: not as many values as the sample before. Nothing has changed then.
        """
        if self._last and len(sample) != len(self._last[0]):
            raise ShapeError(f'sample has {len(sample)} values; {len(self._last[0])} are expected')
        levels = [sample]
        for before in self._last[: self.order]:
            levels.append(list(map(sub, levels[-1], before)))
        self._last = levels
        return levels[1:]


class WindowMean:
    """Mean over the newest `size` values; NaN: none yet. Summed each time: it cannot drift."""

    def __init__(self, size: int = WINDOW) -> None:
        if size < 1:
            raise ValueRangeError(f'size is {size}; at least 1 value is expected')
        self._values: deque[float] = deque(maxlen=size)

    def reset(self) -> None:
        """Forgets all values."""
        self._values.clear()

    reset_differences = reset

    def update(self, value: float) -> None:
        """Takes one value. Raises ValueRangeError: it is not finite."""
        if value - value != 0.0:  # true for NaN and infinity
            raise ValueRangeError(f'value is {value}; a finite one is expected')
        self._values.append(value)

    @property
    def value(self) -> float:
        """Mean of the window."""
        values = self._values
        return sum(values) / len(values) if values else NAN


class RunningMean:
    """Mean of all values so far. NaN: none yet."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all values."""
        self.total = 0.0
        self.count = 0

    def update(self, value: float) -> None:
        """Takes one value. Raises ValueRangeError: it is not finite."""
        if value - value != 0.0:  # true for NaN and infinity
            raise ValueRangeError(f'value is {value}; a finite one is expected')
        self.total += value
        self.count += 1

    @property
    def value(self) -> float:
        """Mean so far."""
        return self.total / self.count if self.count else NAN


class StepValue:
    """The three forms of a per-step metric of differences of order n.

    `step`: at the newest sample. `value`: mean over the window of the last `window` samples, of the
    steps whose samples all lie inside it. `mean`: over all steps so far. NaN: not yet. `gaps`: how
    often differences began again.
    """

    def __init__(self, order: int, window: int = WINDOW) -> None:
        if not 0 <= order < window:
            raise ValueRangeError(
                f'order is {order}; 0 to {window - 1} is expected (window {window})'
            )
        self.step = NAN
        self.gaps = 0
        self._window: deque[float] = deque(maxlen=window - order)
        self._total = 0.0
        self._count = 0

    def reset(self) -> None:
        """Forgets everything."""
        self.reset_differences()
        self.gaps = 0
        self._total = 0.0
        self._count = 0

    def reset_differences(self) -> None:
        """After a gap: no difference spans it, and a new window begins; `mean` goes on."""
        if self._forget():
            self.gaps += 1
        self.step = NAN
        self._window.clear()

    def _forget(self) -> bool:
        """Forgets the samples that the next differences would rest on; whether there were any."""
        return False

    def add(self, step: float) -> None:
        """Takes the value of a step."""
        self.step = step
        self._window.append(step)
        self._total += step
        self._count += 1

    @property
    def value(self) -> float:
        """Mean over the window: the live value."""
        window = self._window
        return sum(window) / len(window) if window else NAN

    @property
    def total(self) -> float:
        """Sum over all steps so far."""
        return self._total if self._count else NAN

    @property
    def mean(self) -> float:
        """Mean over all steps so far: the episode's value."""
        return self._total / self._count if self._count else NAN


def normalisation_ranges(
    bounds: tuple[Sequence[float], Sequence[float]], dimension: int
) -> list[float]:
    """upper - lower for each of D dimensions.

    Raises:
        ShapeError: bounds are not a pair of D values each.
        ValueRangeError: a bound is not finite, or a lower one not below its upper one.
    """
    if len(bounds) != 2:
        raise ShapeError(f'bounds have {len(bounds)} entries; (lower, upper) is expected')
    lower, upper = (finite(side, (dimension,), 'each side of bounds') for side in bounds)
    ranges = list(map(sub, upper, lower))
    if not all(width > 0.0 for width in ranges):
        raise ValueRangeError(
            f'bounds are {lower}, {upper}; each lower below its upper is expected'
        )
    return ranges


@lru_cache(maxsize=64)
def mean_weights(count: int) -> NDArray[np.float64]:
    """Those of a mean of `count` values: one product is a fifth of the work of numpy's own mean."""
    return np.full(count, 1.0 / count)


def check_finite_block(
    summary: NDArray[np.float64], values: NDArray[np.float64], name: str
) -> None:
    """Raises ValueRangeError unless `values` are finite; a `summary` (K,) mostly suffices."""
    if not isfinite(summary.dot(summary)) and not np.isfinite(values).all():
        raise ValueRangeError(f'{name} hold values that are not finite')
