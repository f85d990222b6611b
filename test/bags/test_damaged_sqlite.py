# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a .db3 file that are damaged one by one."""

import contextlib
import sqlite3

import pytest
from robot_bags import JOINTS, joint_state
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.reader import Bag

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPE = 'sensor_msgs/msg/JointState'


@pytest.mark.parametrize(
    ('change', 'lost'),
    [('', 0), ("timestamp = 'x'", 5), ('data = 1.5', 5), ('topic_id = 99', 5)],
)
def test_rows_that_are_no_messages_are_counted(change, lost, tmp_path):
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topic = writer.add_connection('/joint_states', TYPE, typestore=STORE)
        for step in range(50):
            at = (step + 1) * 10**8
            content = joint_state(at, [0.0] * len(JOINTS))
            writer.write(topic, at, STORE.serialize_cdr(content, TYPE))
    (file,) = (tmp_path / 'bag').glob('*.db3')
    if change:
        with contextlib.closing(sqlite3.connect(file)) as data, data:
            data.execute(f'UPDATE messages SET {change} WHERE id % 10 = 0')
    bag = Bag(tmp_path / 'bag')
    assert len(bag.topics['/joint_states']) == 50 - lost
    said = [f'bag.db3: {lost} messages without a time, bytes or topic left out']
    assert bag.problems == (said if lost else [])


def test_a_topic_in_another_encoding_is_named(tmp_path):
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        for name in ('/joint_states', '/other', '/empty'):
            topic = writer.add_connection(name, TYPE, typestore=STORE)
            if name != '/empty':
                content = joint_state(10**8, [0.0] * len(JOINTS))
                writer.write(topic, 10**8, STORE.serialize_cdr(content, TYPE))
    (file,) = (tmp_path / 'bag').glob('*.db3')
    with contextlib.closing(sqlite3.connect(file)) as data, data:
        names = "('/other', '/empty')"
        data.execute(f"UPDATE topics SET serialization_format = 'cbor' WHERE name IN {names}")
    bag = Bag(tmp_path / 'bag')
    assert list(bag.topics) == ['/joint_states']
    assert bag.problems == ["/other is encoded as 'cbor', not cdr: left out"]
