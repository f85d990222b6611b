# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults during a recording: nothing is lost without being counted."""

import shutil
import struct
import time

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from rclpy.context import Context
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.images.decoding import iter_images
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording.expected_streams import EpisodeStreams
from frame_ros.bags.recording.images import image_conversion
from frame_ros.bags.recording.options import RecordingLimits, RecordingOptions
from frame_ros.bags.recording.session import (
    BagSession,
    MessageRing,
    ReceivedMessage,
    RecordedTopic,
    refuse_full_disk,
)
from frame_ros.bags.storage.mcap_writer import check_level
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError, SetupError, ValueRangeError
from frame_ros.nodes.episode_recorder.options import TopicOptions
from frame_ros.nodes.runtime.recorded_topics import TopicFilter, TopicSubscriptions

T0 = 1_700_000_000_000_000_000
TEXT = RecordedTopic('/text', find_definition('std_msgs/msg/String'))
EVENTS = RecordedTopic('/events', find_definition('std_msgs/msg/String'))
NO_LIMITS = RecordingLimits(free=0)


def text(number, topic=TEXT, **fields):
    data = serialize_message(String(data=f'{number:03d}'))
    return ReceivedMessage(topic, T0 + number, T0 + number, data)._replace(**fields)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture()
def said():
    return []


@pytest.fixture()
def make_session(tmp_path, said):
    def make(limits=NO_LIMITS):
        return BagSession(BagWriter(tmp_path / 'runs' / 'bag'), limits, [EVENTS], said.append)

    return make


def test_messages_for_a_folder_that_is_gone_are_counted_and_said_once(make_session, tmp_path, said):
    session = make_session()
    shutil.rmtree(tmp_path / 'runs')
    for number in range(99):
        session.put(text(number))
    with pytest.raises(BagError, match='99 messages were dropped'):
        session.finish({})
    assert session.dropped == {'/text': 99} and 'No such file' in session.reasons['/text']
    assert len(said) == 1 and 'No such file' in said[0]


def test_impossible_times_cost_one_message_at_most(make_session):
    session = make_session()
    for number in range(11):
        session.put(text(number, published=-1) if number == 5 else text(number))
    session.put(text(11, received=-1))
    bag = Bag(session.finish({}))
    assert len(list(bag.messages('/text'))) == 11
    assert bag.sidecar['dropped'] == {'/text': 1} and '-1' in session.reasons['/text']


def test_a_message_that_fails_in_an_unforeseen_way_marks_the_bag(make_session, tmp_path, said):
    session = make_session()
    session.put(text(0))
    session.put(text(1, RecordedTopic('/odd', None)))
    session.put(text(2))
    with pytest.raises(BagError, match='/odd could not be written: AttributeError'):
        session.finish({'outcome': 'SUCCESS'})
    bag = Bag(tmp_path / 'runs' / 'bag.partial')
    assert [m.data for _, m in bag.messages('/text')] == ['000', '002']
    assert bag.sidecar['state'] == 'failed' and '/odd' in bag.sidecar['problem']
    assert bag.sidecar['dropped'] == {'/odd': 1} and bag.metadata['outcome'] == 'SUCCESS'
    assert bag.is_truncated and len(said) == 1


def test_when_the_writer_breaks_off_what_is_left_is_counted(make_session, tmp_path):
    session = make_session()
    session.put(text(0))
    session.put(text(1, None))
    until(lambda: session.problem)
    for number in range(2, 9):
        session.put(text(number))
    with pytest.raises(BagError, match='broke off'):
        session.finish({})
    bag = Bag(tmp_path / 'runs' / 'bag.partial')
    assert len(bag.topics['/text']) + session.dropped['/text'] == 8
    assert bag.sidecar['dropped'] == {'/text': 7}


def test_on_a_full_disk_events_are_still_written_and_the_rest_when_there_is_room_again(
    make_session, said
):
    session = make_session(RecordingLimits(free=1 << 60))
    for number in range(5):
        session.put(text(number))
    session.put(text(5, EVENTS), keep=True)
    until(lambda: session.dropped['/text'] == 5)
    session.limits = NO_LIMITS
    time.sleep(0.6)
    session.put(text(6))
    bag = Bag(session.finish({}))
    assert {name: len(topic) for name, topic in bag.topics.items()} == {'/events': 1, '/text': 1}
    assert bag.sidecar['dropped'] == {'/text': 5} and bag.metadata['dropped_messages'] == '5'
    assert len(said) == 1 and 'MiB left' in said[0]


def test_a_disk_without_room_is_refused_with_the_figures(tmp_path):
    refuse_full_disk(tmp_path / 'runs', 0)
    with pytest.raises(BagError, match=r'only \d+\.\d MiB free; limits.free asks for 1073741824'):
        refuse_full_disk(tmp_path / 'runs', 1 << 50)
    (tmp_path / 'file').write_text('')
    with pytest.raises(BagError, match='cannot record into'):
        refuse_full_disk(tmp_path / 'file' / 'runs', 0)


