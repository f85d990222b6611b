# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401  what is imported here is what the package offers
"""The TorchMetrics classes of the metrics: for training and evaluation loops in torch.

Their formulas are the functions of `frame_ros.metrics`, which take torch tensors as well; those
that are differentiable serve as losses. A class's update takes one episode or a batch of them,
compute gives the mean over the episodes of all processes, and calling the metric gives the batch's
value. Needs the extra 'torch'.
"""

from inspect import ismodule as _is_module

from frame_ros.metrics.torch import availability as _  # must come first
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
from frame_ros.metrics.torch.episode_mean import DERIVED as _DERIVED
from frame_ros.metrics.torch.instability import ActionInstability, RMSJerk, TCPInstability
from frame_ros.metrics.torch.safety import CollisionRate
from frame_ros.metrics.torch.task import AMSE, MSE, NAMSE, SuccessRate, TaskCompletionRate
from frame_ros.metrics.torch.trajectory import (
    CurvatureChange,
    DTWDistance,
    RelativeTrajectoryError,
)
from frame_ros.metrics.torch.uncertainty import ChunkOverlapDisagreement

globals().update(_DERIVED)
__all__ = [name for name, value in vars().items() if not (name[0] == '_' or _is_module(value))]
