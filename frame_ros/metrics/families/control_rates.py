# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The rate of executed actions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import NANOSECOND, SECOND
from frame_ros.metrics import record
from frame_ros.metrics.arrays import as_numbers, on_cpu
from frame_ros.metrics.constants import NAN

__all__ = ['ControlRate', 'ControlRates', 'control_rate']


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
    given = on_cpu(as_numbers(stamps, 'stamps')[1])
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


def _rates(
    times: NDArray[np.int64], ends: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Intervals from starts to ends, places in `times`, over the time they took, Hz."""
    return (ends - starts) / ((times[ends] - times[starts]) * NANOSECOND)


def _integer(stamp: Any) -> int:
    try:
        return index(stamp)
    except TypeError:
        raise ValueRangeError(f'stamp is {stamp!r}; an integer, in ns, is expected') from None


class ControlRate:
    """Rates of executed actions, Hz: `value` over all, `now`, `worst`. Batch: `control_rate`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = self.now = self.worst = NAN
        self._first = 0
        self._count = 0
        self._recent: deque[int] = deque()

    def update(self, stamp: int) -> None:
        """Takes the stamp of one executed action, ns.

        Raises:
            ValueRangeError: it is before the last one, or no integer. Nothing has changed then.
        """
        if type(stamp) is not int:
            stamp = _integer(stamp)
        recent = self._recent
        if not self._count:
            self._first = stamp
        elif stamp < recent[-1]:
            raise ValueRangeError(f'stamp {stamp} ns is before the last one, {recent[-1]} ns')
        recent.append(stamp)
        # recent[0] stays the newest stamp that is at least a second old, or the first.
        while len(recent) > 1 and recent[1] <= stamp - SECOND:
            recent.popleft()
        self._count += 1
        passed = stamp - self._first
        if passed:
            self.value = (self._count - 1) / (passed * NANOSECOND)
            self.now = (len(recent) - 1) / ((stamp - recent[0]) * NANOSECOND)
            if passed >= SECOND and not self.worst <= self.now:
                self.worst = self.now


_rate = partial(
    record.efficiency_metric, unit='Hz', minimum_samples=2,
    reasons=(record.Reason('fewer than two actions'),), batch=control_rate, streaming=ControlRate,
)  # fmt: skip

MEAN_CONTROL_RATE = _rate(
    id='control_rate', name='control rate, mean', higher_is_better=None, torch='ControlRate',
    formula='(actions − 1) / (time from the first to the last)',
    shows='How often actions really were executed: what all difference-based metrics were sampled '
        'at.',
    misleads='A mean hides pauses: see `control_rate_worst`. By header stamps: actions stamped '
        'ahead of time look regular.',
)  # fmt: skip

NEWEST_CONTROL_RATE = _rate(
    id='control_rate_now', name='control rate, last second', higher_is_better=None,
    line=record.Line(record.Chart('Control rate'), 'rate, last second'),
    formula='the same over the last second',
    shows='Whether the loop keeps its rate right now.',
    misleads='Short pauses move it for a second. Of an episode it is that of the last second; the '
        'mean is `control_rate`.',
)  # fmt: skip

WORST_CONTROL_RATE = _rate(
    id='control_rate_worst', name='control rate, worst second', higher_is_better=True,
    reasons=(record.Reason('the episode has no full second of steps'),), torch='WorstControlRate',
    # Until then it counted whole seconds.
    changed_in=2,
    formula='minₜ ( actions since the newest one at least a second before t / the time they took )',
    shows='The worst second: one long stall shows here and nowhere else.',
    misleads='By intervals, so a steady loop is its own worst second, and a pause longer than a '
        'second counts with its whole length. Episodes shorter than a second have none.',
)  # fmt: skip
