# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the user's: a file, and arguments of the launch files."""

import json
import subprocess
import sys

import pytest
from patience import PATIENCE

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes, demo_processes
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import from_texts
from frame_ros.core.shared_files import share_directory


def parameters(processes):
    return {process.name: process.parameters for process in processes}


@pytest.fixture()
def write(tmp_path):
    def file(text):
        path = tmp_path / 'mine.yaml'
        path.write_text(text)
        return str(path)

    return file


SECTIONS = """
/**:
  ros__parameters: {tip: hand, rate: 7.0, qos_overrides: {/tf: {publisher: {depth: 3}}}}
gate:
  ros__parameters:
    tip: tcp
    workspace.box: [0, -0.4, 0.0, 0.7, 0.4, 0.8]
/left/kinematics:
  ros__parameters: {side_rate: 20.0}
left:
  contact:
    ros__parameters: {publish_rate: 1e1}
/right/kinematics:
  ros__parameters: {side_rate: 10.0}
/left/rviz:
  ros__parameters: {anything: 1}
"""


def test_a_file_of_parameters_is_above_ours_and_an_argument_above_the_file(write):
    settings = ArmOptions(
        robot='fr3',
        policy='hold',
        namespace='left',
        contact_sources=('robot',),
        params_file=write(SECTIONS),
        gate_parameters={'limits.velocity_scale': 0.3, 'tip': 'flange'},
    )
    found = parameters(arm_processes(settings))
    assert found['gate']['tip'] == 'flange' and found['gate']['limits.velocity_scale'] == 0.3
    assert found['gate']['workspace.box'] == [0.0, -0.4, 0.0, 0.7, 0.4, 0.8]
    assert {type(value) for value in found['gate']['workspace.box']} == {float}
    assert (
        found['markers']['workspace.box'] == found['gate']['workspace.box']
    )  # what is drawn is what holds
    assert found['kinematics']['tip'] == 'hand' and found['kinematics']['side_rate'] == 20.0
    assert found['contact']['publish_rate'] == 10.0
    assert found['markers']['rate'] == 7.0 and 'rate' not in found['kinematics']
    assert found['metrics']['qos_overrides./tf.publisher.depth'] == 3


def test_a_nodes_own_name_takes_precedence_over_a_pattern(write):
    text = 'kinematics: {ros__parameters: {tip: tcp}}\n/**: {ros__parameters: {tip: hand}}\n'
    found = parameters(demo_processes(DemoOptions(robot='fr3', params_file=write(text))))
    assert (found['kinematics']['tip'], found['gate']['tip']) == ('tcp', 'hand')


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('gat: {ros__parameters: {tip: tcp}}', "names the node 'gat'; there are contact, "),
        (
            'gate: {ros__parameters: {tipp: tcp}}',
            "'tipp' is no parameter of the node gate; did you mean 'tip'",
        ),
        (
            '/**: {ros__parameters: {tipp: tcp}}',
            r"/\*\* has a parameter 'tipp'; did you mean 'tip'",
        ),
        ('gate: {tip: tcp}', 'must hold parameters by node'),
        ('[1]', 'must hold parameters by node'),
        ('gate: {', 'cannot be read'),
        ('gate: {ros__parameters: {tip: a, tip: b}}', "'tip' is given twice"),
        ('"/**": {ros__parameters: {rate: 50.0}}', 'rate of the node markers is 50.0; it must be'),
        (
            'gate: {ros__parameters: {limits.step: 0.1, limits: {step: 0.5}}}',
            'limits.step is given twice',
        ),
        (
            'gate: {ros__parameters: {tip: null}}',
            'params_file: tip of the node gate is null; it must be a text',
        ),
        ('gate: {ros__parameters: {tip: }}', 'params_file: tip of the node gate is null'),
        (
            'gate: {ros__parameters: {workspace.box: []}}',
            r'workspace.box of the node gate is \[\]; it must be 6 numbers',
        ),
        (
            'gate: {ros__parameters: {workspace.box: [[0, 1]]}}',
            r'workspace.box of the node gate is \[\[0',
        ),
        (
            'gate: {ros__parameters: {workspace.floor: 2026-01-02}}',
            'floor of the node gate is datetime.date',
        ),
        (
            'gate: {ros__parameters: {realtime_priority: 99999999999999999999}}',
            'realtime_priority of the node gate is 99999999999999999999; it must be 0 to 99',
        ),
        ('"/**": {ros__parameters: {use_sim_time: null}}', 'use_sim_time is null'),
    ],
)
def test_a_file_that_would_not_do_what_it_says_is_refused(write, text, message):
    with pytest.raises(SetupError, match=message):
        arm_processes(ArmOptions(policy='hold', params_file=write(text)))


