# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming forms of the metrics: a sample in, the batch form over all samples so far out.

Each has `update(...)`, `value` and `reset()`; those that difference have `reset_differences()`, for
a gap in the stamps. The work per sample does not grow with their number (LatencyStatistics: per
inference, in logarithm). Values that are not finite are refused with ValueRangeError: whoever feeds
them counts bad input. `step` holds the fused forms of the live path.
"""

from frame_ros.metrics.streaming.efficiency import ControlRate, LatencyStatistics
from frame_ros.metrics.streaming.instability import ActionInstability, RMSJerk, TCPInstability
from frame_ros.metrics.streaming.path import CurvatureChange, PathLength, PathSmoothness
from frame_ros.metrics.streaming.reference import (
    AbsoluteTrajectoryError,
    OptimalTrajectoryDifference,
    RelativeTrajectoryError,
)
from frame_ros.metrics.streaming.safety import CollisionRate, ObstacleProximity, RiskFactor
from frame_ros.metrics.streaming.samples import RunningMean, WindowMean
from frame_ros.metrics.streaming.step import ActionStep, TrajectoryStep

__all__ = [
    'AbsoluteTrajectoryError',
    'ActionInstability',
    'ActionStep',
    'CollisionRate',
    'ControlRate',
    'CurvatureChange',
    'LatencyStatistics',
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
]
