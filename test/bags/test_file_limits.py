# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small files that stand for gigabytes, or for nothing: an error in words, and soon."""

import os
import sqlite3
import struct
from dataclasses import replace

import cv2
import lz4.frame
import numpy as np
import pytest
from bag_making import T0, episode_messages, message, write_bag
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags import cdr as layout
from frame_ros.bags.definitions import (
    MessageDefinition,
    find_definition,
    parse_fields,
    typestore_of,
)
from frame_ros.bags.find_bags import survey
from frame_ros.bags.images.cameras import Camera
from frame_ros.bags.images.decoding import decode_compressed, iter_images
from frame_ros.bags.reader import Bag
from frame_ros.bags.storage.decompression import zstd
from frame_ros.bags.storage.mcap_writer import CHUNK, MAGIC
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import COLUMN, FACTOR_VARIABLE, UNPACKED_PART
from frame_ros.episodes.reading import read_episodes
from frame_ros.reports.html.media import find_videos

PACK = {'zstd': lambda data: zstd().compress(data), 'lz4': lz4.frame.compress}


@pytest.fixture
def low_limits(monkeypatch):
    """A thousandth of them: 268 kB for a part, 1.07 MB for a file."""
    monkeypatch.setenv(FACTOR_VARIABLE, '0.001')


def chunk(content: bytes, compression: str, declared: int | None = None) -> bytes:
    packed = PACK[compression](content)
    name = compression.encode()
    fields = struct.pack('<QQQI', 0, 0, len(content) if declared is None else declared, 0)
    fields += struct.pack('<I', len(name)) + name + struct.pack('<Q', len(packed)) + packed
    return struct.pack('<BQ', CHUNK, len(fields)) + fields


@pytest.mark.parametrize('compression', ['zstd', 'lz4'])
@pytest.mark.parametrize('declared', [None, 0, 1000])
def test_a_chunk_unpacks_to_no_more_than_is_allowed(tmp_path, low_limits, compression, declared):
    path = tmp_path / 'a.mcap'
    path.write_bytes(MAGIC + chunk(bytes(4 * UNPACKED_PART.now), compression, declared))
    bag = Bag(path)
    wanted = 'more than the 1000 bytes that it declares' if declared else 'above the limit of 268'
    assert any(wanted in problem for problem in bag.problems)


def test_many_chunks_unpack_to_no_more_than_a_file_may(tmp_path, low_limits):
    path = tmp_path / 'a.mcap'
    path.write_bytes(MAGIC + 20 * chunk(bytes(UNPACKED_PART.now), 'zstd'))
    with pytest.raises(BagError, match='its chunks unpack to .* above the limit of'):
        Bag(path)


def test_an_index_that_names_one_message_many_times_is_not_used(tmp_path):
    whole = write_bag(tmp_path / 'bag', episode_messages(5), compression_level=0)
    data = (whole / 'bag_0.mcap').read_bytes()
    count = len(Bag(whole).topics['/ee_pose'])
    # The largest index record, whose entries (time, offset) become all the first one.
    places = [i for i in range(len(data) - 25) if data[i] == 7 and data[i + 1 : i + 9] ==
              struct.pack('<Q', 6 + 16 * count)]  # fmt: skip
    at = places[0] + 15
    spoilt = data[:at] + count * data[at : at + 16] + data[at + 16 * count :]
    (whole / 'bag_0.mcap').write_bytes(spoilt)
    assert len(Bag(whole).topics['/ee_pose']) == count


@pytest.mark.parametrize('place', [2**63 - 1, 2**63 - 20, 2**63, 2**64 - 1])
def test_an_index_that_names_places_without_end_is_not_used(tmp_path, place):
    whole = write_bag(tmp_path / 'bag', episode_messages(5), compression_level=0)
    data = (whole / 'bag_0.mcap').read_bytes()
    count = len(Bag(whole).topics['/ee_pose'])
    at = data.index(b'\7' + struct.pack('<Q', 6 + 16 * count)) + 15
    spoilt = data[: at + 8] + struct.pack('<Q', place) + data[at + 16 :]
    (whole / 'bag_0.mcap').write_bytes(spoilt)
    assert len(Bag(whole).topics['/ee_pose']) == count


