# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that fit their publishers, and what they say of themselves, over real topics."""

import time
from dataclasses import replace

import pytest
from attrs import evolve
from patience import PATIENCE

pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from frame_ros.core.topics import Topic
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_inputs import inputs_of
from frame_ros.nodes.runtime.node_readiness import LOGGED_AFTER, Readiness, WaitingLog, state_of
from frame_ros.nodes.runtime.options import BEST_EFFORT, RELIABLE
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.sensing.stream_health.readiness import InputState, NodeState

JOINTS = Topic('joints', 'sensor_msgs/msg/JointState')
JOINTS_LATCHED = evolve(JOINTS, qos='EVENTS')
PROFILES = [
    QoSProfile(depth=50, reliability=reliability, durability=durability)
    for reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT)
    for durability in (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL)
]
IDS = ['reliable', 'reliable-latched', 'best-effort', 'best-effort-latched']


@pytest.fixture()
def nodes(ros_context):
    made = [ros_context.create_node(name) for name in ('taker', 'giver')]
    yield made
    for node in made:
        node.destroy_node()


class Taker:
    """An input by polling, or by an executor."""

    def __init__(self, node, is_called, topic=JOINTS, **options):
        self.heard = []
        self.executor = SingleThreadedExecutor(context=node.context)
        self.executor.add_node(node)
        self.is_called = is_called
        self.input = FittingSubscription(node, topic, self.hear, is_called=is_called, **options)

    def hear(self, message):
        if isinstance(message, bytes):
            message = deserialize_message(message, JointState)
        self.heard.append(message.position[0])

    def turn(self):
        self.input.look()
        self.executor.spin_once(timeout_sec=0.01)
        if not self.is_called:
            self.input.poll()

    def until(self, condition, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not condition() and time.monotonic() < end:
            self.turn()
        return condition()


def joints(value):
    message = JointState(name=['a'], position=[float(value)])
    message.header.stamp.sec = int(value) + 1
    return message


@pytest.mark.parametrize('is_called', [False, True], ids=['polled', 'called'])
@pytest.mark.parametrize('raw', [False, True], ids=['message', 'bytes'])
@pytest.mark.parametrize('qos', PROFILES, ids=IDS)
def test_an_input_hears_publishers_of_every_kind_and_says_what_it_took(nodes, qos, raw, is_called):
    taker = Taker(nodes[0], is_called, raw=raw, is_steady=True)
    publisher = nodes[1].create_publisher(JointState, 'joints', qos)
    publisher.publish(joints(0))
    taker.until(lambda: taker.input.state().matched == 1)
    taker.until(publisher.get_subscription_count)
    for value in range(1, 6):
        publisher.publish(joints(value))
    assert taker.until(lambda: 5.0 in taker.heard)
    state = taker.input.state()
    assert state.is_reliable == (qos.reliability == ReliabilityPolicy.RELIABLE)
    assert state.is_latched == (qos.durability == DurabilityPolicy.TRANSIENT_LOCAL)
    if state.is_latched and state.is_reliable:
        assert taker.heard[0] == 0.0  # what was published before it was connected
    assert taker.heard == sorted(set(taker.heard))  # in order, and none twice
    assert (state.received, state.lost) == (len(taker.heard), 0)
    assert state.first_stamp == (int(taker.heard[0]) + 1) * 10**9
    assert state.last_stamp == 6 * 10**9
    assert 0 < state.first_received <= state.last_received <= time.time_ns()
    assert not state.problem


@pytest.mark.parametrize('is_called', [False, True], ids=['polled', 'called'])
def test_nothing_is_lost_or_doubled_when_a_best_effort_publisher_joins(nodes, is_called):
    taker = Taker(nodes[0], is_called)
    reliable = nodes[1].create_publisher(JointState, 'joints', PROFILES[0])
    assert taker.until(lambda: taker.input.state().matched == 1 and len(inputs_of(nodes[0])) == 1)
    assert taker.until(reliable.get_subscription_count)
    late = nodes[1].create_publisher(JointState, 'joints', PROFILES[2])
    end = time.monotonic() + PATIENCE
    sent, state = 0, taker.input.state()
    while sent < 300 or (state.is_reliable, state.offered, state.matched) != (False, 2, 2):
        reliable.publish(joints(sent))
        sent += 1
        taker.turn()
        time.sleep(0.002)  # best effort keeps no flood
        state = taker.input.state()
        assert time.monotonic() < end, state
    late.publish(joints(10**6))
    assert taker.until(lambda: 1e6 in taker.heard)
    assert taker.heard[:-1] == [float(value) for value in range(sent)]


@pytest.mark.parametrize('is_called', [False, True], ids=['polled', 'called'])
def test_a_live_input_hears_nothing_that_was_latched_before_it_was_there(nodes, is_called):
    publisher = nodes[1].create_publisher(JointState, 'joints', PROFILES[1])
    publisher.publish(joints(0))
    taker = Taker(nodes[0], is_called, is_live=True)
    assert taker.until(lambda: taker.input.state().matched == 1)
    assert taker.until(publisher.get_subscription_count)
    publisher.publish(joints(1))
    assert taker.until(lambda: taker.heard)
    assert taker.heard == [1.0]
    assert not taker.input.state().is_latched


@pytest.mark.parametrize('is_called', [False, True], ids=['polled', 'called'])
@pytest.mark.parametrize('overlap', [0.5, 0.0])  # s; what is latched may come after it
def test_what_several_latch_comes_once_when_the_subscription_is_replaced(
    nodes, is_called, overlap, monkeypatch
):
    monkeypatch.setattr('frame_ros.nodes.runtime.fitting_subscription.OVERLAP', overlap)
    taker, sent = Taker(nodes[0], is_called, JOINTS_LATCHED, depth=4), []
    for start in (0, 10):
        publisher = nodes[1].create_publisher(JointState, 'joints', PROFILES[1])
        assert taker.until(lambda count=publisher.get_subscription_count: count() == 1)
        for value in range(start, start + 4):
            publisher.publish(joints(value))
            sent.append(float(value))
            assert taker.until(lambda: taker.heard == sent)
    volatile = nodes[1].create_publisher(JointState, 'joints', PROFILES[0])
    assert taker.until(lambda: not taker.input.state().is_latched)
    nodes[1].destroy_publisher(volatile)
    assert taker.until(lambda: taker.input.state().is_latched)
    assert taker.until(lambda: taker.input._before is None)
    end = time.monotonic() + 1.0
    taker.until(lambda: time.monotonic() > end)
    assert taker.heard == sent


def test_an_input_that_was_ended_subscribes_no_more(nodes):
    taker = Taker(nodes[0], True)
    taker.input.destroy()
    nodes[1].create_publisher(JointState, 'joints', PROFILES[2])
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        taker.turn()
    assert not list(nodes[0].subscriptions)


def test_best_effort_stays_best_effort_where_it_is_asked_for(nodes):
    taker = Taker(nodes[0], False, reliability=BEST_EFFORT)
    nodes[1].create_publisher(JointState, 'joints', PROFILES[1])
    assert taker.until(lambda: taker.input.state().is_latched)
    assert not taker.input.state().is_reliable


def test_an_input_says_why_nothing_comes(nodes):
    taker = Taker(nodes[0], False, is_required=True, is_steady=True)
    assert taker.input.state().problem == 'nobody publishes /joints'
    assert taker.input.silence() == 'nobody publishes /joints'
    nodes[1].create_publisher(JointState, 'joints', 1)
    assert taker.until(lambda: 'no message has come' in taker.input.state().problem)
    taker.input.destroy()
    assert not inputs_of(nodes[0])


def test_readiness_is_published_latched_and_at_change(nodes):
    taker = Taker(nodes[0], False, is_required=True, is_steady=True)
    readiness = Readiness(nodes[0], 'so101')
    watch = ReadinessWatch(nodes[1], ['taker', 'absent'])
    begun = ['/taker: nobody publishes /joints', '/absent: it is not running']
    assert taker.until(lambda: watch.missing() == begun)
    publisher = nodes[1].create_publisher(JointState, 'joints', 10)
    connected = '/taker: /joints: connected, but no message has come'
    assert taker.until(lambda: watch.missing()[0] == connected)
    publisher.publish(joints(1))
    assert taker.until(lambda: watch.missing() == ['/absent: it is not running'])
    late = ReadinessWatch(nodes[1])  # and who asks later knows it too
    assert taker.until(lambda: late.missing() == [])
    state = readiness.state()
    assert (state.node, state.hardware_id, state.inputs[0].received) == ('/taker', 'so101', 1)


def test_a_node_that_stands_still_is_not_ready(nodes, monkeypatch):
    monkeypatch.setattr('frame_ros.sensing.stream_health.readiness.SILENT', 0.3)
    taker = Taker(nodes[0], False)
    readiness, watch = Readiness(nodes[0], 'so101'), ReadinessWatch(nodes[1], ['taker'])
    readiness.publish()
    assert taker.until(lambda: watch.missing() == [])
    time.sleep(0.5)  # nothing of the node runs
    (text,) = watch.missing()
    assert text.startswith('/taker: it stands still or was killed')
    readiness.publish()
    assert taker.until(lambda: watch.missing() == [])


def test_what_a_node_waits_for_is_logged_once_and_when_it_has_come():
    logged = []
    log = WaitingLog(logged.append)
    joints, images = InputState('/joints', is_required=True), InputState('/images')
    lacking = NodeState('/taker', inputs=(joints, images))
    there = NodeState('/taker', inputs=(replace(joints, offered=1, matched=1), images))
    log.take(lacking, 0.0)
    log.take(lacking, 0.9 * LOGGED_AFTER)
    assert logged == []
    log.take(there, LOGGED_AFTER)  # it came in time
    log.take(lacking, 2.0 * LOGGED_AFTER)
    log.take(lacking, 3.0 * LOGGED_AFTER)
    log.take(lacking, 9.0 * LOGGED_AFTER)
    assert logged == ['waiting: nobody publishes /joints']
    log.take(there, 10.0 * LOGGED_AFTER)
    log.take(there, 11.0 * LOGGED_AFTER)
    assert logged[1:] == ['what it waited for is there']


def test_a_state_survives_its_message(nodes):
    from frame_ros.nodes.runtime.node_readiness import readiness_message

    taker = Taker(nodes[0], False, is_required=True)
    readiness = Readiness(nodes[0], 'so101', lambda: 'taring')
    state = readiness.state()
    assert state.reason == 'taring; nobody publishes /joints'
    assert state_of(readiness_message(state)) == state
    taker.input.destroy()


def test_where_reliable_is_asked_for_a_best_effort_publisher_does_not_hold_it_up(nodes):
    taker = Taker(nodes[0], False, reliability=RELIABLE, is_required=True)
    lossy = nodes[1].create_publisher(JointState, 'joints', PROFILES[2])
    assert taker.until(lambda: taker.input.state().offered == 1)
    problem = taker.input.state().problem
    assert 'not connected to its publisher (reliable, volatile was asked for)' in problem
    # Latched and reliable: it subscribes again, is ready with it, and lets the first one go.
    good = nodes[1].create_publisher(JointState, 'joints', PROFILES[1])
    good.publish(joints(1))
    assert taker.until(lambda: taker.heard == [1.0])
    lossy.publish(joints(2))
    assert taker.until(lambda: not taker.input.state().problem)
    assert taker.until(lambda: len(list(nodes[0].subscriptions)) == 1)
    good.publish(joints(3))
    assert taker.until(lambda: taker.heard == [1.0, 3.0])
