# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of campaigns with made outcomes: scenes of the so101's table, no simulation."""

import json
import math

import attrs
import numpy as np

from frame_ros.evaluation.scene_trials.folder import FORMAT
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.files import write_scenes
from frame_ros.scenes.description.scene import Origin
from frame_ros.scenes.generation.generator import scene_from
from frame_ros.scenes.generation.operators import chosen_operators
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.simulation.scene_robot import scene_robot

OPERATORS = (
    'target_type', 'confounder_count', 'confounder_type', 'target_position', 'target_orientation',
    'confounder_position', 'light_intensity', 'camera_position', 'camera_orientation',
)  # fmt: skip


def drawn_scenes(count, seed=0, task='pick_up', operators=OPERATORS):
    """Scenes as the generator draws them, constraints left aside, as these take seconds."""
    place, rng = setting(scene_robot('so101'), task), np.random.default_rng(seed)
    chosen, scenes = chosen_operators(operators), []
    for index in range(count):
        values = {each.name: each.draw(rng, place) for each in chosen}
        origin = Origin(generator='test', seed=seed, index=index, values=values)
        scene = scene_from(place, values)
        scenes.append(attrs.evolve(scene, name=f'{task}_{index}', origin=origin))
    return scenes


def trial(scene, probability, rng, **fields):
    """A trial that succeeds with a probability, its steps before it more often."""
    success = bool(rng.random() < probability)
    grasp = success or bool(rng.random() < 0.6)
    last = scene.task.kind == 'pick_up'
    steps = {'grasp': grasp, 'lift' if last else 'move': success, 'success': success}
    fields = {'policy': 'made', 'instruction': scene.instruction, **fields}
    metrics = {
        'pl': 0.3 + 0.5 * math.dist(scene.target.position, (0.0, 0.0)) + 0.02 * rng.normal(),
        'op': abs(rng.normal(0.05, 0.02)),
    } | fields.pop('metrics', {})
    return TrialResult(
        scene=scene.name, steps={'paper': steps, 'code': steps}, metrics=metrics, duration=10.0,
        wall_time=1.0, **fields,
    )  # fmt: skip


def write_campaign(folder, scenes, trials):
    """Writes the folder of a campaign, and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_scenes(folder / 'scenes.json', scenes)
    (folder / 'campaign.json').write_text(json.dumps({'format': FORMAT, 'policy': 'made'}))
    (folder / 'results.jsonl').write_text(''.join(each.line() + '\n' for each in trials))
    return folder
