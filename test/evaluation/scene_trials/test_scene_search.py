# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The search for scenes that break a policy, on one whose weaknesses are known."""

import sys

import attrs
import numpy as np
import pytest
from planted_weaknesses import OPERATORS, evaluate, result, weaknesses

from frame_ros.core.errors import MissingExtraError, SetupError, ValueRangeError
from frame_ros.core.options import OptionError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.objective import LEAST_FAILURE, TriedScene, scores
from frame_ros.evaluation.scene_trials.search.proposers import CoverageProposer
from frame_ros.evaluation.scene_trials.search.search_options import MODES, SearchOptions
from frame_ros.evaluation.scene_trials.search.study import search
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.operators import chosen_operators
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.search.coverage import operator_coverage
from frame_ros.scenes.search.space import SceneSpace, cell_of, space_of
from frame_ros.scenes.simulation.scene_robot import scene_robot

ROBOT = scene_robot('so101')


def options(mode='guided', budget=24, **others):
    return SearchOptions(**{'mode': mode, 'budget': budget, 'operators': OPERATORS, **others})


def trial(is_done, value=float('nan'), grasp=True, **changed):
    steps = {'paper': {'grasp': grasp, 'lift': is_done, 'success': is_done}}
    fields = {'scene': 's', 'policy': 'p', 'steps': steps, 'metrics': {'ps': value, 'op': 1.0}}
    return TrialResult(**{**fields, **changed})


def tried(*results, cell=(('a', 0), ('b', 0))):
    return TriedScene(None, cell, results)


@pytest.fixture(scope='module')
def guided():
    return search(options(budget=56), evaluate, robot=ROBOT)


@pytest.fixture(scope='module')
def at_random():
    return search(options('random', budget=56), evaluate, robot=ROBOT)


def test_the_guided_mode_finds_twice_as_many_distinct_failures(guided, at_random):
    assert len(guided.tried) == len(at_random.tried) == 56
    assert len(guided.failed_cells) >= 2 * len(at_random.failed_cells) > 0
    for found in (guided, at_random):
        assert {each.cell for each in found.failures} == found.failed_cells
        assert all(any(weaknesses(each.scene).values()) for each in found.failures)


def test_random_scenes_are_those_of_the_generator(at_random):
    drawn = generate('pick_up', ROBOT, 3, 0, OPERATORS).scenes
    assert [each.scene for each in at_random.tried[:3]] == list(drawn)


def test_the_coverage_mode_covers_more_than_chance(at_random):
    found = search(options('coverage'), evaluate, robot=ROBOT)
    first = operator_coverage(
        [each.scene for each in at_random.tried[:24]], space_of(at_random.tried[0].scene)
    )
    assert found.coverage.pair_share > 1.1 * first.pair_share
    assert found.coverage.single_share == 1.0


def test_the_coverage_mode_tries_every_number_of_objects():
    space = SceneSpace(setting(ROBOT, 'pick_up'), chosen_operators(['all']))
    for seed in range(5):
        found = CoverageProposer(space)([], 10, (seed,))
        assert {each['confounder_count']['count'] for each in found} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize('mode', MODES)
def test_a_search_goes_on_where_it_was_interrupted(mode, tmp_path):
    chosen = options(mode)
    calls = []

    def counted(scenes):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(len(scenes))
        return evaluate(scenes)

    with pytest.raises(KeyboardInterrupt):
        search(chosen, counted, tmp_path, robot=ROBOT)
    results = tmp_path / 'results.jsonl'
    lines = results.read_text().splitlines(keepends=True)
    assert len(lines) == 16
    results.write_text(''.join(lines[:11]) + lines[11][:20])  # as a crash leaves it
    run = []

    def again(scenes):
        run.extend(each.name for each in scenes)
        return evaluate(scenes)

    found = search(chosen, again, tmp_path, robot=ROBOT)
    assert run == [f'pick_up_{i}' for i in range(11, 24)]
    at_once = search(chosen, evaluate, robot=ROBOT)
    assert [each.scene for each in found.tried] == [each.scene for each in at_once.tried]
    assert found.rejected == at_once.rejected and found.draws == at_once.draws
    assert found.failed_cells == at_once.failed_cells
    with pytest.raises(SetupError, match='another search: seed is 1, and was 0'):
        search(options(mode, seed=1), evaluate, tmp_path, robot=ROBOT)


def test_results_are_on_the_disk_one_by_one_and_one_search_at_a_time_writes(tmp_path):
    chosen, said = options('random', budget=8), []

    def one_by_one(scenes):
        for number, each in enumerate(evaluate(scenes)):
            if number == 3:
                with pytest.raises(SetupError, match='another campaign writes') as refused:
                    search(chosen, evaluate, tmp_path, robot=ROBOT)
                said.append(refused)
                raise KeyboardInterrupt
            yield each

    with pytest.raises(KeyboardInterrupt):
        search(chosen, one_by_one, tmp_path, robot=ROBOT)
    results = tmp_path / 'results.jsonl'
    assert said and len(results.read_text().splitlines()) == 3
    assert len(search(chosen, evaluate, tmp_path, robot=ROBOT).tried) == 8
    assert len(results.read_text().splitlines()) == 8


