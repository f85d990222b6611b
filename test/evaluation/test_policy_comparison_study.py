# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of policies: hand-worked studies with known verdicts, rules, and bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from comparison_outcomes import episode, judged, phail_like

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import OptionError
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.planning.distance_needed import episodes_for_distance
from frame_ros.evaluation.planning.rollouts_needed import episodes_needed
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.estimates import estimate, interval
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.scores import macro_interval
from frame_ros.evaluation.policy_comparison.study import Relation
from frame_ros.evaluation.statistics.several_tests import bonferroni, holm
from frame_ros.evaluation.statistics.verdict import Verdict
from frame_ros.evaluation.survival.cell import cells_of
from frame_ros.evaluation.survival.kaplan_meier import restricted_mean
from frame_ros.evaluation.survival.macro_ks import macro_ks
from frame_ros.evaluation.survival.two_samples import human_relative_throughput
from frame_ros.metrics import wilson_interval

FEW = ComparisonOptions(resamples=200)


def of_times(policy, times, object='cube', count=12, **others):
    """Episodes of the same operations."""
    return [
        episode(f'{policy} {object} {number}', policy, times, object=object, **others)
        for number in range(count)
    ]


def fast_slow_and_human():
    return [
        *of_times('fast', [10.0, 10.0]),
        *of_times('slow', [100.0, 100.0]),
        *of_times('fast', [20.0], 'cup'),
        *of_times('slow', [80.0], 'cup'),
        *of_times('teleop', [5.0], is_human=True),
        *of_times('teleop', [10.0], 'cup', is_human=True),
    ]


def mean_of(study, policy):
    return next(row for row in study.means if row.policy == policy)


def test_a_policy_that_is_always_faster_is_better():
    study = compare_policies(fast_slow_and_human(), FEW)
    assert study.policies == ('fast', 'slow') and study.human == 'teleop'
    assert study.headline_score == 'hrt'
    scores = mean_of(study, 'fast').scores
    assert scores['rmst'].value == pytest.approx(15.0) and scores['hrt'].value == 0.5
    assert scores['uph'].value == pytest.approx((360.0 + 180.0) / 2)
    assert scores['median'].value == 15.0 and scores['completion'].value == 1.0
    assert mean_of(study, 'slow').scores['hrt'].value == pytest.approx((0.05 + 0.125) / 2)
    assert scores['auc'].value == 0.0  # the human is always faster
    (pair,) = study.pairs
    assert (pair.first, pair.second) == ('fast', 'slow')
    assert pair.judgement.verdict is Verdict.BETTER
    assert pair.times.distance == 1.0 and pair.times.p == pytest.approx(1 / 201)
    assert pair.times.relation is Relation.FIRST_ABOVE
    assert pair.times.rmst_difference.value == pytest.approx(-75.0)
    assert study.letters == {'fast': 'a', 'slow': 'b'} and study.best == ('fast',)


def test_the_verdict_of_two_policies_is_on_the_one_that_is_not_the_baseline():
    outcomes = fast_slow_and_human()
    assert compare_policies(outcomes, FEW).verdict[:2] == ('slow', 'fast')
    asked = ComparisonOptions(resamples=200, candidate='fast')
    candidate, baseline, judgement = compare_policies(outcomes, asked).verdict
    assert (candidate, baseline) == ('fast', 'slow')
    assert judgement.verdict is Verdict.BETTER and judgement.verdict.exit_status == 10
    turned = compare_policies(outcomes, ComparisonOptions(resamples=200, baseline='fast'))
    assert turned.verdict[2].verdict is Verdict.WORSE


def test_of_three_policies_a_verdict_must_be_asked_for():
    outcomes = phail_like(6, 3, ('act', 'groot', 'openpi'))
    assert compare_policies(outcomes, FEW).verdict is None
    asked = ComparisonOptions(resamples=200, baseline='act', candidate='groot')
    assert compare_policies(outcomes, asked).verdict[:2] == ('groot', 'act')


