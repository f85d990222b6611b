# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's control thread: one action per tick, whatever the inference thread is doing."""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from frame_ros.nodes.policy_episode import EpisodeGate
from frame_ros.policies.action_queue import ActionQueue

SECOND = 10**9
# How long a thread may keep the interpreter's lock while the control thread waits for it, s
# (Python's default is 5 ms).
SWITCH_INTERVAL = 0.0005
# Simulated time is looked at this often, s.
SIMULATED_POLL = 0.001


class Ticks:
    """An absolute schedule: late ticks are not made up for, and do not shift the ones after them.

    Real time runs on the monotonic clock, which nobody sets; simulated time on the node's clock.
    """

    def __init__(
        self, period: float, clock: Clock, is_simulated: bool, stop: threading.Event
    ) -> None:
        self._period = round(period * SECOND)
        self._clock, self._is_simulated, self._stop = clock, is_simulated, stop
        self._next = self._now()
        self.missed = 0

    def wait(self) -> bool:
        """Waits for the next tick; False if told to stop."""
        while not self._stop.is_set():
            late = self._now() - self._next
            if late >= 0:
                missed = late // self._period
                self.missed += missed
                self._next += (missed + 1) * self._period
                return True
            if -late > 2 * self._period:  # simulated time was set back
                self._next = self._now()
            time.sleep(SIMULATED_POLL if self._is_simulated else -late / SECOND)
        return False

    def _now(self) -> int:
        return self._clock.now().nanoseconds if self._is_simulated else time.monotonic_ns()


class ControlLoop:
    """A thread that takes one action per tick from the queue and publishes it, while an episode
    runs.

    period: s. on_change: called, in this thread, when another episode runs, or none.
    names: of the joints; they must be set before the first chunk is pushed.
    """

    def __init__(
        self,
        period: float,
        queue: ActionQueue,
        gate: EpisodeGate,
        clock: Clock,
        is_simulated: bool,
        publisher: Publisher,
        on_change: Callable[[], None],
    ) -> None:
        self.names: tuple[str, ...] = ()
        self._queue, self._gate, self._clock, self._publisher = queue, gate, clock, publisher
        self._on_change = on_change
        self._stop = threading.Event()
        self._ticks = Ticks(period, clock, is_simulated, self._stop)
        self._last_stamp = 0
        self._thread = threading.Thread(target=self._run, name='control', daemon=True)

    @property
    def missed(self) -> int:
        """Ticks that were not made because the thread came late by more than a period."""
        return self._ticks.missed

    def start(self) -> None:
        """Begins to tick."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        if self._gate.episode is not None:
            self._queue.open(self._gate.episode)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and drops the actions."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._queue.close()

    def _run(self) -> None:
        while self._ticks.wait():
            self._tick(self._clock.now().nanoseconds)

    def _tick(self, now: int) -> None:
        if self._gate.advance(now):
            if self._gate.episode is None:
                self._queue.close()
            else:
                self._queue.open(self._gate.episode)
            self._on_change()
        action, _ = self._queue.take()
        if action is None or now <= self._last_stamp:
            return
        self._last_stamp = now
        message = JointState(name=list(self.names), position=array('d', action.tobytes()))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, SECOND)
        self._publisher.publish(message)
