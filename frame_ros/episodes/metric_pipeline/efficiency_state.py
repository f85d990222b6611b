# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How fast and how steadily the policy has run so far in an episode."""

from __future__ import annotations

import math
from typing import Any

from frame_ros.metrics import ControlRate, LatencyStatistics, RunningMean

NAN = math.nan
PARTS = ('preprocess', 'forward', 'postprocess', 'transport')


class EfficiencyState:
    """Takes inferences and control ticks, and gives the values of EfficiencyMetrics at a step."""

    def __init__(self) -> None:
        self._latency = LatencyStatistics()
        self._rate = ControlRate()
        self._parts = [RunningMean() for _ in PARTS]
        self._cpu_time = RunningMean()
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._latency.reset()
        self._rate.reset()
        for mean in (self._cpu_time, *self._parts):
            mean.reset()
        self._memory = NAN
        self._inferences = 0
        self._newest = 0
        self._last: tuple = (NAN, NAN, NAN)
        self._stalls = 0
        self._inference_row: tuple = (NAN,) * 10 + (0, NAN, NAN)

    @property
    def inferences(self) -> int:
        """How many have been taken, timed or not."""
        return self._inferences

    def reset_rate(self) -> None:
        """The clock was set anew: the control rate begins again."""
        self._rate.reset()

    def update_inference(self, values: dict[str, Any]) -> None:
        """values: as `conversion.inference_values` gives them; what is NaN, or no time, is left out
        of the means.
        """
        self._inferences += 1
        latency = values['latency']
        if math.isfinite(latency):
            self._latency.update(latency)
        for part, mean in zip((*PARTS, 'cpu_time'), (*self._parts, self._cpu_time)):
            if 0.0 <= values[part] < math.inf:
                mean.update(values[part])
        self._update_memory(values['memory_rss'], values['memory_device'])
        self._stalls += int(values['stalls'])
        self._last = (values['observation_age'], values['queue_depth'], values['chunk_overlap'])
        statistics = self._latency
        self._inference_row = (
            statistics.mean, latency, statistics.p50, statistics.p95, statistics.p99,
            statistics.jitter,
            *(mean.value for mean in self._parts),
            self._inferences, self._cpu_time.value, self._memory,
        )  # fmt: skip

    def _update_memory(self, resident: float, device: float) -> None:
        """One of them unknown: so is their sum."""
        used = resident + device
        if math.isfinite(used) and not self._memory >= used:
            self._memory = used

    def update_step(self, stamp: int) -> None:
        """stamp: ns, of the executed action; before the last one, the clock was set anew."""
        if stamp < self._newest:
            self._rate.reset()
        self._newest = stamp
        self._rate.update(stamp)

    def values(self) -> tuple:
        """The row of EFFICIENCY_FIELDS behind step and time."""
        rate = self._rate
        return (
            *self._inference_row,
            rate.value, rate.now, rate.worst,
            *self._last,
            self._stalls,
        )  # fmt: skip
