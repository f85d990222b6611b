# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calls in the thread in which a node spins, where its services run too."""

import time

from patience import PATIENCE


def in_own_thread(node, act):
    """Runs `act` in the executor that spins the node, and returns what it returned.

    A transition destroys subscriptions: in another thread it may do so while the executor collects
    what it waits for, which ends that thread with InvalidHandle.
    """
    task = node.executor.create_task(act)
    end = time.monotonic() + PATIENCE
    while not task.done():
        assert time.monotonic() < end, f'{node.get_name()} never ran {act.__name__}'
        time.sleep(0.005)
    return task.result()
