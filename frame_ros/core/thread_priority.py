# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that must not wait for those that compute.

Where the system permits it (Linux, with CAP_SYS_NICE or a limit RLIMIT_RTPRIO of the user), a
thread gets a real-time priority: it runs as soon as it wakes, before all threads without one. It
must do little at a time: one that never sleeps leaves the others of its core only what the kernel
reserves (/proc/sys/kernel/sched_rt_runtime_us, 5 % by default). Threads and processes that it
starts do not inherit the priority, unless that is asked for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

# The Fast DDS threads that receive: from shared memory and UDP.
RECEIVING = 'dds.shm.', 'dds.udp.'


def raise_priority(priority: int, is_inherited: bool = False, thread: int = 0) -> bool:
    """Gives a thread a real-time priority, 1 to 99; 0 leaves it unchanged. Returns whether the
    system permitted it.

    is_inherited: threads that it starts have it too. thread: its native id; 0: the calling one.
    """
    if priority <= 0 or not hasattr(os, 'SCHED_FIFO'):
        return False
    try:
        policy = os.SCHED_FIFO | (0 if is_inherited else os.SCHED_RESET_ON_FORK)
        os.sched_setscheduler(thread, policy, os.sched_param(priority))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def inherited_priority(priority: int) -> Iterator[None]:
    """Gives the threads that are started inside a `with` block a real-time priority, 1 to 99, where
    the system permits it; the calling one has its own again behind it.
    """
    if not hasattr(os, 'SCHED_FIFO'):
        yield
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    is_raised = raise_priority(priority, is_inherited=True)
    try:
        yield
    finally:
        if is_raised:
            os.sched_setscheduler(0, *before)


def raise_receiving(priority: int) -> int:
    """Gives the middleware's receiving threads of this process a real-time priority, 1 to 99.

    All topics of a process come through one queue, from which a thread that waits for its core
    loses messages, even reliable ones until they are repeated.

    Returns:
        The number of threads for which the system permitted it.
    """
    raised = 0
    if priority <= 0 or not hasattr(os, 'SCHED_FIFO'):
        return raised
    for task in Path('/proc/self/task').glob('*'):
        with contextlib.suppress(OSError):  # it has ended, or it is not permitted
            if (task / 'comm').read_text().startswith(RECEIVING):
                policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
                os.sched_setscheduler(int(task.name), policy, os.sched_param(priority))
                raised += 1
    return raised


def lower_priority(thread: int = 0) -> None:
    """Removes a thread's real-time priority, if it has one and has not ended.

    thread: its native id; 0: the calling one.
    """
    if not hasattr(os, 'SCHED_FIFO'):
        return
    with contextlib.suppress(ProcessLookupError):
        if os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK:
            # Only a privileged user may clear SCHED_RESET_ON_FORK (sched(7)).
            policy = os.SCHED_OTHER | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(thread, policy, os.sched_param(0))
