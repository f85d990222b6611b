# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The TorchMetrics classes of the metrics: for training and evaluation loops in torch.

Their formulas are the functions of `frame_ros.metrics`, which take torch tensors as well; those
that are differentiable serve as losses. A class's update takes one episode or a batch of them,
compute gives the mean over the episodes of all processes, and calling the metric gives the batch's
value. Needs the extra 'torch'.
"""

from typing import Any

from frame_ros.metrics.torch import availability  # noqa: F401  must come first
from frame_ros.metrics.torch.base import FrameMetric
from frame_ros.metrics.torch.collection import (
    frame_collection,
    torch_metric,
    trajectory_metrics,
)
from frame_ros.metrics.torch.efficiency import (
    ComputationTime,
    ControlRate,
    InferenceLatency,
    LatencyStatistics,
    MemoryUsage,
    WorstControlRate,
)
from frame_ros.metrics.torch.episode_mean import DERIVED
from frame_ros.metrics.torch.instability import ActionInstability, RMSJerk, TCPInstability
from frame_ros.metrics.torch.safety import CollisionRate
from frame_ros.metrics.torch.task import AMSE, MSE, NAMSE, SuccessRate, TaskCompletionRate
from frame_ros.metrics.torch.trajectory import (
    CurvatureChange,
    DTWDistance,
    RelativeTrajectoryError,
)
from frame_ros.metrics.torch.uncertainty import ChunkOverlapDisagreement

__all__ = [
    'AMSE',
    'MSE',
    'NAMSE',
    'ActionInstability',
    'ChunkOverlapDisagreement',
    'CollisionRate',
    'ComputationTime',
    'ControlRate',
    'CurvatureChange',
    'DTWDistance',
    'FrameMetric',
    'InferenceLatency',
    'LatencyStatistics',
    'MemoryUsage',
    'RMSJerk',
    'RelativeTrajectoryError',
    'SuccessRate',
    'TCPInstability',
    'TaskCompletionRate',
    'WorstControlRate',
    'frame_collection',
    'torch_metric',
    'trajectory_metrics',
]
__all__ += list(DERIVED)


def __getattr__(name: str) -> Any:
    """The classes that follow from the records."""
    if name in DERIVED:
        return DERIVED[name]
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
