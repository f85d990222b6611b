# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ages of poses and observations when they are used."""

from __future__ import annotations

from frame_ros.metrics import record

__all__: list[str] = []

POSE_AGE = record.quality_metric(
    id='pose_age', name='age of the pose taken for a step', unit='s', higher_is_better=False,
    reasons=(record.NO_POSE,), of_moments=record.MEAN, options=('max_pose_age',),
    formula='age = stamp of the step − stamp of the pose taken for it',
    shows='How old the pose is that a step was judged by. About half the period of the pose topic '
        'is normal.',
    misleads='It knows stamps only: poses that were stamped on arrival look young however late '
        'they are, and clocks of two machines that differ shift it.',
)  # fmt: skip

OBSERVATION_AGE = record.efficiency_metric(
    id='observation_age', name='observation age at inference', unit='s', higher_is_better=False,
    reasons=(
        record.NO_INFERENCE,
        record.Reason('the newest inference does not say when its inputs were taken'),
    ),
    of_moments=record.MEAN,
    formula='begin of the inference − oldest stamp among its inputs',
    shows='How stale the world was that the policy saw.',
    misleads='By stamps: a camera driver that stamps on arrival hides its own delay. Without '
        'synchronised clocks between machines it means nothing.',
)  # fmt: skip
