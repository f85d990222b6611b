# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rollouts that two policies still need, and what is said where no number can be given."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.core.errors import ShapeError
from frame_ros.core.options import OptionError
from frame_ros.evaluation.binary.paired import PairCounts
from frame_ros.evaluation.null_calibration.generated import (
    GeneratedOptions,
    generated_cells,
    generated_outcomes,
)
from frame_ros.evaluation.planning.bridge import BridgeModel, drifts_of
from frame_ros.evaluation.planning.design_effect import DesignEffect, EffectSource
from frame_ros.evaluation.planning.options import PlanOptions
from frame_ros.evaluation.planning.rollouts_needed import episodes_needed, pairs_needed
from frame_ros.evaluation.planning.sample_sizes import mcnemar_exact_sample_size
from frame_ros.evaluation.planning.study import independent_discordance, outcomes_plan

PLAIN = DesignEffect(1.0, EffectSource.CORRELATION, 0.0, float('nan'))


def cells(slower=1.0, seed=0, episodes=15):
    options = GeneratedOptions(objects=2, episodes=episodes, operations=4)
    return generated_cells(options, np.random.default_rng(seed), slower)


def test_an_unresolved_pair_needs_the_number_of_the_exact_test():
    found = pairs_needed(PairCounts(50, 13, 7, 30), objects=4)
    assert found.at_observed == mcnemar_exact_sample_size(0.06, 0.2)
    assert found.per_cell == -(-found.at_observed // 4)
    assert found.further == 2 * (found.at_observed - 100)
    assert not found.is_resolved and found.high is None and found.low < found.at_observed
    assert f'{found.at_observed} pairs in all are needed' in found.words


def test_a_difference_of_zero_has_no_number():
    found = pairs_needed(PairCounts(10, 3, 3, 10))
    assert found.at_observed is found.further is found.high is None and found.low > 0
    assert 'no number can be computed' in found.words and 'at least' in found.words


def test_fewer_pairs_than_can_reject_are_never_enough():
    """Connor's formula gives 4 pairs, of which no exact test finds anything."""
    found = pairs_needed(PairCounts(0, 5, 0, 0))
    assert not found.is_resolved and found.at_observed == 6 and found.further == 2
    assert 'bad luck' not in found.words


def test_without_discordant_pairs_nothing_is_known():
    found = pairs_needed(PairCounts(5, 0, 0, 5))
    assert found.at_observed is None and found.p == 1.0 and not found.is_resolved


def test_a_resolved_pair_needs_none():
    found = pairs_needed(PairCounts(50, 30, 5, 15))
    assert found.is_resolved and found.words.startswith('resolved')
    assert found.low <= found.at_observed <= found.high


def test_independent_policies_disagree_as_often_as_their_rates_say():
    assert independent_discordance(0.7, 0.1) == pytest.approx(0.7 * 0.2 + 0.8 * 0.3)
    assert independent_discordance(0.95, 0.1) == pytest.approx(0.95 * 0.15 + 0.85 * 0.05)


def test_times_need_the_episodes_of_the_bridges():
    a, b = cells(), cells(1.15, 1)
    found = episodes_needed(a, b, PLAIN, simulations=1000)
    model = BridgeModel(drifts_of(a, b), 0.05, 1000)
    assert found.at_observed == int(np.ceil(model.episodes()))
    twice = episodes_needed(a, b, replace_effect(2.0), simulations=1000)
    assert twice.at_observed == pytest.approx(2 * found.at_observed, abs=1)
    assert found.low <= found.at_observed <= (found.corrected or np.inf)


def replace_effect(value):
    return PLAIN._replace(value=value)


def test_a_clear_difference_of_times_is_resolved_with_a_range():
    found = episodes_needed(cells(), cells(2.5, 1), PLAIN, simulations=500)
    assert found.is_resolved and found.low <= found.at_observed <= found.high
    assert found.effect > 0.2 and found.present == 15


def test_equal_times_have_no_number():
    found = episodes_needed(cells(), cells(), simulations=500)
    assert found.effect == 0.0 and found.p == 1.0
    assert found.at_observed is found.corrected is found.high is found.further is None
    assert 'no number can be computed' in found.words


def test_a_plan_without_times_or_pairs_says_what_lacks():
    options = GeneratedOptions(objects=1, episodes=6, operations=2)
    outcomes = [replace(each, operations=()) for each in generated_outcomes(options)]
    plan = outcomes_plan(outcomes)
    assert plan.effect is plan.correlation is plan.plans[0].times is None
    assert plan.plans[0].lacking == 'no times of operations on an object that both have'
    quick = PlanOptions(trials=10, resamples=20, simulations=100)
    plan = outcomes_plan([replace(e, pair='') for e in generated_outcomes(options)], quick)
    assert plan.plans[0].pairs is None and 'no paired episodes' in plan.plans[0].lacking


def test_the_human_reference_is_no_policy_to_plan_for():
    rows = generated_outcomes(GeneratedOptions(objects=1, episodes=4))
    rows = [replace(each, is_human=each.policy == 'b') for each in rows]
    with pytest.raises(ShapeError, match='policies: a; two'):
        outcomes_plan(rows)


def test_a_few_episodes_are_too_few_to_plan_from():
    options = GeneratedOptions(objects=1, episodes=3, operations=2)
    rows = generated_outcomes(options, 0, {'a': 1.0, 'b': 2.0})
    found = outcomes_plan(rows, PlanOptions(trials=10, resamples=20, simulations=100)).plans[0]
    assert found.times.at_observed is found.times.low is found.times.corrected is None
    assert 'so few episodes' in found.times.words and '3 episodes' in found.times.words


def test_rates_that_fit_no_design_effect_leave_that_by_correlation():
    rows = generated_outcomes(GeneratedOptions(objects=1, episodes=6), 0, {'a': 1.0, 'b': 1.0})
    twins = [replace(e, operations=rows[k % 6].operations) for k, e in enumerate(rows)]
    plan = outcomes_plan(twins, PlanOptions(trials=10, resamples=20, simulations=100))
    assert plan.plans[0].times.effect == 0.0
    assert plan.effect == plan.correlation


def test_objects_of_one_policy_are_named():
    rows = generated_outcomes(GeneratedOptions(objects=3, episodes=5), 0)
    rows = [each for each in rows if (each.policy, each.object) != ('b', 'object 2')]
    plan = outcomes_plan(rows, PlanOptions(trials=10, resamples=20, simulations=100)).plans[0]
    assert plan.lacking == 'objects of one of them are left out: object 2'


def test_resamples_too_few_for_the_level_are_refused():
    with pytest.raises(OptionError, match='resamples is 50; it must be at least 1 / alpha'):
        PlanOptions(alpha=0.01, resamples=50)
