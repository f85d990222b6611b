# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The TorchMetrics classes of the metrics: for training and evaluation loops in torch.

Their formulas are the functions of `frame_ros.metrics`, which take torch tensors as well; those
that are differentiable serve as losses. A class's update takes one episode or a batch of them,
compute gives the mean over the episodes of all processes, and calling the metric gives the batch's
value. Needs the extra 'torch'.
"""

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
from frame_ros.metrics.torch.instability import ActionInstability, RMSJerk, TCPInstability
from frame_ros.metrics.torch.progress import OptimalTrajectoryDifference
from frame_ros.metrics.torch.safety import CollisionRate, ObstacleProximity, RiskFactor
from frame_ros.metrics.torch.task import AMSE, MSE, NAMSE, SuccessRate, TaskCompletionRate
from frame_ros.metrics.torch.trajectory import (
    AbsoluteTrajectoryError,
    CurvatureChange,
    DTWDistance,
    PathLength,
    PathSmoothness,
    RelativeTrajectoryError,
)
from frame_ros.metrics.torch.uncertainty import (
    ChunkOverlapDisagreement,
    DeepGini,
    ExecutionVariability,
    PredictionConfidenceUncertainty,
    TokenEntropy,
    TokenProbabilityUncertainty,
)

__all__ = [
    'AMSE',
    'MSE',
    'NAMSE',
    'AbsoluteTrajectoryError',
    'ActionInstability',
    'ChunkOverlapDisagreement',
    'CollisionRate',
    'ComputationTime',
    'ControlRate',
    'CurvatureChange',
    'DTWDistance',
    'DeepGini',
    'ExecutionVariability',
    'FrameMetric',
    'InferenceLatency',
    'LatencyStatistics',
    'MemoryUsage',
    'ObstacleProximity',
    'OptimalTrajectoryDifference',
    'PathLength',
    'PathSmoothness',
    'PredictionConfidenceUncertainty',
    'RMSJerk',
    'RelativeTrajectoryError',
    'RiskFactor',
    'SuccessRate',
    'TCPInstability',
    'TaskCompletionRate',
    'TokenEntropy',
    'TokenProbabilityUncertainty',
    'WorstControlRate',
    'frame_collection',
    'torch_metric',
    'trajectory_metrics',
]
