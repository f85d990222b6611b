# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of FRAME and VLA-UQ: formulas and nothing else, arrays in, numbers out.

Functions are the batch forms, over NumPy arrays or torch tensors (any array API library), which
stay what they are. Classes are the streaming forms. `REGISTRY` says of every metric its unit,
direction and source.
"""

from frame_ros.metrics.definitions import RISK_FLOOR, SHORT_SEGMENT, STATIC_THRESHOLD, WINDOW
from frame_ros.metrics.efficiency import (
    ControlRates,
    LatencySummary,
    chunk_overlap_disagreement,
    control_rate,
    latency_statistics,
)
from frame_ros.metrics.instability import (
    action_instability,
    rms_jerk,
    tcp_instability,
    window_mean,
)
from frame_ros.metrics.progress import optimal_trajectory_difference, remaining_distance
from frame_ros.metrics.reference import (
    absolute_trajectory_error,
    align,
    nearest_reference,
    relative_trajectory_error,
    resample,
    resample_by_arc_length,
)
from frame_ros.metrics.registry import REGISTRY, Metric, metric, metric_of_field
from frame_ros.metrics.safety import (
    collision_rate,
    count_collisions,
    obstacle_proximity,
    risk_factor,
)
from frame_ros.metrics.streaming import (
    AbsoluteTrajectoryError,
    ActionInstability,
    ActionStep,
    CollisionRate,
    ControlRate,
    CurvatureChange,
    LatencyStatistics,
    ObstacleProximity,
    OptimalTrajectoryDifference,
    PathLength,
    PathSmoothness,
    RelativeTrajectoryError,
    RiskFactor,
    RMSJerk,
    RunningMean,
    TCPInstability,
    TrajectoryStep,
    WindowMean,
)
from frame_ros.metrics.task import (
    amse,
    mse,
    namse,
    success_rate,
    task_completion_rate,
    wilson_interval,
)
from frame_ros.metrics.trajectory import (
    count_short_segments,
    curvature_change,
    is_static,
    path_length,
    path_smoothness,
)
from frame_ros.metrics.uncertainty import (
    deepgini,
    execution_variability,
    prediction_confidence_uncertainty,
    token_entropy,
    token_metrics,
    token_probability_uncertainty,
)

__all__ = [
    'REGISTRY',
    'RISK_FLOOR',
    'SHORT_SEGMENT',
    'STATIC_THRESHOLD',
    'WINDOW',
    'AbsoluteTrajectoryError',
    'ActionInstability',
    'ActionStep',
    'CollisionRate',
    'ControlRate',
    'ControlRates',
    'CurvatureChange',
    'LatencyStatistics',
    'LatencySummary',
    'Metric',
    'ObstacleProximity',
    'OptimalTrajectoryDifference',
    'PathLength',
    'PathSmoothness',
    'RMSJerk',
    'RelativeTrajectoryError',
    'RiskFactor',
    'RunningMean',
    'TCPInstability',
    'TrajectoryStep',
    'WindowMean',
    'absolute_trajectory_error',
    'action_instability',
    'align',
    'amse',
    'chunk_overlap_disagreement',
    'collision_rate',
    'control_rate',
    'count_collisions',
    'count_short_segments',
    'curvature_change',
    'deepgini',
    'execution_variability',
    'is_static',
    'latency_statistics',
    'metric',
    'metric_of_field',
    'mse',
    'namse',
    'nearest_reference',
    'obstacle_proximity',
    'optimal_trajectory_difference',
    'path_length',
    'path_smoothness',
    'prediction_confidence_uncertainty',
    'relative_trajectory_error',
    'remaining_distance',
    'resample',
    'resample_by_arc_length',
    'risk_factor',
    'rms_jerk',
    'success_rate',
    'task_completion_rate',
    'tcp_instability',
    'token_entropy',
    'token_metrics',
    'token_probability_uncertainty',
    'wilson_interval',
    'window_mean',
]
