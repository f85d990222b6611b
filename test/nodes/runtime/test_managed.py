# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Managed nodes answer while they wait for something outside, and may be tried again."""

import threading
import time

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.executors import SingleThreadedExecutor

from frame_ros.core.errors import AbsentError, SetupError
from frame_ros.nodes.runtime import managed
from frame_ros.nodes.runtime.managed import ManagedNode


class Waiting(ManagedNode):
    """A node whose server is not there at first."""

    def __init__(self, **options):
        super().__init__('waiting', **options)
        self.answer = threading.Event()
        self.errors = []

    def _configure(self):
        assert self.answer.wait(PATIENCE)
        if self.errors:
            raise self.errors.pop(0)

    def _start(self):
        pass

    def _stop(self):
        pass

    def _release(self):
        pass


@pytest.fixture()
def bench(ros_context):
    node = Waiting(is_deferred=True)
    client = ros_context.create_node('client')
    executor = SingleThreadedExecutor()
    other = SingleThreadedExecutor()
    executor.add_node(node)
    other.add_node(client)
    stop = threading.Event()
    threads = [threading.Thread(target=spin, args=(each, stop)) for each in (executor, other)]
    for thread in threads:
        thread.start()
    yield node, client, stop
    node.answer.set()
    stop.set()
    for thread in threads:
        thread.join()
    node.destroy_node()
    client.destroy_node()


def spin(executor, stop):
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.05)


def call(client, kind, name, **request):
    service = client.create_client(kind, f'waiting/{name}')
    assert service.wait_for_service(PATIENCE)
    return service.call_async(kind.Request(**request))


def result(future, timeout=PATIENCE):
    end = time.monotonic() + timeout
    while not future.done():
        assert time.monotonic() < end, 'no answer'
        time.sleep(0.01)
    return future.result()


def state_of(client):
    return result(call(client, GetState, 'get_state')).current_state.id


def change(client, transition):
    return call(client, ChangeState, 'change_state', transition=Transition(id=transition))


def test_get_state_is_answered_while_configure_waits_and_a_failure_may_be_tried_again(bench):
    node, client, _ = bench
    node.errors.append(AbsentError('no server at ws://127.0.0.1:1'))
    configured = change(client, Transition.TRANSITION_CONFIGURE)
    assert state_of(client) == State.TRANSITION_STATE_CONFIGURING
    assert not configured.done()
    again = result(change(client, Transition.TRANSITION_CONFIGURE))
    assert not again.success  # one is under way
    node.answer.set()
    assert not result(configured).success
    assert state_of(client) == State.PRIMARY_STATE_UNCONFIGURED
    reason = node.readiness.state().reason
    assert reason == 'it could not be configured: no server at ws://127.0.0.1:1'
    assert result(change(client, Transition.TRANSITION_CONFIGURE)).success
    assert result(change(client, Transition.TRANSITION_ACTIVATE)).success
    assert state_of(client) == State.PRIMARY_STATE_ACTIVE
    assert node.readiness.state().reason == ''


def test_a_node_ends_when_the_transition_that_is_under_way_is_through(ros_context):
    node, client = Waiting(is_deferred=True), ros_context.create_node('client')
    stop, other_stop, executor = threading.Event(), threading.Event(), SingleThreadedExecutor()
    executor.add_node(client)
    other = threading.Thread(target=spin, args=(executor, other_stop))
    run = threading.Thread(target=managed._spin, args=(node, stop))
    other.start()
    run.start()
    change(client, Transition.TRANSITION_CONFIGURE)
    while state_of(client) != State.TRANSITION_STATE_CONFIGURING:
        pass
    stop.set()
    run.join(0.5)
    assert run.is_alive()
    node.answer.set()
    run.join()
    assert node._state_machine.current_state[0] == State.PRIMARY_STATE_INACTIVE
    other_stop.set()
    other.join()
    node.destroy_node()
    client.destroy_node()


def test_autostart_tries_again_while_something_is_absent(bench, monkeypatch):
    monkeypatch.setattr(managed, 'RETRIES', (0.05,))
    node, client, stop = bench
    node.errors += [AbsentError('no server'), AbsentError('no server')]
    node.autostart(True)
    node.answer.set()
    node.start_when_spinning(stop)
    assert state_of(client) == State.PRIMARY_STATE_ACTIVE
    assert node.exit_code is None and not node.errors


@pytest.mark.parametrize('patience', [0.0, 3600.0])
def test_what_comes_up_with_the_node_is_no_error_at_first(bench, monkeypatch, patience, capfd):
    monkeypatch.setattr(managed, 'RETRIES', (0.05,))
    node, _, stop = bench
    node.patience = lambda: patience
    node.errors += [AbsentError('no server'), AbsentError('no server')]
    node.autostart(True)
    node.answer.set()
    node.start_when_spinning(stop)
    printed = ''.join(capfd.readouterr())
    said = '[INFO]' if patience else '[ERROR]'
    lines = [line for line in printed.splitlines() if 'no server' in line]
    assert len(lines) == 2 and all(said in line for line in lines)
    assert ('[WARN]' in printed) == (not patience) and 'tried again in' in printed


def test_absence_beyond_the_patience_is_an_error(bench, monkeypatch, capfd):
    monkeypatch.setattr(managed, 'RETRIES', (0.3,))
    node, _, stop = bench
    node.patience = lambda: 0.2
    node.errors += [AbsentError('no server'), AbsentError('no server')]
    node.autostart(True)
    node.answer.set()
    node.start_when_spinning(stop)
    lines = [line for line in ''.join(capfd.readouterr()).splitlines() if 'no server' in line]
    assert '[ERROR]' in lines[-1]


def test_autostart_ends_the_node_for_what_no_waiting_mends(bench):
    node, client, stop = bench
    node.errors.append(SetupError('no such robot'))
    node.autostart(True)
    node.answer.set()
    node.start_when_spinning(stop)
    assert node.exit_code == 1
    assert state_of(client) == State.PRIMARY_STATE_UNCONFIGURED


def test_a_fault_of_ours_after_something_absent_is_not_tried_for_ever(bench, monkeypatch):
    monkeypatch.setattr(managed, 'RETRIES', (0.05,))
    node, client, stop = bench
    node.errors += [AbsentError('no server'), RuntimeError('a fault'), RuntimeError('again')]
    node.autostart(True)
    node.answer.set()
    node.start_when_spinning(stop)
    assert node.exit_code == 1
    assert len(node.errors) == 1
    assert node.readiness.state().reason.endswith('RuntimeError: a fault')


def test_starting_waits_while_somebody_else_configures(bench, monkeypatch):
    monkeypatch.setattr(managed, 'RETRIES', (0.05,))
    node, client, stop = bench
    node.autostart(True)
    configured = change(client, Transition.TRANSITION_CONFIGURE)
    while state_of(client) != State.TRANSITION_STATE_CONFIGURING:
        pass
    starter = threading.Thread(target=node.start_when_spinning, args=(stop,))
    starter.start()
    starter.join(0.2)
    assert starter.is_alive()
    node.answer.set()
    assert result(configured).success
    starter.join(20.0)
    assert state_of(client) == State.PRIMARY_STATE_ACTIVE and node.exit_code is None
