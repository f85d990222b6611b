# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Warnings of a node on simulated time when no time comes, instead of waiting in silence."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from rclpy.node import Node

from frame_ros.nodes.runtime.topics import CLOCK

PATIENCE = 5.0  # s without a time after which it warns
PERIOD = 0.5  # s between two looks


@contextlib.contextmanager
def clock_watched(node: Node, patience: float = PATIENCE) -> Iterator[None]:
    """While the `with` block runs, a node with `use_sim_time` warns once if no time has come on
    /clock after `patience` s, and reports when it comes at last. A node on the system's clock is
    left alone.

    It looks from a plain thread: a timer of the node would wait for the same clock. The time itself
    reaches the node by its executor, so the block must run one.
    """
    clock: Any = node.get_clock()
    if not clock.ros_time_is_active:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(node, patience, stop), daemon=True, name='clock')
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _watch(node: Node, patience: float, stop: threading.Event) -> None:
    """Until the first time has come, or `stop`."""
    clock: Any = node.get_clock()
    logger = node.get_logger()
    begun = time.monotonic()
    has_warned = False
    while not stop.wait(min(PERIOD, patience)):
        if clock.now().nanoseconds or not clock.ros_time_is_active:
            if has_warned:
                logger.info(f'the time has come on {CLOCK.name}')
            return
        if not has_warned and time.monotonic() >= begun + patience:
            has_warned = True
            logger.warning(_complaint(patience, node.count_publishers(CLOCK.name)))


def _complaint(waited: float, publishers: int) -> str:
    """Returns what is wrong, and what would be right."""
    if publishers:
        return (
            f'use_sim_time is set and {CLOCK.name} has {publishers} publisher(s), but the time was '
            f'still 0 after {waited:g} s, and this node waits for it: is the simulation paused?'
        )
    return (
        f'use_sim_time is set, but nobody publishes {CLOCK.name} after {waited:g} s, and this node '
        f'waits for it: start what does (a simulation, or a bag played with its clock), or leave '
        f'use_sim_time out, as with a real arm and in the demo'
    )
