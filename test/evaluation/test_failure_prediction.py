# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Prediction of failures: planted faults, splits without leakage, alarms and their figures."""

import math

import numpy as np
import pytest

from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.failure_prediction.alarms import (
    CHOSEN,
    WITH,
    Case,
    SplitPredictors,
    all_cases,
    is_single,
    lead,
)
from frame_ros.evaluation.failure_prediction.campaigns import OWN, PolicyTrials, episodes_of
from frame_ros.evaluation.failure_prediction.faults import FAULTS, NONE, OF_IMAGES, make_fault
from frame_ros.evaluation.failure_prediction.faulty_rollouts import FaultyRollouts
from frame_ros.evaluation.failure_prediction.figures import (
    Group,
    difference,
    predictor_rows,
    share,
)
from frame_ros.evaluation.failure_prediction.splits import splits
from frame_ros.evaluation.failure_prediction.trial import FUNCTIONS, kept_episode
from frame_ros.evaluation.trials.campaign import Campaign, Outcome
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace

pytest.importorskip('mujoco')
MINE = pytest.approx


@pytest.fixture(scope='module')
def rollouts():
    made = FaultyRollouts(timeout=12.0)
    yield made
    made.close()


def scripted():
    policy = ScriptedPickPlace(ScriptedOptions(quality=1.0))
    policy.n_action_steps = 8
    return policy


def state(simulation):
    """All of the model that a fault may change, and the scene after a reset."""
    model = simulation.model
    simulation.reset(3)
    return np.concatenate([
        model.geom_friction.ravel(), model.geom_priority, model.dof_frictionloss,
        model.cam_pos.ravel(), model.light_diffuse.ravel(), model.vis.headlight.ambient,
        model.vis.headlight.diffuse, simulation.data.mocap_pos.ravel(), simulation.data.qpos,
    ])  # fmt: skip


@pytest.mark.parametrize('kind', [kind for kind in FAULTS if kind != NONE])
def test_a_fault_leaves_nothing_behind(rollouts, kind):
    simulation = rollouts.simulation
    before = state(simulation)
    fault = make_fault(kind, simulation, 3)
    for time in np.arange(0.0, 8.0, 0.5):
        fault.disturb(float(time))
    fault.end()
    np.testing.assert_array_equal(state(simulation), before)


def test_without_a_fault_the_policy_succeeds_and_with_one_it_fails(rollouts):
    policy = scripted()
    assert rollouts.run_faulty(policy, 3, NONE).is_success
    for kind in ('drop', 'wrong object', 'moved goal'):
        assert not rollouts.run_faulty(policy, 3, kind).is_success, kind
    assert rollouts.run_faulty(policy, 3, NONE).is_success


def test_an_episode_is_that_of_its_seed_whatever_ran_before(rollouts):
    policy = scripted()
    first = rollouts.run_faulty(policy, 5, 'stall').streams['pose'].values['position']
    rollouts.run_faulty(policy, 6, 'collision')
    again = rollouts.run_faulty(policy, 5, 'stall').streams['pose'].values['position']
    np.testing.assert_array_equal(first, again)


def test_an_unknown_fault_is_refused(rollouts):
    with pytest.raises(ValueRangeError, match="no fault 'theft'"):
        rollouts.run_faulty(scripted(), 0, 'theft')


def test_a_trial_keeps_the_scores_and_no_truth(tmp_path):
    trials = PolicyTrials(
        'scripted', 'scripted', 1, 1, 0, ('wrong object',), {'samples': 2, 'n_action_steps': 8}
    )
    outcomes = Campaign(FUNCTIONS, tmp_path).run(list(trials.trials()))
    assert [outcome.problem for outcome in outcomes] == ['', '']
    found = episodes_of('scripted', Campaign(FUNCTIONS, tmp_path).kept())
    assert sorted(found.kinds) == ['', 'wrong object']
    episode = found.episodes[0]
    assert {'reversals', 'stagnation', 'chunk_consistency', 'a_pi'} <= set(episode.scores)
    assert (
        np.isfinite(episode.distance).all() and np.isfinite(episode.scores['reversals'][1:]).all()
    )
    with pytest.raises(SetupError, match='remove the folder'):
        kept_episode(Outcome(outcomes[0].trial, {'outcome': True}))


def test_trials_differ_between_kinds_and_a_share_is_a_part_of_all():
    trials = PolicyTrials('a', 'scripted', 20, 10, 5000, ('drop', 'stall'))
    every = [trial.key for trial in trials.trials()]
    assert len(set(every)) == len(every) == 40
    assert {trial.key for trial in trials.trials(0.2)} < set(every)
    assert len(list(trials.trials(0.2))) == 8
    assert set(OF_IMAGES) < set(FAULTS)


