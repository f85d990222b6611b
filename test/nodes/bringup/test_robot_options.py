# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run that depend on the robot's profile, or on a URDF that has none."""

import json

import attrs
import pytest
import yaml

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes, demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.cli import main
from frame_ros.core.errors import SetupError
from frame_ros.robots import find_urdf
from frame_ros.robots.franka import TOPICS
from frame_ros.robots.profiles import find_profile


def urdf_of(tmp_path, name):
    """A URDF file of the FR3 with this name in it."""
    path = tmp_path / 'my_fr3.urdf'
    path.write_text(find_urdf('fr3').read_text().replace('name="fr3"', f'name="{name}"'))
    return str(path)


def profile_with(tmp_path, **content):
    """A profile of a robot that the package does not know."""
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump({'urdf': str(find_urdf('so101')), **content}))
    return str(path)


def test_the_demo_refuses_a_urdf_alone(tmp_path):
    with pytest.raises(
        SetupError, match='robot is .*my_fr3.urdf.*or a profile that has a simulation'
    ):
        DemoOptions(robot=urdf_of(tmp_path, 'fr3'))


@pytest.mark.parametrize('name', ['fr3', 'panda', 'so101', 'cell_3_arm'])
def test_a_urdf_alone_has_the_topics_of_the_presets_driver(tmp_path, name):
    settings = ArmOptions(robot=urdf_of(tmp_path, name), topics_of='fr3')
    assert settings.topics == TOPICS
    kinematics = {process.name: process for process in arm_processes(settings)}['kinematics']
    assert kinematics.remappings['joint_states'] == TOPICS.joint_states
    with pytest.raises(SetupError, match="the arm's own estimate is the contact source robot"):
        ArmOptions(robot=settings.robot, topics_of='fr3', contact_sources=('wrench',))


def test_a_profile_keeps_its_own_topics_under_a_preset(tmp_path):
    path = profile_with(tmp_path, topics={'wrench': 'mine/wrench'})
    settings = ArmOptions(robot=path, topics_of='fr3')
    assert (settings.topics.wrench, settings.topics.joint_states) == ('mine/wrench', 'joint_states')
    assert ArmOptions(robot='so101', topics_of='fr3').topics.joint_states == 'joint_states'


@pytest.mark.parametrize(
    ('given', 'node', 'parameter'),
    [
        ({'port': '/dev/arm', 'robot_id': 'arm'}, 'robot_driver', 'robot_type'),
        ({'leader_port': '/dev/arm', 'leader_id': 'arm'}, 'teleoperator', 'teleoperator_type'),
    ],
)
def test_a_port_asks_for_a_robot_of_lerobot(tmp_path, given, node, parameter):
    path = profile_with(tmp_path)
    with pytest.raises(SetupError, match=f'unless params_file has {parameter} of the {node}'):
        ArmOptions(robot=path, **given)
    file = tmp_path / 'params.yaml'
    file.write_text(yaml.safe_dump({node: {'ros__parameters': {parameter: 'koch'}}}))
    settings = ArmOptions(robot=path, params_file=str(file), **given)
    processes = {process.name: process for process in arm_processes(settings)}
    assert processes[node].parameters[parameter] == 'koch'
    kinds = {'follower': 'so101_follower', 'leader': 'so101_leader'}
    ArmOptions(robot=profile_with(tmp_path, lerobot=kinds), **given)


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        (
            {'gaet': {'limits.velocity_scale': 0.3}},
            "mine.yaml: parameters: 'gaet' is no node; did you mean 'gate'",
        ),
        (
            {'gate': {'limits.velocity_scal': 0.3}},
            "parameters: 'limits.velocity_scal' is no parameter",
        ),
        ({'gate': {'limits.velocity_scale': 'slow'}}, 'limits.velocity_scale'),
        ({'gate': {'limits': {'velocity_scale': -1.0}}}, 'limits.velocity_scale'),
    ],
)
def test_parameters_of_a_profile_are_checked(tmp_path, parameters, message):
    settings = ArmOptions(robot=profile_with(tmp_path, parameters=parameters), policy='hold')
    with pytest.raises(SetupError, match=message):
        arm_processes(settings)


