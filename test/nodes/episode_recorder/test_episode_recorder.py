# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode recorder as a process of its own, over real topics and services."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from input_watch import InputWatch
from patience import PATIENCE

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosbags.highlevel import AnyReader
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.images.decoding import iter_images
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_lock import NAME as LOCK_NAME
from frame_ros.bags.recording_lock import is_being_recorded
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import stamp_ns
from frame_ros.episodes.reading import read_bag
from frame_ros.msg import EpisodeEvent, EpisodeSummary
from frame_ros.nodes.metrics.topics import METRICS
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.srv import EndEpisode, MarkEpisode, StartEpisode


class Bench:
    """A recorder process in a namespace of its own, publishers beside it, and clients for its
    services."""

    def __init__(self, rclpy, folder, name, **parameters):
        self.rclpy, self.directory, self.namespace = rclpy, folder, f'/{name}'
        self.node = rclpy.create_node('bench', namespace=self.namespace)
        self.inputs = InputWatch(self.node)
        # Made before the recorder is: it must have met them before it can answer them.
        self._clients = {
            name: self.node.create_client(kind, name)
            for name, kind in (
                ('start_episode', StartEpisode),
                ('end_episode', EndEpisode),
                ('mark_episode', MarkEpisode),
            )
        }
        arguments = ['--ros-args', '-r', f'__ns:={self.namespace}']
        values = {
            'directory': folder,
            'topics.discovery_period': 0.1,
            'post_roll': 0.1,
            'video_topic': '""',
        }
        for key, value in {**values, **parameters}.items():
            arguments += ['-p', f'{key}:={value}']
        command = [sys.executable, '-m', 'frame_ros.nodes.episode_recorder', *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.error = None
        self._senders = []
        self._sending = threading.Event()
        self._sending.set()

    def call(self, kind, name, **fields):
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        assert client.wait_for_service(PATIENCE), name
        future = client.call_async(kind.Request(**fields))
        self.rclpy.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE)
        assert future.done(), f'no answer of {name}; the recorder: {self.close()}'
        return future.result()

    def start(self, **fields):
        return self.call(StartEpisode, 'start_episode', **fields)

    def end(self, **fields):
        return self.call(EndEpisode, 'end_episode', **fields)

    def send(self, message_type, topic, period=0.01, qos=10, lag=0.0):
        """Publishes messages with stamps from now on, `lag` s old; returns the list of stamps."""
        publisher = self.node.create_publisher(message_type, topic, qos)
        stamps = []

        def run():
            while self._sending.is_set():
                message = message_type()
                now = time.time_ns() - round(lag * 1e9)
                message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
                publisher.publish(message)
                stamps.append(now)
                time.sleep(period)

        self._senders.append(threading.Thread(target=run))
        self._senders[-1].start()
        return stamps

    def stop_sending(self):
        self._sending.clear()
        for sender in self._senders:
            sender.join()

    def close(self):
        self.stop_sending()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if self.error is None:
            self.error = self.process.communicate(timeout=PATIENCE)[1]
            self.inputs.destroy()
            self.node.destroy_node()
        return self.process.returncode, self.error


def until(condition, complaint):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, complaint
        time.sleep(0.02)


@pytest.fixture()
def make_bench(ros_context, tmp_path):
    benches = []

    def make(name, **parameters):
        benches.append(Bench(ros_context, tmp_path, name, **parameters))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()


OWN = ('/left/node_readiness', '/diagnostics')  # what the recorder says of itself


def test_a_mark_outside_of_its_episode_is_refused(make_bench):
    bench = make_bench('outside')
    started = bench.start()
    begin = stamp_ns(started.start)
    until(lambda: time.time_ns() > begin, 'it never begins')

    def mark(stamp):
        seconds, nanoseconds = divmod(stamp, 10**9)
        at = Time(sec=seconds, nanosec=nanoseconds)
        return bench.call(MarkEpisode, 'mark_episode', type=EpisodeEvent.SUCCESS, stamp=at)

    early, late = mark(begin - 2 * 10**9), mark(time.time_ns() + 3600 * 10**9)
    assert not early.success and early.message == 'it is stamped 2.000 s before the episode begins'
    assert not late.success and 's ahead of now' in late.message
    kept = [begin, time.time_ns()]
    assert all(mark(stamp).success for stamp in kept)
    bag = Bag(bench.end(outcome=EpisodeEvent.OUTCOME_SUCCESS).bag)
    events = [m for _, m in bag.messages('/outside/episode_events')]
    assert [stamp_ns(m.header.stamp) for m in events if m.type == EpisodeEvent.SUCCESS] == kept


