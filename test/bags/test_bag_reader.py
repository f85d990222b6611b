# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags as tables: whole, cut anywhere, damaged, of other storage and other writers."""

import io
import random
import shutil
import tracemalloc

import numpy as np
import pytest
import yaml
from bag_making import (
    OURS,
    STANDARD,
    STORE,
    T0,
    episode_messages,
    joints,
    message,
    serialised,
    write_bag,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as OtherWriter
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.reader import Bag, MessageTable
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError

MESSAGES = episode_messages(40)


def expected(topic):
    return [serialised(content) for name, _, content in MESSAGES if name == topic]


def raw(bag, topic):
    return [bytes(data) for _, data in bag.raw(topic)]


def leaves(content, prefix=''):
    """Every number and text of a message by its dotted path, sequences of messages left out."""
    for name, (kind, detail) in STORE.fielddefs[content.__msgtype__][1]:
        value = getattr(content, name)
        if kind == 2:
            yield from leaves(value, f'{prefix}{name}.')
        elif kind == 1 or detail[0][0] == 1:
            yield prefix + name, value


@pytest.mark.parametrize('message_type', [*OURS, *STANDARD])
def test_columns_hold_what_was_written(tmp_path, message_type):
    rng = np.random.default_rng(2)
    sent = [message(message_type, rng) for _ in range(120)]
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0 + i, m) for i, m in enumerate(sent)]))
    received, columns = bag.columns('/t')
    assert received.tolist() == [T0 + i for i in range(120)]
    assert bag.problems == []
    for index, content in enumerate(sent):
        for path, value in leaves(content):
            got = columns[path][index]
            if isinstance(value, (list, np.ndarray)):
                assert columns[f'{path}.count'][index] == len(value)
                got, value = list(got[: len(value)]), list(value)
            assert got == value, path


def test_columns_of_big_endian_messages(tmp_path):
    sent = [joints(T0 + i, 0.5 * i, 2.0) for i in range(5)]
    with BagWriter(tmp_path / 'bag') as writer:
        channel = writer.add_topic('/j', 'sensor_msgs/msg/JointState')
        for i, m in enumerate(sent):
            data = bytes(STORE.serialize_cdr(m, m.__msgtype__, little_endian=i % 2 == 0))
            writer.write(channel, T0 + i, data)
    _, columns = Bag(tmp_path / 'bag').columns('/j', ['position', 'header.stamp.nanosec'])
    assert columns['position'].tolist() == [[0.5 * i, 2.0] for i in range(5)]
    assert columns['header.stamp.nanosec'].tolist() == list(range(5))


def test_messages_that_do_not_fit_their_definition_are_left_out_and_reported(tmp_path):
    good = serialised(joints(T0, 1.0, 2.0))
    huge = good[:32] + b'\xff\xff\xff\xff' + good[36:]
    with BagWriter(tmp_path / 'bag') as writer:
        channel = writer.add_topic('/j', 'sensor_msgs/msg/JointState')
        for i, data in enumerate([good, good[:20], b'', b'\x07\x07\x07\x07', huge, good]):
            writer.write(channel, T0 + i, data)
    bag = Bag(tmp_path / 'bag')
    received, columns = bag.columns('/j', ['position'])
    assert columns['position'].tolist()[0] == [1.0, 2.0]
    assert received.tolist()[0] == T0 and received.tolist()[-1] == T0 + 5
    assert any('unreadable messages left out' in problem for problem in bag.problems)
    assert len(list(bag.messages('/j'))) <= len(received)


# -- cut and damaged files -------------------------------------------------------------


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """A file whose messages lie in it as they are."""
    folder = tmp_path_factory.mktemp('whole') / 'bag'
    bag = write_bag(folder, MESSAGES, {'policy': 'p'}, compression_level=0)
    return (bag / 'bag_0.mcap').read_bytes()


@pytest.fixture(scope='module')
def compressed(tmp_path_factory):
    """The same, compressed."""
    bag = write_bag(tmp_path_factory.mktemp('compressed') / 'bag', MESSAGES, {'policy': 'p'})
    return (bag / 'bag_0.mcap').read_bytes()


def test_the_uncut_file_is_whole(tmp_path, whole):
    (tmp_path / 'a.mcap').write_bytes(whole)
    bag = Bag(tmp_path / 'a.mcap')
    assert not bag.is_truncated and bag.problems == []
    assert raw(bag, '/ee_pose') == expected('/ee_pose')


