# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Answers that come late because the machine gave the thread no core, and others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.scenes.core_watch import CoreWatch

BUSY = 'while True: pass'


@pytest.fixture
def watch():
    found = CoreWatch()
    yield found
    found.close()


@pytest.fixture
def spinners():
    """Processes that share one core, so that each is ready to run and waits."""
    core = min(os.sched_getaffinity(0))
    started = [subprocess.Popen([sys.executable, '-c', BUSY]) for _ in range(2)]
    for process in started:
        os.sched_setaffinity(process.pid, {core})
    yield started
    for process in started:
        process.kill()
        process.wait()


def wait_until(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def waited(watch):
    return watch.spent()[1]


def test_a_late_answer_of_a_thread_without_a_core(watch, spinners):
    pid = spinners[0].pid
    watch.watch(pid, pid)
    began = time.monotonic()
    watch.ask()
    asked = waited(watch)
    watch.lose()
    wait_until(lambda: waited(watch) > asked + 0.05)
    watch.ask()
    watch.lose()
    # Both of the two that it lost, since the first one.
    lost = watch.answered()
    assert lost.number == 2 and 0.05 < lost.waited <= lost.ended - lost.asked
    assert began <= lost.asked < lost.ended <= time.monotonic()
    assert lost.core == min(os.sched_getaffinity(0))
    assert watch.answered() is None


def test_answers_that_were_lost_while_it_ran(watch, spinners):
    pid = spinners[0].pid
    watch.watch(pid, pid)
    watch.ask()
    ran = watch.spent()[0]
    for _ in range(3):
        watch.lose()
    wait_until(lambda: watch.spent()[0] > ran + 0.05)
    lost = watch.answered()
    assert lost.number == 3 and lost.ran > 0.05


def test_a_late_answer_of_a_thread_that_sleeps(watch):
    is_ended = threading.Event()
    thread = threading.Thread(target=is_ended.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        watch.watch(os.getpid(), thread.native_id)
        state = Path(f'/proc/{os.getpid()}/task/{thread.native_id}/stat')
        wait_until(lambda: state.read_text().rpartition(')')[2].split()[0] == 'S')
        watch.ask()
        watch.lose()
        time.sleep(0.1)
        # It was not ready to run: the machine is not to blame, however busy it is.
        lost = watch.answered()
        assert lost.waited == lost.ran == 0.0 and lost.ended - lost.asked > 0.1
    finally:
        is_ended.set()
        thread.join()


def test_nothing_is_lost_where_nothing_is_watched(watch):
    watch.ask()
    watch.lose()
    assert watch.answered() is None and watch.spent() == (0.0, 0.0)


def test_a_thread_that_does_not_exist(watch):
    with pytest.raises(SetupError, match='thread 999999999 of process .* cannot be watched'):
        watch.watch(os.getpid(), 999999999)


def test_a_thread_that_ends_is_watched_no_more(watch):
    process = subprocess.Popen([sys.executable, '-c', BUSY])
    watch.watch(process.pid, process.pid)
    process.kill()
    process.wait()
    assert watch.spent() == (0.0, 0.0)
    watch.lose()
    assert watch.answered() is None


def test_a_thread_that_ends_with_an_answer_lost_is_no_longer_judged(watch):
    process = subprocess.Popen([sys.executable, '-c', BUSY])
    watch.watch(process.pid, process.pid)
    wait_until(lambda: watch.spent()[0] > 0.05)
    watch.ask()
    watch.lose()
    process.kill()
    process.wait()
    assert watch.answered() is None


def test_what_a_thread_did_before_it_was_watched_is_of_no_answer(watch, spinners):
    pid = spinners[0].pid
    other = CoreWatch()
    other.watch(pid, pid)
    wait_until(lambda: waited(other) > 0.2)
    other.close()
    began = time.monotonic()
    watch.watch(pid, pid)  # after the question that it does not answer in time
    watch.lose()
    lost = watch.answered()
    assert began <= lost.asked and lost.waited <= lost.ended - lost.asked


def test_what_is_not_asked_any_more_is_not_lost(watch, spinners):
    watch.watch(spinners[0].pid, spinners[0].pid)
    watch.ask()
    watch.lose()
    watch.forget()
    assert watch.answered() is None