def test_a_mark_between_the_announcement_and_the_start_is_at_the_start(make_bench):
    """As of a policy that marks as soon as start_episode has answered."""
    bench = make_bench('announced', announce=2.0)
    start = bench.start().start
    for stamp in (Time(), start):
        response = bench.call(
            MarkEpisode, 'mark_episode', type=EpisodeEvent.OPERATION_START, stamp=stamp
        )
        assert response.success, response.message
    assert time.time_ns() < stamp_ns(start), 'the machine was too busy to try it'
    bag = Bag(bench.end(outcome=EpisodeEvent.OUTCOME_SUCCESS).bag)
    events = [m for _, m in bag.messages('/announced/episode_events')]
    marks = [m for m in events if m.type == EpisodeEvent.OPERATION_START]
    assert [stamp_ns(m.header.stamp) for m in marks] == 2 * [stamp_ns(start)]


def test_a_mark_of_a_clock_that_is_ahead_by_little_is_of_now():
    from frame_ros.nodes.episode_recorder.events import outside

    start, now = 10**9, 5 * 10**9
    assert outside(start, start, now) == outside(now + 4 * 10**8, start, now) == ''
    assert '0.600 s ahead' in outside(now + 6 * 10**8, start, now)
    assert '0.001 s before' in outside(start - 10**6, start, now)


def stamps_of(bag, topic):
    return header_stamps(bag, topic).tolist()


def test_an_episode_with_all_its_topics(make_bench):
    bench = make_bench('all')
    poses = bench.send(PoseStamped, 'ee_pose')
    best_effort = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    bench.send(JointState, 'joint_states', qos=best_effort)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bench.node.create_publisher(String, 'robot_description', latched).publish(
        String(data='<robot/>')
    )
    bench.inputs.wait_until_received('ee_pose', 'joint_states', 'robot_description')
    time.sleep(1.5)
    started = bench.start(
        instruction='pick', policy='p', notes='n', attributes=[KeyValue(key='seed', value='3')]
    )
    assert started.success and Path(started.bag).parent == bench.directory
    assert Path(started.bag + '.partial').is_dir()
    late = bench.send(Image, 'late/image_raw')
    bench.inputs.wait_until_received('late/image_raw')
    marked = bench.call(MarkEpisode, 'mark_episode', type=EpisodeEvent.SUCCESS, text='done')
    assert marked.success
    ended = bench.end(outcome=EpisodeEvent.OUTCOME_SUCCESS, notes='well')
    assert ended.success and ended.bag == started.bag and ended.episode_id == started.episode_id

    bag = Bag(ended.bag)
    assert bag.problems == [] and not bag.is_truncated
    facts = {
        'instruction': 'pick',
        'policy': 'p',
        'seed': '3',
        'outcome': 'SUCCESS',
        'end_notes': 'well',
    }
    assert facts.items() <= bag.metadata.items()
    got = stamps_of(bag, '/all/ee_pose')
    start = started.start.sec * 10**9 + started.start.nanosec
    assert got == [s for s in poses if got[0] <= s <= got[-1]], 'a pose is missing'
    assert got[0] < start - 5 * 10**8, 'no pre-roll'
    assert len(stamps_of(bag, '/all/joint_states')) > 5
    assert set(stamps_of(bag, '/all/late/image_raw')) <= set(late) and late
    assert [m.data for _, m in bag.messages('/all/robot_description')] == ['<robot/>']

    (episode,) = read_bag(bag)
    kinds = [e.type for e in episode.events]
    assert kinds == [EventType.START, EventType.SUCCESS, EventType.END]
    assert episode.events[0].stamp == start and episode.events[2].outcome is Outcome.SUCCESS
    with AnyReader([Path(ended.bag)]) as reader:
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)


