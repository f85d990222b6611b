# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of scenes with other instructions pair with those of the scenes that they come from."""

from frame_ros.evaluation.scene_trials.campaign import plan
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.instructions import mutated_scenes


def test_a_mutated_scene_says_what_it_was_and_what_was_changed():
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    (other,) = mutated_scenes([scene])
    first, second = plan([scene, other.scene])
    assert (first.base, first.mutation) == ('', '')
    assert (
        (second.base, second.mutation) == (other.base, other.mutation) == ('nominal', 'instruction')
    )
    assert second.text == other.scene.instruction != first.text
