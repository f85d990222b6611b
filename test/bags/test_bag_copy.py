# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of recordings: all messages, with their definitions and qualities of service."""

from dataclasses import replace

import pytest
import yaml
from bag_making import T0
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.bag_copy import copy_topics, in_received_order
from frame_ros.bags.definitions import find_definition
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter, TopicQos

STRING = 'std_msgs/msg/String'
LATCHED = TopicQos(reliability='best_effort', durability='transient_local', depth=3)


def copied(path, folder):
    bag = Bag(path)
    with BagWriter(folder) as writer:
        channels = copy_topics(bag, writer)
        for message in in_received_order(bag):
            data = message.data.tobytes()
            writer.write(channels[message.topic], message.received, data, message.published)
    return Bag(folder)


def text(data):
    return bytes(get_typestore(Stores.ROS2_JAZZY).serialize_cdr(string(data), STRING))


def string(data):
    return get_typestore(Stores.ROS2_JAZZY).types[STRING](data=data)


def qos_of(folder):
    content = yaml.safe_load((folder / 'metadata.yaml').read_text())
    rows = content['rosbag2_bagfile_information']['topics_with_message_count']
    found = [row['topic_metadata'] for row in rows]
    return {row['name']: row['offered_qos_profiles'] for row in found}


def test_definitions_and_qualities_of_service_are_those_of_the_recording(tmp_path):
    known = find_definition(STRING)
    other = replace(known, text=f'# of another version\n{known.text}', type_hash='RIHS01_other')
    with BagWriter(tmp_path / 'old') as writer:
        a = writer.add_topic('/a', STRING, known, [LATCHED, TopicQos()])
        b = writer.add_topic('/b', STRING, other)
        writer.add_topic('/never', STRING, other)
        for place in range(5):
            writer.write((a, b)[place % 2], T0 + place, text(str(place)), T0 + place - 7)
    new = copied(tmp_path / 'old', tmp_path / 'new')
    assert [new.topics[name].definition for name in ('/a', '/b')] == [known.text, other.text]
    assert new.topics['/b'].facts['topic_type_hash'] == 'RIHS01_other'
    assert qos_of(tmp_path / 'new') == qos_of(tmp_path / 'old')
    assert list(new.topics['/a'].tables[0].published) == [T0 - 7, T0 - 5, T0 - 3]
    assert len(new.topics['/never']) == 0
    (mcap,) = (tmp_path / 'old').glob('*.mcap')  # alone, without metadata.yaml
    copied(mcap, tmp_path / 'of_file')
    assert qos_of(tmp_path / 'of_file') == qos_of(tmp_path / 'old')


@pytest.mark.parametrize('storage', list(StoragePlugin))
def test_bags_of_another_library(tmp_path, storage):
    store = get_typestore(Stores.ROS2_JAZZY)
    with Writer(tmp_path / 'old', version=9, storage_plugin=storage) as writer:
        connections = [
            writer.add_connection(name, STRING, typestore=store) for name in ('/a', '/b')
        ]
        for place in range(6):
            writer.write(connections[place % 2], T0 + place // 2, text(str(place)))
    copied(tmp_path / 'old', tmp_path / 'new')
    found = []
    for folder in ('old', 'new'):
        with Reader(tmp_path / folder) as reader:
            rows = [(c.topic, at, bytes(data)) for c, at, data in reader.messages()]
            found.append((sorted(rows), [at for _, at, _ in rows], {
                (c.topic, c.msgtype, c.digest) for c in reader.connections
            }))  # fmt: skip
    assert found[0] == found[1]