def test_a_bag_reaches_its_end_though_the_stream_is_computed_late(make_bench):
    bench = make_bench('slow')  # records 0.1 s behind END
    bench.send(PoseStamped, 'ee_pose', lag=1.0)
    bench.inputs.wait_until_received('ee_pose')
    assert bench.start().success
    bag = Bag(bench.end(outcome=1).bag)
    assert stamps_of(bag, '/slow/ee_pose')[-1] >= int(bag.metadata['end'])


def test_every_bag_holds_what_was_latched_and_nothing_of_another_namespace(make_bench, ros_context):
    bench = make_bench('left', pre_roll=0.0)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bench.node.create_publisher(String, 'robot_description', latched).publish(String(data='x'))
    other = ros_context.create_node('other', namespace='/right')
    publisher = other.create_publisher(PoseStamped, 'ee_pose', 10)
    bench.inputs.wait_until_received('robot_description')
    for _ in range(2):
        assert bench.start().success
        publisher.publish(PoseStamped())
        bag = Bag(bench.end(outcome=1).bag)
        counts = {name: len(topic) for name, topic in bag.topics.items() if name not in OWN}
        assert counts == {'/left/robot_description': 1, '/left/episode_events': 2}
        assert bag.name.startswith('left_')
    other.destroy_node()


def test_include_and_exclude(make_bench):
    bench = make_bench(
        'chosen',
        **{
            'topics.include': "['ee_.*', '/chosen/joint_states']",
            'topics.exclude': "['ee_twist']",
        },
    )
    for topic in ('ee_pose', 'ee_twist', 'other'):
        bench.send(PoseStamped, topic)
    bench.send(JointState, 'joint_states')
    bench.inputs.wait_until_received('ee_pose', 'joint_states')
    bench.start()
    time.sleep(0.3)
    bag = Bag(bench.end(outcome=1).bag)
    names = {'/chosen/ee_pose', '/chosen/joint_states', '/chosen/episode_events'}
    assert set(bag.topics) == names


def test_an_expected_stream_that_sends_nothing_is_told(make_bench):
    bench = make_bench('silent', **{'topics.expected': '[joint_states, wrench, ee_pose]'})
    bench.node.create_publisher(JointState, 'joint_states', 10)  # which never sends
    poses = bench.send(PoseStamped, 'ee_pose')
    images = bench.send(Image, 'front/image_raw')  # a stream, expected once it has sent
    bench.inputs.wait_until_matched('joint_states')
    bench.inputs.wait_until_received('ee_pose', 'front/image_raw')
    first = bench.start()
    time.sleep(1.5)
    ended = bench.end(outcome=1)
    wanted = {
        '/silent/joint_states': 'it has 1 publisher, and no message came',
        '/silent/wrench': 'nobody publishes it',
    }
    sidecar = json.loads((Path(first.bag) / 'episode.json').read_text())
    assert sidecar['silent'] == wanted
    for name, why in wanted.items():
        assert f'{name} sent nothing in the episode: {why}' in ended.message
    bench.stop_sending()
    bench.inputs.wait_until_taken('ee_pose', poses[-1])
    bench.inputs.wait_until_taken('front/image_raw', images[-1])
    second = bench.start()
    time.sleep(1.5)
    bench.end(outcome=1)
    sidecar = json.loads((Path(second.bag) / 'episode.json').read_text())
    assert set(sidecar['silent']) == {*wanted, '/silent/ee_pose', '/silent/front/image_raw'}
    _, error = bench.close()
    assert error.count('/silent/wrench sent nothing in the episode: nobody publishes it') == 2
    assert error.count('/silent/front/image_raw sent nothing') == 1


def test_a_bag_names_the_robot_unless_the_operator_names_one(make_bench):
    bench = make_bench('named', robot_name='fr3')
    named = []
    for pairs in ({}, {'robot': 'panda'}):
        bench.start(attributes=[KeyValue(key=key, value=value) for key, value in pairs.items()])
        bag = Path(bench.end(outcome=EpisodeEvent.OUTCOME_SUCCESS).bag)
        facts = json.loads((bag / 'episode.json').read_text())['metadata']
        named.append((facts['robot'], read_bag(Bag(bag))[0].attributes['robot']))
    assert named == [('fr3', 'fr3'), ('panda', 'panda')]