def test_curves_that_cross_give_no_direction():
    """Half at once and half never, against all after a minute."""
    outcomes = [
        *of_times('bold', [5.0], count=20),
        *of_times('bold', [None], object='cube', count=20, ending=Ending.DROP),
        *of_times('steady', [60.0], count=40),
    ]
    outcomes = [replace(each, name=f'{place}') for place, each in enumerate(outcomes)]
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert pair.judgement.verdict is Verdict.CROSSING
    assert pair.times.relation is Relation.CROSSING
    assert pair.times.crossing_time == pytest.approx(60.0, abs=2.0)
    assert pair.times.clear_first and pair.times.clear_second


def test_the_same_episodes_are_underpowered_with_the_number_needed():
    outcomes = [*of_times('a', [10.0, None]), *of_times('b', [10.0, None])]
    study = compare_policies(outcomes, FEW)
    judgement = study.pairs[0].judgement
    assert judgement.verdict is Verdict.UNDERPOWERED
    assert study.pairs[0].times.p == 1.0 and judgement.needed > 12
    assert study.letters == {'a': 'a', 'b': 'a'} and set(study.best) == {'a', 'b'}
    large = ComparisonOptions(resamples=200, smallest_difference=0.9)
    judgement = compare_policies(outcomes, large).pairs[0].judgement
    assert judgement.verdict is Verdict.INDISTINGUISHABLE


def test_unresolved_pairs_have_the_rollouts_that_are_needed_still():
    outcomes = phail_like(8, 4, ('openpi', 'groot'))
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert pair.judgement.verdict is Verdict.UNDERPOWERED
    assert pair.more.further > 0 and pair.more.present == 8
    timeless = [replace(each, operations=()) for each in outcomes]
    (pair,) = compare_policies(timeless, FEW).pairs
    assert pair.more.test == 'McNemar' and pair.more.present == 32
    unpaired = [replace(each, pair='') for each in timeless]
    assert compare_policies(unpaired, FEW).pairs[0].more is None
    assert compare_policies(fast_slow_and_human(), FEW).pairs[0].more is None


def changed(outcomes, policy, **values):
    return [replace(each, **values) if each.policy == policy else each for each in outcomes]


@pytest.mark.parametrize(
    ('values', 'word', 'fact'),
    [
        ({'task': 'push'}, "tasks differ: 'push'", 'task'),
        ({'object': 'ball'}, "objects differ: 'ball'", None),
        ({'conditions': {'robot': 'so101'}}, "robots differ: 'so101'", 'robot'),
        ({'conditions': {'control_rate': '15'}}, 'control rates differ', 'control_rate'),
        ({'conditions': {'time_limit': '30'}}, 'time limits differ', 'time_limit'),
        ({'label_source': LabelSource.DETECTED}, 'sources of labels differ', 'labels'),
    ],
)
def test_a_fact_other_than_the_policy_forbids_the_comparison(values, word, fact):
    conditions = {'robot': 'fr3', 'control_rate': '30', 'time_limit': '60'}
    both = [
        *of_times('a', [10.0], conditions=conditions),
        *of_times('b', [90.0], conditions=conditions),
    ]
    if 'conditions' in values:
        values = {'conditions': conditions | values['conditions']}
    outcomes = changed(both, 'a', **values)
    judgement = compare_policies(outcomes, FEW).pairs[0].judgement
    assert judgement.verdict is Verdict.NOT_COMPARABLE and word in judgement.reason
    assert judgement.verdict.exit_status == 15
    if fact:
        allowed = ComparisonOptions(resamples=200, may_differ=(fact,))
        assert compare_policies(outcomes, allowed).pairs[0].judgement.verdict is Verdict.BETTER


