# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming forms of the metrics: a sample in, the batch form over all samples so far out.

Each has `update(...)`, `value` and `reset()`; those that difference have `reset_differences()`, for
a gap in the stamps. The work per sample does not grow with their number (LatencyStatistics: per
inference, in logarithm). Values that are not finite are refused with ValueRangeError: whoever feeds
them counts bad input. `step` holds the fused forms of the live path.
"""

from frame_ros.metrics.engine.low_pass import LowPass, PoseLowPass
from frame_ros.metrics.engine.samples import RunningMean, WindowMean
from frame_ros.metrics.engine.token_step import TokenStep
from frame_ros.metrics.engine.trajectory_step import ActionStep, TrajectoryStep
from frame_ros.metrics.streaming.confidence import EpisodeConfidence
from frame_ros.metrics.streaming.contact_limits import ContactLimitRatio, ContactLimits
from frame_ros.metrics.streaming.efficiency import (
    ComputationTime,
    ControlRate,
    InferenceLatency,
    LatencyStatistics,
    MemoryUsage,
)
from frame_ros.metrics.streaming.instability import ActionInstability, TCPInstability
from frame_ros.metrics.streaming.jerk import RMSJerk
from frame_ros.metrics.streaming.path import CurvatureChange, PathLength, PathSmoothness
from frame_ros.metrics.streaming.reference_errors import (
    AbsoluteTrajectoryError,
    OptimalTrajectoryDifference,
    RelativeTrajectoryError,
)
from frame_ros.metrics.streaming.safety import CollisionRate, ObstacleProximity, RiskFactor
from frame_ros.metrics.streaming.several_references import ReferenceTracker
from frame_ros.metrics.streaming.task import AMSE, MSE, NAMSE, SuccessRate, TaskCompletionRate
from frame_ros.metrics.streaming.uncertainty import (
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
    'ActionStep',
    'ChunkOverlapDisagreement',
    'CollisionRate',
    'ComputationTime',
    'ContactLimitRatio',
    'ContactLimits',
    'ControlRate',
    'CurvatureChange',
    'DeepGini',
    'EpisodeConfidence',
    'ExecutionVariability',
    'InferenceLatency',
    'LatencyStatistics',
    'LowPass',
    'MemoryUsage',
    'ObstacleProximity',
    'OptimalTrajectoryDifference',
    'PathLength',
    'PathSmoothness',
    'PoseLowPass',
    'PredictionConfidenceUncertainty',
    'RMSJerk',
    'ReferenceTracker',
    'RelativeTrajectoryError',
    'RiskFactor',
    'RunningMean',
    'SuccessRate',
    'TCPInstability',
    'TaskCompletionRate',
    'TokenEntropy',
    'TokenProbabilityUncertainty',
    'TokenStep',
    'TrajectoryStep',
    'WindowMean',
]