def test_services_refuse_what_makes_no_sense(make_bench):
    bench = make_bench('refuse')
    assert 'start one first' in bench.end(outcome=1).message
    assert 'start one first' in bench.call(MarkEpisode, 'mark_episode', type=3).message
    started = bench.start()
    again = bench.start()
    assert not again.success and started.episode_id in again.message
    assert 'outcome 77' in bench.end(outcome=77).message
    assert 'type 1 ' in bench.call(MarkEpisode, 'mark_episode', type=EpisodeEvent.START).message
    assert bench.end(outcome=EpisodeEvent.OUTCOME_TIMEOUT).success


def test_with_recording_off_events_are_still_published(make_bench):
    bench = make_bench('off', enabled='false')
    got = []
    latched = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bench.node.create_subscription(EpisodeEvent, 'episode_events', got.append, latched)
    started = bench.start(instruction='pick')
    ended = bench.end(outcome=1)
    assert started.success and ended.success and (started.bag, ended.bag) == ('', '')
    until(lambda: bench.rclpy.spin_once(bench.node, timeout_sec=0.1) or len(got) == 2, 'no events')
    assert [event.type for event in got] == [EpisodeEvent.START, EpisodeEvent.END]
    assert got[0].instruction == 'pick' and got[0].header.stamp == started.start
    assert list(bench.directory.iterdir()) == []


def test_sigterm_finishes_the_bag(make_bench):
    bench = make_bench('term')
    bench.send(PoseStamped, 'ee_pose')
    bench.inputs.wait_until_received('ee_pose')
    started = bench.start()
    time.sleep(0.3)
    code, error = bench.close()
    assert code == 0 and 'Traceback' not in error
    bag = Bag(started.bag)
    assert not bag.is_truncated and bag.metadata['outcome'] == 'STOPPED'
    (episode,) = read_bag(bag)
    assert episode.events[-1].type is EventType.END
    assert episode.events[-1].outcome is Outcome.STOPPED


def test_sigkill_loses_at_most_the_last_second(make_bench):
    bench = make_bench('kill')
    stamps = bench.send(PoseStamped, 'ee_pose')
    bench.inputs.wait_until_received('ee_pose')
    started = bench.start(policy='p')
    begun = time.time_ns()

    def on_disk():
        """The poses that can be read while the recorder still writes."""
        bag = Bag(started.bag + '.partial')
        return stamps_of(bag, '/kill/ee_pose') if '/kill/ee_pose' in bag.topics else []

    # Within a second what was recorded is on the disk, and more a second later.
    until(lambda: on_disk() and on_disk()[-1] > begun, 'nothing was written')
    count = len(on_disk())
    until(lambda: len(on_disk()) > count, 'nothing more was written')
    bench.process.kill()
    bench.process.wait()
    bag = Bag(started.bag + '.partial')
    got = stamps_of(bag, '/kill/ee_pose')
    assert bag.is_truncated and bag.metadata['policy'] == 'p'
    assert got == [s for s in stamps if got[0] <= s <= got[-1]], 'a pose is missing'
    assert len(got) > count
    (episode,) = read_bag(bag)
    assert episode.episode_id == started.episode_id and episode.events[0].type is EventType.START


def test_without_autostart_it_waits_for_its_transitions(make_bench):
    bench = make_bench('managed', autostart='false')
    state = bench.call(GetState, 'episode_recorder/get_state').current_state
    assert state.label == 'unconfigured'
    assert 'not active' in bench.start().message


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('topics.include', "['(']", 'not a regular expression'),
        ('directory', '/proc/nowhere', "directory '/proc/nowhere' cannot be made: No such file"),
    ],
)
def test_settings_that_cannot_work_end_the_node_with_a_message(make_bench, name, value, reason):
    bench = make_bench('wrong', **{name: value})
    code = bench.process.wait(PATIENCE)
    assert code == 1
    assert reason in bench.close()[1]


