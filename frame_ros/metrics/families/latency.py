# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Latency of inferences, and its parts (FRAME eq. 14)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import as_numbers, on_cpu
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean

__all__ = ['InferenceLatency', 'LatencyStatistics', 'LatencySummary', 'latency_statistics']


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
    values = on_cpu(as_numbers(latencies, 'latencies')[1]).astype(np.float64)
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


class LatencyStatistics:
    """Mean, percentiles and jitter of all calls so far, s. Batch form: `latency_statistics`.

    Keeps every latency, sorted: 8 bytes and a short move of memory per inference. `value` is the
    mean.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.last = NAN
        self._sorted: list[float] = []
        self._mean = 0.0
        self._squares = 0.0

    def update(self, latency: float) -> None:
        """Takes the latency of one call, s.

        Raises:
            ValueRangeError: it is negative or not finite. Nothing has changed then.
        """
        if not (isfinite(latency) and latency >= 0.0):
            raise ValueRangeError(f'latency is {latency} s; a finite time, 0 or more, is expected')
        self.last = float(latency)
        insort(self._sorted, self.last)
        # Welford: the sum of squared distances to the mean, without subtracting large sums.
        change = self.last - self._mean
        self._mean += change / len(self._sorted)
        self._squares += change * (self.last - self._mean)

    @property
    def count(self) -> int:
        """Number of calls."""
        return len(self._sorted)

    @property
    def mean(self) -> float:
        """Mean; NaN before the first call."""
        return self._mean if self._sorted else NAN

    value = mean

    @property
    def jitter(self) -> float:
        """Population standard deviation."""
        return sqrt(self._squares / len(self._sorted)) if self._sorted else NAN

    def percentile(self, percent: float) -> float:
        """The percentile, linearly interpolated; NaN before the first call."""
        latencies = self._sorted
        if not latencies:
            return NAN
        last = len(latencies) - 1
        place = last * percent / 100.0
        below = int(place)
        low = latencies[below]
        return low + (latencies[below + 1] - low) * (place - below) if below < last else low

    @property
    def p50(self) -> float:
        """Median."""
        return self.percentile(50.0)

    @property
    def p95(self) -> float:
        """95th percentile."""
        return self.percentile(95.0)

    @property
    def p99(self) -> float:
        """99th percentile."""
        return self.percentile(99.0)


# FRAME's name for it: IL is its `value`, the mean.
InferenceLatency = LatencyStatistics


def feed_duration(part: str, mean: RunningMean, values: Mapping[str, Any]) -> None:
    """Adds a part of an inference's time, s, to its mean; NaN and what is no time are left out."""
    if 0.0 <= values[part] < inf:
        mean.update(values[part])


_CHUNKS = (
    'Per call, not per action: a policy that returns 50 actions a call may take 50 times as long '
    'at the same rate. Compare together with chunk length and control rate. '
)
_FIRST = 'The first call (compilation, caches) is in it. '

_FEW = 'With few calls in an episode a high percentile is close to the largest one. '
_PART = 'It is what the policy says of itself; parts that it does not time are missing. '

_latency = partial(
    record.efficiency_metric, unit='s', higher_is_better=False,
    reasons=(record.NO_INFERENCE, record.Reason('the policy does not time its calls')),
    batch=latency_statistics, streaming=LatencyStatistics, torch='LatencyStatistics',
)  # fmt: skip
_part = partial(
    record.efficiency_metric, unit='s', higher_is_better=False,
    reasons=(record.NO_INFERENCE, record.Reason('the policy does not time this part')),
    streaming=RunningMean,
)  # fmt: skip

INFERENCE_LATENCY = _latency(
    id='il', name='inference latency, mean', source='FRAME eq. 14', streaming=InferenceLatency,
    torch='InferenceLatency', sampled_at=record.INFERENCES, axis=7,
    formula='IL = mean over calls of (end − begin)',
    shows='How long the policy thinks for each chunk of actions, whole call with transport.',
    misleads=f'{_CHUNKS}{_FIRST}It belongs to this machine under this load. Asynchronous '
        'inference hides latency from the robot: look at stalls and `observation_age` too.',
)  # fmt: skip

NEWEST_LATENCY = _latency(
    id='il_last', name='inference latency, newest call', batch=None, streaming=None, torch='',
    formula='end − begin of the newest call',
    shows='The latency right now; of an episode it is that of the last call. Its mean is `il`.',
    misleads=f'{_CHUNKS}One call says little about the next.',
)  # fmt: skip

MEDIAN_LATENCY = _latency(
    id='il_p50', name='inference latency, median',
    formula='median of the calls so far, interpolated linearly',
    shows='The usual latency; slow outliers do not move it.',
    misleads=f'{_CHUNKS}It hides the slow calls that stall a robot: see `il_p95` and `il_p99`.',
)  # fmt: skip

LATENCY_P95 = _latency(
    id='il_p95', name='inference latency, 95th percentile',
    formula='95th percentile of the calls so far, interpolated linearly',
    shows='The latency that one call in twenty exceeds.',
    misleads=f'{_FEW}{_CHUNKS}{_FIRST}',
)  # fmt: skip

LATENCY_P99 = _latency(
    id='il_p99', name='inference latency, 99th percentile',
    formula='99th percentile of the calls so far, interpolated linearly',
    shows='The latency that one call in a hundred exceeds: what buffers must be sized for.',
    misleads=f'{_FEW}Below 100 calls it is no more than the largest. {_FIRST}',
)  # fmt: skip

LATENCY_JITTER = _latency(
    id='il_jitter', name='inference latency, standard deviation', sampled_at=record.INFERENCES,
    formula='√( mean (ILᵢ − IL)² )          population standard deviation over calls',
    shows='How unevenly long calls take.',
    misleads=f'{_FIRST}One slow call dominates it; two modes (a cache hit or not) look like '
        'jitter.',
)  # fmt: skip

PREPROCESSING_TIME = _part(
    id='il_preprocess', name='latency of preprocessing, mean',
    live=record.Live('inference', partial(feed_duration, 'preprocess')),
    formula='mean time from the observation to the model’s input',
    shows='What image resizing, normalising and tokenising cost.',
    misleads=f'{_PART}Work that the GPU does later shows up in another part.',
)  # fmt: skip

FORWARD_TIME = _part(
    id='il_forward', name='latency of the forward pass, mean',
    live=record.Live('inference', partial(feed_duration, 'forward')),
    formula='mean time in the model',
    shows='What the network itself costs.',
    misleads=f'{_PART}Without waiting for the GPU it measures the launching of kernels only. '
        f'{_CHUNKS}',
)  # fmt: skip

POSTPROCESSING_TIME = _part(
    id='il_postprocess', name='latency of postprocessing, mean',
    live=record.Live('inference', partial(feed_duration, 'postprocess')),
    formula='mean time from the model’s output to actions',
    shows='What denormalising and unpacking cost.',
    misleads=f'{_PART}Reading the result back may wait for the GPU: time of the forward pass then '
        'shows up here.',
)  # fmt: skip

TRANSPORT_TIME = _part(
    id='il_transport', name='latency of transport, mean',
    live=record.Live('inference', partial(feed_duration, 'transport')),
    formula='mean time of the call − time that the policy server reports',
    shows='What the network between robot and policy server costs, both ways.',
    misleads='It needs only durations, no common clock, but serialising images counts as '
        'transport.',
)  # fmt: skip
