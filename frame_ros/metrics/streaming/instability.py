# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming instability of actions and of the TCP (VLA-UQ eq. 2-6, 17-21)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import hypot
from operator import sub, truediv

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.constants import AUTHORS_DIFFERENCES, WINDOW
from frame_ros.metrics.engine.samples import Differences, StepValue, finite

VARIANTS = ('paper', 'authors')


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


class _Instability(StepValue):
    """What ActionInstability and TCPInstability share: the size of the newest n-th difference."""

    def __init__(self, order: int, window: int, variant: str) -> None:
        if order not in (1, 2, 3):
            raise ValueRangeError(
                f'order is {order}; 1 (position), 2 (velocity) or 3 (acceleration) is expected'
            )
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
                self._add(newest)
            return
        self._samples += 1
        if newest is not None:
            self._recent.append(newest)
        scale = AUTHORS_DIFFERENCES * 2 ** (order - 1)
        self._add(sum(self._recent) / scale if self._samples >= WINDOW else 0.0)


class ActionInstability(_Instability):
    """A-PI, A-VI or A-AI (order 1, 2, 3): `step`, `value` (window), `mean`, `gaps`.

    Batch form: `action_instability`, whose newest value is `step`.
    """

    def __init__(
        self,
        order: int,
        bounds: tuple[Sequence[float], Sequence[float]] | None = None,
        window: int = WINDOW,
        variant: str = 'paper',
    ) -> None:
        """`variant`: as of the batch form; with 'authors' `window` does not count.

        Raises:
            ValueRangeError: an unknown order or variant, or a window that order does not fit in.
        """
        super().__init__(order, window, variant)
        self._bounds = bounds
        self._ranges: list[float] = []

    def update(self, action: Sequence[float]) -> None:
        """Takes one executed action, D values.

        Raises:
            ShapeError: not as many values as before, or as the bounds have.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        values = finite(action, (), 'action')
        if self._bounds is not None and not self._ranges:
            self._ranges = normalisation_ranges(self._bounds, len(values))
        if not values or (self._ranges and len(values) != len(self._ranges)):
            wanted = len(self._ranges) or 'at least 1'
            raise ShapeError(f'action has {len(values)} values; {wanted} are expected')
        self._take(self._differences.update(values), self._size)

    def _size(self, change: list[float]) -> float:
        if self._ranges:
            change = list(map(truediv, change, self._ranges))
        return sum(map(abs, change)) / len(change)


class TCPInstability(_Instability):
    """TCP-PI, -VI or -AI (order 1, 2, 3), m: `step`, `value` (window), `mean`, `gaps`.

    Batch form: `tcp_instability`, whose newest value is `step`.
    """

    def __init__(self, order: int, window: int = WINDOW, variant: str = 'paper') -> None:
        """`variant`: as of the batch form; with 'authors' `window` does not count.

        Raises:
            ValueRangeError: an unknown order or variant, or a window that order does not fit in.
        """
        super().__init__(order, window, variant)

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