def rosbag(folder, mode, messages, plugin=StoragePlugin.SQLITE3):
    store = get_typestore(Stores.ROS2_JAZZY)
    writer = Writer(folder, version=9, storage_plugin=plugin)
    if mode is not CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        kind = 'std_msgs/msg/String'
        connection = writer.add_connection('/text', kind, typestore=store)
        for number, text in enumerate(messages):
            data = store.serialize_cdr(store.types[kind](data=text), kind)
            writer.write(connection, T0 + number, data)
    return folder


PLUGINS = [StoragePlugin.SQLITE3, StoragePlugin.MCAP]


@pytest.mark.parametrize('plugin', PLUGINS)
@pytest.mark.parametrize('mode', [CompressionMode.FILE, CompressionMode.MESSAGE])
@pytest.mark.parametrize('has_metadata', [True, False])
def test_compressed_bags_are_read_with_and_without_metadata(tmp_path, plugin, mode, has_metadata):
    folder = rosbag(tmp_path / 'bag', mode, ['first', 'second' * 100], plugin)
    if not has_metadata:
        (folder / 'metadata.yaml').unlink()
    bag = Bag(folder)
    texts = [found.data for _, found in bag.messages('/text')]
    assert texts == ['first', 'second' * 100] and bag.problems == []


@pytest.mark.parametrize('plugin', PLUGINS)
def test_a_compressed_file_unpacks_to_no_more_than_is_allowed(tmp_path, low_limits, plugin):
    texts = ['a' * 200_000] * 20
    folder = rosbag(tmp_path / 'bag', CompressionMode.FILE, texts, plugin)
    with pytest.raises(BagError, match='cannot be unpacked: .* above the limit of'):
        Bag(folder)


def test_compressed_messages_unpack_to_no_more_than_is_allowed(tmp_path, low_limits):
    texts = ['short', 'a' * 400_000]
    folder = rosbag(tmp_path / 'one', CompressionMode.MESSAGE, texts)
    bag = Bag(folder)
    assert [found.data for _, found in bag.messages('/text')] == ['short']
    assert any('unreadable' in problem for problem in bag.problems)
    folder = rosbag(tmp_path / 'all', CompressionMode.MESSAGE, ['a' * 200_000] * 20)
    with pytest.raises(BagError, match='compressed messages unpack to'):
        Bag(folder)


def test_a_column_that_one_message_would_widen_is_read_without_it(tmp_path, low_limits):
    # 600 messages of two values take 10 kB; as wide as the last, 480 MB.
    kind = 'sensor_msgs/msg/JointState'
    sent = [
        ('/joint_states', T0 + i, message(kind, position=np.zeros(2 if i < 600 else 100_000)))
        for i in range(601)
    ]
    bag = Bag(write_bag(tmp_path / 'bag', sent))
    _, columns = bag.columns('/joint_states', ('position',))
    assert columns['position'].shape == (600, 2)
    assert any('above the limit of' in problem for problem in bag.problems)


