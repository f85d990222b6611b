# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MCAP files as other writers make them: names of types, ends of lines."""

import numpy as np
import pytest
from mcap.writer import Writer
from robot_bags import JOINTS, joint_state
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.table import read_stream

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPE = 'sensor_msgs/msg/JointState'


def write(file, name=TYPE, line_end='\n'):
    text, _ = STORE.generate_msgdef(TYPE, ros_version=2)
    with file.open('wb') as stream:
        writer = Writer(stream)
        writer.start('ros2', 'another writer')
        schema = writer.register_schema(name, 'ros2msg', text.replace('\n', line_end).encode())
        channel = writer.register_channel('/joint_states', 'cdr', schema)
        for step in range(10):
            at = (step + 1) * 10**8
            content = joint_state(at, np.full(len(JOINTS), 0.1 * step))
            writer.add_message(channel, at, bytes(STORE.serialize_cdr(content, TYPE)), at)
        writer.finish()
    return file


@pytest.mark.parametrize(
    'given', [{}, {'name': 'sensor_msgs/JointState'}, {'line_end': '\r\n'}], ids=str
)
def test_a_type_without_msg_in_its_name_and_lines_of_windows_are_read(given, tmp_path):
    bag = Bag(write(tmp_path / 'bag.mcap', **given))
    assert bag.topics['/joint_states'].message_type == TYPE and not bag.problems
    stream = read_stream(bag, 'joint_states', '/joint_states')
    np.testing.assert_allclose(stream.values['positions'][:, 0], 0.1 * np.arange(10))
    assert [list(m.name) for _, m in bag.messages('/joint_states')] == [list(JOINTS)] * 10
