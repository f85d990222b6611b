# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How parameters are declared: types, descriptions, and what may be set later."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE

pytest.importorskip('rclpy')

from rclpy.node import Node
from rclpy.parameter import Parameter

from frame_ros.bringup.parameter_comments import meanings
from frame_ros.core.errors import SetupError
from frame_ros.nodes.kinematics.node import KinematicsNode
from frame_ros.nodes.metrics.node import MetricsNode
from frame_ros.nodes.runtime.parameters import declare

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
    ('given', 'default', 'value'),
    [
        (2, 0.5, 2.0),
        (0.25, 0.5, 0.25),
        ([0, 1], [0.5], [0.0, 1.0]),
        ([0.5, 1.0], [0.5], [0.5, 1.0]),
        (3, 1, 3),
        ('b', 'a', 'b'),
        (['b'], ['a', 'a'], ['b']),
        (False, True, False),
    ],
)
def test_a_value_has_the_type_of_the_default(node_with, given, default, value):
    node = node_with(p=given)
    found = declare(node, 'p', default)
    assert found == value and type(found) is type(value)
    stored = node.get_parameter('p').value
    stored = list(stored) if isinstance(value, list) else stored
    assert stored == value
    if isinstance(value, list):
        assert [type(item) for item in stored] == [type(item) for item in value]


def test_without_a_value_it_is_the_default(node_with):
    node = node_with()
    assert declare(node, 'p', 0.5) == 0.5
    assert declare(node, 'q', ['a']) == ['a']


@pytest.mark.parametrize(
    ('given', 'default', 'message'),
    [
        ('fast', 0.5, "p is 'fast'; it must be a number"),
        (True, 0.5, 'p is True; it must be a number'),
        (0.5, 1, 'p is 0.5; it must be a whole number'),
        (1, True, 'p is 1; it must be true or false'),
        (True, 'auto', 'p is True; it must be a text'),
        (0.5, [0.5], 'p is 0.5; it must be a list, each element a number'),
        (['a'], [0.5], r"p is \['a'\]; it must be a list, each element a number"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_name(node_with, given, default, message):
    with pytest.raises(SetupError, match=message):
        declare(node_with(p=given), 'p', default)


def test_a_word_may_be_true_or_false(node_with):
    assert declare(node_with(p=True), 'p', 'auto', is_word=True) == 'true'
    assert declare(node_with(p='auto'), 'p', 'x', is_word=True) == 'auto'


def test_what_is_read_once_cannot_be_set_later(node_with):
    node = node_with(fixed=3)  # also where the value was converted
    declare(node, 'fixed', 0.5)
    declare(node, 'free', 0.5, read_only=False)
    fixed, free = node.set_parameters([Parameter('fixed', value=0.7), Parameter('free', value=0.7)])
    assert not fixed.successful and 'read-only' in fixed.reason
    assert free.successful
    assert (node.get_parameter('fixed').value, node.get_parameter('free').value) == (3.0, 0.7)


@pytest.mark.parametrize('kind', [KinematicsNode, MetricsNode])
def test_a_node_describes_its_parameters_and_fixes_them(ros_context, kind):
    node = kind()
    try:
        texts = meanings(node.get_name())
        for name, meaning in texts.items():
            descriptor = node.describe_parameter(name)
            assert descriptor.description == meaning and descriptor.read_only, name
    finally:
        node.destroy_node()


# All but lists that are no node's parameters.
NODES = sorted(path for path in ROOT.glob('config/*.yaml') if path.stem != 'rephrasings')


@pytest.mark.parametrize('path', NODES, ids=lambda path: path.stem)
def test_every_parameter_says_what_it_means(path):
    declared = yaml.safe_load(path.read_text())['/**']['ros__parameters']
    texts = meanings(path.stem)
    assert set(texts) == set(declared)
    assert not [name for name, text in texts.items() if not text]


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['-p', 'hold:=soon'], "hold is 'soon'; it must be a number"),
        (['-p', 'robot:=[]'], 'robot is empty; it must be a text'),
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
