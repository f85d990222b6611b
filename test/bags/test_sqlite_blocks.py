# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of sqlite3 bags, which are read a few MB at a time."""

import sqlite3
import tracemalloc

import numpy as np
from bag_making import T0
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.reader import Bag
from frame_ros.bags.storage import other_storage

KIND = 'std_msgs/msg/String'
TOPICS = ('/one', '/two')


def texts_bag(folder, count, size):
    """Texts of two topics in turn, each of a size of its own; returns topic -> texts."""
    store = get_typestore(Stores.ROS2_JAZZY)
    sent = {topic: [] for topic in TOPICS}
    with Writer(folder, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connections = [writer.add_connection(topic, KIND, typestore=store) for topic in TOPICS]
        for number in range(count):
            for place, topic in enumerate(TOPICS):
                text = f'{number} {topic} ' + 'x' * (size + number * place)
                data = store.serialize_cdr(store.types[KIND](data=text), KIND)
                writer.write(connections[place], T0 + number, data)
                sent[topic].append(text)
    return sent


def test_messages_in_many_blocks_are_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr(other_storage, 'BLOCK', 300)
    sent = texts_bag(tmp_path / 'bag', count=40, size=50)
    bag = Bag(tmp_path / 'bag')
    found = {topic: [each.data for _, each in bag.messages(topic)] for topic in TOPICS}
    assert found == sent
    for topic in TOPICS:
        (table,) = bag.topics[topic].tables
        assert len(np.unique(table.segments)) >= 10
        stamps, _ = bag.columns(topic)
        assert stamps.tolist() == [T0 + number for number in range(40)]
        heads = table.rows(np.arange(40), 8)
        assert [bytes(head) for head in heads] == [bytes(table.data(i)[:8]) for i in range(40)]


def test_a_bag_that_is_read_message_by_message_is_not_held_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(other_storage, 'BLOCK', 1 << 17, raising=False)
    monkeypatch.setattr(other_storage, 'MOST_BLOCKS', 4, raising=False)
    texts_bag(tmp_path / 'warm', count=1, size=1)
    Bag(tmp_path / 'warm')  # what is made once
    texts_bag(tmp_path / 'bag', count=200, size=1 << 15)  # 13 MB
    tracemalloc.start()
    try:
        bag = Bag(tmp_path / 'bag')
        opened, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        count = sum(len(data) > 1 << 15 for topic in TOPICS for _, data in bag.raw(topic))
        _, read = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 400 and max(opened, read) < 2 << 20


def test_messages_that_have_gone_meanwhile_leave_the_others_in_their_place(tmp_path):
    sent = texts_bag(tmp_path / 'bag', count=5, size=10)
    bag = Bag(tmp_path / 'bag')
    bag.topics['/one'].tables[0].buffers.cache_clear()
    (file,) = (tmp_path / 'bag').glob('*.db3')
    with sqlite3.connect(file) as database:
        database.execute('DELETE FROM messages WHERE rowid = 3')  # the second of /one
    found = [each.data for _, each in bag.messages('/one')]
    assert found == [sent['/one'][0], *sent['/one'][2:]]
    assert any('unreadable' in text for text in bag.problems)
