# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Smallest breaking changes in the folder of a campaign: resumed, and read by the report."""

import math

import attrs
import pytest

from frame_ros.cli.scenes.breaking import report
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.robustness.breaking_points import breaking_points
from frame_ros.evaluation.scene_trials.robustness.campaign_data import read_campaigns
from frame_ros.evaluation.scene_trials.search.breaking_study import BreakingOptions, break_scenes
from frame_ros.evaluation.scene_trials.search.unfinished import once_more
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.simulation.scene_robot import scene_robot

PICK = setting(scene_robot('so101'), 'pick_up')
LIMIT = 1.3  # of the mass, above which the policy of these tests fails


@pytest.fixture(scope='module')
def scenes():
    fixed = {'mass.target': 1.0, 'light_intensity.factor': 1.0}
    (light,) = generate('pick_up', 'so101', 1, 3, ['mass', 'light_intensity'], None, fixed).scenes
    fixed['mass.target'] = 1.8
    (heavy,) = generate('pick_up', 'so101', 1, 3, ['mass', 'light_intensity'], None, fixed).scenes
    return light, attrs.evolve(heavy, name='heavy')


class Evaluation:
    """Fails where the mass is above LIMIT; counts the scenes that were run."""

    def __init__(self):
        self.rounds = []

    def __call__(self, scenes):
        self.rounds.append([scene.name for scene in scenes])
        for scene in scenes:
            done = scene.origin.values['mass']['target'] <= LIMIT
            steps = {'paper': {'grasp': True, 'lift': done, 'success': done}}
            yield TrialResult(scene=scene.name, policy='p', steps=steps, times={})


def broken(folder, scenes, evaluate, **options):
    chosen = BreakingOptions(**{'steps': 3} | options)
    return break_scenes(scenes, chosen, evaluate, folder, {'policy': 'p'}, lambda _: PICK)


def test_scenes_that_pass_are_changed_and_the_report_reads_the_folder(tmp_path, scenes):
    evaluate = Evaluation()
    light, heavy = broken(tmp_path, scenes, evaluate)
    assert heavy.problem == 'the policy fails in it as it is' and heavy.found == ()
    first, *others = light.found
    exact = math.log(LIMIT) / math.log(2.0)
    assert first.passed < exact <= first.scale <= first.passed + 1 / 8
    assert len(others) == 3 and not any(each.has_failed for each in others)
    # Both ends of both ranges side by side, then the three halvings of the one that fails.
    assert [len(names) for names in evaluate.rounds] == [2, 4, 1, 1, 1]
    (mass,) = (p for p in breaking_points(read_campaigns([tmp_path])) if p.operator == 'mass')
    assert (mass.scenes, mass.broken, mass.smallest) == (1, 1, first.scale)
    text = report([light, heavy])
    assert 'target from 1 to 2, broken by 1.41' in text and '0.375' in text
    assert 'pick_up_0: 3 changes do not break the policy' in text
    assert 'heavy was not changed: the policy fails in it as it is' in text


def test_it_goes_on_where_it_was_interrupted_and_with_more_steps(tmp_path, scenes):
    class Stopped(Evaluation):
        def __call__(self, scenes):
            for number, result in enumerate(super().__call__(scenes)):
                if len(self.rounds) == 2 and number == 2:
                    raise KeyboardInterrupt
                yield result

    with pytest.raises(KeyboardInterrupt):
        broken(tmp_path, scenes, Stopped())
    evaluate = Evaluation()
    again = broken(tmp_path, scenes, evaluate)
    assert [len(names) for names in evaluate.rounds] == [2, 1, 1, 1]
    more = Evaluation()
    finer = broken(tmp_path, scenes, more, steps=5)
    assert [len(names) for names in more.rounds] == [1, 1]
    assert finer[0].found[0].scale - finer[0].found[0].passed == 1 / 32
    assert again[0].found[0].scale - again[0].found[0].passed == 1 / 8
    with pytest.raises(SetupError, match='another breaking: repeats is 2, and was 1'):
        broken(tmp_path, scenes, more, repeats=2)
    moved = attrs.evolve(scenes[0], policy_seed=scenes[0].policy_seed + 1)
    with pytest.raises(SetupError, match='the scene pick_up_0 of the folder differs'):
        broken(tmp_path, [moved], more)


def test_scenes_that_their_values_do_not_make_or_that_break_a_constraint_do_not_run(
    tmp_path, scenes
):
    light = scenes[0]
    target = attrs.evolve(light.target, position=(1.2, 1.2))
    evaluate = Evaluation()
    said, dimmed, off, good = broken(
        tmp_path,
        [
            attrs.evolve(light, name='said', instruction='take it'),
            attrs.evolve(light, name='dimmed', light_factor=0.3),
            attrs.evolve(light, name='off', objects=(target,)),
            attrs.evolve(light, light_factor=light.light_factor * (1 + 1e-12)),
        ],
        evaluate,
    )
    assert said.problem == 'its values make another scene: instruction would differ'
    assert dimmed.problem == 'its values make another scene: light_factor would differ'
    assert off.problem.startswith('it breaks distance: target stands')
    assert not good.problem and good.found and evaluate.rounds[0] == [light.name]


def test_changes_go_towards_a_scene_that_failed(tmp_path, scenes):
    evaluate = Evaluation()
    (light,) = broken(tmp_path, scenes, evaluate, towards='heavy', operators=('mass',))
    (found,) = light.found
    assert found.change.end == {'target': 1.8} and found.scene.origin.values['mass']['target'] > 1.0
    assert evaluate.rounds[0] == ['pick_up_0']
    with pytest.raises(ValueRangeError, match="towards is 'none'; the files have pick_up_0, heavy"):
        broken(tmp_path / 'b', scenes, evaluate, towards='none')
    with pytest.raises(SetupError, match="two scenes are called 'heavy'"):
        broken(tmp_path / 'b', [scenes[1]] * 2, evaluate)
    with pytest.raises(ValueRangeError, match='says no values of operators'):
        broken(tmp_path / 'c', [attrs.evolve(nominal_scene(PICK), origin=None)], Nothing())


class Nothing(Evaluation):
    """Every scene passes, whatever drew it."""

    def __call__(self, scenes):
        done = {'paper': {'success': True}}
        return [TrialResult(scene=scene.name, policy='p', steps=done) for scene in scenes]


def test_a_trial_whose_process_died_runs_once_more_and_one_that_took_too_long_does_not(scenes):
    problems = {
        'pick_up_0': iter(['its process was ended by SIGKILL', '']),
        'heavy': iter(['it took more than 3 s and was ended', 'it ran twice']),
    }

    def evaluate(scenes):
        for scene in scenes:
            yield TrialResult(scene=scene.name, policy='p', problem=next(problems[scene.name]))

    found = {each.scene: each.problem for each in once_more(evaluate)(scenes)}
    assert found == {'heavy': 'it took more than 3 s and was ended', 'pick_up_0': ''}
