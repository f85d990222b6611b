# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The polled subscription, over real topics."""

import time

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.qos import EVENTS


@pytest.fixture()
def nodes(ros_context):
    made = [ros_context.create_node(name) for name in ('taker', 'giver')]
    yield made
    for node in made:
        node.destroy_node()


def connect(nodes, topic, qos=50, **options):
    """A polled subscription and a publisher that have found each other."""
    subscription = PolledSubscription(nodes[0], JointState, topic, qos, **options)
    publisher = nodes[1].create_publisher(JointState, topic, 50)
    end = time.monotonic() + PATIENCE
    while publisher.get_subscription_count() == 0 and time.monotonic() < end:
        time.sleep(0.01)
    return subscription, publisher


def take_all(subscription, count, timeout=PATIENCE):
    taken, end = [], time.monotonic() + timeout
    while len(taken) < count and time.monotonic() < end:
        subscription.wait(0.1)
        taken += subscription.take(7)
    return taken


def test_messages_come_in_order_and_once(nodes):
    subscription, publisher = connect(nodes, 'order')
    assert subscription.topic_name == '/order'
    assert subscription.take() == []
    before = time.time_ns()
    for i in range(30):
        publisher.publish(JointState(position=[float(i)]))
    taken = take_all(subscription, 30)
    assert [message.position[0] for message, _ in taken] == list(range(30))
    for _, info in taken:
        assert before <= info['source_timestamp'] <= info['received_timestamp'] <= time.time_ns()
    assert subscription.take() == []
    assert subscription.wait(0.05) is False


def test_a_publisher_that_does_not_match_wakes_nobody(nodes):
    """Until somebody took the event of it, each wait would have ended at once."""
    volatile = nodes[1].create_publisher(JointState, 'latched', 50)
    latched = nodes[1].create_publisher(JointState, 'latched', EVENTS)
    subscription = PolledSubscription(nodes[0], JointState, 'latched', EVENTS)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and (
        len(nodes[0].get_publishers_info_by_topic('/latched')) < 2
        or latched.get_subscription_count() == 0
    ):
        time.sleep(0.01)
    assert volatile.get_subscription_count() == 0
    begun = time.monotonic()
    assert not any(subscription.wait(0.1) for _ in range(5))
    assert time.monotonic() - begun > 0.4
    latched.publish(JointState(position=[1.0]))
    assert len(take_all(subscription, 1)) == 1


def test_take_gives_at_most_what_was_asked_for(nodes):
    subscription, publisher = connect(nodes, 'bounded')
    for _ in range(5):
        publisher.publish(JointState())
    assert len(take_all(subscription, 1)) >= 1
    assert len(subscription.take(0)) == 0


def test_raw_messages_are_the_serialised_bytes(nodes):
    subscription, publisher = connect(nodes, 'raw', raw=True)
    sent = JointState(name=['a', 'b'], position=[1.0, 2.0])
    publisher.publish(sent)
    ((data, _),) = take_all(subscription, 1)
    assert isinstance(data, bytes)
    assert deserialize_message(data, JointState) == sent


def test_two_subscriptions_of_one_node_do_not_take_from_each_other(nodes):
    first, to_first = connect(nodes, 'first')
    second, to_second = connect(nodes, 'second')
    for i in range(5):
        to_first.publish(JointState(position=[float(i)]))
        to_second.publish(JointState(position=[float(10 + i)]))
    assert [m.position[0] for m, _ in take_all(second, 5)] == [10, 11, 12, 13, 14]
    assert [m.position[0] for m, _ in take_all(first, 5)] == [0, 1, 2, 3, 4]


def test_an_executor_leaves_the_messages_of_its_nodes_polled_subscription(nodes):
    subscription, publisher = connect(nodes, 'shared')
    executor = SingleThreadedExecutor()
    executor.add_node(nodes[0])
    ticks = []
    nodes[0].create_timer(0.01, lambda: ticks.append(1))
    for _ in range(3):
        publisher.publish(JointState())
    while len(ticks) < 5:
        executor.spin_once(timeout_sec=0.1)
    assert len(take_all(subscription, 3)) == 3
    executor.shutdown()


def test_a_destroyed_subscription_is_gone_from_its_node(nodes):
    subscription, publisher = connect(nodes, 'gone')
    subscription.wait(0.01)
    subscription.destroy()
    end = time.monotonic() + PATIENCE
    while publisher.get_subscription_count() and time.monotonic() < end:
        time.sleep(0.01)
    assert publisher.get_subscription_count() == 0
