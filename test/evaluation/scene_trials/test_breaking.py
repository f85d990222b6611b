# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest perturbation of a passed scene that breaks a policy."""

import math

import attrs
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search import breaking
from frame_ros.evaluation.scene_trials.search.breaking import smallest_breaking
from frame_ros.scenes.generation.constraints import Broken
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.generation.operators import OPERATORS
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.search.perturbations import (
    Perturbation,
    neutral_values,
    perturbed,
    to_ends,
    values_of,
)
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.kinds import TASKS

PICK = setting(scene_robot('so101'), 'pick_up')
FIXED = {'mass.target': 1.0, 'light_intensity.factor': 1.0}


@pytest.fixture(scope='module')
def passed():
    return generate('pick_up', 'so101', 1, 3, ['mass', 'light_intensity'], fixed=FIXED).scenes[0]


def policy(fails, calls=None, repeats=1, **changed):
    """Evaluates scenes: one in which `fails` holds is a failure."""

    def evaluate(scenes):
        found = []
        for scene in scenes:
            if calls is not None:
                calls.append(scene)
            for repeat in range(repeats):
                done = not fails(scene, repeat)
                steps = {'paper': {'grasp': True, 'lift': done, 'success': done}}
                fields = {'scene': scene.name, 'policy': 'p', 'repeat': repeat, 'steps': steps}
                found.append(TrialResult(**{**fields, **changed}))
        return found

    return evaluate


@pytest.mark.parametrize('task', TASKS)
@pytest.mark.parametrize('robot', ['so101', 'fr3'])
def test_neutral_values_change_nothing(robot, task):
    place = setting(scene_robot(robot), task)
    scene, values = nominal_scene(place), neutral_values(place)
    assert set(OPERATORS) - set(values) == {
        *('confounder_type', 'confounder_position', 'confounder_orientation', 'unseen_objects')
    }
    made = scene_from(place, values)
    for ours, theirs in zip(made.cameras, scene.cameras):
        assert ours.orientation == pytest.approx(theirs.orientation)
        assert ours.focal == pytest.approx(theirs.focal)
        assert ours.centre == pytest.approx(theirs.centre)
    for ours, theirs in zip(made.objects, scene.objects):
        assert ours.position == pytest.approx(theirs.position)
        assert attrs.evolve(ours, position=theirs.position) == theirs
    same = attrs.evolve(made, cameras=scene.cameras, objects=scene.objects)
    assert same == scene


def test_the_scale_at_which_it_begins_to_fail_is_found(passed):
    calls = []
    heavy = policy(lambda scene, _: scene.origin.values['mass']['target'] > 1.3, calls)
    found = smallest_breaking(passed, ['mass', 'light_intensity'], PICK, heavy, steps=8)
    first, *others = found
    assert first.change.end == {'target': 2.0} and first.problem == ''
    exact = math.log(1.3) / math.log(2)
    assert first.passed < exact <= first.scale <= first.passed + 2**-8 + 1e-12
    assert first.scene.origin.values['mass']['target'] == pytest.approx(1.3, rel=0.01)
    assert first.trials == 9 and not any(each.has_failed for each in others)
    assert [each.passed for each in others] == [1.0] * 3 and len(calls) == 9 + 3
    assert len({each.name for each in calls}) == len(calls)


def test_the_way_may_go_to_a_scene_that_failed(passed):
    values = {'mass': {'target': 0.6}, 'light_intensity': {'factor': 0.1}}
    origin = attrs.evolve(passed.origin, values=values)
    failed = attrs.evolve(scene_from(PICK, values), origin=origin)
    dark = policy(lambda scene, _: scene.light_factor < 0.3)
    found = smallest_breaking(passed, ['mass', 'light_intensity'], PICK, dark, failed)
    assert [each.change.operator for each in found] == ['light_intensity', 'mass']
    assert found[0].scene.light_factor == pytest.approx(0.3, rel=0.05)
    assert math.isnan(found[1].scale)


def test_an_operator_that_did_not_draw_the_scene_starts_where_it_changes_nothing(passed):
    assert values_of(passed, PICK)['camera_position'] == {'x': 0.0, 'y': 0.0, 'z': 0.0}
    moved = policy(lambda scene, _: scene.cameras[0].position != passed.cameras[0].position)
    found = smallest_breaking(passed, ['camera_position'], PICK, moved, steps=2)
    assert len(found) == 6 and all(each.scale == 0.25 for each in found if not each.problem)
    with pytest.raises(ValueRangeError, match='no values of confounder_position'):
        to_ends(passed, 'confounder_position', PICK)
    with pytest.raises(ValueRangeError, match='no values of operators'):
        to_ends(nominal_scene(PICK), 'mass', PICK)


def test_choices_are_not_halved(passed):
    calls = []
    blue = policy(lambda scene, _: scene.table.texture == 'checker', calls)
    found = smallest_breaking(passed, ['table_texture'], PICK, blue)
    assert [each.change.end['texture'] for each in found if each.has_failed] == ['checker']
    assert found[0].scale == 1.0 and len(calls) == len(found) == 3 + 5


def test_repeats_decide_and_what_does_not_count_is_said(passed):
    rarely = policy(lambda scene, repeat: repeat == 0, repeats=3)
    mostly = policy(lambda scene, repeat: repeat > 0, repeats=3)
    assert not any(each.has_failed for each in smallest_breaking(passed, ['mass'], PICK, rarely))
    assert all(each.has_failed for each in smallest_breaking(passed, ['mass'], PICK, mostly))
    invalid = policy(lambda scene, _: True, problem='it diverged')
    for each in smallest_breaking(passed, ['mass'], PICK, invalid, steps=1):
        assert each.problem == 'it diverged' and not each.has_failed


def test_scenes_that_break_a_constraint_are_not_run(passed, monkeypatch):
    near = {'target.radius': 0.0, 'target.azimuth': 0.0}
    change = Perturbation('target_position', neutral_values(PICK)['target_position'], near)
    with pytest.raises(ValueRangeError, match='target.radius is 0.0'):
        perturbed(passed, change, 0.5, PICK)
    calls = []
    many = policy(lambda scene, _: True, calls)
    monkeypatch.setattr(breaking, 'check_scene', lambda *_: Broken('reach', 'it is too far'))
    found = smallest_breaking(passed, ['mass'], PICK, many, steps=1)
    assert not calls and all(each.problem == 'breaks reach: it is too far' for each in found)
