# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every metric in words: its formula, what it tells, when it misleads, its variants.

The reference pages and `frame-ros metrics ID` are made from this and the registry.
"""

from __future__ import annotations

from types import MappingProxyType

from frame_ros.metrics.explanations.efficiency import EFFICIENCY
from frame_ros.metrics.explanations.entry import Explanation
from frame_ros.metrics.explanations.safety import SAFETY
from frame_ros.metrics.explanations.task import TASK
from frame_ros.metrics.explanations.trajectory import TRAJECTORY
from frame_ros.metrics.explanations.uncertainty import UNCERTAINTY
from frame_ros.metrics.registry import metric

__all__ = ['EXPLANATIONS', 'Explanation', 'explanation']

# id -> explanation, of every metric of the registry.
EXPLANATIONS: MappingProxyType[str, Explanation] = MappingProxyType(
    {**TASK, **TRAJECTORY, **SAFETY, **EFFICIENCY, **UNCERTAINTY}
)


def explanation(id: str) -> Explanation:
    """The explanation of the metric of this id.

    Raises:
        ValueRangeError: there is no such metric.
    """
    return EXPLANATIONS[metric(id).id]
