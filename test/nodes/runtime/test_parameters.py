# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Declaration of parameters: types, descriptions, and those that may be set later."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE

pytest.importorskip('rclpy')

from rclpy.node import Node
from rclpy.parameter import Parameter

from frame_ros.bringup.declared_nodes import (
    from_parameter,
    node_names,
    options_of,
    parameters_of,
)
from frame_ros.bringup.parameter_yaml import parameter_yaml
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.options import (
    Option,
    flat,
    from_values,
    group,
    option,
    options,
    rule,
    walk,
)
from frame_ros.nodes.runtime.parameters import declare_options, descriptor_of

ROOT = Path(__file__).resolve().parent.parent.parent.parent


@pytest.fixture
def node_with(ros_context):
    nodes = []

    def make(**given):
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        nodes.append(Node('probe', parameter_overrides=overrides))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['-p', 'hold:=soon'], "hold is 'soon'; it must be a number"),
        (['-p', 'robot:=[]'], 'robot is []; it must be a text'),
        (['-p', 'use_sim_time:=1'], "'use_sim_time' to '1' of type 'INTEGER'"),
        (['-r', '__ns:=/a b'], '__ns:=/a b'),
        (['-p', 'hold:={'], 'ROS cannot read the command line'),
    ],
)
def test_a_wrong_command_line_is_one_clear_line(ros_domain, arguments, message):
    command = [sys.executable, '-m', 'frame_ros.nodes.metrics', '--ros-args', *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert message in done.stderr.strip().splitlines()[-1]
    assert 'Traceback' not in done.stderr


WITHOUT = """
import runpy, sys
library, module = sys.argv[1:]
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == library:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Missing())
sys.argv = [module]
runpy.run_module(module, run_name='__main__')
"""


@pytest.mark.parametrize(
    ('library', 'node'),
    [('array_api_compat', 'metrics'), ('rosbags', 'episode_recorder'), ('mujoco', 'simulator')],
)
def test_a_node_without_a_library_says_how_to_get_it(ros_domain, tmp_path, library, node):
    done = subprocess.run(
        [sys.executable, '-c', WITHOUT, library, f'frame_ros.nodes.{node}'],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    line = done.stderr.strip().splitlines()[-1]
    assert library.replace('_', '-') in line.replace('_', '-')
    assert '`make setup` in ' in line and 'pip install ' in line
    assert 'Traceback' not in done.stderr


@options
class ProbeLimits:
    """Limits of the probe."""

    share: float = option(1.0, 'share', above=0.0, at_most=1.0, live='downwards')
    threshold: float = option(2.0, 'force', unit='N', above=0.0, live=True)
    scales: tuple[float, ...] = option(
        (0.0, 2.0), '0: any', above=0.0, besides=(0.0,), live='downwards'
    )


@options
class ProbeOptions:
    """A probe."""

    rate: float = option(50.0, 'rate of the state', unit='Hz', at_least=1.0, at_most=200.0)
    count: int = option(0, 'a count; 0: none', at_least=5, besides=(0,))
    mode: str = option('auto', 'a mode', choices=('auto', 'true', 'false'))
    words: tuple[str, ...] = option((), 'some words')
    numbers: tuple[float, ...] = option((0.5,), 'some numbers')
    limits: ProbeLimits = group(ProbeLimits)

    @rule('limits.threshold', 'at most the rate')
    def _is_met(self):
        return self.limits.threshold <= self.rate


def test_options_are_declared_with_descriptions_and_ranges(node_with):
    node = node_with(rate=20, words=['a'], mode=True)
    made = declare_options(node, ProbeOptions)
    assert made == ProbeOptions(rate=20.0, words=('a',), mode='true')
    assert node.get_parameter('limits.share').value == 1.0
    assert node.get_parameter('words').value == ['a']
    rate, count = node.describe_parameter('rate'), node.describe_parameter('count')
    assert (rate.description, rate.additional_constraints) == (
        'rate of the state [Hz]',
        '1 to 200 Hz',
    )
    assert rate.read_only and not node.describe_parameter('limits.threshold').read_only
    found = rate.floating_point_range[0]
    assert (found.from_value, found.to_value) == (1.0, 200.0)
    assert (count.integer_range[0].from_value, count.additional_constraints) == (
        0,
        '0, or at least 5',
    )
    assert node.describe_parameter('mode').additional_constraints == 'auto, true or false'


@pytest.mark.parametrize(
    ('default', 'bounds', 'expected'),
    [
        (0.0, {'at_most': 5.0}, (-math.inf, 5.0)),
        (0.0, {'below': 5.0, 'besides': (9.0,)}, (-math.inf, 9.0)),
        (7, {'at_most': 5, 'besides': (7,)}, (-(2**63), 7)),
        (0, {'above': 0, 'besides': (0,)}, (0, 2**63 - 1)),
    ],
)
def test_a_range_may_have_one_end(default, bounds, expected):
    kind = type(default)
    described = descriptor_of(Option('name', kind, default, 'text', **bounds))
    (found,) = described.floating_point_range if kind is float else described.integer_range
    assert (found.from_value, found.to_value) == expected


def test_an_empty_list_of_texts_is_one_empty_text(node_with):
    node = node_with()
    assert declare_options(node, ProbeOptions).words == ()
    assert node.get_parameter('words').value == ['']
    assert declare_options(node_with(words=['']), ProbeOptions).words == ()


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'rate': 0.5}, 'rate is 0.5; it must be 1 to 200 Hz'),
        ({'limits.share': 2.0}, 'limits.share is 2.0; it must be above 0 and at most 1'),
        ({'limits.treshold': 2.0}, "'limits.treshold' is no parameter; did you mean 'limits.thres"),
        ({'rate': 1.0}, 'limits.threshold is 2.0; it must be at most the rate'),
    ],
)
def test_what_cannot_be_is_refused_at_start(node_with, given, message):
    with pytest.raises(SetupError, match=message):
        declare_options(node_with(**given), ProbeOptions)