def test_parameters_are_checked_with_the_robot_that_they_are_for(write):
    file = write('simulator: {ros__parameters: {rates: {franka: 50, truth: 150, joints: 1000}}}')
    fr3 = demo_processes(DemoOptions(robot='fr3', params_file=file))
    assert parameters(fr3)['simulator']['rates.joints'] == 1000.0
    file = write('simulator: {ros__parameters: {rates.franka: 50.0}}')
    with pytest.raises(SetupError, match='simulator: rates.franka is 50.0; .* is not a Franka arm'):
        demo_processes(DemoOptions(params_file=file))


def test_an_argument_that_ros_has_no_type_for_is_refused():
    with pytest.raises(SetupError, match='gate_parameters: tip of the node gate is null'):
        arm_processes(ArmOptions(policy='hold', gate_parameters={'tip': None}))


SHOW = """
import json, sys, rclpy
from frame_ros.bringup.declared_nodes import options_of
from frame_ros.core.options import flatten
from frame_ros.nodes.runtime.parameters import declare_options
rclpy.init(args=sys.argv)
node = rclpy.create_node('contact')
found = flatten(declare_options(node, options_of('contact')))
names = ('expected.finger_links', 'expected.allowed_links', 'expected.max_force', 'robot')
print(json.dumps({name: found[name] for name in names}))
"""


def test_values_arrive_as_they_are_meant(write, ros_domain):
    """At a node of ROS, by the command line with which the supervisor starts it."""
    pytest.importorskip('rclpy')
    expected = '{finger_links: [], max_force: .inf, allowed_links: ["1", "true"]}'
    text = f'contact: {{ros__parameters: {{expected: {expected}, robot: "null"}}}}'
    processes = demo_processes(DemoOptions(params_file=write(text)))
    (contact,) = (process for process in processes if process.name == 'contact')
    command = [sys.executable, '-c', SHOW, *contact.ros_arguments()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert json.loads(shown.stdout) == {
        'expected.finger_links': [],
        'expected.allowed_links': ['1', 'true'],
        'expected.max_force': float('inf'),
        'robot': 'null',
    }


@pytest.mark.parametrize('node', ['metrics', 'policy', 'episode_recorder'])
def test_a_file_of_defaults_changes_nothing_that_a_run_is_refused_for(node):
    file = share_directory() / 'config' / f'{node}.yaml'
    check_run(arm_processes(ArmOptions(policy='hold', params_file=str(file))))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(SetupError, match="params_file 'nowhere.yaml' cannot be read"):
        arm_processes(ArmOptions(params_file='nowhere.yaml'))


def test_mappings_come_from_yaml_or_from_a_file_of_it(write):
    path = write('url: ws://gpu:8000\ndeadline: 1.5\n')
    for text in (path, '{url: ws://gpu:8000, deadline: 1.5}'):
        settings = from_texts(ArmOptions, {'policy': 'remote', 'policy_options': text})
        assert settings.policy_options == {'url': 'ws://gpu:8000', 'deadline': 1.5}
    with pytest.raises(SetupError, match='policy_options must be a YAML mapping'):
        from_texts(ArmOptions, {'policy_options': 'nowhere.yaml'})


def test_what_every_node_logs_is_chosen_in_one_place():
    for process in arm_processes(ArmOptions(policy='hold', log_level='debug', rviz=True)):
        assert process.ros_arguments()[-2:] == ['--log-level', 'debug']
