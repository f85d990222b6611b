# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores that compare an inference with those of calibration episodes."""

from __future__ import annotations

from functools import partial

from frame_ros.metrics import record
from frame_ros.metrics.families.feature_distances import (
    mahalanobis_distance,
    nearest_neighbour_distance,
)

__all__: list[str] = []

_NO_FEATURES = record.Reason(
    'the policy exposes no features of its observation', record.Lack.FEATURES
)
_OF_OTHERS = (
    'It is large for everything that the calibration episodes do not hold, also for what the '
    'policy masters; and small for a known scene in which it fails. '
)

_calibrated = partial(
    record.Metric, unit='1', higher_is_better=False, category='uncertainty',
    messages=('confidence',), of_moments=record.MEAN,
)  # fmt: skip

CHUNK_CONSISTENCY_Z = _calibrated(
    id='chunk_consistency_z', name='chunk consistency, z-score', minimum_samples=2,
    source='VLA-FAIL, arXiv 2606.21386', reasons=(record.NO_OVERLAP, record.NO_CALIBRATION),
    formula='(chunk_consistency − mean) / standard deviation     of the calibration episodes',
    shows='How unusual the change of plan is, in standard deviations of the calibration episodes.',
    misleads='The distribution is skewed: 3 standard deviations are not as rare as of a Gaussian.',
)  # fmt: skip

FEATURE_MAHALANOBIS = _calibrated(
    id='feature_mahalanobis', name='Mahalanobis distance of the features',
    reasons=(_NO_FEATURES, record.NO_CALIBRATION), batch=mahalanobis_distance,
    formula='√( (f − μ)ᵀ Σ⁻¹ (f − μ) )     μ, Σ: of the calibration episodes, Ledoit-Wolf',
    shows='How far the observation lies from what the policy saw in the calibration episodes.',
    misleads=f'{_OF_OTHERS}It assumes one cloud: several scenes far apart stretch it.',
)  # fmt: skip

FEATURE_KNN = _calibrated(
    id='feature_knn', name='distance of the features to the k nearest',
    reasons=(_NO_FEATURES, record.NO_CALIBRATION), batch=nearest_neighbour_distance,
    formula='1/k Σ ‖(f − fᵢ) / σ‖     over the k nearest features of the calibration episodes\n'
        'σ: square roots of the diagonal of Σ, Ledoit-Wolf',
    shows='How far the observation lies from the nearest that the policy saw in calibration '
        'episodes, whatever the shape of their cloud.',
    misleads=f'{_OF_OTHERS}It depends on how densely the calibration episodes were sampled.',
)  # fmt: skip

COMBINED_RISK = _calibrated(
    id='combined_risk', name='combined risk',
    reasons=(
        record.NO_CALIBRATION,
        record.Reason('the calibration file has no combination of scores'),
    ),
    formula='combination of scores, fitted on the calibration episodes',
    shows='The scores as one number, weighted as the calibration file says.',
    misleads='It knows the failures that it was fitted on; others may look different.',
)  # fmt: skip