@pytest.mark.parametrize(
    ('node', 'given', 'meant'),
    [
        ('gate', {'command_timeout': 1.0}, 'watchdogs.command_timeout'),
        ('proximity', {'obstacles_file': 'cell.yaml'}, 'obstacles.file'),
        ('contact', {'poll_period': 0.01}, 'inputs.poll_period'),
        ('simulator', {'image_rate': 5.0}, 'images.rate'),
        ('episode_recorder', {'exclude': ['/tf']}, 'topics.exclude'),
    ],
)
def test_a_parameter_of_another_node_is_refused_with_the_nearest(node_with, node, given, meant):
    with pytest.raises(SetupError, match=f"is no parameter; did you mean '{meant}'"):
        declare_options(node_with(**given), options_of(node))


def test_a_section_of_several_nodes_may_hold_parameters_of_others(node_with, tmp_path, monkeypatch):
    given = {'watchdogs.command_timeout': 1.0, 'use_sim_time': False}
    file = tmp_path / 'all.yaml'
    monkeypatch.setattr(sys, 'argv', ['node', '--ros-args', '--params-file', str(file)])

    def write(section, **others):
        found = {'watchdogs': {'command_timeout': 1.0}, 'use_sim_time': False, **others}
        file.write_text(yaml.safe_dump({section: {'ros__parameters': found}}))
        return node_with(**given, **others)

    assert declare_options(write('/**'), ProbeOptions) == ProbeOptions()
    with pytest.raises(SetupError, match="'rade' is no parameter; did you mean 'rate'"):
        declare_options(write('/**', rade=5.0), ProbeOptions)
    with pytest.raises(SetupError, match="'watchdogs.command_timeout' is no parameter"):
        declare_options(write('/**/probe'), ProbeOptions)


@pytest.mark.parametrize(
    ('node', 'given', 'message'),
    [
        ('kinematics', {'grasp.effort_off': 0.6}, 'grasp.effort_off is 0.6; it must be at most'),
        ('markers', {'path.jerk_low': 100.0}, 'path.jerk_low is 100.0; it must be below jerk_high'),
        ('session', {'qualities': ()}, r'qualities is \[\]; it must be one number or more'),
        ('simulator', {'seed': -1}, 'seed is -1; it must be at least 0'),
        ('simulator', {'robot': 'panda'}, "the scene has no robot 'panda': there are fr3, "),
        ('simulator', {'cameras': ('top',)}, 'must be some of its cameras: front, wrist'),
        ('simulator', {'interpolation': 2.0}, 'interpolation is 2.0; it must be -1, or 0 to 1 s'),
        (
            'simulator',
            {'rates.joints': 5000.0},
            'rates.joints is 5000.0; it must be 0 .* 500 Hz',
        ),
        ('simulator', {'rates.wrench': 300.0}, '500 Hz divided by a whole number'),
        ('simulator', {'rates.truth': 500.0}, r'must be 0 \(off\) to 100 Hz'),
        ('simulator', {'rates.franka': 50.0}, '0: the robot so101 is not a Franka arm'),
        ('simulator', {'rates.franka': -2.0}, 'rates.franka is -2.0; it must be -1, or at least 0'),
        ('simulator', {'robot': 'fr3', 'rates.franka': 250.0}, 'to 200 Hz'),
        ('simulator', {'images.rate': 101.0}, 'images.rate is 101.0'),
        ('simulator', {'images.wrist_rate': 101.0}, 'images.wrist_rate is 101.0'),
        ('simulator', {'depth.rate': 101.0}, 'depth.rate is 101.0'),
        ('simulator', {'depth.wrist_rate': 101.0}, 'depth.wrist_rate is 101.0'),
        ('simulator', {'images.width': 5000}, 'images.width is 5000; it must be 16 to 1280'),
        ('simulator', {'viewer': 'yes'}, "viewer is 'yes'; it must be auto, true or false"),
        ('simulator', {'noise.seed': -1}, 'noise.seed is -1'),
        ('simulator', {'estimates.cutoff': 0.0}, 'estimates.cutoff is 0.0; it must be above 0 Hz'),
        ('simulator', {'estimates.contact_force': 50.0}, 'must be at least contact_force, 50 N'),
        ('simulator', {'estimates.contact_turn': 50.0}, 'must be at least contact_turn, 50 N m'),
        ('episode_recorder', {'poll_period': 0.0}, 'poll_period is 0.0; it must be above 0'),
        ('episode_recorder', {'announce': -1.0}, 'announce is -1.0; it must be at least 0 s'),
        ('episode_recorder', {'limits.free': -1}, 'limits.free is -1; it must be at least 0 B'),
        ('episode_recorder', {'camera_images': 'gif'}, "is 'gif'; it must be raw or jpeg"),
        ('episode_recorder', {'compression_level': 23}, 'is 23; it must be 0 to 22'),
    ],
)
def test_options_that_cannot_be_are_refused(node, given, message):
    with pytest.raises(FrameRosError, match=message):
        from_values(options_of(node), given)


