# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scores of an inference that need a calibration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.confidence.applied_calibration import AppliedCalibration
from frame_ros.episodes.metric_pipeline.options import PipelineOptions

NAN = float('nan')
# Ids of the metrics, which are the fields of ConfidenceMetrics too.
OF_CALIBRATION = (
    'confidence_calibrated', 'chunk_consistency_z', 'feature_mahalanobis', 'feature_knn',
    'combined_risk',
)  # fmt: skip


class CalibratedScores:
    """Applies the calibration of the options, if there is one.

    Attributes:
        applied: the calibration; None without.
        problems: metric -> why the calibration gives no value for the newest inference.
    """

    def __init__(self, config: PipelineOptions) -> None:
        self.applied: AppliedCalibration | None = None
        if config.calibration is not None:
            self.applied = AppliedCalibration(config.calibration, config.confidence_aggregate)
        self.problems: dict[str, str] = {}

    @property
    def stac_bandwidth(self) -> float | None:
        """Bandwidth of the kernel of STAC; None: its own rule."""
        if self.applied is None or self.applied.mismatches:
            return None
        return self.applied.calibration.stac_bandwidth

    def start(self) -> None:
        """Starts an episode."""
        if self.applied is not None:
            self.applied.start()

    def check(self, values: Mapping[str, Any]) -> str:
        """Takes the setup of an inference, and returns why the calibration does not hold for it;
        '': it does, or there is none.
        """
        return self.applied.check(values) if self.applied is not None else ''

    def update(
        self, values: Mapping[str, Any], found: Mapping[str, Any], around: Mapping[str, float]
    ) -> dict[str, float]:
        """Returns OF_CALIBRATION -> value of an inference that was checked.

        Args:
            values: as `inference_values` gives them.
            found: field of ConfidenceMetrics -> value, those that need no calibration.
            around: other inputs of a combination than scores -> value, but the time.
        """
        applied, scores = self.applied, dict.fromkeys(OF_CALIBRATION, NAN)
        self.problems = {}
        if applied is None:
            return scores
        if applied.mismatches:
            self.problems = dict.fromkeys(OF_CALIBRATION, applied.problem)
            return scores
        reasons = {}
        scores['confidence_calibrated'], reasons['confidence_calibrated'] = applied.recalibrate(
            found['confidence'], values
        )
        scores['chunk_consistency_z'], reasons['chunk_consistency_z'] = applied.standardise(
            'chunk_consistency', found['chunk_consistency']
        )
        distances, problem = applied.feature_distances(values)
        scores |= distances
        reasons |= dict.fromkeys(distances, problem)
        scores['combined_risk'], reasons['combined_risk'] = applied.combine(
            {
                name: around.get(name, scores.get(name, found.get(name, NAN)))
                for name in applied.combined
            },
            found['time'],
        )
        self.problems = {name: reason for name, reason in reasons.items() if reason}
        return scores
