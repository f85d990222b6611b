# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Computation time and memory of the policy (FRAME table 1, eq. 15)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isfinite
from typing import Any

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean
from frame_ros.metrics.families.latency import feed_duration

__all__ = ['ComputationTime', 'MemoryUsage']


class ComputationTime(RunningMean):
    """CT so far: mean CPU seconds per decision step, s; `last`: the newest. FRAME, table 1."""

    def reset(self) -> None:
        """Forgets everything."""
        super().reset()
        self.last = NAN

    def update(self, value: float) -> None:
        """Takes the CPU time of one decision step, s.

        Raises:
            ValueRangeError: it is negative or not finite. Nothing has changed then.
        """
        if not (isfinite(value) and value >= 0.0):
            raise ValueRangeError(f'CPU time is {value} s; a finite time, 0 or more, is expected')
        super().update(value)
        self.last = float(value)


class MemoryUsage:
    """MU so far: `value`, the peak of resident and device memory together, bytes; `last`: the
    newest. FRAME eq. 15.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = self.last = NAN

    def update(self, resident: float, device: float = 0.0) -> None:
        """Takes the resident memory of the process and what it has allocated on a device, bytes.

        Raises:
            ValueRangeError: one is negative or not finite. Nothing has changed then.
        """
        if not (isfinite(resident + device) and resident >= 0.0 and device >= 0.0):
            raise ValueRangeError(
                f'memory is {resident} and {device} bytes; finite sizes, 0 or more, are expected'
            )
        self.last = float(resident + device)
        if not self.value >= self.last:
            self.value = self.last


def _take_memory(usage: MemoryUsage, values: Mapping[str, Any]) -> None:
    """One of the two unknown: so is their sum."""
    resident, device = values['memory_rss'], values['memory_device']
    if resident >= 0.0 and device >= 0.0 and isfinite(resident + device):
        usage.update(resident, device)


COMPUTATION_TIME = record.efficiency_metric(
    id='ct', name='computation time', unit='s', higher_is_better=False, source='FRAME table 1',
    reasons=(record.NO_INFERENCE, record.Reason('the CPU time of the policy is not known')),
    streaming=ComputationTime, live=record.Live('inference', partial(feed_duration, 'cpu_time')),
    torch='ComputationTime',
    formula='CT = process CPU seconds / decision steps',
    shows='What one inference costs the CPU, over all threads: more than the latency if several '
        'cores work.',
    misleads='The GPU is not in it, so a policy on a GPU looks cheap. Threads that wait by '
        'spinning look busy.',
)  # fmt: skip

MEMORY_USAGE = record.efficiency_metric(
    id='mu', name='memory usage', unit='bytes', higher_is_better=False, source='FRAME eq. 15',
    reasons=(
        record.NO_INFERENCE,
        record.Reason('the memory of the policy, resident and on its device, is not known'),
    ),
    streaming=MemoryUsage, live=record.Live('inference', _take_memory), torch='MemoryUsage', axis=8,
    formula='MU = maxₜ ( resident memoryₜ + device memoryₜ )',
    shows='How much memory the policy process needs at its peak: whether it fits on the robot.',
    misleads='Resident memory counts shared libraries too, some 0.3 to 1 GB with torch, and '
        'depends on the allocator. Device memory is what the process allocated, not what the '
        'driver reserved. A remote policy’s memory is that of its server.',
)  # fmt: skip
