# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A thread's real-time priority, where the system permits it."""

import os
import subprocess
import sys
import threading

import pytest
from patience import PATIENCE

from frame_ros.core.thread_priority import inherited_priority, lower_priority, raise_priority

if not hasattr(os, 'SCHED_FIFO'):
    pytest.skip('no real-time scheduling here', allow_module_level=True)


def scheduler() -> int:
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK


def in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_it_is_of_one_thread_and_not_of_those_it_makes():
    def raised():
        if not raise_priority(7):
            return None
        own = (scheduler(), os.sched_getparam(0).sched_priority)
        made = in_thread(scheduler)
        lower_priority()
        return own, made, scheduler()

    before = scheduler()  # that of a node of another test, perhaps
    found = in_thread(raised)
    if found is None:
        pytest.skip('this user may not have a real-time priority')
    assert found == ((os.SCHED_FIFO, 7), os.SCHED_OTHER, os.SCHED_OTHER)
    assert scheduler() == before


def test_threads_of_a_block_have_a_priority_and_who_starts_them_has_its_own():
    def starts():
        if not raise_priority(7, is_inherited=True):
            return None
        with pytest.raises(ZeroDivisionError), inherited_priority(9):
            inside = in_thread(lambda: os.sched_getparam(0).sched_priority)
            1 / 0  # noqa: B018
        return inside, os.sched_getscheduler(0), os.sched_getparam(0).sched_priority

    found = in_thread(starts)
    if found is None:
        pytest.skip('this user may not have a real-time priority')
    assert found == (9, os.SCHED_FIFO, 7)


def test_none_leaves_the_thread_as_it_is():
    assert not raise_priority(0)
    lower_priority()
    assert scheduler() == os.SCHED_OTHER


UNPRIVILEGED = """
import os
from frame_ros.core.thread_priority import lower_priority, raise_priority
raised = raise_priority(40)
os.setgroups([]), os.setgid(65534), os.setuid(65534)
lower_priority()
print(raised, os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason='needs privileges to drop')
def test_a_user_without_privileges_can_take_it_away_again():
    """A user who has it by a limit in limits.conf may not clear SCHED_RESET_ON_FORK."""
    command = [sys.executable, '-c', UNPRIVILEGED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.stdout.startswith('False'):
        pytest.skip('this system permits no real-time priority')
    assert done.stdout.split() == ['True', str(os.SCHED_OTHER)], done.stderr
