# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The launch files, read by ROS 2's own launch: they start what the table says."""

import itertools
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

pytest.importorskip('launch_ros')

from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from launch_ros.utilities import evaluate_parameters

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import (
    Process,
    arm_environment,
    arm_processes,
    demo_environment,
    demo_processes,
    find_executable,
)
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import ros_environment
from frame_ros.cli.ros2.launching import process_actions
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.options import walk
from frame_ros.robots import find_urdf
from frame_ros.robots.profiles import find_profile
from launch import LaunchContext, LaunchDescription, LaunchService

LAUNCH = Path(__file__).resolve().parent.parent.parent / 'launch'
TABLES = {
    'demo': (demo_processes, DemoOptions),
    'arm': (arm_processes, ArmOptions),
}


def read(name, *, typed=(), **arguments):
    """The launch file's arguments, and its nodes after these arguments were given.

    typed: what `ros2 launch` got on its command line.
    """
    description = get_launch_description_from_python_launch_file(str(LAUNCH / f'{name}.launch.py'))
    context = LaunchContext(argv=[f'{each}:=1' for each in typed])
    context.launch_configurations.update(arguments)
    declared, actions, waiting = [], [], [*description.entities]
    while waiting:
        entity = waiting.pop(0)
        if isinstance(entity, LaunchDescription):
            waiting = [*entity.entities, *waiting]
        elif isinstance(entity, OpaqueFunction):
            actions += entity.execute(context) or []
        else:
            declared += [entity] if isinstance(entity, DeclareLaunchArgument) else []
            waiting = [*(entity.execute(context) or []), *waiting]
    return declared, actions


@pytest.mark.parametrize('name', TABLES)
def test_every_setting_is_a_documented_argument(name):
    declared, _ = read(name)
    options = walk(TABLES[name][1])
    assert [argument.name for argument in declared] == [option.name for option in options]
    for argument, option in zip(declared, options, strict=True):
        assert argument.description.startswith(option.text)


def robots_of(name, **arguments):
    _, actions = read(name, **arguments)
    nodes = [action for action in actions if isinstance(action, Node)]
    given = [evaluate_parameters(LaunchContext(), node._Node__parameters) for node in nodes]
    return {
        each['robot']
        for each in itertools.chain(*given)
        if isinstance(each, dict) and 'robot' in each
    }


def test_a_preset_is_the_launch_file_of_an_arm_with_its_robot(tmp_path):
    assert robots_of('so101') == {'so101'}
    assert robots_of('franka') == {'fr3'}
    assert robots_of('franka', robot='panda') == {'panda'}
    profile = tmp_path / 'mine.yaml'
    profile.write_text(f'urdf: {find_urdf("so101")}')
    assert robots_of('arm', robot=str(profile)) == {str(profile)}
    assert robots_of('arm', robot=str(profile), policy='hold') == {str(profile)}


def test_the_preset_of_franka_listens_to_its_driver_with_a_urdf_of_any_name(tmp_path):
    path = tmp_path / 'my_fr3.urdf'
    path.write_text(find_urdf('fr3').read_text().replace('name="fr3"', 'name="cell_3"'))
    _, actions = read('franka', robot=str(path))
    nodes = [action for action in actions if isinstance(action, Node)]
    (kinematics,) = (node for node in nodes if node.node_executable == 'kinematics')
    remapped = [
        [perform_substitutions(LaunchContext(), each) for each in pair]
        for pair in kinematics._Node__remappings
    ]
    assert ['joint_states', 'franka/joint_states'] in remapped


def test_sensing_is_switched_on_by_arguments():
    _, actions = read(
        'franka',
        contact_sources='robot',
        proximity_cameras='[front]',
        extrinsics='{front: [fr3_link0, 1, 0, 1, 0, 0, 0]}',
    )
    executables = {node.node_executable for node in actions if isinstance(node, Node)}
    assert {'contact', 'proximity'} <= executables


