# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""OT, references and the low-pass of the metrics node, over real topics and tf."""

import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from input_watch import InputWatch
from patience import PATIENCE

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Path as PathMessage
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.table import STREAMS
from frame_ros.bags.writer import BagWriter
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.msg import EpisodeEvent, EpisodeSummary, GraspState, QualityMetrics
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.robots import load_robot

ROOT = Path(__file__).resolve().parent.parent.parent.parent
LATCHED = QoSProfile(
    depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
NAMES = list(load_robot('so101').joint_limits)
STEPS = 45


INPUTS = {
    'event': (EpisodeEvent, 'episode_events', LATCHED, event_of),
    'pose': (PoseStamped, 'ee_pose', 50, STREAMS['pose'].from_message),
    'action': (JointState, 'joint_commands', 50, STREAMS['action'].from_message),
    'object': (PoseStamped, 'object_pose', 50, STREAMS['object'].from_message),
    'goal': (PoseStamped, 'goal_pose', LATCHED, STREAMS['object'].from_message),
    'grasp': (GraspState, 'grasp', 50, STREAMS['grasp'].from_message),
}


class Bench:
    """The metrics node in a process of its own, and what is sent to it and heard of it."""

    def __init__(self, rclpy, log, parameters, streams):
        self.rclpy, self.node = rclpy, rclpy.create_node('tester')
        self.quality, self.summaries, self.settings, self.paths = [], [], [], []
        self.published = []
        for kind, topic, qos, heard in (
            (QualityMetrics, 'quality_metrics', 200, self.quality),
            (EpisodeSummary, 'episode_summary', 10, self.summaries),
            (String, 'metrics_config', LATCHED, self.settings),
            (PathMessage, 'reference_path', LATCHED, self.paths),
        ):
            self.node.create_subscription(kind, topic, heard.append, qos)
        self.streams = streams
        self.inputs = {
            s: self.node.create_publisher(INPUTS[s][0], INPUTS[s][1], INPUTS[s][2]) for s in streams
        }
        self.sent = []
        self.grasp, self.why = None, ''  # a state that lasts, and why it is not known
        self.watch = InputWatch(self.node)
        self.log = log
        self.process = start(parameters, stderr=log.open('w'))

    def until(self, condition, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None, self.state()
            self.rclpy.spin_once(self.node, timeout_sec=0.02)

    def state(self):
        heard = len(self.quality), len(self.summaries), self.process.poll()
        counts = {s: p.get_subscription_count() for s, p in self.inputs.items()}
        return f'heard {heard}, subscriptions {counts}'

    def ready(self):
        """Waits until all is connected, with the quality of service that publishers offer."""
        self.until(lambda: all(p.get_subscription_count() for p in self.inputs.values()))
        self.watch.wait_until_matched(*(INPUTS[stream][1] for stream in self.streams))
        if 'goal' in self.inputs:
            self.watch.wait(lambda: self.watch['goal_pose'].is_latched)

    def now(self):
        return self.node.get_clock().now().nanoseconds

    def send(self, stream, message, stamp):
        if stream not in self.inputs:
            return
        message.header.stamp = time_message(stamp)
        self.inputs[stream].publish(message)
        self.sent.append((stream, stamp, INPUTS[stream][3](message)))

    def event(self, kind, stamp, **values):
        self.send('event', EpisodeEvent(type=kind, episode_id='e', **values), stamp)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.rclpy.spin_once(self.node, timeout_sec=left)

    def step(self, i, frame='base_link'):
        stamp, t = self.now(), i / 30
        self.send('object', pose((0.3, 0.01 * math.sin(t), 0.0), frame), stamp)
        state = GraspState.HELD if 15 <= i < 30 else GraspState.EMPTY
        decided = GraspState(state=self.grasp if self.grasp is not None else state, reason=self.why)
        self.send('grasp', decided, stamp)
        self.send('pose', pose((0.2 * math.sin(t), 0.1 * math.cos(2 * t), 0.1)), stamp)
        positions = [0.3 * math.sin(t + k) for k in range(len(NAMES))]
        self.send('action', JointState(name=NAMES, position=positions), stamp)

    def run(self, steps=STEPS, frame='base_link'):
        self.event(EpisodeEvent.START, self.now() + SECOND // 10)
        for i in range(steps):
            self.step(i, frame)
            self.wait(1 / 60)
        end = self.now() + SECOND // 10
        self.event(EpisodeEvent.END, end, outcome=EpisodeEvent.OUTCOME_SUCCESS)
        while self.now() < end + SECOND // 2:
            self.step(0, frame)
            self.wait(1 / 60)
        self.until(lambda: self.summaries)

    def offline(self):
        pipeline = MetricPipeline(PipelineOptions.from_json(self.settings[-1].data))
        pipeline.pose_frame = 'base_link'
        for stream, stamp, value in sorted(self.sent, key=lambda s: s[0] != 'event'):
            pipeline.feed(stream, stamp, value)
        return {s.stamp: s.values for s in pipeline.finish() if s.kind == 'quality'}

    def reasons(self):
        return dict(line.split(': ', 1) for line in self.summaries[-1].unavailable)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code, errors = self.process.wait(PATIENCE), self.log.read_text()
        assert code == 0 and 'Traceback' not in errors, errors
        self.watch.destroy()
        self.node.destroy_node()
        return errors


def start(parameters, stderr=subprocess.PIPE):
    arguments = [f'{name}:={value}' for name, value in {'hold': '5.0', **parameters}.items()]
    return subprocess.Popen(
        [sys.executable, '-m', 'frame_ros.nodes.metrics', '--ros-args',
         *(part for argument in arguments for part in ('-p', argument))],
        stderr=stderr, text=True,
    )  # fmt: skip


def pose(position, frame='base_link'):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y, message.pose.position.z = position
    message.pose.orientation.w = 1.0
    return message


@pytest.fixture()
def bench(ros_context, tmp_path):
    benches = []

    def make(streams, **parameters):
        log = tmp_path / f'{len(benches)}.log'
        streams = ('event', 'pose', 'action', *streams)
        benches.append(Bench(ros_context, log, parameters, streams))
        return benches[-1]

    yield make
    for each in benches:
        if each.process.poll() is None:
            each.stop()


def assert_as_offline(bench, *names):
    """Every live row of the episode has the pipeline's own values; returns the columns."""
    offline, live = bench.offline(), [m for m in bench.quality if m.episode_id]
    assert len(live) > STEPS - 10
    for message in live:
        values = offline[stamp_ns(message.header.stamp)]
        for name in (
            *names,
            'is_grasped',
            'ate_reference',
            'rte_reference',
            'pl',
            'lagging',
            'low_pass_cutoff',
        ):
            expected = pytest.approx(values[name], rel=1e-9, nan_ok=True)
            assert getattr(message, name) == expected, name
    return {n: np.array([getattr(m, n) for m in live], float) for n in (*names, 'is_grasped')}


def test_ot_by_topics_with_a_goal_that_was_latched_before(bench):
    task = bench(('object', 'grasp', 'goal'), ot_task='put_in')
    task.send('goal', pose((-0.2, 0.2, 0.1), ''), task.now())
    task.ready()
    task.run()
    columns = assert_as_offline(task, 'ot', 'ot_step', 'ot_mean')
    assert (
        np.isfinite(columns['ot_step']).sum() > STEPS - 10 and 5 < columns['is_grasped'].sum() < 30
    )
    assert 'ot' not in task.reasons() and task.reasons()['ate'].startswith('no reference')
    facts = json.loads(task.settings[-1].data)
    assert facts['topics']['object'] == '/object_pose' and facts['topics']['grasp'] == '/grasp'
    assert facts['known']['goal'][1:] == [-0.2, 0.2, 0.1, '']


def test_a_grasp_that_is_not_known_is_said_and_leaves_no_ot(bench):
    task = bench(('object', 'grasp', 'goal'), ot_task='move')
    task.grasp, task.why = GraspState.UNKNOWN, 'the finger is silent'
    task.send('goal', pose((-0.2, 0.2, 0.1)), task.now())
    task.ready()
    task.run()
    columns = assert_as_offline(task, 'ot', 'ot_mean')
    assert np.isnan(columns['ot']).all() and not columns['is_grasped'].any()
    assert task.reasons()['ot'] == 'the grasp is not known: the finger is silent'


def test_wrong_frames_are_named_and_do_not_stop_the_node(bench):
    task = bench(('object', 'grasp'), ot_task='put_on')
    task.ready()
    task.run(frame='camera')
    assert "in the frame 'camera'; expected is 'base_link'" in task.reasons()['ot']
    assert all(math.isnan(m.ot) for m in task.quality)
    counts = {pair.key: int(pair.value) for pair in task.summaries[0].data_quality}
    assert counts['object.wrong_frame'] > STEPS - 10
    task.event(EpisodeEvent.START, task.now() + SECOND // 10)
    end = time.monotonic() + PATIENCE
    for text in ("'camera'", 'object.wrong_frame'):
        while text not in task.log.read_text():
            task.step(0, 'camera')
            task.wait(1 / 60)
            assert time.monotonic() < end, text


def write_demonstration(folder, has_poses=True):
    """A bag of the motion of `Bench.step`, 1 cm higher."""
    from rclpy.serialization import serialize_message

    writer = BagWriter(folder)
    begin = 1_700_000_000 * SECOND
    events = writer.add_topic('/episode_events', 'frame_ros/msg/EpisodeEvent')

    def write(channel, message, stamp):
        message.header.stamp = time_message(stamp)
        writer.write(channel, stamp, serialize_message(message))

    write(events, EpisodeEvent(type=EpisodeEvent.START, episode_id='demo'), begin)
    if has_poses:
        poses = writer.add_topic('/ee_pose', 'geometry_msgs/msg/PoseStamped')
        for i in range(60):
            t = i / 30
            place = (0.2 * math.sin(t), 0.1 * math.cos(2 * t), 0.11)
            write(poses, pose(place), begin + i * SECOND // 60)
    end = EpisodeEvent(type=EpisodeEvent.END, episode_id='demo', outcome=1)
    write(events, end, begin + 2 * SECOND)
    return writer.finish()


def test_ate_against_a_demonstration_and_the_low_pass(bench, tmp_path):
    bag = write_demonstration(tmp_path / 'demonstration')
    task = bench((), references=f"['{bag}']", low_pass_cutoff=3.0, rte_delta=2)
    task.ready()
    task.run()
    columns = assert_as_offline(task, 'ate', 'rte')
    # Steps that a busy machine sends late are compared with later places; none is farther away.
    assert 0.01 <= columns['ate'][-1] < math.dist((0.2, 0.1, 0.11), (-0.2, -0.1, 0.1))
    assert np.isfinite(columns['rte'][-1])
    assert {m.ate_reference for m in task.quality if m.episode_id} == {0}
    assert {m.low_pass_cutoff for m in task.quality} == {3.0}
    task.until(lambda: task.paths)
    assert len(task.paths[0].poses) == 60 and task.paths[0].header.frame_id == 'base_link'
    (reference,) = PipelineOptions.from_json(task.settings[-1].data).references
    assert reference.origin == f'demo ({bag})'
    assert task.reasons()['ot'] == 'no task is set (ot_task)'
    assert 'reference 0: demo' in task.stop()


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'references': "['{bag}']"}, 'blind: no poses of the TCP, so it is no reference'),
        ({'references': "['/nowhere/at_all']"}, '/nowhere/at_all'),
        ({'ot_task': 'juggle'}, "ot_task is 'juggle'; it must be empty, pick"),
    ],
)
def test_what_cannot_be_ends_the_node_with_one_clear_line(
    ros_domain, tmp_path, parameters, message
):
    bag = write_demonstration(tmp_path / 'blind', has_poses=False)
    given = {name: value.format(bag=bag) for name, value in parameters.items()}
    process = start(given)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1 and 'Traceback' not in errors
    line = errors.strip().splitlines()[-1]
    assert line.startswith('[FATAL] ') and '[metrics]: ' in line and message in line


def test_poses_from_tf(request, tf2_environment):
    """Runs in a process of its own, which has tf2_msgs from the start, where it had to be built."""
    if tf2_environment is None:
        check_poses_from_tf(request.getfixturevalue('bench'))
        return
    this = f'{__file__}::{test_poses_from_tf.__name__}'
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', this]
    done = subprocess.run(command, cwd=ROOT, env=tf2_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '1 passed' in done.stdout


def check_poses_from_tf(bench):
    from tf2_msgs.msg import TFMessage

    task = bench(
        ('grasp',),
        ot_task='put_in',
        object_frame='cube',
        goal_frame='bin',
    )
    fixed = task.node.create_publisher(TFMessage, 'tf_static', LATCHED)
    moving = task.node.create_publisher(TFMessage, 'tf', 50)
    heard = {'object': [], 'goal': []}
    for stream, found in heard.items():
        task.node.create_subscription(PoseStamped, f'{stream}_pose', found.append, LATCHED)

    def transform(parent, child, place, stamp):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id, message.header.stamp = parent, time_message(stamp)
        move, turn = message.transform.translation, message.transform.rotation
        move.x, move.y, move.z = place
        turn.z, turn.w = math.sin(math.pi / 4), math.cos(math.pi / 4)
        return message

    mounts = [('base_link', 'camera', (1.0, 0.0, 0.0)), ('base_link', 'bin', (0.0, 0.4, 0.0))]
    fixed.publish(TFMessage(transforms=[transform(*mount, task.now()) for mount in mounts]))
    task.ready()
    task.until(moving.get_subscription_count)
    plain = task.step

    def move_cube(i):
        place = (0.1 + 0.001 * i, 0.2, 0.0)
        moving.publish(TFMessage(transforms=[transform('camera', 'cube', place, task.now())]))

    def step(i, frame):
        move_cube(i)
        plain(i, frame)

    # Once poses arrive here, none of the run is missed.
    while not heard['object']:
        move_cube(0)
        task.wait(1 / 60)
    task.step = step
    task.run()
    task.until(lambda: len(heard['object']) > STEPS and heard['goal'])
    # A quarter turn about z, then 1 m along x.
    for stream, place in (('object', (0.8, 0.1, 0.0)), ('goal', (0.0, 0.4, 0.0))):
        *found_place, frame = STREAMS['object'].from_message(heard[stream][0])
        assert found_place == pytest.approx(place) and frame == 'base_link'
    for stream, found in heard.items():
        for message in found:
            stamp = stamp_ns(message.header.stamp)
            task.sent.append((stream, stamp, STREAMS['object'].from_message(message)))
    task.sent.sort(key=lambda sample: sample[1])
    columns = assert_as_offline(task, 'ot', 'ot_step', 'ot_mean')
    assert np.isfinite(columns['ot_step']).sum() > STEPS - 10
    assert json.loads(task.settings[-1].data)['topics']['object'] == '/object_pose'
    # What never moves is said again when the TCP poses are in another frame.
    fixed.publish(
        TFMessage(transforms=[transform('world', 'base_link', (0.0, 0.0, 1.0), task.now())])
    )
    task.send('pose', pose((0.0, 0.0, 0.0), 'world'), task.now())
    task.until(lambda: heard['goal'][-1].header.frame_id == 'world')
    *found_place, _ = STREAMS['object'].from_message(heard['goal'][-1])
    assert found_place == pytest.approx((-0.4, 0.0, 1.0))
