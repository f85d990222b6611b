# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Speed and steadiness of the policy so far in an episode."""

from __future__ import annotations

import math
from typing import Any

from frame_ros.episodes.metric_pipeline.live_metrics import LiveMetrics
from frame_ros.metrics import ControlRate, LatencyStatistics

NAN = math.nan


class EfficiencyState:
    """Takes inferences and control ticks, and gives the values of EfficiencyMetrics at a step."""

    def __init__(self) -> None:
        self._latency = LatencyStatistics()
        self._rate = ControlRate()
        self._live = LiveMetrics('efficiency')
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._latency.reset()
        self._rate.reset()
        self._live.reset()
        self._inferences = self._stalls = 0
        self._newest = 0
        self._of_inferences: tuple = (NAN,) * 6
        self._of_newest: tuple = (NAN,) * 3
        self._of_parts = self._live.values()

    @property
    def inferences(self) -> int:
        """Number of those that have been taken, timed or not."""
        return self._inferences

    def reset_rate(self) -> None:
        """The clock was reset: the control rate begins again."""
        self._rate.reset()

    def update_inference(self, values: dict[str, Any]) -> None:
        """values: as `inference_values` gives them; what is NaN, or no time, is left out
        of the means.
        """
        self._inferences += 1
        self._stalls += int(values['stalls'])
        if math.isfinite(values['latency']):
            self._latency.update(values['latency'])
        self._live.update('inference', values)
        latency = self._latency
        self._of_inferences = (
            latency.mean, values['latency'], latency.p50, latency.p95, latency.p99, latency.jitter,
        )  # fmt: skip
        self._of_newest = (
            values['observation_age'], values['queue_depth'], values['chunk_overlap'],
        )  # fmt: skip
        self._of_parts = self._live.values()

    def update_step(self, stamp: int) -> None:
        """stamp: ns, of the executed action; before the last one, the clock was reset."""
        if stamp < self._newest:
            self._rate.reset()
        self._newest = stamp
        self._rate.update(stamp)

    def values(self) -> tuple:
        """The row of EfficiencyMetrics behind step and time."""
        rate = self._rate
        return (
            self._inferences, self._stalls, *self._of_inferences,
            rate.value, rate.now, rate.worst, *self._of_newest, *self._of_parts,
        )  # fmt: skip
