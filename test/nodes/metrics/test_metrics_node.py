# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics node as a process of its own, over real topics."""

import math
import signal
import subprocess
import sys
import time

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from turning_arm import TURNING, urdf

from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.msg import (
    ContactState,
    EfficiencyMetrics,
    EpisodeEvent,
    EpisodeSummary,
    PolicyInference,
    Proximity,
    QualityMetrics,
    SafetyMetrics,
)
from frame_ros.nodes.metrics.options import MetricsOptions
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.robots import load_robot

LATCHED = QoSProfile(
    depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
INPUTS = {
    'pose': (PoseStamped, 'ee_pose', 50, STREAMS['pose'].from_message),
    'action': (JointState, 'joint_commands', 50, STREAMS['action'].from_message),
    'contact': (ContactState, 'contact', 50, STREAMS['contact'].from_message),
    'proximity': (Proximity, 'proximity', 50, STREAMS['proximity'].from_message),
    'inference': (PolicyInference, 'policy_inference', 50, STREAMS['inference'].from_message),
    'event': (EpisodeEvent, 'episode_events', LATCHED, event_of),
}
OUTPUTS = {
    'quality': (QualityMetrics, 'quality_metrics', 200),
    'safety': (SafetyMetrics, 'safety_metrics', 200),
    'efficiency': (EfficiencyMetrics, 'efficiency_metrics', 200),
    'summary': (EpisodeSummary, 'episode_summary', 10),
    'config': (String, 'metrics_config', LATCHED),
}


@pytest.fixture()
def metrics_node(ros_context, tmp_path):
    """A node of this test with publishers and collected outputs, and the log of the metrics node,
    which is a process of its own."""
    log = tmp_path / 'log'
    process = subprocess.Popen(
        [sys.executable, '-m', 'frame_ros.nodes.metrics', '--ros-args', '-p', 'hold:=5.0'],
        stderr=log.open('w'),
    )
    node = ros_context.create_node('tester')
    node.outputs = {kind: [] for kind in OUTPUTS}
    node.inputs = {
        stream: node.create_publisher(kind, topic, qos)
        for stream, (kind, topic, qos, _) in INPUTS.items()
    }
    for kind, (message_type, topic, qos) in OUTPUTS.items():
        node.create_subscription(message_type, topic, node.outputs[kind].append, qos)
    node.sent = []
    spin_until(node, lambda: all(p.get_subscription_count() for p in node.inputs.values()))
    yield node, log
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0, log.read_text()
    assert 'Traceback' not in log.read_text()
    node.destroy_node()


def spin_until(node, condition, timeout=PATIENCE):
    import rclpy

    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, (
            f'nothing after {timeout} s: { {k: len(v) for k, v in node.outputs.items()} }'
        )
        rclpy.spin_once(node, timeout_sec=0.05)


def now(node):
    return node.get_clock().now().nanoseconds


def send(node, stream, message, stamp):
    message.header.stamp = time_message(stamp)
    node.inputs[stream].publish(message)
    node.sent.append((stream, stamp, INPUTS[stream][3](message)))


def event(node, kind, stamp, **fields):
    send(node, 'event', EpisodeEvent(type=kind, episode_id='e', source='test', **fields), stamp)


def step(node, i, names):
    t, stamp = i / 30, now(node)
    contact = ContactState(in_contact=i % 20 > 10, in_collision=i % 20 > 15, force=float(i))
    send(node, 'contact', contact, stamp)
    send(node, 'proximity', Proximity(distance=0.1 + 0.05 * math.sin(t)), stamp)
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.y = math.sin(3 * t), math.cos(2 * t)
    pose.pose.orientation.x, pose.pose.orientation.w = math.sin(t / 2), math.cos(t / 2)
    send(node, 'pose', pose, stamp)
    positions = [0.3 * math.sin(t + k) for k in range(len(names))]
    send(node, 'action', JointState(name=names, position=positions), stamp)
    if i % 15 == 0:
        send(node, 'inference', PolicyInference(latency=0.05 + 0.001 * i, sequence=i), stamp)


def hear(node):
    """Takes what has arrived, and lets the time of a step pass: no queue may run over."""
    import rclpy

    end = time.monotonic() + 1 / 60
    while (left := end - time.monotonic()) > 0:
        rclpy.spin_once(node, timeout_sec=left)


def run_episode(node, steps):

    names = list(load_robot('so101').joint_limits)
    event(node, EpisodeEvent.START, now(node) + SECOND // 10)
    for i in range(steps):
        if i == steps // 2:
            event(node, EpisodeEvent.SUCCESS, now(node))
        step(node, i, names)
        hear(node)
    end = now(node) + SECOND // 10
    event(node, EpisodeEvent.END, end, outcome=EpisodeEvent.OUTCOME_SUCCESS)
    while now(node) < end + SECOND // 2:
        step(node, 0, names)
        hear(node)


def test_live_topics_equal_the_pipeline_on_the_same_messages(metrics_node):
    node, _ = metrics_node
    run_episode(node, steps=90)
    spin_until(
        node,
        lambda: node.outputs['summary'] and node.outputs['summary'][0].steps <= steps_heard(node),
    )
    config = PipelineOptions.from_json(node.outputs['config'][0].data)
    pipeline = MetricPipeline(config)
    for stream, stamp, value in sorted(node.sent, key=lambda sample: sample[0] != 'event'):
        pipeline.feed(stream, stamp, value)
    offline = {(s.kind, s.stamp): s for s in pipeline.finish()}
    compared = 0
    for kind in ('quality', 'safety', 'efficiency'):
        for message in node.outputs[kind]:
            if message.episode_id:
                compared += compare(offline[kind, stamp_ns(message.header.stamp)], message)
    assert compared > 90  # of up to 270, as a busy machine lets pass
    (summary,) = node.outputs['summary']
    assert summary.outcome == EpisodeEvent.OUTCOME_SUCCESS
    assert summary.steps == steps_heard(node)
    assert 0 < summary.time_to_success < summary.duration
    assert any(line.startswith('ate: ') for line in summary.unavailable)


def steps_heard(node):
    return sum(bool(message.episode_id) for message in node.outputs['quality'])


def compare(sample, message):
    for name, value in zip(sample.fields, sample.row):
        live = getattr(message, name)
        assert live == pytest.approx(value, rel=1e-9, abs=1e-300, nan_ok=True), name
    return 1


def test_bad_input_is_named_and_does_not_stop_the_node(metrics_node):
    node, log = metrics_node
    stamp = now(node)
    for i in range(5):
        send(node, 'action', JointState(name=['no_such_joint'], position=[0.1]), stamp + i)
        send(node, 'pose', PoseStamped(), 0)
    node.inputs['event'].publish(EpisodeEvent(type=99))
    for text in ('action.invalid: 5', 'no_such_joint', 'type 99'):
        spin_until(node, lambda text=text: text in log.read_text())
    run_episode(node, steps=15)
    spin_until(node, lambda: node.outputs['summary'])


@pytest.mark.parametrize('normalises', [True, False])
def test_the_options_name_the_joints_that_turn_without_end(tmp_path, normalises):
    """By the URDF alone, for actions that are normalised or not."""
    for kind, expected in (('continuous', TURNING), ('revolute', ())):
        path = tmp_path / f'{kind}.urdf'
        path.write_text(urdf(kind))
        made = MetricsOptions(robot=str(path), normalise_actions=normalises).pipeline()
        assert made.continuous == expected
        assert (made.bounds is not None) is (normalises and kind == 'revolute')
        assert PipelineOptions.from_json(made.to_json()) == made
