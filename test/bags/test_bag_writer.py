# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that we write, read by others: rosbags, and the strict reader of the mcap package."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from bag_making import OURS, STANDARD, STORE, T0, episode_messages, message, serialised, write_bag
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from rosbags.highlevel import AnyReader

from frame_ros.bags.definitions import find_definition, typestore_of
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter, TopicQos
from frame_ros.core.errors import BagError


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


def test_a_name_that_was_taken_meanwhile_is_left_alone(tmp_path):
    writer = BagWriter(tmp_path / 'bag')
    channel = writer.add_topic('/text', 'std_msgs/msg/String')
    writer.write(channel, T0, serialised(message('std_msgs/msg/String', data='hello')))
    (tmp_path / 'bag').mkdir()
    with pytest.raises(BagError, match='cannot finish'):
        writer.finish()
    assert list((tmp_path / 'bag').iterdir()) == []
    bag = Bag(tmp_path / 'bag.partial')
    assert bag.sidecar['state'] == 'failed' and 'exists' in bag.sidecar['problem']
    assert bag.is_truncated and [m.data for _, m in bag.messages('/text')] == ['hello']
    (tmp_path / 'bag').rmdir()
    with pytest.raises(BagError, match='nothing is overwritten'):
        BagWriter(tmp_path / 'bag')
    writer.discard()
    assert list(tmp_path.iterdir()) == []


# A limit on the size of files is a disk that is full: part of a record is written, then none.
ON_A_FULL_DISK = """
import json, resource, sys
from pathlib import Path
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError

def limit(size):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))

def write(topic, count, keep=False):
    failures = 0
    for number in range(count):
        try:
            writer.write(channels[topic], next(times), text, keep=keep)
        except OSError:
            failures += 1
    return failures

folder = Path(sys.argv[1])
text = bytes([0, 1, 0, 0]) + (1000).to_bytes(4, 'little') + 999 * b'x' + bytes(1)
times = iter(range(10**18, 10**19, 10**6))
writer = BagWriter(folder / 'moment', chunk_size=20_000, flush_period=1e9, compression_level=0)
channels = {topic: writer.add_topic(topic, 'std_msgs/msg/String') for topic in ('/a', '/b')}
write('/a', 30)
limit((writer.partial / 'moment_0.mcap').stat().st_size + 15_000)
write('/b', 1, keep=True)
failures = write('/a', 20) + write('/b', 25)
try:
    writer.add_topic('/' + 20_000 * 'c', 'std_msgs/msg/String')
except OSError:
    failures += 1
limit(None)
write('/b', 7)
print(json.dumps([failures, writer.dropped(), writer.counts()]))
writer.finish()

writer = BagWriter(folder / 'full', chunk_size=20_000, compression_level=0)
channels = {'/a': writer.add_topic('/a', 'std_msgs/msg/String')}
write('/a', 25)
writer.flush()
limit((writer.partial / 'full_0.mcap').stat().st_size + 5)
for attempt in (writer.finish, lambda: BagWriter(folder / 'new')):
    try:
        attempt()
    except BagError as error:
        print(error)
    limit(0)
"""