def test_splits_share_nothing_and_judge_everything_once():
    outcomes = [True] * 23 + [False] * 11
    found = list(splits(outcomes, 5, 2))
    assert len(found) == 10
    for split in found:
        parts = [*split.fit, *split.calibrate, *split.failures, *split.test]
        assert sorted(parts) == list(range(34))
        assert all(outcomes[n] for n in (*split.fit, *split.calibrate))
        assert not any(outcomes[n] for n in split.failures)
    for repeat in (found[:5], found[5:]):
        assert sorted(n for split in repeat for n in split.test) == list(range(34))


def made_episode(rng, is_success, shift=0.0, number=0):
    count = 20 if is_success else 40
    stac = rng.normal(size=count)
    stac[count // 4 :] += shift
    return ScoreEpisode(
        str(number), is_success, 0.25 * count, 0.25 * np.arange(count),
        {'stac': stac, 'ev_step': rng.normal(size=count)},
        np.full(count, 0.2), np.zeros(count, bool), features=rng.normal(size=(count, 3)),
    )  # fmt: skip


@pytest.fixture(scope='module')
def made():
    rng = np.random.default_rng(0)
    kinds = [''] * 60 + ['shift'] * 36 + ['other'] * 36
    episodes = [
        made_episode(rng, not kind, 8.0 if kind == 'shift' else 0.0, number)
        for number, kind in enumerate(kinds)
    ]
    return episodes, kinds


@pytest.fixture(scope='module')
def cases(made):
    return list(all_cases(*made, 0.1, folds=2, repeats=1))


def test_predictors_alarm_in_failures_and_rarely_in_successes(made, cases):
    episodes, kinds = made
    group = Group('a', episodes, kinds, cases)
    for is_held_out in (False, True):
        rows = predictor_rows([group], is_held_out)[CHOSEN + WITH]
        assert len(rows.false_alarms) == 60 and len(rows.kinds) == 72
        assert rows.false_alarms.mean() < 0.25
        assert rows.measures['detected'][np.array(rows.kinds) == 'shift'].mean() > 0.9
    # The elapsed time knows every failure when successes have ended, half through it.
    elapsed = predictor_rows([group], False)['elapsed']
    assert elapsed.measures['detected'].mean() == 1.0
    assert elapsed.measures['lead'].tolist() == [0.5] * 72


def test_rows_of_all_predictors_are_of_the_same_episodes_in_one_order(made, cases):
    for is_held_out in (False, True):
        rows = list(predictor_rows([Group('a', *made, cases)], is_held_out).values())
        assert all(list(each.kinds) == list(rows[0].kinds) for each in rows)


def test_what_is_judged_changes_no_threshold_and_no_weight(made):
    """The judged episodes and the failures of the kind held out are replaced by nonsense."""
    episodes, kinds = made
    split = next(splits([not kind for kind in kinds], 2, 1))
    rng = np.random.default_rng(9)
    spoilt = list(episodes)
    for number in (n for n in split.failures if kinds[n] == 'shift'):
        spoilt[number] = made_episode(rng, False, -50.0, number)
    judged = {}
    for name, each in (('true', episodes), ('spoilt', spoilt)):
        found = SplitPredictors(each, kinds, 0.1, split).cases()
        judged[name] = [c for c in found if c.without == 'shift']
    assert judged['true'] == judged['spoilt'] and judged['true']
    # Nor do the other judged episodes.
    kept = split.test[0]
    for number in split.test[1:]:
        spoilt[number] = made_episode(rng, not kinds[number], -50.0, number)
    found = SplitPredictors(spoilt, kinds, 0.1, split).cases()
    expected = SplitPredictors(episodes, kinds, 0.1, split).cases()
    assert [c for c in found if c.episode == kept and c.without == 'shift'] == [
        c for c in expected if c.episode == kept and c.without == 'shift'
    ]


def test_figures_by_hand():
    rng = np.random.default_rng(0)
    episodes = [made_episode(rng, True), made_episode(rng, False), made_episode(rng, False)]
    kinds = ['', 'drop', OWN]
    alarms = {'elapsed': (math.inf, 5.0, math.inf), 'stac': (1.0, 2.5, 7.5)}
    cases = [
        Case(name, number, '', alarm)
        for name, row in alarms.items()
        for number, alarm in enumerate(row)
    ]
    rows = predictor_rows([Group('a', episodes, kinds, cases)], False)
    assert rows['elapsed'].false_alarms.tolist() == [0.0]
    assert rows['elapsed'].measures['detected'].tolist() == [1.0, 0.0]
    assert rows['elapsed'].measures['early'].tolist() == [1.0, 0.0]  # a success lasts 5 s
    assert rows['elapsed'].measures['lead'].tolist() == [0.5, 0.0]
    assert rows['stac'].false_alarms.tolist() == [1.0]
    assert rows['stac'].measures['lead'].tolist() == [0.75, 0.25]
    assert lead(episodes[1], math.inf) == 0.0
    assert difference(np.array([1.0, 1.0]), np.array([0.0, 0.5])).value == MINE(0.75)
    assert share(np.ones(10)).lower == MINE(0.722, abs=1e-3)  # Wilson's, not 1
    assert is_single('stac' + WITH) and is_single('stac, unusual') and not is_single(CHOSEN + WITH)