def test_a_fact_that_is_partly_shared_is_noted_and_compared():
    outcomes = [*of_times('a', [10.0]), *of_times('b', [90.0])]
    outcomes[0] = replace(outcomes[0], label_source=LabelSource.REVIEWED)
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert pair.judgement.verdict is Verdict.BETTER
    assert [each.fact for each in pair.facts] == ['labels'] and pair.facts[0].is_partial


def ten_and_ten():
    """Ten scenes: nine successes of one, one of the other."""
    return [
        judged(f'{policy} {scene}', policy, (scene < 9) == (policy == 'new'), pair=f'seed {scene}')
        for policy in ('new', 'old')
        for scene in range(10)
    ]


def test_outcomes_without_times_are_compared_in_pairs():
    """Nine pairs for one, one for the other: 2 (1 + 10) / 2^10."""
    study = compare_policies(ten_and_ten(), ComparisonOptions(resamples=200, candidate='new'))
    (pair,) = study.pairs
    assert study.headline_score == 'success_rate' and pair.times is None
    assert pair.successes.result.p == pytest.approx(22 / 1024)
    assert pair.successes.result.paired.counts == (0, 9, 1, 0)
    assert pair.successes.result.unpaired.trials_a == 10
    assert study.verdict[2].verdict is Verdict.BETTER
    assert {score.id for score in study.scores} == {'success_rate'}


def test_unpaired_outcomes_are_compared_by_boschloo():
    outcomes = [replace(each, pair='') for each in ten_and_ten()]
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert pair.successes.result.paired is None and 'Boschloo' in pair.decided_by
    assert pair.judgement.verdict is Verdict.BETTER


def test_stages_are_tested():
    outcomes = [
        replace(each, stages={'grasped': True, 'placed': bool(each.is_success)})
        for each in ten_and_ten()
    ]
    study = compare_policies(outcomes, FEW)
    stages = study.pairs[0].successes.result.stages
    assert [row.stage for row in stages.rows] == ['grasped', 'placed']
    assert mean_of(study, 'new').scores['stage_credit'].value == pytest.approx(0.95)


def test_without_a_human_the_scores_against_one_say_why_they_are_missing():
    study = compare_policies(phail_like(5, 3, ('act', 'groot')), FEW)
    assert study.human == '' and study.headline_score == 'rmst'
    hrt = mean_of(study, 'act').scores['hrt']
    assert math.isnan(hrt.value) and 'no episode of a human' in hrt.reason
    assert any('Without a human reference' in rule.text for rule in study.rules)


def test_the_human_can_be_named_and_is_no_policy():
    outcomes = [*of_times('a', [10.0]), *of_times('operator', [5.0])]
    study = compare_policies(outcomes, ComparisonOptions(resamples=200, human='operator'))
    assert study.policies == ('a',) and study.human == 'operator' and not study.pairs


def test_a_cell_of_one_episode_has_values_without_intervals():
    outcomes = [*of_times('a', [10.0, 20.0], count=1), *of_times('b', [30.0, None])]
    study = compare_policies(outcomes, FEW)
    rmst = study.cells[0].scores['rmst']
    assert rmst.value == 15.0 and math.isnan(rmst.lower) and 'one episode' in rmst.reason
    assert study.pairs[0].times is None
    assert any('one episode' in rule.text for rule in study.rules)


def test_means_over_a_cell_of_one_episode_have_no_intervals():
    """The one episode would not vary: the interval would be that of the other objects alone."""
    outcomes = [
        *of_times('a', [10.0, 20.0], 'cup'), *of_times('a', [200.0], count=1),
        *of_times('human', [5.0, 9.0], 'cup', count=1, is_human=True),
    ]  # fmt: skip
    outcomes[0] = replace(outcomes[0], operations=outcomes[0].operations[:1])
    study = compare_policies(outcomes, FEW)
    (cup,) = (row for row in study.cells if (row.policy, row.object) == ('a', 'cup'))
    assert cup.scores['rmst'].lower < cup.scores['rmst'].upper
    assert math.isnan(cup.scores['hrt'].lower) and cup.scores['hrt'].value > 0.0
    rmst = mean_of(study, 'a').scores['rmst']
    assert rmst.value == pytest.approx(0.5 * (200.0 + cup.scores['rmst'].value))
    assert math.isnan(rmst.lower) and 'one episode' in rmst.reason


