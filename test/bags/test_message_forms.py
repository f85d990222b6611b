# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States of controllers in .db3 files that have no definitions, as those of Humble."""

import contextlib
import sqlite3

import numpy as np
import pytest
from controller_bags import CONTROLLER, header, point
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.table import read_stream

POINT = 'trajectory_msgs/JointTrajectoryPoint'
MULTI = 'trajectory_msgs/MultiDOFJointTrajectoryPoint'
# Fields behind the names, by version of control_msgs.
JAZZY = ['reference', 'feedback', 'error', 'output']
HUMBLE = ['reference', 'feedback', 'error', 'output', 'desired', 'actual']
EARLY = ['desired', 'actual', 'error']
VERSIONS = {
    '3.0.0': (EARLY, [], False),
    '4.0.0': (EARLY, EARLY, False),
    '4.8.0': (HUMBLE, HUMBLE, False),
    '5.2.0': (JAZZY, JAZZY, False),
    '5.4.1': (JAZZY, JAZZY, True),
}
NAMES = ['a', 'b', 'c']
TOPIC = '/arm_controller/controller_state'


def state_bag(folder, version, more=''):
    """Ten states of a controller as the version has them, without definitions."""
    points, multi, has_factor = VERSIONS[version]
    fields = ['std_msgs/Header header', 'string[] joint_names']
    fields += [f'{POINT} {name}' for name in points]
    fields += ['string[] multi_dof_joint_names'] * bool(multi)
    fields += [f'{MULTI} multi_dof_{name}' for name in multi]
    fields += ['float64 speed_scaling_factor'] * has_factor + [more] * bool(more)
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg('\n'.join(fields), CONTROLLER))
    duration = store.types['builtin_interfaces/msg/Duration'](0, 0)
    empty = store.types['trajectory_msgs/msg/MultiDOFJointTrajectoryPoint']([], [], [], duration)
    with Writer(folder, version=8, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topic = writer.add_connection(TOPIC, CONTROLLER, typestore=store)
        for step in range(10):
            at = (step + 1) * 10**8
            rows = {name: point(()) for name in points}
            for name, value in zip(points[:2], (0.01 * step, 0.02 * step)):
                rows[name] = point([value] * 3, speeds=[0.5] * 3)
            values = {f'multi_dof_{name}': empty for name in multi}
            values |= {'multi_dof_joint_names': []} if multi else {}
            values |= {'speed_scaling_factor': 1.0} if has_factor else {}
            values |= {more.split()[1]: 0.0} if more else {}
            state = store.types[CONTROLLER](header=header(at), joint_names=NAMES, **rows, **values)
            writer.write(topic, at, store.serialize_cdr(state, CONTROLLER))
    (file,) = folder.glob('*.db3')
    with contextlib.closing(sqlite3.connect(file)) as data, data:
        data.execute('DELETE FROM message_definitions')
    return folder


@pytest.mark.parametrize('version', VERSIONS)
def test_states_without_definitions_are_read_by_the_form_that_they_fit(
    version, tmp_path, monkeypatch
):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')  # where control_msgs may be installed
    bag = Bag(state_bag(tmp_path / 'bag', version))
    for role, factor in (('action', 0.01), ('joint_states', 0.02)):
        stream = read_stream(bag, role, TOPIC)
        assert stream.values['names'].tolist() == [NAMES] * 10
        expected = factor * np.arange(10)[:, None] * np.ones(3)
        np.testing.assert_allclose(stream.values['positions'], expected)
    assert not bag.problems


def test_states_of_no_known_form_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    bag = Bag(state_bag(tmp_path / 'bag', '5.4.1', 'float64 another'))
    (problem,) = bag.problems
    assert problem.startswith(f'{TOPIC} cannot be read: no definition of {CONTROLLER} that its')


def test_another_version_that_is_installed_does_not_hide_the_form(tmp_path, monkeypatch):
    folder = tmp_path / 'share/control_msgs/msg'
    folder.mkdir(parents=True)
    text = f'std_msgs/Header header\nstring[] joint_names\n{POINT} reference\n{POINT} feedback\n'
    (folder / 'JointTrajectoryControllerState.msg').write_text(text)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    bag = Bag(state_bag(tmp_path / 'bag', '4.8.0'))
    assert len(read_stream(bag, 'action', TOPIC)) == 10 and not bag.problems
