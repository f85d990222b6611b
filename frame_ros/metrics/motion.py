# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Facts that the metrics of the TCP's motion share."""

from functools import partial
from typing import Any

from frame_ros.metrics import record
from frame_ros.metrics.engine.trajectory_step import TrajectoryStep

RATES = (
    'Raw differences are divided by the time between stamps, so noise of the pose is amplified '
    'more the higher the rate: 0.1 mm of noise at 30 Hz is '
)
GAPS = 'A gap in the stamps resets the differences and is counted.'
STATIC = 'A robot that does not move scores best: static episodes are marked and left out.'


def take_position(metric: Any, pose: record.PoseSample) -> None:
    """Feeds a streaming class that takes positions alone."""
    metric.update(pose.position)


motion_metric = partial(
    record.quality_metric, higher_is_better=False, reasons=(record.NO_POSE, record.TOO_FEW_STEPS),
    fused=TrajectoryStep, counts_when_static=False, sampled_at=record.CONTROL_STEPS,
    options=('low_pass_cutoff', 'max_pose_age', 'gap'),
)  # fmt: skip
