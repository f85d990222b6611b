# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy and the converter that the node's parameters describe."""

import sys
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from frame_ros.core.errors import FrameRosError, PolicyError, SetupError
from frame_ros.core.name_values import parse_options
from frame_ros.policies.choices import offered_of
from frame_ros.policies.making import make_converter, make_policy_of, make_task
from frame_ros.policies.options import PolicyRunOptions
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import check_acts_without_scene, make_policy
from frame_ros.robots import load_robot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'episodes'))

ROBOT = load_robot('so101')
LIMITS = ROBOT.joint_limits


def test_options_are_json_where_they_can_be():
    texts = ['url=ws://127.0.0.1:8000', 'samples=3', 'is_x=true', 'words=["a", "b"]', 'x=NaN', '']
    assert parse_options('p', texts) == {
        'url': 'ws://127.0.0.1:8000',
        'samples': 3,
        'is_x': True,
        'words': ['a', 'b'],
        'x': 'NaN',
    }
    with pytest.raises(SetupError, match="parameter p holds 'url'"):
        parse_options('p', ['url'])


def test_what_is_offered_says_robot_and_machine():
    settings = PolicyRunOptions(checkpoint='/c', control_rate=20.0, camera_names='a=front')
    offered = offered_of(settings, ROBOT)
    assert offered['robot_joint_names'] == tuple(LIMITS)
    assert offered['gripper_limits'] == {'gripper': LIMITS['gripper']}
    assert (offered['folder'], offered['action_rate'], offered['dt']) == ('/c', 20.0, 0.05)
    assert offered['camera_names'] == {'a': 'front'}
    assert 'folder' not in offered_of(PolicyRunOptions(), ROBOT)
    assert offered_of(PolicyRunOptions(action_rate=10.0), ROBOT)['action_rate'] == 10.0


@pytest.mark.parametrize(
    ('rephrasings', 'message'),
    [
        (('lift it', 'Lift it.'), r"rephrasing 2, 'Lift it\.': it occurs twice"),
        (('lift it', 'Pick it up'), "rephrasing 2, 'Pick it up': it is the instruction itself"),
    ],
)
def test_rephrasings_that_are_none_are_refused(rephrasings, message):
    options = PolicyRunOptions(instruction='pick it up', rephrasings=rephrasings)
    with pytest.raises(SetupError, match=message):
        make_task(options)
    words = ('lift it', 'take it', ' ')
    task = make_task(evolve(options, rephrasings=words))
    assert task.rephrasings.next('pick it up') == (words[:2], '')


def test_a_builder_gets_what_it_takes_and_options_go_before():
    policy = make_policy_of(PolicyRunOptions(policy='scripted', samples=3, quality=0.5), ROBOT)
    assert (policy.samples, policy.quality, policy.dt) == (3, 0.5, 1 / 30)
    settings = PolicyRunOptions(policy='scripted', policy_options=('samples=5', 'horizon=7'))
    policy = make_policy_of(settings, ROBOT)
    assert (policy.samples, policy.horizon) == (5, 7)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'checkpoint': '/c'}, "'hold' does not take the parameter checkpoint; it takes: horizon"),
        ({'units': 'rad'}, 'does not take the parameter units'),
        ({'temperatures': (1.0,)}, 'does not take the parameter temperatures'),
        (
            {'camera_names': 'a=b', 'action_rate': 5.0},
            'action_rate, the parameter camera_names',
        ),
        ({'policy_options': ('wheels=4',)}, "does not take 'wheels'"),
        ({'policy': 'replay'}, 'checkpoint of the policy replay is empty; it must be a bag'),
        ({'policy': 'replay', 'checkpoint': '/nowhere'}, '/nowhere'),
        ({'policy': 'lerobot'}, 'checkpoint of the policy lerobot is empty'),
        ({'policy': '.', 'checkpoint': '/c'}, 'one of them must be empty'),
    ],
)
def test_what_a_policy_does_not_take_is_told(change, message):
    with pytest.raises(FrameRosError, match=message):
        make_policy_of(evolve(PolicyRunOptions(policy='hold'), **change), ROBOT)


@pytest.mark.parametrize('policy', ['scripted_tasks', 'planted_weaknesses'])
def test_a_policy_that_must_know_the_scene_is_refused_where_no_one_says_it(policy):
    with pytest.raises(PolicyError, match='the policy scripted acts'):
        make_policy_of(PolicyRunOptions(policy=policy), ROBOT)
    check_acts_without_scene('scripted')
    assert make_policy(policy).needs_scene


def test_make_policy_insists_on_what_is_required():
    offered = {'dt': 0.5, 'device': 'cuda'}
    assert make_policy('hold', offered, {'dt': 'the rate'})._dt == 0.5
    with pytest.raises(PolicyError, match="'hold' does not take --device; it takes: horizon, dt"):
        make_policy('hold', offered, {'device': '--device'})


def test_a_bag_is_replayed(tmp_path):
    from robot_bags import JOINTS, commands, robot_bag

    path = robot_bag(tmp_path / 'bag', count=30)
    settings = PolicyRunOptions(
        policy='replay',
        checkpoint=str(path),
        policy_options=('start=at_once', 'episode_id=e1'),
    )
    policy = make_policy_of(settings, ROBOT)
    assert (policy.name, policy.checkpoint) == ('replay', str(path))
    observation = Observation(1, 1, JOINTS, np.zeros(6), executed=0.0)
    chunk = policy.infer(observation).actions
    np.testing.assert_allclose(chunk, commands(30)[: len(chunk)], atol=1e-9)
    with pytest.raises(PolicyError, match='does not take the parameter samples'):
        make_policy_of(evolve(settings, samples=4), ROBOT)


def test_the_converter_has_the_options():
    settings = PolicyRunOptions(
        delta_reference='observation', action_options=('position_scale=0.05', 'unreachable=error')
    )
    converter = make_converter(settings, ROBOT)
    assert converter.settings.delta_reference == 'observation'
    assert converter.settings.position_scale == 0.05
    with pytest.raises(SetupError, match="'wings' is no option; there are delta_reference, "):
        make_converter(PolicyRunOptions(action_options=('wings=2',)), ROBOT)
    with pytest.raises(FrameRosError, match='delta_reference'):
        make_converter(PolicyRunOptions(delta_reference='next'), ROBOT)
