# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiency as TorchMetrics: latency, computation time, memory, control rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from torch import Tensor

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.families.control_rates import control_rate
from frame_ros.metrics.families.latency import latency_statistics
from frame_ros.metrics.torch.base import FrameMetric, MeanMetric
from frame_ros.metrics.torch.padding import by_episode, widened


class DurationMetric(MeanMetric):
    """Mean over all calls, s."""

    _clock: ClassVar[Callable[[], float]]

    def update(self, seconds: Tensor | float) -> None:
        """Adds the durations of calls, s, of any shape.

        Raises:
            ValueRangeError: a duration is negative or not finite.
        """
        self._add(_amounts(seconds, self.count, 's'))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Adds the duration of a `with` block, the work it left on the metric's device included."""
        _finish(self.device)
        start = type(self)._clock()
        yield
        _finish(self.device)
        self.update(type(self)._clock() - start)


class InferenceLatency(DurationMetric, id='il'):
    """Mean wall-clock time of an inference, s. FRAME eq. 14."""

    _clock = staticmethod(time.perf_counter)


class ComputationTime(DurationMetric, id='ct'):
    """Mean CPU time of the process in a decision step, s. FRAME table 1."""

    _clock = staticmethod(time.process_time)


class LatencyStatistics(FrameMetric, id='il'):
    """Mean, percentiles and jitter of the inference latency, s; keeps every latency."""

    latencies: list[Tensor]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_state('latencies', [], dist_reduce_fx='cat')

    def update(self, seconds: Tensor | float) -> None:
        """Adds the latencies of calls, s, of any shape.

        Raises:
            ValueRangeError: a latency is negative or not finite.
        """
        amounts = _amounts(seconds, self.count, 's').detach()
        self.latencies.append(amounts)
        self.count = self.count + amounts.shape[0]

    def compute(self) -> dict[str, Tensor]:
        """Scalars by id: il (mean), il_p50, il_p95, il_p99, il_jitter; NaN without a call."""
        names = {
            'il': 'mean',
            'il_p50': 'p50',
            'il_p95': 'p95',
            'il_p99': 'p99',
            'il_jitter': 'jitter',
        }
        kept = self.latencies if isinstance(self.latencies, Tensor) else self._joined()
        if not kept.shape[0]:
            return {id: self.count.new_full((), torch.nan) for id in names}
        summary = latency_statistics(kept.cpu().double().numpy())
        return {id: self.count.new_tensor(getattr(summary, name)) for id, name in names.items()}

    def _joined(self) -> Tensor:
        return torch.cat(self.latencies) if self.latencies else self.count.new_zeros(0)


class MemoryUsage(FrameMetric, id='mu'):
    """Peak over all updates of all processes, bytes. FRAME eq. 15.

    An update takes what was measured: resident memory and what is allocated on a device.
    """

    peak: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_scalar('peak', -torch.inf, 'max')

    def update(self, resident: Tensor | float, device: Tensor | float = 0.0) -> None:
        """Adds measurements: resident memory and what a device has allocated, bytes, (...,) both.

        Raises:
            ValueRangeError: a measurement is negative or not finite.
        """
        memory = _amounts(resident, self.count, 'bytes')
        amounts = memory + _amounts(device, self.count, 'bytes')
        self.peak = torch.maximum(self.peak, amounts.max())
        self.count = self.count + amounts.shape[0]

    def compute(self) -> Tensor:
        """The peak, a scalar; NaN without a measurement."""
        return torch.where(self.count > 0, self.peak, torch.nan)


class ControlRate(MeanMetric, id='control_rate'):
    """Mean over episodes of the rate of executed actions, Hz."""

    def update(self, stamps: Tensor, mask: Tensor | None = None) -> None:
        """Adds one episode or a batch of them.

        Args:
            stamps: (..., N) integers in ns, not decreasing, of the executed actions.
            mask: (..., N) booleans or (...,) numbers of actions of padded episodes.

        Raises:
            ShapeError: a scalar. ValueRangeError: stamps decrease, or are no integers.
        """
        self._add(_rates(stamps, mask, self.count, 'mean'))


class WorstControlRate(FrameMetric, id='control_rate_worst'):
    """The lowest rate over any second of all episodes, Hz."""

    worst: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_scalar('worst', torch.inf, 'min')

    def update(self, stamps: Tensor, mask: Tensor | None = None) -> None:
        """Adds one episode or a batch of them; arguments and errors as of `ControlRate`."""
        kept, _ = self._accept(_rates(stamps, mask, self.count, 'worst'))
        self.worst = torch.cat([kept, self.worst[None]]).min()
        self.count = self.count + kept.shape[0]

    def compute(self) -> Tensor:
        """The rate in the worst second, a scalar; NaN if no episode has a full second."""
        return torch.where(self.count > 0, self.worst, torch.nan)


def _amounts(values: Any, states: Tensor, unit: str) -> Tensor:
    amounts = torch.as_tensor(values, dtype=states.dtype, device=states.device).reshape(-1)
    if not amounts.shape[0]:
        raise ShapeError(f'there are no values; at least one, in {unit}, is expected')
    if not bool(torch.all((amounts >= 0) & torch.isfinite(amounts))):
        raise ValueRangeError(
            f'values hold negative ones or ones that are not finite; {unit}, 0 or more, are '
            f'expected'
        )
    return amounts


def _rates(stamps: Any, mask: Tensor | None, states: Tensor, name: str) -> Tensor:
    """One rate of `ControlRates` for each episode, stamps (..., N) -> (...,)."""
    times = widened(stamps)
    if times.ndim < 1 or times.is_floating_point():
        raise ValueRangeError(
            f'stamps have type {times.dtype} and shape {tuple(times.shape)}; (..., N) integers '
            f'in ns are expected'
        )

    def rates(rows: Tensor) -> Tensor:
        each = rows.reshape(-1, rows.shape[-1]).cpu().numpy()
        return states.new_tensor([getattr(control_rate(row), name) for row in each])

    return by_episode(rates, 0, mask, times)


def _finish(device: torch.device) -> None:
    """Waits until the device has done what it was given."""
    getattr(torch, device.type).synchronize()
