# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that we write, read by others: rosbags, and the strict reader of the mcap package."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from bag_making import OURS, STANDARD, STORE, T0, episode_messages, message, serialised, write_bag
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from rosbags.highlevel import AnyReader

from frame_ros.episodes.bag_writer import BagWriter, TopicQos
from frame_ros.episodes.definitions import find_definition, typestore_of
from frame_ros.errors import BagError


@pytest.mark.parametrize('message_type', [*OURS, *STANDARD])
def test_definitions_give_the_hash_that_ros_uses(message_type):
    definition = find_definition(message_type)
    store = typestore_of(message_type, definition.text)
    assert definition.type_hash == store.hash_rihs01(message_type)
    assert definition.type_hash.startswith('RIHS01_')


def test_definition_of_an_unknown_type_names_it():
    with pytest.raises(BagError, match='nowhere_msgs/msg/Nothing'):
        find_definition('nowhere_msgs/msg/Nothing')
    with pytest.raises(BagError, match='not the name of a message type'):
        find_definition('nonsense')


def test_definitions_of_another_package_are_found_through_the_prefix_path(tmp_path, monkeypatch):
    folder = tmp_path / 'share' / 'other_msgs' / 'msg'
    folder.mkdir(parents=True)
    (folder / 'Part.msg').write_text('float64 x # m\n')
    (folder / 'Whole.msg').write_text(
        '# comment\nPart[] parts\nstd_msgs/Header header\nint32 A=3\n'
    )
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path), prepend=':')
    definition = find_definition('other_msgs/msg/Whole')
    assert 'MSG: other_msgs/Part\nfloat64 x # m' in definition.text
    assert 'MSG: builtin_interfaces/Time' in definition.text
    assert definition.type_hash.startswith('RIHS01_')


@pytest.mark.parametrize('message_type', [*OURS, *STANDARD])
def test_messages_come_back_through_rosbags(tmp_path, message_type):
    rng = np.random.default_rng(1)
    sent = [message(message_type, rng) for _ in range(5)]
    bag = write_bag(tmp_path / 'bag', [('/topic', T0 + i, m) for i, m in enumerate(sent)])
    with AnyReader([bag]) as reader:
        got = [(stamp, bytes(data)) for _, stamp, data in reader.messages()]
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
    assert got == [(T0 + i, serialised(m)) for i, m in enumerate(sent)]


def test_the_file_is_strictly_valid_mcap_of_the_ros2_profile(tmp_path):
    bag = write_bag(tmp_path / 'bag', episode_messages(), {'policy': 'p'})
    with open(bag / 'bag_0.mcap', 'rb') as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert reader.get_header().profile == 'ros2'
        assert sum(1 for _ in reader.iter_messages()) == 102 == summary.statistics.message_count
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 2
        for channel in summary.channels.values():
            assert channel.message_encoding == 'cdr'
            assert set(channel.metadata) == {'offered_qos_profiles', 'topic_type_hash'}
            assert (
                yaml.safe_load(channel.metadata['offered_qos_profiles'])[0]['history']
                == 'keep_last'
            )
        assert {s.encoding for s in summary.schemas.values()} == {'ros2msg'}
        records = {record.name: record.metadata for record in reader.iter_metadata()}
    assert records['frame_ros']['policy'] == 'p'
    assert yaml.safe_load(records['rosbag2']['serialized_metadata'])['version'] == 9
    with open(bag / 'bag_0.mcap', 'rb') as file:
        list(StreamReader(file, validate_crcs=True).records)


def test_metadata_yaml_says_what_is_in_the_bag(tmp_path):
    writer = BagWriter(tmp_path / 'bag', {'instruction': 'pick: "it"\nup', 'seed': 3})
    qos = TopicQos(reliability='best_effort', durability='transient_local', depth=7)
    channel = writer.add_topic('/text', 'std_msgs/msg/String', qos=[qos])
    for i in range(3):
        writer.write(channel, T0 + i * 1000, serialised(message('std_msgs/msg/String', data='x')))
    bag = writer.finish({'outcome': 'SUCCESS'})
    information = yaml.safe_load((bag / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert information['message_count'] == 3
    assert information['starting_time'] == {'nanoseconds_since_epoch': T0}
    assert information['duration'] == {'nanoseconds': 2000}
    assert information['relative_file_paths'] == ['bag_0.mcap']
    assert information['custom_data'] == {
        'instruction': 'pick: "it"\nup', 'seed': '3', 'outcome': 'SUCCESS',
    }  # fmt: skip
    (topic,) = information['topics_with_message_count']
    assert topic['topic_metadata']['offered_qos_profiles'][0]['reliability'] == 'best_effort'
    with AnyReader([bag]) as reader:
        (connection,) = reader.connections
        assert connection.ext.offered_qos_profiles[0].depth == 7
        assert connection.digest == find_definition('std_msgs/msg/String').type_hash


def test_until_it_is_finished_a_bag_is_partial_and_has_its_metadata(tmp_path):
    writer = BagWriter(tmp_path / 'bag', {'policy': 'p'})
    partial = tmp_path / 'bag.partial'
    assert not (tmp_path / 'bag').exists()
    assert json.loads((partial / 'episode.json').read_text())['state'] == 'recording'
    assert b'policy' in (partial / 'bag_0.mcap').read_bytes()
    assert writer.finish({'outcome': 'x'}, dropped={'/a': 2}) == tmp_path / 'bag'
    assert not partial.exists()
    sidecar = json.loads((tmp_path / 'bag' / 'episode.json').read_text())
    assert sidecar['state'] == 'finished' and sidecar['dropped'] == {'/a': 2}
    assert sidecar['metadata'] == {'policy': 'p', 'outcome': 'x'}


def test_nothing_is_overwritten(tmp_path):
    write_bag(tmp_path / 'bag', episode_messages(2))
    with pytest.raises(BagError, match='nothing is overwritten'):
        BagWriter(tmp_path / 'bag')


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(BagError, match='cannot make the bag'):
        BagWriter(tmp_path / 'file' / 'bag')


def test_a_due_chunk_is_handed_over_without_a_new_message(tmp_path):
    writer = BagWriter(tmp_path / 'bag', flush_period=0.0)
    channel = writer.add_topic('/text', 'std_msgs/msg/String')
    path = Path(writer.partial / 'bag_0.mcap')
    before = path.stat().st_size
    writer.write(channel, T0, serialised(message('std_msgs/msg/String', data='hello')))
    assert path.stat().st_size == before
    writer.flush_if_due()
    assert b'hello' in path.read_bytes()
    writer.finish()


def test_store_serialises_as_the_reader_expects():
    content = message('std_msgs/msg/String', data='x')
    assert STORE.deserialize_cdr(serialised(content), 'std_msgs/msg/String').data == 'x'
