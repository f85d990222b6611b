# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that must not wait for those that compute.

Where the system permits it (Linux, with CAP_SYS_NICE or a limit RLIMIT_RTPRIO of the user), a
thread gets a real-time priority: it runs at once when it wakes, before all threads without one. It
must have little to do at a time: one that never sleeps leaves the others of its core what the
kernel keeps back (/proc/sys/kernel/sched_rt_runtime_us, 5 % by default). Threads and processes that
it makes are without one.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

# Of Fast DDS, the threads that receive: of shared memory and of UDP.
RECEIVING = 'dds.shm.', 'dds.udp.'


def raise_priority(priority: int) -> bool:
    """Gives the calling thread a real-time priority, 1 to 99; returns whether it was permitted.

    0: leaves it as it is.
    """
    if priority <= 0 or not hasattr(os, 'SCHED_FIFO'):
        return False
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError:
        return False
    return True


def raise_receiving(priority: int) -> int:
    """Gives the middleware's threads that receive for this process a real-time priority, 1 to 99,
    where that is permitted; returns how many. All topics of a process come by one queue, from which
    a thread that waits for its core loses messages, also reliable ones until they are repeated.
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


def lower_priority() -> None:
    """Takes the real-time priority from the calling thread again, if it has one."""
    if hasattr(os, 'SCHED_FIFO') and os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK:
        # Only a privileged user may take SCHED_RESET_ON_FORK away again (sched(7)).
        policy = os.SCHED_OTHER | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(0))