def test_one_node_decides_what_the_gripper_holds():
    assert [n for n in node_names() if 'grasp.source' in parameters_of(n)] == ['kinematics']


def test_empty_texts_in_a_list_are_left_out(node_with):
    assert from_parameter(['a', '', 'b']) == ['a', 'b']
    assert declare_options(node_with(words=['a', '']), ProbeOptions).words == ('a',)


def test_live_options_are_checked_as_a_whole_and_handed_on(node_with):
    node, changes = node_with(**{'limits.share': 0.9}), []
    declare_options(node, ProbeOptions, changes.append)

    def put(**values):
        given = [Parameter(f'limits.{name}', value=value) for name, value in values.items()]
        result = node.set_parameters_atomically(given)
        return result.successful or result.reason

    assert put(threshold=5.0) is True and changes[-1].limits.threshold == 5.0
    assert put(threshold=60.0) == 'limits.threshold is 60.0; it must be at most the rate'
    assert put(share=0.5) is True and changes[-1].limits == ProbeLimits(0.5, 5.0)
    refused = 'limits.share is 0.95; while the node runs it must be at most 0.9, as it was started'
    assert put(share=0.95) == refused
    assert put(share=0.75) is True and put(share=0.9) is True and len(changes) == 4
    assert put(scales=[2.0, 0.5]) is True and put(scales=[1.0]) is True
    refused = 'must be at most [0.0, 2.0], as it was started'
    assert refused in put(scales=[1.0, 3.0]) and refused in put(scales=[0.0])
    assert changes[-1].limits.scales == (1.0,) and len(changes) == 6
    fixed = node.set_parameters([Parameter('rate', value=60.0)])[0]
    assert not fixed.successful and 'read-only' in fixed.reason
    assert put(threshold=5.0) is True and len(changes) == 6  # nothing has changed


def test_a_node_may_refuse_live_options_for_reasons_of_its_own(node_with):
    node, changes = node_with(), []

    def check(options):
        if len(options.limits.scales) != 1:
            raise SetupError('one scale, please')

    declare_options(node, ProbeOptions, changes.append, check)
    (result,) = node.set_parameters([Parameter('limits.scales', value=[0.5, 0.5])])
    assert (result.successful, result.reason) == (False, 'one scale, please') and not changes


@pytest.mark.parametrize('node', node_names())
def test_the_file_of_default_parameters_is_what_the_declaration_writes(node):
    path = ROOT / 'config' / f'{node}.yaml'
    text = path.read_text()
    assert text == parameter_yaml(options_of(node)), 'python -m frame_ros.bringup.parameter_yaml'
    assert '(known: ' not in text, 'the file would change with each name that is known'
    values = flat(yaml.safe_load(text)['/**']['ros__parameters'])
    read = {name: from_parameter(value) for name, value in values.items()}
    assert from_values(options_of(node), read) == options_of(node)()
    assert set(read) == {option.name for option in walk(options_of(node))}


@pytest.mark.parametrize('node', node_names())
def test_every_parameter_is_described(node_with, node):
    probe, declared = node_with(), walk(options_of(node))
    declare_options(probe, options_of(node))
    for each, found in zip(declared, probe.describe_parameters([o.name for o in declared])):
        assert each.text and found.description.startswith(each.text)
        assert found.additional_constraints == each.expected
        assert found.read_only == (each.live == '')
