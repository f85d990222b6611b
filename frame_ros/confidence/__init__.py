# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From what a policy knew of its own certainty to a confidence, and from that to a halt."""

from frame_ros.confidence.calibration import (
    brier_parts,
    brier_score,
    calibration_metrics,
    expected_calibration_error,
    failure_auprc,
    failure_auroc,
    maximum_calibration_error,
    negative_log_likelihood,
    reliability_diagram,
)
from frame_ros.confidence.conformal import (
    conformal_threshold,
    rate_bound,
    required_episodes,
)
from frame_ros.confidence.guarantees.alarm_rate import FalseAlarmRate
from frame_ros.confidence.guarantees.drift import DriftDetector, drift_reference, episode_values
from frame_ros.confidence.guarantees.fit import fit_guarantee
from frame_ros.confidence.guarantees.guarantee import AlarmThreshold, Guarantee
from frame_ros.confidence.guarantees.risk_episode import RiskEpisode
from frame_ros.confidence.guarantees.standard import standard_guarantees
from frame_ros.confidence.recalibration.binning import HistogramBinning, PlattBinning
from frame_ros.confidence.recalibration.isotonic import IsotonicScaling
from frame_ros.confidence.recalibration.platt import ActionWisePlattScaling, PlattScaling
from frame_ros.confidence.recalibration.recalibrator import Recalibrator
from frame_ros.confidence.recalibration.temperature import (
    ActionWiseTemperatureScaling,
    TemperatureScaling,
)
from frame_ros.confidence.scores import SCORES, Score, risk
from frame_ros.confidence.thresholds import horizon_thresholds
from frame_ros.metrics.families.chunks import chunk_consistency
from frame_ros.metrics.families.hesitation import reversal_share
from frame_ros.metrics.token_statistics import ReducedTokens, token_statistics

__all__ = [
    'ActionWisePlattScaling',
    'ActionWiseTemperatureScaling',
    'AlarmThreshold',
    'DriftDetector',
    'FalseAlarmRate',
    'Guarantee',
    'HistogramBinning',
    'IsotonicScaling',
    'PlattBinning',
    'PlattScaling',
    'Recalibrator',
    'ReducedTokens',
    'RiskEpisode',
    'SCORES',
    'Score',
    'TemperatureScaling',
    'brier_parts',
    'brier_score',
    'calibration_metrics',
    'chunk_consistency',
    'conformal_threshold',
    'drift_reference',
    'episode_values',
    'expected_calibration_error',
    'failure_auprc',
    'failure_auroc',
    'fit_guarantee',
    'horizon_thresholds',
    'maximum_calibration_error',
    'negative_log_likelihood',
    'rate_bound',
    'reliability_diagram',
    'required_episodes',
    'reversal_share',
    'risk',
    'standard_guarantees',
    'token_statistics',
]
