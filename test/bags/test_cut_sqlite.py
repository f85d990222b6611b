# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of SQLite whose copy was broken off: what comes before the cut is read."""

import gc
import sqlite3
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from bag_making import T0, joints, serialised
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.reader import Bag
from frame_ros.bags.storage.cut_sqlite import whole_pages
from frame_ros.core.errors import BagError

# Random, so that the compressed file has many blocks, too.
POSITIONS = np.random.default_rng(0).normal(size=(4000, 20))
TOPIC = '/joint_states'
MESSAGES = [(TOPIC, T0 + i, joints(T0 + i, *row)) for i, row in enumerate(POSITIONS)]


@pytest.fixture(params=[False, True], ids=['plain', 'zstd'])
def recorded(request, tmp_path: Path) -> Path:
    """A storage file, compressed as a whole or not."""
    writer = Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.SQLITE3)
    if request.param:
        writer.set_compression(CompressionMode.FILE, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for topic, received, content in MESSAGES:
            if topic not in connections:
                kind = content.__msgtype__
                text = find_definition(kind).text
                connections[topic] = writer.add_connection(topic, kind, msgdef=text, rihs01='x')
            writer.write(connections[topic], received, serialised(content))
    (file,) = (path for path in (tmp_path / 'bag').iterdir() if path.name != 'metadata.yaml')
    return file


@pytest.mark.parametrize('share', [0.3, 0.6, 0.95])
def test_what_comes_before_the_cut_is_read(
    recorded: Path, share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    temporary = tmp_path / 'temporary'
    temporary.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(temporary))
    data = recorded.read_bytes()
    recorded.write_bytes(data[: int(share * len(data))])
    before = recorded.read_bytes()
    bag = Bag(recorded.parent)
    assert bag.is_truncated
    assert any(f'was cut (incomplete copy): {bag.message_count:,} m' in p for p in bag.problems)
    got = [bytes(each) for _, each in bag.raw(TOPIC)]
    wanted = [serialised(content) for topic, _, content in MESSAGES if topic == TOPIC]
    assert got == wanted[: len(got)]
    assert 0.8 * share - 0.1 < len(got) / len(wanted) < 1.0
    assert bag.received(TOPIC)[0] >= T0
    assert recorded.read_bytes() == before
    del bag
    gc.collect()
    assert not list(temporary.iterdir())


def test_a_whole_file_is_read_in_place(recorded: Path):
    bag = Bag(recorded.parent)
    assert not bag.is_truncated and bag.message_count == len(MESSAGES)


def test_a_file_with_hardly_more_than_its_header_is_refused(tmp_path: Path):
    path = tmp_path / 'bag_0.db3'
    with sqlite3.connect(path) as base:
        base.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type)')
        base.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data)')
    base.close()
    assert whole_pages(path) is None
    path.write_bytes(path.read_bytes()[:5000])
    assert whole_pages(path) == (1, 4096)
    with pytest.raises(BagError, match='cannot be read'):
        Bag(path)
    path.write_bytes(path.read_bytes()[:90])
    assert whole_pages(path) is None


def test_a_header_that_an_old_sqlite_left_says_nothing(tmp_path: Path):
    """Its number of pages is not kept where another version wrote the file last."""
    header = bytearray(100)
    header[:18] = b'SQLite format 3\0' + struct.pack('>H', 4096)
    header[24:32] = struct.pack('>II', 7, 100)
    path = tmp_path / 'bag_0.db3'
    for valid_for, wanted in ((7, (0, 4096)), (6, None)):
        header[92:96] = struct.pack('>I', valid_for)
        path.write_bytes(header)
        assert whole_pages(path) == wanted