def test_a_ring_forgets_a_time_that_was_set_back():
    ring = MessageRing(1.0, 1 << 20)
    for number in (0, 10**9, -(10**10), 1 - 10**10):
        ring.append(text(0, received=T0 + number))
    assert [m.received - T0 + 10**10 for m in ring.take(T0 - 10**10)] == [0, 1]


def test_by_default_what_is_only_for_display_is_not_recorded():
    chosen = TopicOptions()
    topics = TopicFilter('/left', chosen.include, chosen.exclude)
    names = ('ee_pose', 'metric_markers', 'proximity', 'proximity/points')
    wanted = [name for name in names if topics.is_wanted(f'/left/{name}')]
    assert wanted == ['ee_pose', 'proximity']
    assert not TopicFilter('/', [''], chosen.exclude).is_wanted('/proximity/points')


def test_streams_that_were_silent_between_start_and_end():
    images = RecordedTopic('/image', find_definition('sensor_msgs/msg/Image'))
    commands = RecordedTopic('/commands', find_definition('sensor_msgs/msg/JointState'))
    streams = EpisodeStreams(['/wrench'])

    def hear(topic, received):
        streams.hear(ReceivedMessage(topic, received, received, b''))

    def silent(begin, end):
        streams.begin(begin)
        for received in (begin - 1, end + 1):  # before and after it
            hear(images, received)
            hear(commands, received)
            if received < begin:
                streams.end(end)
        return set(streams.silent(lambda name: 'why'))

    assert silent(10**9, 3 * 10**9) == {'/wrench', '/image'}
    assert silent(4 * 10**9, 5 * 10**9 - 2) == set(), 'too short to tell'
    streams.begin(10**10)
    hear(images, 10**10)
    streams.end(2 * 10**10)
    assert streams.silent(lambda name: name.upper()) == {'/wrench': '/WRENCH'}


@pytest.mark.parametrize(
    ('name', 'kind', 'lag', 'is_late'),
    [
        ('/arm/contact', 'frame_ros/msg/ContactState', 1, True),
        ('/arm/ee_pose', 'geometry_msgs/msg/PoseStamped', 1, True),
        ('/arm/contact', 'frame_ros/msg/ContactState', 0, False),
        ('/arm/contact', 'frame_ros/msg/ContactState', 1000, False),  # of another clock
        ('/arm/goal', 'geometry_msgs/msg/PoseStamped', 1, False),  # sent now and then
    ],
)
def test_streams_that_are_computed_late_are_behind_until_they_come_up_to_the_end(
    name, kind, lag, is_late
):
    topic, streams, end = RecordedTopic(name, find_definition(kind)), EpisodeStreams([]), 5000

    def hear(seconds):
        data = struct.pack('<BBBBiI', 0, 1, 0, 0, seconds, 0)
        streams.hear(ReceivedMessage(topic, 0, 0, data))

    streams.begin(10**9)
    hear(end - lag)
    assert streams.behind() == []  # the episode goes on
    streams.end(end * 10**9)
    assert streams.behind() == is_late * [name]
    hear(end)
    assert streams.behind() == []
    streams.hear(ReceivedMessage(topic, 0, 0, b'\0'))  # damaged
    assert streams.behind() == []


class Listening:
    """Subscriptions to /test/text, polled by hand."""

    def __init__(self, node):
        self.node, self.got = node, []
        self.topics = TopicSubscriptions(node, TopicFilter('/test', ['text'], ['']))

    def poll(self):
        while self.topics.poll(self.got.append, None):
            pass

    def discover(self, name, publishers):
        until(lambda: self.node.count_publishers(name) == publishers)
        self.topics.discover()


def test_a_new_subscription_neither_loses_nor_doubles_messages(ros_context):
    node = ros_context.create_node('listening', namespace='/test')
    listening = Listening(node)
    reliable = node.create_publisher(String, 'text', 50)
    listening.discover('/test/text', 1)
    until(lambda: reliable.get_subscription_count() == 1)
    for number in range(10):
        reliable.publish(String(data=str(number)))
        if number == 4:
            until(lambda: listening.poll() or listening.got)
    best_effort = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    other = node.create_publisher(String, 'text', best_effort)
    listening.discover('/test/text', 2)
    until(lambda: reliable.get_subscription_count() == 2 and other.get_subscription_count() == 1)
    reliable.publish(String(data='10'))
    until(lambda: listening.poll() or len(listening.got) >= 11)
    until(lambda: reliable.get_subscription_count() == 1)
    other.publish(String(data='11'))
    until(lambda: listening.poll() or len(listening.got) >= 12)
    texts = [serialize_message(String(data=str(number))) for number in range(12)]
    assert [bytes(m.data)[: len(t)] for m, t in zip(listening.got, texts)] == texts
    assert len(listening.got) == 12 and listening.topics.lost() == {}
    listening.topics.destroy()
    node.destroy_node()


