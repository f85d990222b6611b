# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rolling policies out in the simulated scene, without ROS."""

import json
from dataclasses import replace

import attrs
import numpy as np
import pytest
import yaml

pytest.importorskip('mujoco')

from frame_ros.core.errors import PolicyError, RobotError, ValueRangeError
from frame_ros.episodes import EventType, Outcome
from frame_ros.episodes.reference_loading import reference_of
from frame_ros.metrics import (
    action_instability,
    chunk_entropy,
    path_length,
    path_smoothness,
    reversal_share,
    rms_jerk,
    statistical_consistency,
)
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference
from frame_ros.policies.registry import make_policy
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.robots.profiles import find_profile
from frame_ros.scenes import JOINT_NAMES, scene_robot
from frame_ros.scenes.rollout import Rollouts

SEED = 1000


@pytest.fixture(scope='module')
def rollouts():
    return Rollouts()


@pytest.fixture(scope='module')
def episode(rollouts):
    return rollouts.run(ScriptedPickPlace(), SEED)


class Ramp(Policy):
    """Turns the pan joint on at every step of a chunk of 30, of which it wants 7 executed."""

    name, checkpoint, cameras, poses = 'ramp', '', (), ()
    n_action_steps = 7

    def __init__(self, wrong=False):
        self.chunks, self.wrong = [], wrong

    def reset(self, seed=None):
        self.chunks.clear()

    def infer(self, observation):
        chunk = np.tile(observation.joint_positions, (30, 1))
        chunk[:, 0] += 0.01 * np.arange(1, 31)
        if self.wrong:
            chunk[3, 1] = np.nan
        self.chunks.append(chunk)
        return Inference(chunk, 1 / 30, observation.joint_names, ('rad',) * 6)


def test_the_scripted_policy_succeeds_and_the_events_say_so(episode):
    assert episode.summary['outcome'] == Outcome.SUCCESS
    assert [event.type for event in episode.events] == [
        EventType.START,
        EventType.SUCCESS,
        EventType.END,
    ]
    assert episode.summary['steps'] == len(episode.streams['action'])
    assert episode.summary['time_to_success'] == pytest.approx(episode.summary['duration'])
    assert episode.data_quality == {} and episode.problems == []


def test_metrics_are_those_of_the_functions_on_the_recorded_streams(episode):
    positions = episode.streams['pose'].values['position']
    quality = episode.summary['quality']
    assert quality['pl'] == pytest.approx(float(path_length(positions)), rel=1e-9)
    assert quality['ps'] == pytest.approx(float(path_smoothness(positions)), rel=1e-9)
    assert quality['ti'] == pytest.approx(float(rms_jerk(positions, 1 / 30)), rel=1e-6)
    limits = load_robot('so101').joint_limits
    bounds = tuple(np.array(list(limits.values())).T)
    actions = episode.streams['action'].values['positions']
    expected = np.nanmean(action_instability(actions, 3, bounds))
    assert quality['a_ai_mean'] == pytest.approx(expected, rel=1e-9)
    assert episode.summary['safety']['op'] == pytest.approx(
        episode.streams['proximity'].values['distance'].min()
    )


def test_steps_are_evenly_spaced_and_poses_are_those_of_the_joints(episode):
    stamps = episode.streams['pose'].stamps
    assert set(np.diff(stamps)) <= {33333333, 33333334}
    joints = episode.streams['joint_states'].values['positions']
    robot = load_robot('so101')
    arm = [JOINT_NAMES.index(name) for name in robot.joint_names]
    expected = [robot.forward(row)[0] for row in joints[:, arm]]
    np.testing.assert_allclose(episode.streams['pose'].values['position'], expected, atol=1e-12)


def test_the_cube_counts_as_grasped_while_it_is_carried(episode):
    grasped = episode.metrics['quality']['is_grasped']
    heights = episode.streams['object'].values['position'][:, 2]
    assert grasped[heights > 0.05].all()
    assert not grasped[:60].any() and not grasped[-5:].any()
    # It comes nearer to its goal over the episode, so progress is below a half on average.
    assert episode.summary['quality']['ot_mean'] < 0.5


def test_the_same_seed_gives_the_same_bits(rollouts, episode):
    again = rollouts.run(ScriptedPickPlace(), SEED)
    for role in ('pose', 'action', 'object', 'proximity'):
        for name, values in episode.streams[role].values.items():
            np.testing.assert_array_equal(values, again.streams[role].values[name])


def test_errors_are_against_the_reference_given(rollouts, episode):
    reference = reference_of(episode)
    own = rollouts.run(ScriptedPickPlace(), SEED, references=[reference])
    assert own.summary['quality']['ate'] == pytest.approx(0.0, abs=1e-12)
    other = rollouts.run_many(
        ScriptedPickPlace(ScriptedOptions(quality=0.8)), [SEED], {SEED: [reference]}
    )[0]
    assert other.summary['quality']['ate'] > 1e-3
    assert np.isnan(episode.summary['quality']['ate'])


def test_as_many_steps_of_a_chunk_are_executed_as_the_policy_wants():
    policy, seen = Ramp(), []
    short = Rollouts(timeout=0.7)
    episode = short.run(policy, 3, lambda observation, action: seen.append(action))
    assert episode.summary['outcome'] == Outcome.TIMEOUT
    assert len(policy.chunks) == 3 and len(seen) == 21
    np.testing.assert_array_equal(seen, np.concatenate([c[:7] for c in policy.chunks]))
    assert episode.summary['efficiency']['inferences'] == 3
    assert episode.summary['confidence']['chunk_overlap'] > 0


