# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of a policy over scenes: their folder, crashes, repeats, and the bits of results."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.cli.scenes.runs import summary
from frame_ros.core.errors import FrameRosError, PolicyError, PolicyFailedError, SetupError
from frame_ros.evaluation.scene_trials.campaign import plan, run_campaign
from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.pool import TrialPool
from frame_ros.evaluation.scene_trials.rates import step_rates
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import (
    WALL_CLOCK_METRICS,
    PlannedTrial,
    policy_seed,
    trial,
)
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference
from frame_ros.policies.scripted.tasks import ScriptedTasks
from frame_ros.scenes.description.files import write_scenes
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.simulation.scene_robot import scene_robot

SHORT = SceneRunOptions(timeout=0.3)
HERE = f'{__file__}:Fragile'
ROOT = Path(__file__).resolve().parents[3]


class ConnectionClosed(Exception):
    """As that of websockets, which is no OSError."""

    __module__ = 'websockets.exceptions'


class Fragile(Policy):
    """Moves by an amount that its seed draws; kills its process in the scene called deadly."""

    name = 'fragile'

    def know(self, scene):
        self.mass = scene.target.mass

    def reset(self, seed=None):
        self.seed, self.way = seed, np.random.default_rng(seed).uniform(0.0, 0.1)

    def infer(self, observation):
        if self.mass == 0.0666:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.mass == 0.0888:
            raise SystemExit(3)
        if self.mass == 0.0777:
            raise RuntimeError('no idea')
        if self.mass == 0.0333 and observation.stamp > 1_100_000_000:
            kinds = {5: ZeroDivisionError, 6: ConnectionError, 7: PolicyError, 8: ConnectionClosed}
            kinds[10] = PolicyFailedError  # as a remote policy says that it failed on its server
            if self.seed in kinds:
                raise kinds[self.seed]('gone')
            raise RuntimeError('CUDA error: device-side assert triggered')  # as torch says it
        chunk = np.tile(observation.joint_positions, (10, 1))
        chunk[:, 0] += self.way
        if self.mass == 0.0555 or (self.mass == 0.0444 and observation.stamp > 1_100_000_000):
            chunk[:] = np.nan
        return Inference(chunk, 1 / 30, observation.joint_names, ('rad',) * 6)


class Absent(Fragile):
    """Its server is not there."""

    def __init__(self):
        raise PolicyError('the connection was refused')


def called(name, mass=0.025, seed=5):
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    target = attrs.evolve(scene.target, mass=mass)
    return attrs.evolve(scene, name=name, objects=(target,), policy_seed=seed)


@pytest.fixture(scope='module')
def scenes():
    return (called('one'), called('two', 0.03))


def in_folder(folder, scenes, **settings):
    policy = TrialPolicyOptions(label='shaky', policy_options={'quality': 0.3})
    settings = {'policy': policy, 'run': SHORT, 'processes': 0} | settings
    return run_campaign(folder, scenes, **settings)


def without_clock(result):
    metrics = {k: v for k, v in result.metrics.items() if k not in WALL_CLOCK_METRICS}
    return attrs.evolve(result, wall_time=0.0, metrics=metrics).line()


def test_a_worker_that_dies_costs_its_trial_and_bits_are_those_of_this_process(tmp_path, scenes):
    deadly = called('deadly', 0.0666)
    policy = TrialPolicyOptions(policy=HERE, label='fragile')
    results = in_folder(tmp_path / 'a', (deadly, *scenes), processes=1, policy=policy)
    assert [each.problem for each in results] == ['its process was ended by SIGKILL', '', '']
    here = [trial(each, Fragile(), SHORT) for each in scenes]
    assert [without_clock(each) for each in results[1:]] == [without_clock(each) for each in here]
    rates = step_rates('pick_up', results)['paper']
    assert rates.invalid == ('its process was ended by SIGKILL',)
    assert [each.episodes for each in rates.steps] == [2, 2, 2]
    lines = (tmp_path / 'a' / 'results.jsonl').read_text().splitlines()
    again = []
    in_folder(
        tmp_path / 'a', (deadly, *scenes), processes=1, policy=policy,
        on_result=lambda result, done, total: again.append((result.scene, done)),
    )  # fmt: skip
    assert again == [('deadly', 3)] and len(read_campaign(tmp_path / 'a').results) == 3
    assert len((tmp_path / 'a' / 'results.jsonl').read_text().splitlines()) == len(lines) + 1


@pytest.mark.parametrize('processes', [0, 1])
def test_a_policy_that_cannot_be_made_is_an_error_and_no_result(scenes, processes):
    policy = TrialPolicyOptions(policy=f'{__file__}:Absent')
    refused = pytest.raises(SetupError, match='the policy cannot be made: .*refused')
    with TrialPool(policy, SHORT, processes) as pool, refused:
        list(pool.run([PlannedTrial(scene=scenes[0])]))