@settings(max_examples=80, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_anywhere_gives_every_message_before_the_cut(tmp_path_factory, whole, share):
    cut = int(share * len(whole))
    path = tmp_path_factory.mktemp('cut') / 'a.mcap'
    path.write_bytes(whole[:cut])
    bag = Bag(path)
    # Without the last 8 bytes, the closing magic, nothing is missing.
    assert bag.is_truncated == bool(bag.problems) == (cut < len(whole) - 8)
    for topic in ('/ee_pose', '/joint_commands'):
        wanted = [data for data in expected(topic) if 0 <= whole.find(data) <= cut - len(data)]
        assert (raw(bag, topic) if topic in bag.topics else []) == wanted
    shutil.rmtree(path.parent)


@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_compressed_file_cut_anywhere_gives_every_whole_chunk(
    tmp_path_factory, compressed, share
):
    cut = int(share * len(compressed))
    summary = make_reader(io.BytesIO(compressed)).get_summary()
    ends = [(c.chunk_start_offset + c.chunk_length, c.message_end_time)
            for c in summary.chunk_indexes]  # fmt: skip
    last = max((time for end, time in ends if end <= cut), default=0)
    path = tmp_path_factory.mktemp('cut') / 'a.mcap'
    path.write_bytes(compressed[:cut])
    bag = Bag(path)
    assert bag.is_truncated == (cut < len(compressed) - 8)
    for topic in ('/ee_pose', '/joint_commands'):
        least = sum(name == topic and received <= last for name, received, _ in MESSAGES)
        found = raw(bag, topic) if topic in bag.topics else []
        assert len(found) >= least and found == expected(topic)[: len(found)]
    shutil.rmtree(path.parent)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), is_compressed=st.booleans())
def test_a_damaged_file_gives_an_error_or_a_bag_but_no_crash(
    tmp_path_factory, whole, compressed, seed, is_compressed
):
    rng = random.Random(seed)
    data = bytearray(compressed if is_compressed else whole)
    for _ in range(20):
        data[rng.randrange(8, len(data))] = rng.randrange(256)
    path = tmp_path_factory.mktemp('damaged') / 'a.mcap'
    path.write_bytes(data)
    try:
        bag = Bag(path)
        for name in bag.topics:
            if bag.topics[name].types and len(bag.topics[name]):
                bag.columns(name)
    except BagError as error:
        assert str(path) in str(error) or 'read' in str(error)
    shutil.rmtree(path.parent)


def test_messages_lost_by_damage_are_said(tmp_path, whole):
    data = bytearray(whole)
    place = whole.find(expected('/ee_pose')[5])
    data[place : place + 600] = b'\xff' * 600
    (tmp_path / 'a.mcap').write_bytes(data)
    bag = Bag(tmp_path / 'a.mcap')
    assert 0 < bag.message_count < len(MESSAGES) and not bag.is_truncated
    (problem,) = bag.problems
    assert 'a.mcap is damaged' in problem and 'bytes of its chunks could not be read' in problem


def test_a_killed_recorders_folder_is_read_and_called_cut(tmp_path):
    partial = write_bag(tmp_path / 'bag', MESSAGES, {'policy': 'p'}, finish=False)
    bag = Bag(partial)
    assert bag.is_truncated and bag.name == 'bag' and bag.metadata['policy'] == 'p'
    assert raw(bag, '/ee_pose') == expected('/ee_pose')


# -- other writers and storage ---------------------------------------------------------