class Wavering(Ramp):
    """Has eight samples with each chunk, of a spread that differs."""

    def __init__(self):
        super().__init__()
        self.samples = []

    def reset(self, seed=None):
        super().reset(seed)
        self.samples.clear()

    def infer(self, observation):
        inference, rng = super().infer(observation), np.random.default_rng(len(self.samples))
        drawn = inference.actions + 0.01 * rng.normal(size=(8, 30, 6))
        self.samples.append(drawn)
        return replace(inference, samples=drawn)


def test_scores_of_chunks_and_samples_are_those_of_the_policy():
    policy, seen = Wavering(), []
    episode = Rollouts(timeout=1.4).run(policy, 3, lambda observation, action: seen.append(action))
    found, count = episode.metrics['confidence'], len(policy.chunks)
    assert count == len(found['stamp']) == 6
    for index in range(1, count):
        (before, now), (older, newer) = (
            each[index - 1 : index + 1] for each in (policy.chunks, policy.samples)
        )
        distance = np.linalg.norm(now[:23] - before[7:], axis=1).mean()
        assert found['chunk_consistency'][index] == pytest.approx(distance, rel=1e-9)
        assert found['stac'][index] == pytest.approx(
            float(statistical_consistency(older, newer, 7))
        )
        entropy = float(chunk_entropy(newer))
        assert found['chunk_entropy'][index] == pytest.approx(entropy, rel=1e-9)
        assert found['sample_spread'][index] == pytest.approx(newer.std(axis=0).mean(axis=1))
        executed = np.array(seen[: 7 * index])
        wanted = reversal_share(executed)[-1]
        assert found['reversals'][index] == pytest.approx(wanted, nan_ok=True)
    assert np.isfinite(found['reversals'][2:]).all() and np.isnan(found['reversals'][1])
    assert np.isnan(found['chunk_consistency'][0]) and np.isnan(found['stac'][0])


def test_a_listener_gets_what_the_policy_could_see():
    seen = []
    Rollouts(timeout=0.2).run(Ramp(), 3, lambda observation, action: seen.append(observation))
    assert [o.executed for o in seen] == pytest.approx([i / 30 for i in range(6)])
    assert set(seen[0].poses) == {'object', 'goal'} and seen[0].instruction


def test_a_chunk_that_is_not_finite_is_an_error():
    with pytest.raises(PolicyError, match='shoulder_lift is nan at step 3'):
        Rollouts(timeout=0.2).run(Ramp(wrong=True), 3)


@pytest.mark.parametrize(('argument', 'value'), [('rate', 5.0), ('rate', 1e3), ('timeout', 0.0)])
def test_settings_out_of_range_are_named(argument, value):
    with pytest.raises(ValueRangeError, match=argument):
        Rollouts(**{argument: value})


class Hold(Policy):
    """Stays where it is."""

    name, checkpoint, cameras, poses = 'hold', '', (), ('object',)

    def reset(self, seed=None):
        pass

    def infer(self, observation):
        chunk = np.tile(observation.joint_positions, (10, 1))
        units = ('rad',) * 7 + ('m',)
        return Inference(chunk, 1 / 50, observation.joint_names, units)


def test_another_robot_is_rolled_out_by_its_name():
    rollouts = Rollouts(rate=50.0, timeout=1.0, robot='fr3')
    episode = rollouts.run(Hold(), 3)
    assert episode.attributes['robot'] == 'fr3'
    joints = episode.streams['joint_states'].values
    fr3 = scene_robot('fr3')
    assert tuple(joints['names'][0]) == fr3.joint_names
    assert joints['efforts'].shape == (50, 8)
    tip, _ = load_robot('fr3', 'tcp').forward(fr3.home[:-1])
    assert episode.streams['pose'].values['position'][-1] == pytest.approx(tip, abs=2e-3)
    assert rollouts.simulation.timestep == pytest.approx(0.001)
    with pytest.raises(RobotError, match='ur5'):
        Rollouts(robot='ur5')


@pytest.mark.parametrize(
    'known', [find_profile('so101'), find_profile('fr3')], ids=lambda p: p.name
)
def test_a_robot_outside_the_package_is_moved_by_its_profile_alone(tmp_path, known):
    *arm, gripper = known.postures['home']

    def renamed(text):
        for joint in arm:
            text = text.replace(f'"{joint}"', f'"my_{joint}"')
        return text

    (tmp_path / 'mine.urdf').write_text(renamed(known.path(known.urdf).read_text()))
    content = {**attrs.asdict(known), 'name': 'mine', 'title': 'Mine', 'urdf': 'mine.urdf'}
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump(json.loads(renamed(json.dumps(content)))))
    rollouts = Rollouts(robot=str(path))
    policy = make_policy('scripted', {'robot': str(path), 'robot_joint_names': ('other',)})
    episode = rollouts.run(policy, SEED)
    assert episode.summary['outcome'] == Outcome.SUCCESS and episode.attributes['robot'] == 'mine'
    (names,) = set(map(tuple, episode.streams['joint_states'].values['names']))
    assert names == (*(f'my_{joint}' for joint in arm), gripper)