def test_a_script_that_its_processes_run_again_is_refused_without_a_result(tmp_path, scenes):
    page = (ROOT / 'docs' / 'scenes.md').read_text()
    example = page.partition('```python\n')[2].partition('```')[0]
    guarded, guard, call = example.partition("if __name__ == '__main__':")
    assert guard
    script = tmp_path / 'script.py'
    script.write_text(f'{guarded}if True:{call}')
    write_scenes(tmp_path / 'scenes.yaml', scenes)
    ended = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert 'SetupError: a process of trials ended with status 1' in last
    assert "put the call under `if __name__ == '__main__':`" in last
    assert not (tmp_path / 'campaign' / 'results.jsonl').read_text()


def test_a_campaign_resumes_drops_a_half_line_and_adds_repeats(tmp_path, scenes):
    done = in_folder(tmp_path, scenes)
    file = tmp_path / 'results.jsonl'
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 2
    file.write_text(lines[0] + lines[1][:40])
    seen, said = [], []
    again = in_folder(
        tmp_path, scenes, on_result=lambda result, done, total: seen.append((result.scene, done)),
        on_message=said.append,
    )  # fmt: skip
    assert seen == [('two', 2)] and 'half-written' in said[0]
    assert [without_clock(each) for each in again] == [without_clock(each) for each in done]
    more = in_folder(tmp_path, scenes, repeats=2)
    assert [(each.scene, each.repeat) for each in more] == [
        ('one', 0), ('two', 0), ('one', 1), ('two', 1),
    ]  # fmt: skip
    assert more[0].policy_seed == 5 != more[2].policy_seed
    assert more[0].metrics['pl'] != more[2].metrics['pl']
    content = read_campaign(tmp_path)
    assert len(content.results) == 4 and content.scenes == scenes
    assert content.settings['policy'] == 'shaky' and not content.messages


def test_other_settings_or_scenes_in_the_folder_are_refused(tmp_path, scenes):
    in_folder(tmp_path, scenes[:1])
    with pytest.raises(SetupError, match=r'another run: timeout is 0.4, and was 0.3'):
        in_folder(tmp_path, scenes[:1], run=SceneRunOptions(timeout=0.4))
    with pytest.raises(SetupError, match='other scenes'):
        in_folder(tmp_path, scenes)
    with pytest.raises(SetupError, match="another policy: it is 'hold'"):
        in_folder(tmp_path, scenes[:1], policy=TrialPolicyOptions(policy='hold'))
    (tmp_path / 'campaign.json').write_text('{"format": "x"}')
    with pytest.raises(SetupError, match="format is 'x'"):
        in_folder(tmp_path, scenes[:1])
    file = tmp_path / 'fresh' / 'results.jsonl'
    in_folder(tmp_path / 'fresh', scenes[:1])
    file.write_text('{}\n' + file.read_text())
    with pytest.raises(SetupError, match='line 1 is no result'):
        in_folder(tmp_path / 'fresh', scenes[:1])