@pytest.fixture(scope='module')
def full_disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp('disk')
    command = [sys.executable, '-c', ON_A_FULL_DISK, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout.splitlines()


def test_what_a_disk_full_for_a_moment_did_not_take_is_counted_and_leaves_no_trace(full_disk):
    folder, (said, *_) = full_disk
    failures, dropped, counts = json.loads(said)
    assert failures == 3 and sum(dropped.values()) > 30
    assert {t: counts[t] + dropped[t] for t in dropped} == {'/a': 50, '/b': 33}
    path = folder / 'moment'
    with open(path / 'moment_0.mcap', 'rb') as file:
        list(StreamReader(file, validate_crcs=True).records)
        file.seek(0)
        reader = make_reader(file, validate_crcs=True)
        strict = [channel.topic for _, channel, _ in reader.iter_messages()]
        assert reader.get_summary().statistics.message_count == len(strict)
    with AnyReader([path]) as reader:
        others = [connection.topic for connection, _, _ in reader.messages()]
        claimed = {connection.topic: connection.msgcount for connection in reader.connections}
    bag = Bag(path)
    assert not bag.is_truncated and bag.problems == []
    for topic, count in counts.items():
        assert strict.count(topic) == others.count(topic) == claimed[topic] == count
        assert len(bag.topics[topic]) == len(list(bag.messages(topic))) == count
    assert 10**18 + 30 * 10**6 in bag.received('/b'), 'the message to be kept'
    info = yaml.safe_load((path / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    times = np.concatenate([bag.received(topic) for topic in counts])
    assert info['starting_time']['nanoseconds_since_epoch'] == times.min()
    assert info['duration']['nanoseconds'] == np.ptp(times)


def test_a_bag_that_a_full_disk_cannot_finish_stays_partial_and_readable(full_disk):
    folder, (_, finish, _) = full_disk
    assert 'cannot finish the bag' in finish and 'File too large' in finish
    bag = Bag(folder / 'full.partial')
    assert bag.is_truncated and len(list(bag.messages('/a'))) == 25
    assert not (folder / 'full').exists()


def test_a_bag_that_a_full_disk_does_not_let_begin_leaves_nothing(full_disk):
    folder, (*_, new) = full_disk
    assert 'cannot make the bag' in new and 'File too large' in new
    assert {path.name for path in folder.iterdir()} == {'moment', 'full.partial'}


def test_times_that_cannot_be_stored(tmp_path):
    writer = BagWriter(tmp_path / 'bag')
    channel = writer.add_topic('/text', 'std_msgs/msg/String')
    text = serialised(message('std_msgs/msg/String', data='x'))
    writer.write(channel, T0, text, published=-1)
    with pytest.raises(BagError, match='-5'):
        writer.write(channel, -5, text)
    with open(writer.finish() / 'bag_0.mcap', 'rb') as file:
        (found,) = [m for *_, m in make_reader(file).iter_messages()]
    assert found.log_time == found.publish_time == T0


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


def _chunks(bag):
    """Compression and topics of each chunk, by the strict reader's index."""
    with open(bag / 'bag_0.mcap', 'rb') as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
    return [
        (c.compression, {summary.channels[i].topic for i in c.message_index_offsets})
        for c in summary.chunk_indexes
    ]


def test_chunks_are_compressed_where_that_makes_them_smaller(tmp_path):
    rng = np.random.default_rng(3)
    flat = message('sensor_msgs/msg/Image', data=np.zeros(30_000, np.uint8))
    noise = message('sensor_msgs/msg/Image', data=rng.integers(0, 256, 30_000, dtype=np.uint8))
    for name, content, compression in (('flat', flat, 'zstd'), ('noise', noise, '')):
        bag = write_bag(tmp_path / name / 'bag', [('/image', T0, content)])
        assert _chunks(bag) == [(compression, {'/image'})]
        with AnyReader([bag]) as reader:
            assert [bytes(data) for *_, data in reader.messages()] == [serialised(content)]
    assert (tmp_path / 'flat' / 'bag' / 'bag_0.mcap').stat().st_size < 10_000


def test_noise_is_tried_to_be_compressed_only_now_and_then(tmp_path):
    rng = np.random.default_rng(5)
    sent = []
    for i in range(40):
        noise = rng.integers(0, 256, 30_000, dtype=np.uint8)
        noise[:3000] = 0  # a little can be saved
        pixels = noise if i < 30 else np.zeros_like(noise)
        sent.append(('/image', T0 + 2 * i, message('sensor_msgs/msg/Image', data=pixels)))
        sent.append(('/text', T0 + 2 * i + 1, message('std_msgs/msg/String', data='x' * 500)))
    bag = write_bag(tmp_path / 'bag', sent, flush_every=2)
    chunks = _chunks(bag)
    images = [compression for compression, topics in chunks if topics == {'/image'}]
    assert images == (['zstd'] + 15 * ['']) * 2 + 8 * ['zstd']
    assert {c for c, topics in chunks if topics == {'/text'}} == {'zstd'}
    with AnyReader([bag]) as reader:
        assert [(at, bytes(data)) for _, at, data in reader.messages()] == [
            (at, serialised(content)) for _, at, content in sent
        ]


def test_large_messages_have_chunks_of_their_own_and_others_read_all_in_order(tmp_path):
    rng = np.random.default_rng(4)
    sent = []
    for i in range(30):
        pixels = rng.integers(0, 256, 20_000, dtype=np.uint8)
        sent.append(('/image', T0 + 2 * i, message('sensor_msgs/msg/Image', data=pixels)))
        # One that grows beyond the bound stays where it began.
        text = message('std_msgs/msg/String', data='x' * 1000 * i)
        sent.append(('/text', T0 + 2 * i + 1, text))
    bag = write_bag(tmp_path / 'bag', sent, flush_every=7)
    assert {frozenset(topics) for _, topics in _chunks(bag)} == {
        frozenset({'/image'}),
        frozenset({'/text'}),
    }
    expected = [(at, serialised(content)) for _, at, content in sent]
    with AnyReader([bag]) as reader:
        assert [(at, bytes(data)) for _, at, data in reader.messages()] == expected
    with open(bag / 'bag_0.mcap', 'rb') as file:
        found = make_reader(file, validate_crcs=True).iter_messages()
        assert [(m.log_time, m.data) for *_, m in found] == expected
    ours = Bag(bag)
    for topic in ('/image', '/text'):
        assert [(at, bytes(data)) for at, data in ours.raw(topic)] == [
            (at, serialised(content)) for name, at, content in sent if name == topic
        ]


def test_store_serialises_as_the_reader_expects():
    content = message('std_msgs/msg/String', data='x')
    assert STORE.deserialize_cdr(serialised(content), 'std_msgs/msg/String').data == 'x'


@pytest.mark.parametrize('where', ['mkdir', '_write_sidecar'])
def test_ctrl_c_while_a_bag_is_made_leaves_nothing(tmp_path, monkeypatch, where):
    owner = {'mkdir': Path, '_write_sidecar': BagWriter}[where]
    made = getattr(owner, where)

    def interrupted(*args, **kwargs):
        made(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        BagWriter(tmp_path / 'bag')
    assert not list(tmp_path.iterdir())