@pytest.mark.parametrize('compression', list(CompressionType))
@pytest.mark.parametrize('index', [IndexType.ALL, IndexType.NONE])
@pytest.mark.parametrize('chunking', [True, False])
def test_files_of_another_mcap_writer(tmp_path, compression, index, chunking):
    path = tmp_path / 'a.mcap'
    with open(path, 'wb') as file:
        writer = OtherWriter(
            file, chunk_size=1000, compression=compression, index_types=index, use_chunking=chunking
        )
        writer.start('ros2')
        channels = {}
        for topic, received, content in MESSAGES:
            if topic not in channels:
                definition = find_definition(content.__msgtype__)
                schema = writer.register_schema(
                    content.__msgtype__, 'ros2msg', definition.text.encode()
                )
                channels[topic] = writer.register_channel(topic, 'cdr', schema)
            writer.add_message(channels[topic], received, serialised(content), received)
        writer.finish()
    bag = Bag(path)
    assert bag.problems == []
    assert raw(bag, '/ee_pose') == expected('/ee_pose')
    assert bag.columns('/ee_pose', ['pose.position.x'])[1]['pose.position.x'][3] == 0.003
    data = path.read_bytes()
    path.write_bytes(data[: data.find(b'\x0f\x04\0\0\0\0\0\0\0') * 2 // 3])
    cut = raw(Bag(path), '/ee_pose')
    assert 5 < len(cut) < 40 and cut == expected('/ee_pose')[: len(cut)]


@pytest.mark.parametrize('size', [12, 200])
@pytest.mark.parametrize('count', [4, 20_000])
def test_beginnings_of_messages_take_little_more_memory_than_they_have(size, count):
    content = np.random.default_rng(0).integers(0, 256, (count, size + 8), np.uint8)
    buffers = content[: count // 2].ravel(), content[count // 2 :].ravel()
    places, lengths = np.arange(count), np.full(count, size + 8)
    table = MessageTable(
        places, places, places, places // (count // 2), places % (count // 2) * (size + 8), lengths,
        buffers.__getitem__,
    )  # fmt: skip
    indices = np.delete(places, 1)[::-1]
    tracemalloc.start()
    try:
        found = table.rows(indices, size)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found, content[indices, :size])
    assert peak < 3 * found.nbytes + (1 << 20)


def test_messages_come_in_the_order_of_their_receive_times(tmp_path):
    """As MCAP readers give them: of merged files, and of publishers with channels of their own."""
    path, shuffled = tmp_path / 'a.mcap', list(MESSAGES)
    random.Random(0).shuffle(shuffled)
    with open(path, 'wb') as file:
        writer = OtherWriter(file, chunk_size=1000)
        writer.start('ros2')
        channels = {}
        for number, (topic, received, content) in enumerate(shuffled):
            key = (topic, number % 2)
            if key not in channels:
                text = find_definition(content.__msgtype__).text.encode()
                schema = writer.register_schema(content.__msgtype__, 'ros2msg', text)
                channels[key] = writer.register_channel(topic, 'cdr', schema)
            writer.add_message(channels[key], received, serialised(content), received)
        writer.finish()
    bag = Bag(path)
    assert bag.problems == []
    for topic in ('/ee_pose', '/joint_commands'):
        assert raw(bag, topic) == expected(topic)
        assert (np.diff(bag.received(topic)) >= 0).all()


@pytest.mark.parametrize('plugin', list(StoragePlugin))
def test_bags_that_rosbags_wrote(tmp_path, plugin):
    with RosbagsWriter(tmp_path / 'bag', version=9, storage_plugin=plugin) as writer:
        writer.set_custom_data('policy', 'p')
        connections = {}
        for topic, received, content in MESSAGES:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, content.__msgtype__, typestore=STORE
                )
            writer.write(connections[topic], received, serialised(content))
    bag = Bag(tmp_path / 'bag')
    assert bag.metadata['policy'] == 'p' and not bag.is_truncated
    assert raw(bag, '/joint_commands') == expected('/joint_commands')
    assert bag.columns('/joint_commands', ['position'])[1]['position'][2].tolist() == [0.2, -0.1]


def _compressed_bag(path, mode, plugin=StoragePlugin.MCAP):
    writer = RosbagsWriter(path, version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for topic, received, content in MESSAGES:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, content.__msgtype__, typestore=STORE
                )
            writer.write(connections[topic], received, serialised(content))
    return path


@pytest.mark.parametrize('plugin', list(StoragePlugin))
@pytest.mark.parametrize('mode', [CompressionMode.MESSAGE, CompressionMode.FILE])
def test_bags_whose_messages_or_files_are_compressed(tmp_path, plugin, mode):
    bag = Bag(_compressed_bag(tmp_path / 'bag', mode, plugin))
    assert bag.problems == [] and raw(bag, '/joint_commands') == expected('/joint_commands')
    _, columns = bag.columns('/joint_commands', ['position'])
    assert columns['position'].shape == (40, 2) and columns['position'][2].tolist() == [0.2, -0.1]


def test_compressed_messages_are_known_without_metadata_and_damaged_ones_left_out(tmp_path):
    path = _compressed_bag(tmp_path / 'bag', CompressionMode.MESSAGE)
    (path / 'metadata.yaml').unlink()
    (file,) = path.glob('*.mcap')
    whole = Bag(path)
    (table,) = whole.topics['/ee_pose'].tables
    assert raw(whole, '/ee_pose') == expected('/ee_pose')
    data = bytearray(file.read_bytes())
    start = data.find(bytes(table._compressed(7)))
    data[start + 12] ^= 0xFF
    data[start + 13] ^= 0xFF
    file.unlink()
    file.write_bytes(data)
    bag = Bag(path)
    received, columns = bag.columns('/ee_pose')
    kept = [i for i in range(40) if i != 7]
    assert columns['pose.position.x'].tolist() == [0.001 * i for i in kept]
    assert len(received) == 39
    assert any('1 unreadable messages left out' in problem for problem in bag.problems)


def test_a_compression_that_is_not_known_is_said(tmp_path):
    path = write_bag(tmp_path / 'bag', MESSAGES)
    content = yaml.safe_load((path / 'metadata.yaml').read_text())
    content['rosbag2_bagfile_information'].update(
        compression_mode='MESSAGE', compression_format='brotli'
    )
    (path / 'metadata.yaml').write_text(yaml.safe_dump(content))
    assert any("'brotli'" in problem for problem in Bag(path).problems)


def _split_bag(folder, parts):
    """A bag of several files, as rosbag2 makes it when a file has reached its largest size."""
    folder.mkdir()
    names = [f'bag_{number}.mcap' for number in range(len(parts))]
    for name, part in zip(names, parts):
        with open(folder / name, 'wb') as file:
            writer = OtherWriter(file)
            writer.start('ros2')
            # Each file numbers its channels anew, in the order in which they came.
            channels = {}
            for topic, received, content in part:
                if topic not in channels:
                    definition = find_definition(content.__msgtype__)
                    schema = writer.register_schema(
                        content.__msgtype__, 'ros2msg', definition.text.encode()
                    )
                    channels[topic] = writer.register_channel(topic, 'cdr', schema)
                writer.add_message(channels[topic], received, serialised(content), received)
            writer.finish()
    content = {'version': 9, 'storage_identifier': 'mcap', 'relative_file_paths': names}
    (folder / 'metadata.yaml').write_text(
        yaml.safe_dump({'rosbag2_bagfile_information': {**content, 'custom_data': None}})
    )
    return folder


def test_a_bag_split_into_files_is_read_whole(tmp_path):
    parts = [MESSAGES[:31], MESSAGES[31:60], MESSAGES[60:]]
    bag = Bag(_split_bag(tmp_path / 'bag', parts))
    assert bag.problems == [] and not bag.is_truncated
    for topic in ('/ee_pose', '/joint_commands', '/episode_events'):
        assert raw(bag, topic) == expected(topic)
    received, columns = bag.columns('/ee_pose', ['pose.position.x'])
    assert columns['pose.position.x'].tolist() == [0.001 * i for i in range(40)]
    assert (np.diff(received) > 0).all()


def test_a_missing_file_of_a_split_bag_is_said(tmp_path):
    path = _split_bag(tmp_path / 'bag', [MESSAGES[:31], MESSAGES[31:]])
    (path / 'bag_1.mcap').unlink()
    bag = Bag(path)
    assert raw(bag, '/ee_pose') == expected('/ee_pose')[:15]
    assert any('missing: bag_1.mcap' in problem for problem in bag.problems)


def test_several_files_are_one_bag_in_their_order(tmp_path):
    for number, part in ((9, MESSAGES[:30]), (10, MESSAGES[30:])):
        bag = write_bag(tmp_path / f'b{number}', part)
        (tmp_path / 'bag').mkdir(exist_ok=True)
        (bag / f'b{number}_0.mcap').rename(tmp_path / 'bag' / f'bag_{number}.mcap')
    assert raw(Bag(tmp_path / 'bag'), '/ee_pose') == expected('/ee_pose')


# -- what is no bag --------------------------------------------------------------------


def test_what_is_no_bag_is_said(tmp_path):
    (tmp_path / 'old.bag').write_bytes(b'#ROSBAG V2.0\n')
    (tmp_path / 'notes.txt').write_text('x')
    (tmp_path / 'fake.mcap').write_text('this is not mcap')
    (tmp_path / 'empty').mkdir()
    for name, reason in (
        ('old.bag', 'ROS 1'),
        ('notes.txt', 'not a bag'),
        ('fake.mcap', 'not an MCAP file'),
        ('empty', 'holds no .mcap or .db3'),
        ('missing', 'does not exist'),
    ):
        with pytest.raises(BagError, match=reason):
            Bag(tmp_path / name)


def test_a_damaged_sqlite_bag_is_an_error(tmp_path):
    (tmp_path / 'a.db3').write_bytes(b'SQLite format 3\0' + bytes(500))
    with pytest.raises(BagError, match='cannot be read'):
        Bag(tmp_path / 'a.db3')


def test_a_zero_length_file_is_a_cut_bag(tmp_path):
    (tmp_path / 'a.mcap').write_bytes(b'')
    bag = Bag(tmp_path / 'a.mcap')
    assert bag.is_truncated and 'empty (0 bytes)' in bag.problems[0] and bag.message_count == 0


def test_bags_in_a_folder_are_found_in_natural_order(tmp_path):
    for name in ('run_10', 'run_9', 'run_1'):
        write_bag(tmp_path / name, MESSAGES[:4])
    write_bag(tmp_path / 'run_11', MESSAGES[:4], finish=False)
    (tmp_path / 'other').mkdir()
    names = [path.name for path in find_bags(tmp_path)]
    assert names == ['run_1', 'run_9', 'run_10', 'run_11.partial']
    assert find_bags(tmp_path / 'run_1') == [tmp_path / 'run_1']
