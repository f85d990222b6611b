# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of which only messages of some types are wanted."""

import pytest
from bag_making import STORE, episode_messages, serialised, write_bag
from rosbags.rosbag2 import StoragePlugin, Writer

from frame_ros.bags.reader import Bag
from frame_ros.bags.storage import mcap_reader
from frame_ros.bags.streams.events import EVENT_TYPE, read_events
from frame_ros.core.errors import BagError


def wants(message_type):
    return message_type == EVENT_TYPE


def by_rosbags(path, messages):
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {}
        for topic, received, content in messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, content.__msgtype__, typestore=STORE
                )
            writer.write(connections[topic], received, serialised(content))
    return path


@pytest.fixture(params=['ours', 'one chunk', 'rosbags'])
def bag(request, tmp_path):
    messages = episode_messages(100)
    if request.param == 'rosbags':
        return by_rosbags(tmp_path / 'bag', messages)
    every = 20 if request.param == 'ours' else 10_000
    return write_bag(tmp_path / 'bag', messages, flush_every=every)


def test_wanted_messages_are_all_there(bag):
    whole, some = Bag(bag), Bag(bag, wants)
    events = read_events(whole, '/episode_events')
    assert len(events) == 2 and read_events(some, '/episode_events') == events
    assert some.topics.keys() == whole.topics.keys()
    assert some.metadata == whole.metadata and some.problems == whole.problems
    with pytest.raises(BagError, match='not asked for'):
        some.columns('/ee_pose')


def test_chunks_without_wanted_messages_are_not_unpacked(tmp_path, monkeypatch):
    path = write_bag(tmp_path / 'bag', episode_messages(100), flush_every=20)
    unpacked, original = [], mcap_reader.unpack
    monkeypatch.setattr(mcap_reader, 'unpack', lambda *data: unpacked.append(1) or original(*data))
    Bag(path)
    everything = len(unpacked)
    Bag(path, wants)
    assert everything == 11 and len(unpacked) - everything == 2


def test_a_cut_bag_has_the_wanted_messages_before_the_cut(tmp_path):
    path = write_bag(tmp_path / 'bag', episode_messages(100), flush_every=20)
    (file,) = path.glob('*.mcap')
    content = file.read_bytes()
    for share in (0.3, 0.6, 0.95):
        file.write_bytes(content[: int(share * len(content))])
        some = Bag(path, wants)
        assert some.is_truncated
        assert read_events(some, '/episode_events') == read_events(Bag(path), '/episode_events')