def test_a_monitor_is_started_where_it_is_asked_for():
    given = {'monitor_parameters': '{threshold_from: fixed, thresholds: [0.5], halts_gate: true}'}
    for name in ('demo', 'so101'):
        _, plain = read(name)
        _, asked = read(name, **given, monitor='true')
        started = [
            {node.node_executable for node in actions if isinstance(node, Node)}
            for actions in (plain, asked)
        ]
        assert started[1] - started[0] == {'monitor'}
        with pytest.raises(FrameRosError, match='no threshold: threshold_from horizon'):
            read(name, monitor='true')
        with pytest.raises(FrameRosError, match='it must be none without monitor'):
            read(name, **given)


@pytest.fixture()
def with_rviz(tmp_path, monkeypatch):
    """RViz and robot_state_publisher as far as a launch file looks for them."""
    for name in ('robot_state_publisher', 'rviz2'):
        folder = tmp_path / 'lib' / name
        folder.mkdir(parents=True)
        (folder / name).touch()
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}:{prefixes}')


@pytest.mark.parametrize('rviz', ['true', 'false'])
@pytest.mark.parametrize('name', TABLES)
def test_a_launch_file_starts_the_table(name, rviz, with_rviz):
    table, kind = TABLES[name]
    _, actions = read(name, policy='scripted', namespace='left', rviz=rviz)
    nodes = [action for action in actions if isinstance(action, Node)]
    wanted = table(kind(policy='scripted', namespace='left', rviz=rviz == 'true'))
    assert [(node.node_package, node.node_executable) for node in nodes] == [
        (process.package, process.executable) for process in wanted
    ]
    is_run = any(process.is_essential for process in wanted)
    watched = sum(not process.may_end for process in wanted) if is_run else 0
    watched += sum(process.can_respawn for process in wanted)  # until it is given up
    assert sum(isinstance(action, RegisterEventHandler) for action in actions) == watched


@pytest.mark.parametrize('name', TABLES)
def test_a_launch_file_gives_the_environment_of_the_supervisor(name, monkeypatch):
    for variable in demo_environment({}):
        monkeypatch.delenv(variable, raising=False)
    wanted = (demo_environment if name == 'demo' else arm_environment)({})
    assert name != 'demo' or wanted.items() <= ros_environment({}).items()
    _, actions = read(name)
    context = LaunchContext()
    first = actions[: len(wanted)]  # before the nodes
    assert all(isinstance(action, SetEnvironmentVariable) for action in first)
    for action in first:
        action.execute(context)
    given = {variable: context.environment.get(variable) for variable in demo_environment({})}
    assert given == dict.fromkeys(given) | wanted


def test_a_wrong_argument_is_an_error():
    with pytest.raises(RuntimeError, match='Argument "record" provided value "maybe"'):
        read('demo', record='maybe')
    with pytest.raises(SetupError, match='qualities must be a YAML list'):
        read('demo', qualities='1.0;0.5')
    with pytest.raises(
        SetupError, match="'speed' is no parameter of the node gate; did you mean 'workspace.speed'"
    ):
        read('so101', policy='hold', gate_parameters='{speed: 1}')


@pytest.mark.parametrize('name', TABLES)
def test_the_choices_of_an_argument_are_those_of_its_setting(name):
    declared, _ = read(name)
    choices = {argument.name: argument.choices for argument in declared}
    assert choices['execution'] == ['synchronous', 'asynchronous', 'ensembling']
    assert choices['rviz'] == ['true', 'false', 'True', 'False']
    assert choices['namespace'] is None
    assert choices['log_level'][:2] == ['debug', 'info']


