# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of sqlite3 bags, which are read a few MB at a time."""

import gc
import sqlite3
import tempfile
import tracemalloc

import numpy as np
import pytest
from bag_making import T0
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.reader import Bag
from frame_ros.bags.storage import other_storage
from frame_ros.bags.storage.decompression import zstd

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
    monkeypatch.setattr(other_storage, 'MOST_KEPT', 1 << 19, raising=False)
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


@pytest.mark.parametrize('empty', [(1,), (2,), (1, 2, 3)])
def test_messages_without_bytes_are_left_out(tmp_path, empty):
    """Also the first of the file, and of a topic."""
    sent = texts_bag(tmp_path / 'bag', count=5, size=10)
    (file,) = (tmp_path / 'bag').glob('*.db3')
    with sqlite3.connect(file) as database:
        database.executemany("UPDATE messages SET data = x'' WHERE rowid = ?", zip(empty))
    bag = Bag(tmp_path / 'bag')
    for place, topic in enumerate(TOPICS):
        expected = [
            text for number, text in enumerate(sent[topic]) if 2 * number + place + 1 not in empty
        ]
        assert [each.data for _, each in bag.messages(topic)] == expected
        assert bag.columns(topic)[1]['data'].tolist() == expected
        assert bag.topics[topic].tables[0].segments.min() >= 0
    assert any('unreadable' in text for text in bag.problems)


def test_what_is_kept_of_a_bag_of_many_files_is_bounded(tmp_path, monkeypatch):
    """Also where each message is larger than a block."""
    monkeypatch.setattr(other_storage, 'BLOCK', 1 << 12)
    monkeypatch.setattr(other_storage, 'MOST_KEPT', 1 << 20)
    texts_bag(tmp_path / 'warm', count=1, size=1)
    Bag(tmp_path / 'warm')  # what is made once
    (tmp_path / 'bag').mkdir()
    for number in range(8):
        texts_bag(tmp_path / f'part{number}', count=4, size=1 << 17)  # 1 MB
        (file,) = (tmp_path / f'part{number}').glob('*.db3')
        file.rename(tmp_path / 'bag' / f'bag_{number}.db3')
    tracemalloc.start()
    try:
        bag = Bag(tmp_path / 'bag')
        count = sum(len(data) > 1 << 17 for topic in TOPICS for _, data in bag.raw(topic))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 64 and kept < 3 << 20


def test_an_unpacked_copy_is_removed_with_the_bag(tmp_path, monkeypatch):
    """At once: a program that reads many bags would fill the disk until Python looks for cycles."""
    texts_bag(tmp_path / 'bag', count=2, size=10)
    (file,) = (tmp_path / 'bag').glob('*.db3')
    packed = tmp_path / 'bag.db3.zstd'
    packed.write_bytes(zstd().compress(file.read_bytes()))
    folder = tmp_path / 'temporary'
    folder.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder))
    gc.disable()
    try:
        bag = Bag(packed)
        assert len(list(bag.messages('/one'))) == 2 and list(folder.iterdir())
        del bag
        assert not list(folder.iterdir())
    finally:
        gc.enable()


def test_messages_that_have_gone_meanwhile_leave_the_others_in_their_place(tmp_path, monkeypatch):
    sent = texts_bag(tmp_path / 'bag', count=5, size=10)
    monkeypatch.setattr(other_storage, 'MOST_KEPT', 0)  # but the block that was read last
    bag = Bag(tmp_path / 'bag')
    (file,) = (tmp_path / 'bag').glob('*.db3')
    with sqlite3.connect(file) as database:
        database.execute('DELETE FROM messages WHERE rowid = 3')  # the second of /one
    found = [each.data for _, each in bag.messages('/one')]
    assert found == [sent['/one'][0], *sent['/one'][2:]]
    assert any('unreadable' in text for text in bag.problems)
