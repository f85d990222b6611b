# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Attempts to connect that do not end in time."""

import os
import threading
import time

import pytest
from patience import PATIENCE

from frame_ros.core.thread_priority import raise_priority
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.franky.connecting import Connecting


class Connection:
    pass


class Peer:
    """An arm that answers when it is free."""

    def __init__(self):
        self.attempts, self.threads = 0, []
        self.is_free = threading.Event()
        self.given = []

    def make(self):
        self.attempts += 1
        self.threads.append(threading.get_native_id())
        assert self.is_free.wait(PATIENCE)
        self.given.append(Connection())
        return self.given[-1]


@pytest.fixture()
def peer():
    peer = Peer()
    yield peer
    peer.is_free.set()


def fail_to_connect(connecting):
    with pytest.raises(DeviceError, match='does not answer within 0.05 s'):
        connecting.wait()


def connecting_to(peer, request, timeout=0.05, manner=''):
    return Connecting(peer.make, f'the arm of {request.node.name}', timeout, manner)


def test_an_attempt_that_was_given_up_is_taken_over_by_the_next(peer, request):
    for _ in range(3):
        connecting = connecting_to(peer, request)
        fail_to_connect(connecting)
        connecting.give_up()
    peer.is_free.set()
    assert connecting_to(peer, request, PATIENCE).wait() is peer.given[0]
    assert peer.attempts == 1


def test_what_nobody_waits_for_is_closed(peer, request):
    first = connecting_to(peer, request)
    fail_to_connect(first)
    first.give_up()
    peer.is_free.set()
    end = time.monotonic() + PATIENCE
    while not peer.given:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert connecting_to(peer, request, PATIENCE).wait() is peer.given[1]


def test_two_that_wait_have_a_connection_each(peer, request):
    first, second = (connecting_to(peer, request) for _ in range(2))
    fail_to_connect(first)
    fail_to_connect(second)
    peer.is_free.set()
    assert first.wait() is not second.wait()


def test_another_manner_is_another_attempt(peer, request):
    first = connecting_to(peer, request)
    fail_to_connect(first)
    first.give_up()
    fail_to_connect(connecting_to(peer, request, manner='enforce'))
    assert peer.attempts == 2


def test_a_thread_that_does_not_end_keeps_no_real_time_priority(peer, request):
    is_raised = []

    def make():
        is_raised.append(raise_priority(1))
        return peer.make()

    connecting = Connecting(make, f'the arm of {request.node.name}', 0.05)
    fail_to_connect(connecting)
    if is_raised != [True]:
        pytest.skip('this user may not have a real-time priority')
    assert os.sched_getparam(peer.threads[0]).sched_priority == 0


def test_a_time_out_of_the_library_itself_ends_its_attempt(request):
    attempts = []

    def make():
        attempts.append(1)
        raise TimeoutError('the library waited long enough')

    connecting = Connecting(make, f'the arm of {request.node.name}', PATIENCE)
    for _ in range(2):
        with pytest.raises(TimeoutError, match='long enough'):
            connecting.wait()
    assert len(attempts) == 2
