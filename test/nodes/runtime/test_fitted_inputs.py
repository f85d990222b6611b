# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of gate, recorder, console and identification hear publishers of every kind."""

import time

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from frame_ros.msg import EpisodeEvent, QualityMetrics
from frame_ros.nodes.console.node import ConsoleNode
from frame_ros.nodes.episode_recorder.clock import RecordingClock
from frame_ros.nodes.gate.inputs import GateInputs
from frame_ros.nodes.identification.node import IdentificationNode
from frame_ros.nodes.runtime.publisher_identity import UNKNOWN
from frame_ros.robots.joint_state_merge import FullJointState

PROFILES = [
    QoSProfile(depth=50, reliability=reliability, durability=durability)
    for reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT)
    for durability in (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL)
]
each_kind = pytest.mark.parametrize(
    'qos', PROFILES, ids=['reliable', 'reliable-latched', 'best-effort', 'best-effort-latched']
)


@pytest.fixture()
def giver(ros_context):
    node = ros_context.create_node('giver')
    yield node
    node.destroy_node()


def until(condition, each):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        each()
        time.sleep(0.02)


@each_kind
def test_who_takes_over_is_heard(giver, ros_context, qos):
    node = ros_context.create_node('gate')
    publisher, heard = giver.create_publisher(Bool, 'takeover', qos), []
    inputs = GateInputs(node, services=(), own_events=UNKNOWN, rate_limit=0.0)

    def turn():
        publisher.publish(Bool(data=True))
        heard.extend(inputs.takeovers())

    until(lambda: heard, turn)
    assert set(heard) == {True}
    inputs.close()
    node.destroy_node()


@each_kind
def test_the_recorder_follows_every_clock(giver, ros_context, qos):
    use = [Parameter('use_sim_time', value=True)]
    node = ros_context.create_node('recorder', parameter_overrides=use)
    publisher, recorded = giver.create_publisher(Clock, '/clock', qos), RecordingClock(node)
    message = Clock()
    message.clock.sec = 5
    until(lambda: recorded.now() == 5 * 10**9, lambda: publisher.publish(message))
    recorded.close()
    node.destroy_node()


@each_kind
def test_the_console_shows_what_any_publisher_says(giver, qos):
    console = ConsoleNode()
    events = giver.create_publisher(EpisodeEvent, 'episode_events', qos)
    quality = giver.create_publisher(QualityMetrics, 'quality_metrics', qos)
    start = EpisodeEvent(type=EpisodeEvent.START, episode_id='a')

    def turn():
        if console.snapshot.episode_id != 'a':
            events.publish(start)
        quality.publish(QualityMetrics(episode_id='a', time=7.5))
        console.look()

    until(lambda: console.snapshot.time == 7.5, turn)
    console.destroy_node()


@each_kind
def test_identification_takes_joint_states_and_wrenches(giver, ros_context, qos):
    node = IdentificationNode(['a', 'b'], 'wrench')
    joints = giver.create_publisher(JointState, 'joint_states', qos)
    wrenches = giver.create_publisher(WrenchStamped, 'wrench', qos)
    node.record()
    found = ([], [])

    def turn():
        stamp = giver.get_clock().now().to_msg()
        message, wrench = JointState(name=['b', 'a'], position=[2.0, 1.0]), WrenchStamped()
        message.header.stamp = wrench.header.stamp = stamp
        joints.publish(message)
        wrenches.publish(wrench)
        node.poll(0.01)
        for kept, new in zip(found, node.take(), strict=True):
            kept.extend(new)

    until(lambda: all(found), turn)
    assert found[0][-1][1].tolist() == [1.0, 2.0]
    node.destroy_node()


def test_identification_merges_the_halves_of_an_arm_at_one_time(ros_context):
    node, step = IdentificationNode(['a', 'b']), 10**7
    node.record()
    for k in range(1, 252):
        for name, at in (('a', k * step), ('b', k * step + step // 4)):
            values = np.array([at / step])
            node._on_joints(FullJointState(at, (name,), values, 2 * values, 3 * values))
    node._on_joints(FullJointState(0, ('a',), values, values, values))
    recording = node.recording(['a', 'b'])
    assert len(recording.stamps) == 250
    for k, at in enumerate(recording.stamps.tolist()):
        for row, share in ((recording.positions, 1), (recording.efforts, 3)):
            assert row[k].tolist() == pytest.approx([share * at / step] * 2)
    assert node.counts == {'incomplete': 1, 'not_later': 1}
    node.destroy_node()


def test_identification_counts_on_over_the_turns_of_a_joint_without_end(ros_context):
    """An arm that follows at the seam is not a turn behind its commands."""
    node, step = IdentificationNode(['a', 'b'], continuous=('a',)), 10**7
    node.record()
    way = 3.0 + 0.01 * np.arange(300)
    for k, position in enumerate(np.angle(np.exp(1j * way))):
        values = np.array([position, 0.5])
        node._on_joints(FullJointState((k + 1) * step, ('a', 'b'), values, values, values))
        assert node.newest().positions == pytest.approx([way[k], 0.5])
    np.testing.assert_allclose(node.recording(['a', 'b']).positions[:, 0], way, atol=1e-9)
    node.destroy_node()