def test_live_options_hold_from_the_next_episode_on(make_bench):
    bench = make_bench('live')
    started = bench.start()
    changes = [
        ('prefix', 'later'), ('compression_level', 23), ('pre_roll', 2.0), ('prefix', '/tmp/x'),
        ('directory', '~nobody_known/runs'),
    ]  # fmt: skip
    given = [Parameter(name, value=value).to_parameter_msg() for name, value in changes]
    results = bench.call(SetParameters, 'episode_recorder/set_parameters', parameters=given).results
    assert [result.successful for result in results] == [True, False, False, False, False]
    assert 'range' in results[1].reason and 'read-only' in results[2].reason
    assert 'without /' in results[3].reason and 'a user that there is' in results[4].reason
    assert started.episode_id in bench.end().bag
    assert started.episode_id.startswith('live_episode_')
    assert bench.start().episode_id.startswith('live_later_')
    assert 'live_later_' in bench.end().bag


def test_a_bag_over_its_limit_stops_and_counts(make_bench):
    bench = make_bench('limit', **{'limits.bag': 100_000})
    publisher = bench.node.create_publisher(Image, 'image', 10)
    bench.inputs.wait_until_matched('image')
    bench.start()
    for number in range(20):
        image = Image(data=bytes(50_000))
        image.header.stamp.sec = number + 1
        publisher.publish(image)
        time.sleep(0.1)
    bench.inputs.wait_until_taken('image', 20 * 10**9)
    ended = bench.end(outcome=1)
    bag = Bag(ended.bag)
    dropped = bag.sidecar['dropped']['/limit/image']
    assert ended.success and dropped > 0
    assert len(bag.topics['/limit/image']) + dropped == 20
    assert 'limit' in json.dumps(bag.sidecar['dropped_because'])
    (episode,) = read_bag(bag)
    assert episode.data_quality['recorder.dropped'] >= dropped