def test_an_interrupted_campaign_has_what_was_finished(tmp_path, scenes):
    def stop(result, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_folder(tmp_path, scenes, on_result=stop)
    assert len(read_campaign(tmp_path).results) == 1
    assert len(in_folder(tmp_path, scenes)) == 2


def test_an_error_of_the_policy_is_a_problem_with_its_words(scenes):
    result = trial(called('wrong', 0.0777), Fragile(), SHORT)
    assert result.problem == 'the policy failed: RuntimeError: no idea' and not result.is_valid
    assert not result.steps and not result.is_success()


def test_a_policy_that_exits_costs_its_trial_also_in_this_process(tmp_path, scenes):
    policy = TrialPolicyOptions(policy=HERE, label='fragile')
    scenes = (called('exits', 0.0888), scenes[0])
    results = in_folder(tmp_path, scenes, policy=policy)
    assert [each.problem for each in results] == ['the policy failed: SystemExit: 3', '']
    assert len(read_campaign(tmp_path).results) == 2


def test_a_policy_that_breaks_down_has_failed_and_one_that_never_acted_does_not_count():
    broken = trial(called('broken', 0.0444), Fragile(), SceneRunOptions(timeout=2.0))
    assert broken.is_valid and 'broke down after 0.' in broken.note and broken.duration < 1.0
    assert broken.steps['paper'] == {'grasp': False, 'lift': False, 'success': False}
    assert type(broken).from_line(broken.line()).note == broken.note
    never = trial(called('never', 0.0555), Fragile(), SHORT)
    assert not never.is_valid and not never.note and 'the policy failed' in never.problem


def test_an_exception_in_mid_trial_is_a_failure_unless_it_is_of_the_computer_or_the_way():
    run = SceneRunOptions(timeout=2.0)
    crashed, lost, refused, closed, card, remote = (
        trial(called('c', 0.0333, s), Fragile(), run) for s in (5, 6, 7, 8, 9, 10)
    )
    assert crashed.is_valid and not crashed.is_success()
    assert crashed.note.endswith('s: ZeroDivisionError: gone') and 0.2 < crashed.duration < 1.0
    assert lost.problem == 'the policy failed: ConnectionError: gone' and not lost.note
    assert refused.problem == 'the policy failed: gone' and not refused.steps
    assert closed.problem == 'the policy failed: ConnectionClosed: gone' and not closed.note
    assert 'CUDA error' in card.problem and not card.note
    assert remote.is_valid and remote.note.endswith('s: gone') and not remote.is_success()


def test_instructions_are_trials_of_their_own(scenes):
    planned = plan(scenes, 1, {'one': ['lift it', scenes[0].instruction, 'lift it']})
    texts = [(each.scene.name, each.text, each.mutation, each.base) for each in planned]
    standard = scenes[0].instruction
    assert texts == [
        ('one', standard, '', ''), ('one', 'lift it', 'instruction', 'one'),
        ('two', standard, '', ''),
    ]  # fmt: skip
    assert trial(planned[1], ScriptedTasks(), SHORT).instruction == 'lift it'
    with pytest.raises(SetupError, match="'three'"):
        plan(scenes, 1, {'three': ['x']})
    with pytest.raises(FrameRosError, match='repeats is 0'):
        plan(scenes, 0)


def test_a_trial_that_takes_too_long_is_ended(scenes):
    long = SceneRunOptions(timeout=1e4)
    policy = TrialPolicyOptions(policy='hold')
    with TrialPool(policy, long, 1, most_wall_time=0.01) as pool:
        ((_, result),) = pool.run([PlannedTrial(scene=scenes[0])])
    assert 'took more than 0.01 s' in result.problem


def test_seeds_of_repeats_are_fixed_and_differ(scenes):
    seeds = [policy_seed(scenes[0], repeat) for repeat in range(20)]
    assert seeds[0] == 5 and len(set(seeds)) == 20 and min(seeds) >= 0
    assert seeds == [policy_seed(scenes[1], repeat) for repeat in range(20)]


def test_a_result_is_json_with_every_metric(scenes):
    result = trial(scenes[0], ScriptedTasks(), SHORT)
    content = json.loads(result.line())
    assert content['steps']['paper'] == {'grasp': False, 'lift': False, 'success': False}
    assert content['metrics']['pl'] > 0 and content['metrics']['ate'] is None
    assert content['duration'] == pytest.approx(0.3)


def test_the_table_has_rows_of_mutated_trials_and_no_interval_of_repeats(scenes):
    def done(scene, success, **changed):
        steps = dict.fromkeys(('grasp', 'lift', 'success'), success)
        steps = dict.fromkeys(('paper', 'code'), steps)
        return TrialResult(scene=scene, policy='p', steps=steps, times=steps, **changed)

    once = [done('one', True), done('two', True)]
    changed = done('one', False, instruction='x', mutation='instruction', base='one')
    rows = [line.split() for line in summary(scenes, [*once, changed], 1.0).splitlines()]
    paper = [row[1:7] for row in rows if row[2:4] == ['paper', 'success']]
    assert paper == [
        ['-', 'paper', 'success', '2', '2', '1.00'],
        ['instruction', 'paper', 'success', '0', '1', '0.00'],
    ]
    assert '0.34 to 1.00' in summary(scenes, once, 1.0)
    repeated = summary(scenes, [*once, done('one', True, repeat=1)], 1.0)
    assert ' to ' not in repeated and 'no interval where a scene ran' in repeated


@pytest.mark.parametrize(
    ('checkpoint', 'name'),
    [
        ('out/act_cube/checkpoints/010000/pretrained_model', 'lerobot:act_cube/010000'),
        ('out/act_cube/checkpoints/020000/pretrained_model/', 'lerobot:act_cube/020000'),
        ('models/mine/pretrained_model', 'lerobot:mine'), ('models/mine', 'lerobot:mine'),
        ('', 'lerobot'),
    ],
)  # fmt: skip
def test_checkpoints_of_one_run_have_names_of_their_own(checkpoint, name):
    assert TrialPolicyOptions(policy='lerobot', checkpoint=checkpoint).called == name
