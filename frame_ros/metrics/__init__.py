# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F403  what is imported here is what the package offers
"""The metrics of FRAME and VLA-UQ: formulas and nothing else, arrays in, numbers out.

Functions are the batch forms, over NumPy arrays or torch tensors (any array API library), which
stay what they are. Classes are the streaming forms: a sample in, the batch form over all samples so
far out. `REGISTRY` holds the record of every metric: unit, direction, source, words.

A streaming class has `update(...)`, `value` and `reset()`; one that takes differences has
`reset_differences()`, for a gap in the stamps. The work per sample does not grow with their number
(LatencyStatistics: per inference, in logarithm). Values that are not finite are refused with
ValueRangeError: the caller counts bad input. TrajectoryStep and ActionStep are the fused
forms of the live path.
"""

from inspect import ismodule as _is_module

from frame_ros.metrics.arrays import Array
from frame_ros.metrics.constants import RISK_FLOOR, SHORT_SEGMENT, STATIC_THRESHOLD, WINDOW
from frame_ros.metrics.contiguous_samples import find_breaks
from frame_ros.metrics.engine.low_pass import PoseLowPass
from frame_ros.metrics.engine.reference_tracker import ReferenceTracker
from frame_ros.metrics.engine.samples import RunningMean, WindowMean
from frame_ros.metrics.engine.trajectory_step import ActionStep, TrajectoryStep
from frame_ros.metrics.families import *
from frame_ros.metrics.filtering import low_pass, low_pass_orientations
from frame_ros.metrics.fingerprint import (
    Fingerprint,
    area_range,
    fingerprint,
    polygon_area,
    ratio_to_best,
)
from frame_ros.metrics.record import Metric
from frame_ros.metrics.registry import (
    REGISTRY,
    metric,
    metric_of_field,
)
from frame_ros.metrics.resampling import (
    align,
    resample,
    resample_at_arc_length,
    travelled_lengths,
)
from frame_ros.metrics.several_references import ReferenceErrors, mean_trajectory, reference_errors
from frame_ros.metrics.step_differences import window_mean

__all__ = [name for name, value in vars().items() if not (name[0] == '_' or _is_module(value))]
