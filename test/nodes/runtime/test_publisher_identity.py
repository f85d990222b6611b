# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publisher of a message, and services that a thread polls."""

import threading
import time
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from patience import PATIENCE  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import QoSDurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from frame_ros.nodes.gate.wake_set import WakeSet  # noqa: E402
from frame_ros.nodes.runtime.polled import PolledSubscription  # noqa: E402
from frame_ros.nodes.runtime.polled_service import PolledService  # noqa: E402
from frame_ros.nodes.runtime.publisher_identity import (  # noqa: E402
    CAN_IDENTIFY,
    Publishers,
    identity_of,
)
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch  # noqa: E402


@pytest.fixture()
def node(ros_context):
    made = rclpy.create_node('listener')
    yield made
    made.destroy_node()


@pytest.mark.parametrize('raw', [False, True])
def test_a_message_says_who_published_it(node, raw):
    assert CAN_IDENTIFY
    other = rclpy.create_node('other', namespace='away')
    own, foreign = (each.create_publisher(String, '/words', 10) for each in (node, other))
    plain = PolledSubscription(node, String, '/words', 10, raw)
    named = PolledSubscription(node, String, '/words', 10, raw, is_identified=True)
    deadline = time.monotonic() + PATIENCE
    while own.get_subscription_count() + foreign.get_subscription_count() < 4:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    texts = ['short', 'long ' * 1000, 'short again']
    for text, publisher in zip(texts, (own, foreign, own), strict=True):
        publisher.publish(String(data=text))
    taken = []
    while len(taken) < 3:
        assert time.monotonic() < deadline
        named.wait(0.1)
        taken += named.take()
    without = plain.take()
    assert [message for message, _ in taken] == [message for message, _ in without]
    for (_, info), (_, known) in zip(taken, without, strict=True):
        assert {**known, **info} == {**info, 'reception_sequence_number': None}
    found = [info['publisher'] for _, info in taken]
    assert found == [identity_of(own), identity_of(foreign), identity_of(own)]
    senders = Publishers(node)
    assert [str(senders.named('/words', gid)) for gid in found[:2]] == ['/listener', '/away/other']
    assert 'not in the graph' in str(senders.named('/words', bytes(16)))
    named.destroy()
    other.destroy_node()


def test_a_publisher_is_named_once_the_graph_knows_its_node(node, monkeypatch):
    own = node.create_publisher(String, '/words', 10)
    gid, names = identity_of(own), ['_NODE_NAME_UNKNOWN_', 'late']

    def known(topic):
        found = SimpleNamespace(
            endpoint_gid=list(gid), node_namespace='/away', node_name=names.pop(0)
        )
        return [found]

    monkeypatch.setattr(node, 'get_publishers_info_by_topic', known)
    publisher = Publishers(node).named('/words', gid)
    assert 'a node not in the graph' in str(publisher)
    assert str(publisher) == '/away/late' == str(publisher)


def test_a_node_that_the_graph_has_no_name_of_is_waited_for_in_words(node, monkeypatch):
    found = [
        SimpleNamespace(node_namespace='_NODE_NAMESPACE_UNKNOWN_', node_name='_NODE_NAME_UNKNOWN_'),
        SimpleNamespace(node_namespace='/', node_name='gate'),
    ]
    monkeypatch.setattr(node, 'get_publishers_info_by_topic', lambda topic: found)
    watch = ReadinessWatch(node)
    reason = 'it has not reported yet whether it is ready'
    assert watch.missing() == [f'a node whose name is not known yet: {reason}', f'/gate: {reason}']
    watch.destroy()


def test_a_service_is_polled_or_served_by_the_executor(node):
    served = []

    def serve(request, response):
        served.append(request)
        response.success = True
        return response

    service = PolledService(node, Trigger, 'go', serve)
    client_node = rclpy.create_node('client')
    client = client_node.create_client(Trigger, 'go')
    assert client.wait_for_service(PATIENCE)
    executor, own = SingleThreadedExecutor(), SingleThreadedExecutor()
    executor.add_node(client_node)
    own.add_node(node)
    wake_set = WakeSet(node, 0, 1)
    for is_polled in (True, False, True):
        service.set_polled(is_polled)
        future, count = client.call_async(Trigger.Request()), len(served)
        deadline = time.monotonic() + PATIENCE
        while not future.done():
            assert time.monotonic() < deadline
            if is_polled:
                own.spin_once(0.0)
                assert len(served) == count
                wake_set.wait((), (service,), 0.1)
                service.poll()
            else:
                service.poll()
                assert len(served) == count
                own.spin_once(0.1)
            executor.spin_once(0.01)
            count = len(served)
        assert future.result().success
    assert len(served) == 3
    service.set_polled(False)
    wake_set.destroy()
    client_node.destroy_node()


def test_an_answer_that_waits_for_its_client_keeps_no_thread_waiting(node, monkeypatch):
    """A client that asks for latched answers is never connected to the service's."""

    def serve(request, response):
        response.success, response.message = True, 'gr\u00fcn ' * 1000
        return response

    service = PolledService(node, Trigger, 'go', serve)
    service.set_polled(True)
    other = rclpy.create_node('client')
    latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    deaf, client = (
        other.create_client(Trigger, 'go', qos_profile=q) for q in (latched, QoSProfile(depth=10))
    )
    assert client.wait_for_service(PATIENCE)
    executor = SingleThreadedExecutor()
    executor.add_node(other)
    wake_set, deadline = WakeSet(node, 0, 1), time.monotonic() + PATIENCE
    sending, sent, turns = threading.Event(), threading.Event(), 0
    send = service._calls.send

    def watched(*arguments):
        sending.set()
        result = send(*arguments)
        sent.set()
        return result

    monkeypatch.setattr(service._calls, 'send', watched)
    while turns < 10:  # of this thread during one answer; a busy machine may need another
        assert time.monotonic() < deadline
        sending.clear(), sent.clear()
        deaf.call_async(Trigger.Request())
        wake_set.wait((), (service,), PATIENCE)
        service.poll()
        turns = 0
        while not sent.is_set():
            assert time.monotonic() < deadline
            turns += sending.is_set()
            time.sleep(0.001)
    future = client.call_async(Trigger.Request())
    while not future.done():
        assert time.monotonic() < deadline
        service.poll()
        executor.spin_once(0.01)
    assert future.result().message == 'gr\u00fcn ' * 1000
    service.set_polled(False)
    wake_set.destroy()
    other.destroy_node()