@pytest.mark.parametrize('camera_images', ['raw', 'jpeg'])
def test_the_video_is_made_beside_the_bag(make_bench, camera_images):
    pytest.importorskip('av')
    bench = make_bench('video', video_topic='front/image_raw', camera_images=camera_images)
    publisher = bench.node.create_publisher(Image, 'front/image_raw', 10)
    bench.inputs.wait_until_matched('front/image_raw')
    started = bench.start()
    for number in range(5):
        image = Image(height=16, width=16, encoding='rgb8', step=48, data=bytes(768))
        image.header.stamp.sec = number + 1
        publisher.publish(image)
        time.sleep(0.05)
    bench.inputs.wait_until_taken('front/image_raw', 5 * 10**9)
    bench.end(outcome=1)
    until(Path(started.bag + '.mp4').is_file, 'no video')
    is_jpeg = camera_images == 'jpeg'
    bag = Bag(started.bag)
    assert ('/video/front/image_raw/compressed' in bag.topics) == is_jpeg
    assert ('/video/front/image_raw' in bag.topics) != is_jpeg
    images = list(iter_images(bag, 'front/image_raw'))
    assert [at // 10**9 for at, _ in images] == [1, 2, 3, 4, 5]
    assert all(image.shape == (16, 16, 3) and not image.any() for _, image in images)


def test_an_episode_does_not_begin_without_room_for_it(make_bench):
    bench = make_bench('room', **{'limits.free': 1 << 50})
    started = bench.start()
    assert not started.success and 'MiB free; limits.free asks for' in started.message
    assert [path.name for path in bench.directory.iterdir()] == [LOCK_NAME]
    assert 'start one first' in bench.end(outcome=1).message


def test_a_folder_that_vanishes_fails_the_episode_and_nothing_else(make_bench):
    bench = make_bench('gone')
    started = bench.start()
    shutil.rmtree(bench.directory)
    ended = bench.end(outcome=1)
    assert not ended.success and 'No such file' in ended.message
    assert ended.episode_id == started.episode_id
    started = bench.start()
    ended = bench.end(outcome=1)
    assert ended.success and Bag(ended.bag).sidecar['state'] == 'finished'
    assert bench.start().success
    shutil.rmtree(bench.directory)
    code, error = bench.close()
    assert code == 0 and 'Traceback' not in error and 'cannot finish the bag' in error


def test_in_simulated_time_the_clock_goes_on_while_an_episode_ends(make_bench):
    bench = make_bench('simulated', use_sim_time='true', post_roll=0.5)
    refused = bench.start()
    assert not refused.success and '/clock' in refused.message
    clock = bench.node.create_publisher(Clock, '/clock', 10)
    joints = bench.node.create_publisher(JointState, 'joint_states', 10)
    rest = threading.Event()

    def simulate():
        for step in range(1, 10**6):
            now = Clock()
            now.clock.sec, now.clock.nanosec = divmod(step * 10**7, 10**9)
            clock.publish(now)
            joints.publish(JointState())
            if rest.wait(0.01):
                return

    thread = threading.Thread(target=simulate)
    thread.start()
    try:
        bench.inputs.wait_until_received('joint_states')
        until(lambda: bench.start().success, 'no start')
        ended = bench.end(outcome=1)
    finally:
        rest.set()
        thread.join()
    assert ended.success
    bag = Bag(ended.bag)
    end = int(bag.metadata['end'])
    received = bag.received('/simulated/joint_states')
    assert end < 10**12, 'END is in simulated time'
    assert received.max() >= end + 25 * 10**7, 'it did not wait for its post-roll'
    after = received[received > end]
    assert len(set(after.tolist())) > len(after) // 3 > 5, 'the clock stood still'


def test_everything_else_is_served_while_a_start_waits_for_others(make_bench):
    bench = make_bench('waits', nodes='[/nobody]', ready_timeout=60.0)
    starting = bench.node.create_client(StartEpisode, 'start_episode')
    assert starting.wait_for_service(PATIENCE)
    # Of one client they come in order: the second finds the first, which waits.
    start, another = (starting.call_async(StartEpisode.Request()) for _ in range(2))
    bench.rclpy.spin_until_future_complete(bench.node, another, timeout_sec=PATIENCE)
    assert 'about to begin' in another.result().message
    assert 'no episode is running' in bench.end().message
    state = bench.call(GetState, 'episode_recorder/get_state')
    assert state.current_state.id == State.PRIMARY_STATE_ACTIVE
    assert not start.done()
    transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
    stopped = bench.call(ChangeState, 'episode_recorder/change_state', transition=transition)
    assert stopped.success
    bench.rclpy.spin_until_future_complete(bench.node, start, timeout_sec=PATIENCE)
    assert not start.result().success and 'not active' in start.result().message


def test_its_folder_is_marked_from_its_start_to_its_end(make_bench):
    bench = make_bench('marks')
    until(lambda: is_being_recorded(bench.directory), 'it is not marked')
    bench.close()
    assert not is_being_recorded(bench.directory)


def test_a_bag_has_no_summary_of_the_episode_before(make_bench):
    bench = make_bench('summaries')
    publisher = bench.node.create_publisher(*published(METRICS['summary']))
    bags = []
    for name in ('a', 'b'):
        assert bench.start().success
        until(publisher.get_subscription_count, 'the summary is not recorded')
        publisher.publish(EpisodeSummary(episode_id=name))
        time.sleep(1.5)  # longer than what is recorded of before an episode
        bags.append(Bag(bench.end().bag))
    found = [[m.episode_id for _, m in bag.messages(f'{bench.namespace}/episode_summary')]
             for bag in bags]  # fmt: skip
    assert found == [['a'], ['b']]


@pytest.mark.parametrize('given', ['.', 'inner/..'])
def test_its_diagnostics_name_the_folder_without_those_around_it(make_bench, tmp_path, given):
    (tmp_path / 'inner').mkdir()
    bench = make_bench('named', directory=tmp_path / given)
    heard = []
    bench.node.create_subscription(DiagnosticArray, '/diagnostics', heard.append, 10)
    until(lambda: bench.rclpy.spin_once(bench.node, timeout_sec=0.1) or heard, 'no diagnostics')
    assert {status.hardware_id for status in heard[0].status} == {bench.directory.name}


def test_a_second_recorder_in_the_namespace_ends_and_names_the_first(make_bench):
    bench = make_bench('only')
    assert bench.start().success
    command = [*bench.process.args[:3], '--ros-args', '-r', f'__ns:={bench.namespace}']
    command += ['-r', '__node:=second', '-p', f'directory:={bench.directory}']
    second = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False
    )
    assert 'another recorder runs in ROS domain' in second.stderr
    assert f'namespace {bench.namespace} (process {bench.process.pid})' in second.stderr
    assert second.returncode == 1  # it does not stay: whoever waits for it would wait in vain
    assert bench.end().success