def test_resamples_that_all_agree_are_no_interval():
    """Neither in the scores, nor in the tests of pairs, nor by condition."""
    outcomes = [
        *of_times('a', [10.0], conditions={'site': 'x'}),
        *of_times('a', [12.0], count=1, conditions={'site': 'y'}),
        *of_times('b', [90.0], conditions={'site': 'x'}),
    ]
    study = compare_policies(outcomes, FEW)
    completion = mean_of(study, 'a').scores['completion']
    assert completion.value == 1.0 and math.isnan(completion.lower)
    assert 'all resamples' in completion.reason
    difference = study.pairs[0].times.differences['completion']
    assert difference.value == 0.0 and not difference.excludes_zero and math.isnan(difference.lower)
    rows = {(row.policy, row.value): row.result for row in study.conditions}
    assert rows['a', 'y'].value == 1.0 and 'one episode' in rows['a', 'y'].reason
    assert all(math.isnan(each.lower) for each in rows.values())


def test_the_test_of_times_decides_where_it_has_half_of_the_episodes():
    """Objects of one episode are in no test of times: these are three of four here."""
    outcomes = [
        row
        for policy, time in (('a', 10.0), ('b', 30.0))
        for name, count in (('cup', 2), ('x', 1), ('y', 1), ('z', 1))
        for row in of_times(policy, [time], name, count=count)
    ]
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert [each.object for each in pair.times.objects] == ['cup']
    assert pair.decided_by == 'Boschloo'
    (other,) = compare_policies([row for row in outcomes if row.object != 'z'], FEW).pairs
    assert other.decided_by == 'macro-averaged KS test'


def test_cells_without_failures_and_without_successes_have_stated_rules():
    outcomes = [*of_times('a', [10.0]), *of_times('b', [None], ending=Ending.DROP)]
    study = compare_policies(outcomes, FEW)
    first, second = study.cells
    assert (
        math.isnan(first.scores['mtbf_a'].value) and 'no failure' in first.scores['mtbf_a'].reason
    )
    assert second.scores['rmst'].value == 240.0 and second.scores['completion'].value == 0.0
    assert math.isnan(second.scores['median'].value)
    assert 'none was done' in second.scores['uph_completed'].reason
    texts = ' '.join(rule.text for rule in study.rules)
    assert 'Every operation was done' in texts and 'No operation was done' in texts


def test_policies_with_unequal_objects_are_compared_on_those_that_both_have():
    outcomes = [*of_times('a', [10.0]), *of_times('a', [1.0], 'cup'), *of_times('b', [90.0])]
    study = compare_policies(outcomes, FEW)
    assert mean_of(study, 'b').missing == ('cup',)
    assert [test.object for test in study.pairs[0].times.objects] == ['cube']
    assert any('b: no episode of cup' in rule.applied_to for rule in study.rules)


def test_objects_of_several_tasks_are_strata_of_their_own():
    outcomes = [
        *of_times('a', [10.0], task='push'),
        *of_times('a', [10.0], task='pull'),
        *of_times('b', [90.0], task='push'),
    ]
    study = compare_policies(outcomes, FEW)
    assert study.objects == ('cube (pull)', 'cube (push)')
    merged = compare_policies(outcomes, ComparisonOptions(resamples=200, may_differ=('task',)))
    assert merged.objects == ('cube',)


