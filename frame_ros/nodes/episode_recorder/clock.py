# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder's time. It goes on while the executor is busy with a service."""

from __future__ import annotations

import threading
import time

from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.topics import CLOCK

WAIT = 0.1
PAUSE = 0.005
LATEST = 10.0


class RecordingClock:
    """ROS time: the system's clock, or with `use_sim_time` the newest message of /clock.

    The node's own clock follows /clock in the executor, and so stands still during a callback. This
    one has a subscription and a thread of its own. Where /clock stands still (a paused simulation),
    so does this clock: receive times are then equal, and a bag keeps the order.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.is_simulated = bool(node.get_parameter('use_sim_time').value)
        self._newest = 0
        self._advanced = time.monotonic()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if self.is_simulated:
            self._subscription = FittingSubscription(
                node, CLOCK, depth=1, reliability=BEST_EFFORT, is_live=True,
                is_required=True, is_steady=True,
            )  # fmt: skip
            self._thread = threading.Thread(target=self._follow, name='clock', daemon=True)
            self._thread.start()

    def now(self) -> int:
        """The time, ns; 0 if it is simulated and nothing came on /clock yet."""
        return self._newest if self.is_simulated else self._node.get_clock().now().nanoseconds

    def wait_until(self, stamp: int, patience: float = 2.0) -> bool:
        """Blocks until a time, ns; returns whether it came.

        Gives up 10 s late, and when a simulated clock stands still for `patience` s.
        """
        self._advanced = time.monotonic()
        give_up = self._advanced + max(0, stamp - self.now()) / SECOND + LATEST
        while self.now() < stamp:
            moment = time.monotonic()
            is_still = self.is_simulated and moment > self._advanced + patience
            if is_still or moment > give_up:
                return False
            time.sleep(PAUSE)
        return True

    def close(self) -> None:
        """Ends the thread; the time then stands still if it is simulated."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
            self._subscription.destroy()

    def _follow(self) -> None:
        while not self._stop.is_set() and self._node.context.ok():
            self._subscription.wait(WAIT)
            for message, _ in self._subscription.take():
                stamp = stamp_ns(message.clock)
                if stamp != self._newest:
                    self._newest, self._advanced = stamp, time.monotonic()


async def pause(node: Node, seconds: float, group: CallbackGroup) -> None:
    """Waits in an async callback. group: of the callback, and reentrant: a mutually exclusive one
    would keep the timer, and whatever else is in it, waiting too.
    """
    over = Future()
    timer = node.create_timer(
        seconds,
        lambda: over.set_result(None),
        callback_group=group,
        clock=Clock(clock_type=ClockType.STEADY_TIME),
    )
    try:
        await over
    finally:
        node.destroy_timer(timer)