def test_a_folder_of_other_scenes_is_refused(tmp_path):
    search(options('random', budget=2), evaluate, tmp_path, robot=ROBOT)
    scenes = tmp_path / 'scenes.json'
    scenes.write_text(scenes.read_text().replace('"policy_seed": ', '"policy_seed": 1'))
    with pytest.raises(SetupError, match='pick_up_0 of the folder differs'):
        search(options('random', budget=2), evaluate, tmp_path, robot=ROBOT)


def test_one_dimension_has_no_pairs_of_cells():
    def done(scenes):
        return [trial(True, scene=each.name) for each in scenes]

    one = search(options('random', budget=2, operators=('light_intensity',)), done, robot=ROBOT)
    assert one.coverage.pairs[1] == 0
    assert 'nan' not in one.text and 'of the cells of each dimension\n' in one.text


def test_trials_that_do_not_count_are_no_failures():
    def diverged(scenes):
        return [result(s, problem='it diverged', steps={}) for s in scenes]

    found = search(options(budget=24), diverged, robot=ROBOT)
    assert (found.invalid, found.failures, found.failed_cells) == (24, (), frozenset())
    assert '0 failures in 0 cells, 24 do not count' in found.text
    assert 'failed of random' not in found.text


def test_the_share_of_failures_is_a_rate_of_random_scenes_only(at_random):
    count, failed = len(at_random.tried), len(at_random.failures)
    lower, upper = wilson_interval(failed, count)
    rate = f'random scenes: {failed / count:.0%} (95 % interval: {lower:.0%} to {upper:.0%})'
    assert rate in at_random.text and 'no failure rate' not in at_random.text
    found = search(options('coverage', budget=4), evaluate, robot=ROBOT)
    assert 'no failure rate of the policy: these scenes were chosen' in found.text


def test_repeats_decide_by_majority():
    def mixed(scenes):
        return [
            result(s, repeat=i, problem='x' if i == 4 else '') for s in scenes for i in range(5)
        ]

    found = search(options('random', budget=8, repeats=5), mixed, robot=ROBOT)
    assert all(len(each.results) == 5 and len(each.valid) == 4 for each in found.tried)
    good, bad = trial(True), trial(False)
    assert tried(good, bad, bad).is_failure() and not tried(good, bad).is_failure()
    with pytest.raises(SetupError, match='no result came'):
        search(options('random', budget=2), lambda scenes: [], robot=ROBOT)


def test_failures_score_above_successes_and_rough_ones_above_smooth():
    found = scores([
        tried(trial(True, 1.0)), tried(trial(True, 3.0)), tried(trial(True)),
        tried(trial(False), cell=(('a', 1),)), tried(trial(False, grasp=False), cell=(('a', 2),)),
        tried(trial(True, problem='it diverged')),
    ], ('ps',))  # fmt: skip
    smooth, rough, unknown, late, early, invalid = found
    assert 0 < smooth < unknown < rough < LEAST_FAILURE < late < early == 1.0
    assert (smooth, rough) == (0.125, 0.375) and np.isnan(invalid)
    # Of obstacle proximity more is better.
    near, far = scores([tried(trial(True, metrics={'op': v})) for v in (0.1, 0.5)], ('op',))
    assert near > far


def test_a_failure_like_those_before_counts_less():
    cells = [(('a', 0), ('b', 1), ('c', i)) for i in (0, 1, 2)] + [(('a', 1), ('b', 0), ('c', 0))]
    found = scores([tried(trial(False, grasp=False), cell=cell) for cell in cells])
    assert found.tolist() == pytest.approx([1.0, 0.75, 0.5 + 0.5 / 3, 1.0])


def test_metrics_without_a_direction_are_refused():
    with pytest.raises(ValueRangeError, match='tcp_speed has no direction'):
        scores([], ('tcp_speed',))
    with pytest.raises(OptionError, match='metrics'):
        options(metrics=('nothing',))


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'optuna', None)
    with pytest.raises(MissingExtraError, match='optuna>=4.0'):
        search(options(), evaluate, robot=ROBOT)


def test_cells_are_those_of_the_values(at_random):
    for each in at_random.tried[:2]:
        assert each.cell == cell_of(each.scene)


def test_a_trial_without_an_end_in_the_last_batch_runs_again_when_the_search_goes_on(tmp_path):
    """Not one of a batch before: the later scenes were chosen by what it gave."""
    chosen, run = options('random', budget=4, batch=2), []

    def slow(scenes):
        run.append([each.name for each in scenes])
        for each in evaluate(scenes):
            yield attrs.evolve(each, problem='it took more than 9 s and was ended', steps={})

    assert search(chosen, slow, tmp_path, robot=ROBOT).invalid == 4 and len(run) == 2
    again = []

    def counted(scenes):
        again.append([each.name for each in scenes])
        return evaluate(scenes)

    found = search(chosen, counted, tmp_path, robot=ROBOT)
    assert again == run[1:] and found.invalid == 2
    assert [bool(each.valid) for each in found.tried] == [False, False, True, True]