def test_estimates_are_those_of_the_public_functions():
    outcomes = phail_like(7, 4)
    study = compare_policies(outcomes, FEW)
    cells = {(row.policy, row.object): row for row in study.cells}
    human = {name: cells['human', name].cell for name in study.objects}
    for policy in study.policies:
        own = {name: cells[policy, name].cell for name in study.objects}
        for name, cell in own.items():
            expected = restricted_mean(cell.times, cell.events, 240.0)
            assert cells[policy, name].scores['rmst'].value == pytest.approx(expected, rel=1e-12)
        expected = human_relative_throughput(own, human, 240.0).macro
        assert mean_of(study, policy).scores['hrt'].value == pytest.approx(expected, rel=1e-12)


def test_other_policies_change_no_number_of_a_cell():
    outcomes = phail_like(6, 3)
    both = compare_policies(outcomes, FEW)
    alone = compare_policies([each for each in outcomes if each.policy == 'act'], FEW)
    of_act = [row.scores['rmst'] for row in both.cells if row.policy == 'act']
    own = [row.scores['rmst'] for row in alone.cells]
    assert [(e.value, e.lower, e.upper) for e in own] == [
        (e.value, e.lower, e.upper) for e in of_act
    ]


def test_every_number_leads_to_its_episodes():
    study = compare_policies(phail_like(5, 3), FEW)
    for row in (*study.cells, *study.means):
        for score in row.scores.values():
            places = study.sets[score.episodes].places
            assert {study.episodes[place].policy for place in places} == {row.policy}
    for row in study.conditions:
        places = study.sets[row.result.episodes].places
        assert {study.episodes[place].policy for place in places} == {row.policy}
        if row.condition == 'camera':
            assert {study.episodes[p].conditions['camera'] for p in places} == {row.value}


def test_camera_and_tote_are_on_one_side_or_on_opposite_ones():
    study = compare_policies(phail_like(8, 3, ('act', 'groot')), FEW)
    sides = {row.value for row in study.conditions if row.condition == 'camera and tote'}
    assert sides == {'same side', 'opposite sides'}
    assert {row.condition for row in study.conditions} == {'camera', 'tote', 'camera and tote'}


def test_sources_of_labels_are_ranked_side_by_side():
    study = compare_policies(phail_like(12, 4), FEW)
    assert {row.source for row in study.labels} == {'all', 'detected', 'reviewed'}
    ranks = [row.rank for row in study.labels if row.source == 'all']
    assert sorted(ranks) == [1, 2, 3, 4]
    one = [replace(each, label_source=LabelSource.EVENTS) for each in phail_like(4, 2)]
    assert not compare_policies(one, FEW).labels


def test_failures_are_shares_of_operations_and_of_episodes():
    outcomes = [
        episode('1', 'a', [10.0, None], ending=Ending.DROP, interventions=2),
        episode('2', 'a', [10.0, None], ending=Ending.TIMEOUT),
        episode('3', 'a', [10.0, 5.0]),
        episode('4', 'a', [None], ending=Ending.SAFETY_STOP),
    ]
    (row,) = compare_policies(outcomes, FEW).failures
    found = {kind: share.value for kind, share in row.shares.items()}
    assert found['drop'] == pytest.approx(1 / 7)
    assert found['safety_stop'] == found['timeout'] == found['intervention'] == 0.25


@pytest.mark.parametrize('name', ['baseline', 'candidate', 'human'])
def test_a_policy_that_is_not_there_is_refused_by_name(name):
    with pytest.raises(ValueRangeError, match="'nosuch'; the policies are 'a'"):
        compare_policies(of_times('a', [10.0]), ComparisonOptions(**{name: 'nosuch'}))


def test_without_an_episode_of_a_policy_there_is_no_comparison():
    with pytest.raises(ValueRangeError, match='none of a policy'):
        compare_policies(of_times('a', [10.0], is_human=True), FEW)


@pytest.mark.parametrize(
    'values', [{'tau': 0.0}, {'alpha': 0.7}, {'correction': 'x'}, {'may_differ': ('object',)}]
)
def test_options_are_checked(values):
    with pytest.raises(OptionError):
        ComparisonOptions(**values)


