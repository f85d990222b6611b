# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures over many episodes."""

from frame_ros.evaluation.planning.sample_sizes import mcnemar_sample_size, wilson_sample_size
from frame_ros.evaluation.statistics.agreement import cohens_kappa
from frame_ros.evaluation.statistics.ranks import mann_whitney, spearman, vargha_delaney_a12
from frame_ros.evaluation.statistics.several_tests import holm

__all__ = [
    'cohens_kappa', 'holm', 'mann_whitney', 'mcnemar_sample_size', 'spearman',
    'vargha_delaney_a12', 'wilson_sample_size',
]  # fmt: skip
