# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming instability of actions and TCP, and RMS jerk (VLA-UQ eq. 2-6, 17-25)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import hypot, sqrt
from operator import sub, truediv

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.definitions import NAN, WINDOW
from frame_ros.metrics.streaming.samples import Differences, StepValue, finite


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


def _check_order(order: int) -> None:
    if order not in (1, 2, 3):
        raise ValueRangeError(
            f'order is {order}; 1 (position), 2 (velocity) or 3 (acceleration) is expected'
        )


class ActionInstability(StepValue):
    """A-PI, A-VI or A-AI (order 1, 2, 3): `step`, `value` (window), `mean`.

    Batch form: `action_instability`.
    """

    def __init__(
        self,
        order: int,
        bounds: tuple[Sequence[float], Sequence[float]] | None = None,
        window: int = WINDOW,
    ) -> None:
        _check_order(order)
        super().__init__(order, window)
        self._bounds = bounds
        self._ranges: list[float] = []
        self._differences = Differences(order)

    def reset_differences(self) -> None:
        """After a gap: no difference spans it, and a new window begins."""
        super().reset_differences()
        self._differences.reset()

    def update(self, action: Sequence[float]) -> None:
        """Takes one executed action, D values."""
        values = finite(action, (), 'action')
        if self._bounds is not None and not self._ranges:
            self._ranges = normalisation_ranges(self._bounds, len(values))
        differences = self._differences.update(values)
        if len(differences) == self._differences.order:
            change = differences[-1]
            if self._ranges:
                change = list(map(truediv, change, self._ranges))
            self._add(sum(map(abs, change)) / len(change))


class TCPInstability(StepValue):
    """TCP-PI, -VI or -AI (order 1, 2, 3), m: `step`, `value` (window), `mean`.

    Batch form: `tcp_instability`.
    """

    def __init__(self, order: int, window: int = WINDOW) -> None:
        _check_order(order)
        super().__init__(order, window)
        self._differences = Differences(order)

    def reset_differences(self) -> None:
        """After a gap: no difference spans it, and a new window begins."""
        super().reset_differences()
        self._differences.reset()

    def update(self, position: Sequence[float]) -> None:
        """Takes one TCP position, 2 or 3 values, m."""
        differences = self._differences.update(finite(position, (2, 3), 'position'))
        if len(differences) == self._differences.order:
            self._add(hypot(*differences[-1]))


class RMSJerk:
    """TI so far, m/s^3, from 4 samples on; `jerk`: the norm of the newest. Batch: `rms_jerk`."""

    def __init__(self, dt: float | None = None) -> None:
        """`dt`: s between samples, where every update leaves it out."""
        self._fixed_dt = dt
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN
        self._squares = 0.0
        self._count = 0
        self.reset_differences()

    def reset_differences(self) -> None:
        """After a gap: no derivative spans it."""
        self.jerk = NAN
        self._derivatives: list[list[float]] = []
        self._spacings: deque[float] = deque(maxlen=3)

    def update(self, position: Sequence[float], dt: float | None = None) -> None:
        """Takes one position, 2 or 3 values, m, and the s since the last one (at first unused)."""
        derivatives = [finite(position, (2, 3), 'position')]
        if self._derivatives:
            self._spacings.append(self._positive(dt))
        for order, before in enumerate(self._derivatives[:3], start=1):
            span = sum(list(self._spacings)[-order:]) / order
            change = map(sub, derivatives[-1], before)
            derivatives.append([part / span for part in change])
        self._derivatives = derivatives
        if len(derivatives) == 4:
            self.jerk = hypot(*derivatives[3])
            self._squares += self.jerk * self.jerk
            self._count += 1
            self.value = sqrt(self._squares / self._count)

    def _positive(self, dt: float | None) -> float:
        spacing = self._fixed_dt if dt is None else dt
        if spacing is None or not 0.0 < spacing < float('inf'):
            raise ValueRangeError(f'dt is {spacing} s; a positive time is expected')
        return spacing