def test_an_interval_leaves_out_few_resamples_without_a_value_and_may_be_unbounded():
    values = np.arange(100.0)
    values[:3] = np.nan
    assert interval(values, 0.05) == pytest.approx(np.quantile(values[3:], (0.025, 0.975)))
    assert math.isnan(interval(np.where(values < 20, np.nan, values), 0.05)[0])
    found = estimate(1.0, np.where(values > 50, np.inf, values), 0.05, 0)
    assert found.upper == math.inf and 'not bounded' in found.reason


def test_the_interval_of_a_mean_of_shares_holds_it_and_is_none_of_a_point():
    """Of one object it is Wilson's; of equal ones at one end it is that of their sum."""
    assert macro_interval([7], [10]) == pytest.approx(wilson_interval(7, 10), abs=1e-12)
    lower, upper = macro_interval([10, 10], [10, 10])
    assert lower == pytest.approx(wilson_interval(20, 20)[0]) and upper == 1.0
    random = np.random.default_rng(7)
    cases = [([0.9] * 10, [5] * 10), ([1.0, 0.9, 0.6, 0.3], [10, 4, 10, 20])]
    # One episode of an object: by its own variance, 0, means of 40 objects were held in 46 %.
    cases += [([0.6] * 40, [1] * 40), ([0.95] * 5, [1] * 5), ([0.95] * 10, [1, 9] * 5)]
    cases += [([0.98, 0.3] * 5, [1] * 10)]
    for rates, trials in cases:
        held = []
        for _ in range(400):
            ends = macro_interval(random.binomial(trials, rates).tolist(), trials)
            held.append(ends[0] <= np.mean(rates) <= ends[1])
        assert np.mean(held) > 0.92  # of ten equal objects Zou's and Donner's hold it in 0.86


def test_the_tests_that_decide_are_one_family_also_where_some_are_of_times_and_some_of_successes():
    """Two policies with times, two of which most episodes have none: six tests decide, not more,
    and each is adjusted among all six.
    """
    outcomes = phail_like(10, 4, ('act', 'openpi', 'groot', 'smolvla'), ('spoons', 'towels'))
    outcomes = [
        replace(each, operations=()) if each.policy in ('act', 'groot') and place % 10 < 7 else each
        for place, each in enumerate(outcomes)
    ]
    pairs = compare_policies(outcomes, FEW).pairs
    deciding = [
        pair.times if pair.decided_by == 'macro-averaged KS test' else pair.successes
        for pair in pairs
    ]
    assert len({type(each) for each in deciding}) == 2
    own = [each.p if hasattr(each, 'p') else each.result.p for each in deciding]
    assert [each.p_holm for each in deciding] == pytest.approx(holm(own).tolist())
    assert [each.p_bonferroni for each in deciding] == pytest.approx(bonferroni(own).tolist())


def test_a_policy_that_crosses_the_best_is_not_left_out_of_its_set():
    """KS finds that they differ, but which is better depends on the time."""
    outcomes = [
        *of_times('bold', [5.0], count=20),
        *of_times('bold', [None], count=20, ending=Ending.DROP),
        *of_times('steady', [60.0], count=40),
    ]
    study = compare_policies(outcomes, FEW)
    assert study.pairs[0].judgement.verdict is Verdict.CROSSING
    assert set(study.best) == {'bold', 'steady'}


def test_enough_episodes_of_times_are_enough_for_the_test_of_times():
    """One object, one operation per episode: KS needs more than a test of successes at one time."""
    random = np.random.default_rng(5)
    outcomes = [
        episode(f'{policy} {i}', policy, [float(random.gamma(3.0, 10.0))])
        for policy in ('a', 'b')
        for i in range(70)
    ]
    options = ComparisonOptions(resamples=200, smallest_difference=0.25)
    (pair,) = compare_policies(outcomes, options).pairs
    assert pair.judgement.verdict is Verdict.UNDERPOWERED and 90 < pair.judgement.needed < 110
    assert '70 episodes of each policy on each object' in pair.judgement.reason