def test_a_file_of_parameters_reaches_its_node(tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text('/**: {ros__parameters: {side_rate: 20.0}}')
    _, actions = read('so101', params_file=str(path), log_level='debug')
    nodes = {node.node_executable: node for node in actions if isinstance(node, Node)}
    context = LaunchContext()
    (given,) = (
        each
        for each in evaluate_parameters(context, nodes['kinematics']._Node__parameters)
        if isinstance(each, dict)
    )
    assert given['side_rate'] == 20.0


def parameters_of(node, actions):
    (found,) = (a for a in actions if isinstance(a, Node) and a.node_executable == node)
    given = evaluate_parameters(LaunchContext(), found._Node__parameters)
    return next(each for each in given if isinstance(each, dict))


def test_an_argument_that_is_not_given_leaves_the_profile_its_parameters(tmp_path):
    profile = tmp_path / 'mine.yaml'
    own = {
        'policy': {'execution': 'ensembling'},
        'metrics': {'reference_match': 'arc_length'},
        'episode_recorder': {'camera_images': 'raw'},
    }
    profile.write_text(yaml.safe_dump({'urdf': str(find_urdf('so101')), 'parameters': own}))
    arm = {'robot': str(profile), 'policy': 'hold'}
    _, plain = read('arm', **arm)
    for node, parameters in own.items():
        assert parameters.items() <= parameters_of(node, plain).items()
    _, asked = read('arm', **arm, execution='asynchronous', camera_images='jpeg')
    assert parameters_of('policy', asked)['execution'] == 'asynchronous'
    assert parameters_of('episode_recorder', asked)['camera_images'] == 'jpeg'
    assert parameters_of('metrics', asked)['reference_match'] == 'arc_length'


def test_none_switches_off_what_the_profile_has():
    topic = find_profile('fr3').topics.gripper
    _, actions = read('franka')
    assert parameters_of('kinematics', actions)['gripper_topic'] == topic
    assert topic in parameters_of('episode_recorder', actions)['topics.also']
    _, actions = read('franka', gripper_topic='none')
    assert 'gripper_topic' not in parameters_of('kinematics', actions)
    assert topic not in parameters_of('episode_recorder', actions)['topics.also']


def test_an_argument_that_is_misspelt_is_refused_on_the_command_line_of_ours(monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'frame_ros', 'arm.launch.py'])
    with pytest.raises(SetupError, match="'polcy' is no launch argument; did you mean 'policy'"):
        read('arm', typed=['polcy'], polcy='hold')
    read('so101', typed=['policy', 'launch-prefix'], policy='hold')
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'cell', 'cell.launch.py'])
    read('arm', typed=['robot_ip'], robot_ip='1')  # of a file that includes ours


def test_without_rviz_a_launch_file_starts_nothing(monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    with pytest.raises(SetupError, match='rviz2 of the package rviz2 was not found'):
        read('so101', rviz='true')


def run(processes):
    """Runs these processes under a real launch until it ends; their exit codes by executable."""
    try:
        find_executable('frame_ros', 'session')
    except SetupError as error:
        pytest.skip(str(error))
    ended = {}
    listener = OnProcessExit(
        on_exit=lambda event, _: ended.update({event.process_name.split('-')[0]: event.returncode})
    )
    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [RegisterEventHandler(listener), *process_actions(processes, 'left', os.environ)]
        )
    )
    service.run()
    return ended


def test_a_real_launch_ends_with_its_essential_process(ros_domain):
    """The session finds nobody and ends; the other node would run for ever."""
    # Until a process has imported what it needs, a signal ends it with another code.
    session = {'ready_timeout': 4.0, 'checkpoint': ''}
    processes = [
        Process('kinematics', 'kinematics'),
        Process('session', 'session', session, is_essential=True),
    ]
    assert run(processes) == {'session': 1, 'kinematics': 0}


def test_a_real_launch_ends_when_a_process_fails(ros_domain):
    processes = [
        Process('markers', 'markers', {'rate': 99.0}),
        Process('session', 'session', is_essential=True),
    ]
    assert run(processes) == {'session': 0, 'markers': 1}


def test_a_monitor_that_fails_is_started_again_and_given_up_in_the_end(ros_domain, monkeypatch):
    logged = []
    logger = SimpleNamespace(error=logged.append)
    monkeypatch.setattr('frame_ros.cli.ros2.launching.get_logger', lambda name: logger)
    monkeypatch.setattr('frame_ros.cli.ros2.launching.RESPAWN_DELAY', 0.1)
    monkeypatch.setattr('frame_ros.cli.ros2.launching.RESPAWN_TRIES', 2)
    ends = []
    listener = OnProcessExit(on_exit=lambda event, _: ends.append(event.returncode))
    service = LaunchService(noninteractive=True)
    broken = [Process('markers', 'markers', {'rate': 99.0}, can_respawn=True)]
    actions = [RegisterEventHandler(listener), *process_actions(broken, '', os.environ)]
    service.include_launch_description(LaunchDescription(actions))
    service.run()
    assert ends == [1, 1, 1]
    (last,) = logged
    assert 'markers has ended 3 times and is not started again' in last