def test_parameters_of_a_profile_reach_their_node(tmp_path):
    path = profile_with(tmp_path, parameters={'gate': {'limits': {'velocity_scale': 0.3}}})
    processes = {p.name: p for p in arm_processes(ArmOptions(robot=path, policy='hold'))}
    assert processes['gate'].parameters['limits.velocity_scale'] == 0.3


@pytest.mark.parametrize(
    ('node', 'message'),
    [('gaet', "'gaet' is no node"), ('gate', 'is no parameter')],
)
def test_parameters_of_a_profiles_simulation_are_checked(tmp_path, node, message):
    known = find_profile('so101')
    content = json.loads(json.dumps(attrs.asdict(known)))
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf))}
    content['simulation']['parameters'][node] = {'mising': 1.0}
    settings = DemoOptions(robot=profile_with(tmp_path, **content))
    with pytest.raises(SetupError, match=f'mine.yaml: simulation.parameters: .*{message}'):
        demo_processes(settings)


def test_an_argument_of_the_demo_overrides_a_profile_only_if_it_is_given(tmp_path, capsys):
    known = find_profile('so101')
    content = json.loads(json.dumps(attrs.asdict(known)))
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf))}
    content['simulation']['motors'] = str(known.path(known.simulation.motors))
    content['parameters'] = {'policy': {'execution': 'ensembling'}}
    command = ['demo', '--dry-run', '--robot', profile_with(tmp_path, **content)]
    assert main([*command, '--directory', str(tmp_path)]) == 0
    assert 'execution:="ensembling"' in capsys.readouterr().out
    assert main([*command, '--directory', str(tmp_path), '--execution', 'asynchronous']) == 0
    assert 'execution:="asynchronous"' in capsys.readouterr().out


def test_sensors_in_the_parameters_of_a_profile_are_started_unless_others_are_given(tmp_path):
    own = {'contact': {'sources': ['wrench']}, 'proximity': {'cameras': ['cell']}}
    path = profile_with(tmp_path, parameters=own, motors=str(motors_file(tmp_path)))
    processes = {p.name: p.parameters for p in arm_processes(ArmOptions(robot=path))}
    assert processes['contact']['sources'] == ['wrench']
    assert processes['proximity']['cameras'] == ['cell']
    given = ArmOptions(robot=path, contact_sources=('joint_effort',), proximity_cameras=('front',))
    processes = {p.name: p.parameters for p in arm_processes(given)}
    assert processes['contact']['sources'] == ['joint_effort']
    assert processes['proximity']['cameras'] == ['front']


def test_none_switches_off_what_a_profile_has(tmp_path):
    mount = ['base_link', 0, 0, 1, 0, 0, 0]
    path = profile_with(
        tmp_path,
        topics={'gripper': 'hand', 'wrench': 'force'},
        motors=str(motors_file(tmp_path)),
        cameras={'front': mount},
    )
    cameras = {'robot': path, 'proximity_cameras': ('front',)}
    processes = {p.name: p for p in arm_processes(ArmOptions(**cameras))}
    assert processes['contact'].parameters['sources'] == ['joint_effort']
    assert processes['proximity'].parameters['extrinsics'] == ['front=base_link 0 0 1 0 0 0']
    off = ArmOptions(
        **cameras, motors_file='none', gripper_topic='none', wrench_topic='none',
        extrinsics={'front': []},
    )  # fmt: skip
    processes = {p.name: p for p in arm_processes(off)}
    assert 'contact' not in processes and 'extrinsics' not in processes['proximity'].parameters
    assert 'wrench' not in processes['metrics'].remappings
    assert 'gripper_topic' not in processes['metrics'].parameters
    assert 'wrench' not in processes['episode_recorder'].parameters['topics.expected']


def motors_file(tmp_path):
    """Motors as identified on a real arm."""
    known = find_profile('so101')
    motors = yaml.safe_load(known.path(known.simulation.motors).read_text())
    path = tmp_path / 'motors.yaml'
    path.write_text(yaml.safe_dump({**motors, 'is_simulated': False}))
    return path