def test_tests_of_times_reject_equal_policies_no_more_often_than_the_level():
    """Three episodes on three objects, and ten on ten, where resamples reject 10 % at 0.05."""
    random, options = np.random.default_rng(2), ComparisonOptions(resamples=100)
    for objects, count, studies, most in ((3, 3, 60, 11), (10, 10, 100, 17)):
        found = []
        for number in range(studies):
            outcomes = [
                episode(f'{policy}{n} {i}', policy, [float(random.gamma(3.0, 10.0))], object=f'{n}')
                for policy in ('a', 'b')
                for n in range(objects)
                for i in range(count)
            ]
            first, second = 'a', 'b'
            if number < 5:  # a whole comparison takes a tenth of a second
                (pair,) = compare_policies(outcomes, options).pairs
                first, second = pair.first, pair.second
            cells = cells_of(outcomes)
            p = macro_ks(
                cells[first], cells[second], options.tau, options.resamples, options.seed,
                has_replacement=False,
            ).p  # fmt: skip
            if number < 5:
                assert pair.times.p == p and (pair.more is None or pair.more.p == p)
            found.append(p <= 0.1)
        assert sum(found) <= most  # one run in a hundred has more


def test_the_verdict_on_many_objects_is_by_permutations():
    """As the plan of further rollouts, which is of the same test."""
    outcomes = phail_like(10, 2, ('act', 'openpi'))
    (pair,) = compare_policies(outcomes, FEW).pairs
    a, b = (cells_of(outcomes)[policy] for policy in (pair.first, pair.second))
    found = macro_ks(a, b, FEW.tau, FEW.resamples, FEW.seed, has_replacement=False)
    assert pair.times.p == found.p
    assert episodes_needed(a, b, tau=FEW.tau, resamples=FEW.resamples, seed=FEW.seed).p == found.p


def test_permutations_are_exact():
    """Two episodes against two, apart: 2 of the 6 arrangements are as far apart."""
    a, b = ({'x': (np.array(times), np.ones(2, bool))} for times in ([1.0, 2.0], [3.0, 4.0]))
    found = macro_ks(a, b, 10.0, 20_000, has_replacement=False)
    assert found.p == pytest.approx(1 / 3, abs=0.02) and found.distance == 1.0


def test_curves_are_compared_at_the_times_of_the_operations():
    """Differences of a tenth of a second on a horizon of minutes, which an even grid misses."""
    outcomes = [*of_times('a', [7.1], count=8), *of_times('b', [7.2], count=8)]
    (pair,) = compare_policies(outcomes, FEW).pairs
    assert pair.times.relation is Relation.FIRST_ABOVE and pair.times.clear_first
    (row,) = [row for row in compare_policies(outcomes, FEW).means if row.policy == 'a']
    assert row.curve.times.tolist() == [0.0, 7.1, 7.2, 240.0]
    assert row.curve.cdf.tolist() == [0.0, 1.0, 1.0, 1.0]


def test_what_the_episodes_at_hand_can_find_is_given():
    outcomes = [*of_times('a', [10.0, None]), *of_times('b', [10.0, None])]
    judgement = compare_policies(outcomes, FEW).pairs[0].judgement
    have = len(outcomes) // 2
    assert f'{round(100 * judgement.detectable)} points or more with power 80 %' in judgement.reason
    a, b = cells_of(outcomes).values()
    least = judgement.detectable
    near = [episodes_for_distance(a, b, least + step) for step in (-0.01, 0.0)]
    assert near[0] > have >= near[1]
    timeless = [replace(each, operations=()) for each in outcomes]
    of_pairs = compare_policies(timeless, FEW).pairs[0]
    assert of_pairs.decided_by == 'Boschloo' and 0.3 < of_pairs.judgement.detectable < 1
