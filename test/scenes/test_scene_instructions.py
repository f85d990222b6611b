# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mutated instructions: the reviewed list, and scenes with them."""

import attrs
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.policies.rephrasing.rephrasings import key_of, problem_of
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.instructions import (
    COUNT,
    MUTATIONS,
    base_of,
    mutated_scenes,
    mutations_of,
)
from frame_ros.scenes.tasks.kinds import TASKS

SCENES = {task: nominal_scene(setting(scene_robot('so101'), task)) for task in TASKS}


@pytest.mark.parametrize('task', TASKS)
def test_each_task_has_ten_different_mutations_of_the_same_things(task):
    texts = MUTATIONS[task]
    assert len(texts) == COUNT == 10
    nouns = ['target', 'receptacle'] if TASKS[task].has_receptacle else ['target']
    for index, text in enumerate(texts):
        assert not problem_of(text, TASKS[task].template, texts[:index]), text
        for noun in ('target', 'receptacle'):
            assert text.count(f'{{{noun}}}') == (noun in nouns), text
    assert len({key_of(text) for text in texts}) == 10
    filled = mutations_of(SCENES[task])
    assert all('red cube' in text and '{' not in text for text in filled)
    assert key_of(SCENES[task].instruction) not in map(key_of, filled)


def test_the_same_scenes_get_other_words_and_keep_all_else():
    scenes = [attrs.evolve(each, name=task) for task, each in SCENES.items()]
    found = mutated_scenes(scenes)
    assert found == mutated_scenes(scenes) and len(found) == 4
    for base, each in zip(scenes, found):
        assert (each.base, each.mutation) == (base.name, 'instruction')
        assert base_of(each.scene.name) == base.name and base_of(base.name) == ''
        assert each.scene.instruction in mutations_of(base)
        back = attrs.evolve(each.scene, name=base.name, instruction=base.instruction)
        assert back == base
    every = mutated_scenes(scenes, count=0)
    assert len({each.scene.name for each in every}) == len(every) == 40
    others = [mutated_scenes(scenes, seed=seed) for seed in range(4)]
    assert any(each != found for each in others)


def test_confirmed_rephrasings_take_the_place_of_the_list():
    scene = SCENES['put_in']
    source = {scene.instruction: ('drop it there', 'in it goes')}
    found = mutated_scenes([scene], source, count=2)
    assert [each.scene.instruction for each in found] == ['drop it there', 'in it goes']
    with pytest.raises(ValueRangeError, match='2 mutations; 3 are expected'):
        mutated_scenes([scene], source, count=3)
    with pytest.raises(ValueRangeError, match='0 mutations; 1 are expected'):
        mutated_scenes([SCENES['pick_up']], source)


def test_an_instruction_of_another_form_is_refused():
    with pytest.raises(ValueRangeError, match="must be as 'pick up {target}'"):
        mutations_of(attrs.evolve(SCENES['pick_up'], instruction='tidy up'))
