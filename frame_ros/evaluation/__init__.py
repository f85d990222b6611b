# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures over many episodes."""

from frame_ros.evaluation.binary.paired import mcnemar_exact, tango_interval
from frame_ros.evaluation.binary.unpaired import boschloo, newcombe_interval
from frame_ros.evaluation.planning.sample_sizes import mcnemar_sample_size, wilson_sample_size
from frame_ros.evaluation.sequential.betting import BettingTest
from frame_ros.evaluation.sequential.bounded import BoundedTest
from frame_ros.evaluation.sequential.confidence_sequence import DifferenceSequence
from frame_ros.evaluation.sequential.plan import SequentialPlan
from frame_ros.evaluation.sequential.study import SequentialStudy, sequential_test
from frame_ros.evaluation.statistics.agreement import cohens_kappa
from frame_ros.evaluation.statistics.best_set import best_set
from frame_ros.evaluation.statistics.letters import compact_letters
from frame_ros.evaluation.statistics.ranks import mann_whitney, spearman, vargha_delaney_a12
from frame_ros.evaluation.statistics.several_tests import bonferroni, holm
from frame_ros.evaluation.statistics.verdict import Judgement, Verdict, judge
from frame_ros.evaluation.survival.kaplan_meier import (
    completion_fraction,
    kaplan_meier,
    mtbf_a,
    restricted_mean,
    success_at,
    units_per_hour,
)
from frame_ros.evaluation.survival.logrank import logrank
from frame_ros.evaluation.survival.macro_ks import macro_ks
from frame_ros.evaluation.survival.two_samples import (
    human_relative_throughput,
    ks_distance,
    ks_supremum,
    probability_faster,
)

__all__ = [
    'BettingTest',
    'BoundedTest',
    'DifferenceSequence',
    'Judgement',
    'SequentialPlan',
    'SequentialStudy',
    'Verdict',
    'best_set',
    'bonferroni',
    'boschloo',
    'cohens_kappa',
    'compact_letters',
    'completion_fraction',
    'holm',
    'human_relative_throughput',
    'judge',
    'kaplan_meier',
    'ks_distance',
    'ks_supremum',
    'logrank',
    'macro_ks',
    'mann_whitney',
    'mcnemar_exact',
    'mcnemar_sample_size',
    'mtbf_a',
    'newcombe_interval',
    'probability_faster',
    'restricted_mean',
    'sequential_test',
    'spearman',
    'success_at',
    'tango_interval',
    'units_per_hour',
    'vargha_delaney_a12',
    'wilson_sample_size',
]