def test_losses_outlive_a_new_subscription(ros_context):
    node = ros_context.create_node('listening', namespace='/test')
    listening = Listening(node)
    reliable = node.create_publisher(String, 'text', 2000)
    listening.discover('/test/text', 1)
    until(lambda: reliable.get_subscription_count() == 1)
    for number in range(1100):
        reliable.publish(String(data=str(number)))
        if number == 0:
            until(lambda: listening.poll() or listening.got)
    until(lambda: listening.poll() or listening.got[-1].data[8:12] == b'1099')
    missing = 1100 - len(listening.got)
    assert listening.topics.lost() == {'/test/text': missing} and missing > 0
    best_effort = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_publisher(String, 'text', best_effort)
    listening.discover('/test/text', 2)
    listening.poll()
    assert listening.topics.lost() == {'/test/text': missing}
    listening.topics.destroy()
    node.destroy_node()


def test_numbers_of_two_publishers_are_no_losses(ros_context):
    node = ros_context.create_node('listening', namespace='/test')
    listening = Listening(node)
    first = node.create_publisher(String, 'text', 2000)
    listening.discover('/test/text', 1)
    until(lambda: first.get_subscription_count() == 1)
    for number in range(100):
        first.publish(String(data=str(number)))
    until(lambda: listening.poll() or len(listening.got) == 100)
    second = node.create_publisher(String, 'text', 2000)
    until(lambda: second.get_subscription_count() == 1)
    for count in (101, 102, 103, 104):  # before the recorder looks who publishes
        (first if count % 2 else second).publish(String(data='more'))
        until(lambda count=count: listening.poll() or len(listening.got) == count)
    assert listening.topics.lost() == {}
    listening.discover('/test/text', 2)
    assert [state.lost for state in listening.topics.states()] == [0]
    assert listening.topics.lost() == {}
    listening.topics.destroy()
    node.destroy_node()


def test_a_topic_that_could_not_be_recorded_is_looked_at_again(ros_context):
    node = ros_context.create_node('listening', namespace='/test')
    listening = Listening(node)
    context = Context()
    ros_context.init(context=context)
    other = ros_context.create_node('other', namespace='/test', context=context)
    node.create_publisher(String, 'text', 10)
    doubtful = other.create_publisher(JointState, 'text', 10)
    listening.discover('/test/text', 2)
    assert 'several types' in listening.topics.skipped['/test/text']
    other.destroy_publisher(doubtful)
    listening.discover('/test/text', 1)
    assert listening.topics.topics == []
    listening.topics.retry()
    assert [topic.name for topic in listening.topics.topics] == ['/test/text']
    assert listening.topics.skipped == {}
    listening.topics.destroy()
    for each in (node, other):
        each.destroy_node()
    ros_context.shutdown(context=context)


def image(number, encoding='rgb8', topic=None):
    content = Image(height=8, width=8, encoding=encoding, step=24, data=bytes(192))
    content.header.stamp.sec = number
    topic = topic or RecordedTopic('/cam/image_raw', find_definition('sensor_msgs/msg/Image'))
    return ReceivedMessage(topic, T0 + number, T0 + number, serialize_message(content))


def test_colour_images_are_written_as_jpeg_where_that_is_asked_for(tmp_path):
    writer = BagWriter(tmp_path / 'bag')
    session = BagSession(writer, NO_LIMITS, convert=image_conversion('jpeg'))
    colour = image(0).topic
    depth = RecordedTopic('/cam/depth', colour.definition)
    for number in range(3):
        session.put(image(number, topic=colour))
        session.put(image(number, '8UC3', depth))
        session.put(text(number))
    bag = Bag(session.finish({}))
    assert {name: len(topic) for name, topic in bag.topics.items()} == {
        '/cam/image_raw/compressed': 3,
        '/cam/depth': 3,
        '/text': 3,
    }
    assert [at for at, _ in iter_images(bag, 'cam/image_raw')] == [0, 10**9, 2 * 10**9]


def test_ways_to_write_that_there_are_not_are_refused():
    assert image_conversion('raw') is None
    with pytest.raises(SetupError, match="'gif'; it must be raw or jpeg"):
        RecordingOptions(camera_images='gif')
    with pytest.raises(SetupError, match='compression_level is 23; it must be 0 to 22'):
        RecordingOptions(compression_level=23)
    with pytest.raises(ValueRangeError, match='compression_level is 23'):
        check_level(23)