def test_the_names_of_many_joint_states_are_read(tmp_path, monkeypatch):
    # A second at 1 kHz against a thousandth of the limit: a quarter of an hour against all of it.
    monkeypatch.setattr(layout, 'COLUMN', replace(COLUMN, amount=COLUMN.amount // 1000))
    kind = 'sensor_msgs/msg/JointState'
    names = [*(f'fr3_joint{i + 1}' for i in range(7)), 'fr3_finger_joint1', 'fr3_finger_joint2']
    each = message(kind, name=names, position=np.zeros(9))
    bag = Bag(write_bag(tmp_path / 'bag', [('/joint_states', T0 + i, each) for i in range(1000)]))
    _, columns = bag.columns('/joint_states', ('name', 'position'))
    assert columns['name'].shape == columns['position'].shape == (1000, 9)


def test_a_metadata_file_above_a_limit_says_what_allows_it(tmp_path, low_limits):
    folder = write_bag(tmp_path / 'bag', episode_messages(4))
    assert any('--file-limits' in problem for problem in Bag(folder).problems)


def test_arrays_of_texts_count_as_so_many_fields():
    with pytest.raises(BagError, match='4,000,000,000 fields, above the limit'):
        parse_fields('p/msg/A', 'string[4000000000] x')
    assert parse_fields('p/msg/A', 'float64[4000000] x\nstring[9] y\nstring[] z')


def test_a_field_that_is_given_twice_is_an_error_in_words():
    with pytest.raises(BagError, match='definition of p/msg/A in the bag cannot be read'):
        typestore_of('p/msg/A', 'int8 a\nint8 a')


def test_definitions_that_double_or_repeat_themselves_are_refused():
    doubling = 'A0 a\n' + ''.join(
        f'{"=" * 80}\nMSG: p/A{i}\nA{i + 1} a\nA{i + 1} b\n' for i in range(50)
    )
    with pytest.raises(BagError, match='above the limit of 20,000 fields'):
        parse_fields('p/msg/T', f'{doubling}{"=" * 80}\nMSG: p/A50\nint8 x\n')
    with pytest.raises(BagError, match='contains itself'):
        parse_fields('p/msg/T', f'A a\n{"=" * 80}\nMSG: p/A\nT t\n')
    with pytest.raises(BagError, match='above the limit of 20,000 fields'):
        parse_fields('p/msg/T', f'A[1000000000] a\n{"=" * 80}\nMSG: p/A\nint8 x\n')
    chain = 'A0 a\n' + ''.join(f'{"=" * 80}\nMSG: p/A{i}\nA{i + 1} a\n' for i in range(200))
    with pytest.raises(BagError, match='nested 65 levels'):
        parse_fields('p/msg/T', f'{chain}{"=" * 80}\nMSG: p/A200\nint8 x\n')
    with pytest.raises(BagError, match='above the limit of'):
        parse_fields('p/msg/T', 'int8 x\n' * 1_000_000)


@pytest.mark.parametrize('name', ['metadata.yaml', 'episode.json', 'bag_1.mcap', 'bag.mp4'])
def test_pipes_and_devices_in_a_bags_folder_are_not_opened(tmp_path, name):
    folder = write_bag(tmp_path / 'bag', episode_messages(4))
    for make in (os.mkfifo, lambda path: os.symlink('/dev/zero', path)):
        (folder / name).unlink(missing_ok=True)
        make(folder / name)
        (episode,) = read_episodes(folder)
        assert episode.summary['steps'] == 4
        assert find_videos(folder) == []


@pytest.mark.parametrize('name', ['a.mcap', 'a.db3', 'a.mcap.zstd'])
def test_a_pipe_given_as_a_bag_is_none(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(BagError, match='neither a folder nor a file'):
        Bag(tmp_path / name)


def test_links_are_followed_to_a_recording_and_no_further(tmp_path):
    write_bag(tmp_path / 'disk' / 'deep' / 'e_1', episode_messages(4))
    (tmp_path / 'runs').mkdir()
    (tmp_path / 'runs' / 'one').symlink_to(tmp_path / 'disk' / 'deep' / 'e_1')
    (tmp_path / 'runs' / 'whole').symlink_to('/')
    found = survey(tmp_path / 'runs')
    assert [path.name for path in found.bags] == ['one']
    assert [path.name for path, _ in found.others] == ['whole']


def test_a_video_that_links_to_elsewhere_is_none_of_the_bag(tmp_path):
    folder = write_bag(tmp_path / 'run' / 'bag', episode_messages(4))
    (tmp_path / 'secret').write_text('key')
    (folder / 'a.mp4').symlink_to(tmp_path / 'secret')
    (folder / 'b.mp4').write_bytes(b'video')
    assert [path.name for path in find_videos(folder)] == ['b.mp4']


def test_a_database_that_computes_is_no_bag(tmp_path):
    folder = rosbag(tmp_path / 'bag', CompressionMode.NONE, ['first'])
    (path,) = folder.glob('*.db3')
    with sqlite3.connect(path) as database:
        database.execute('DROP TABLE schema')
        database.execute(
            'CREATE VIEW schema AS WITH RECURSIVE n(schema_version) AS (SELECT 1 UNION ALL '
            'SELECT schema_version + 1 FROM n) SELECT max(schema_version) AS schema_version FROM n'
        )
    with pytest.raises(BagError, match="'schema' is computed"):
        Bag(folder)


def test_a_picture_that_declares_too_many_pixels_is_not_decoded(low_limits):
    # A thousandth: 67,108 pixels.
    for kind in ('.png', '.jpg'):
        _, small = cv2.imencode(kind, np.zeros((200, 300, 3), np.uint8))
        assert decode_compressed(small.ravel(), kind).shape == (200, 300, 3)
        _, large = cv2.imencode(kind, np.zeros((300, 300, 3), np.uint8))
        with pytest.raises(BagError, match='90,000 pixels, above the limit'):
            decode_compressed(large.ravel(), kind)
    with pytest.raises(BagError, match='TIFF, are not read'):
        decode_compressed(np.frombuffer(b'II*\0' + bytes(100), np.uint8), 'tiff')
    for content in (b'', b'\xff\xd8', b'\xff\xd8\xff', b'BM' + bytes(100), small.tobytes()[:30]):
        with pytest.raises(BagError):
            decode_compressed(np.frombuffer(content, np.uint8), 'x')


def test_a_part_of_a_picture_that_declares_more_bytes_than_follow_is_refused():
    _, content = cv2.imencode('.png', np.zeros((6, 8, 3), np.uint8))
    data = content.tobytes()
    damaged = data.replace(data[33:37] + b'IDAT', b'\xff\xff\xff\xffIDAT')
    assert damaged != data
    with pytest.raises(BagError, match="part b'IDAT' would have 4294967295 bytes"):
        decode_compressed(np.frombuffer(damaged, np.uint8), 'png')


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('uint32 height\nuint32 width', "no 'header'"),
        ('std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding', "no '"),
        ('std_msgs/Header header\nuint32 height\nstring width', "another type of 'width'"),
    ],
)
def test_an_image_whose_definition_lacks_its_fields_is_an_error_in_words(tmp_path, text, words):
    kind = 'sensor_msgs/msg/Image'
    header = find_definition('std_msgs/msg/Header').text
    header = f'{"=" * 80}\nMSG: std_msgs/Header\n{header}'
    with BagWriter(tmp_path / 'bag') as writer:
        definition = MessageDefinition(kind, f'{text}\n{header}', '')
        channel = writer.add_topic('/camera', kind, definition)
        writer.write(channel, T0, b'\0\1\0\0' + bytes(200))
    bag = Bag(tmp_path / 'bag')
    for read in (
        lambda: list(iter_images(bag, '/camera')),
        lambda: list(bag.messages('/camera'))[0][1].data,
        lambda: Camera(bag, 'camera', '/camera'),
    ):
        with pytest.raises((BagError, IndexError)):
            read()
    with pytest.raises(BagError, match=words):
        list(iter_images(bag, '/camera'))


def test_a_database_whose_columns_hold_anything_is_read_without_that(tmp_path):
    folder = rosbag(tmp_path / 'bag', CompressionMode.NONE, ['first', 'second', 'third'])
    (path,) = folder.glob('*.db3')
    with sqlite3.connect(path) as database:
        database.execute("UPDATE messages SET timestamp = 'x' WHERE rowid = 1")
        database.execute("UPDATE messages SET data = 'x' WHERE rowid = 2")
    bag = Bag(folder)
    assert [found.data for _, found in bag.messages('/text')] == ['third']


def test_a_database_whose_errors_are_no_text_is_an_error_in_words(tmp_path):
    folder = rosbag(tmp_path / 'bag', CompressionMode.NONE, ['first'])
    (path,) = folder.glob('*.db3')
    content = path.read_bytes()
    assert content.count(b'CREATE INDEX') == 1
    path.write_bytes(content.replace(b'CREATE INDEX', b'CREATE\xa0INDEX'))
    with pytest.raises(BagError, match='cannot be read'):
        Bag(folder)
