# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ticks of a steady control thread."""

from __future__ import annotations

import threading
import time
from collections import deque

from rclpy.clock import Clock

from frame_ros.core.time import SECOND

# How long a thread may keep the interpreter's lock while the control thread waits for it, s
# (Python's default is 5 ms).
SWITCH_INTERVAL = 0.0002
# Simulated time is looked at this often, s.
SIMULATED_POLL = 0.001
LATENESS_WINDOW = 4096  # ticks whose lateness is kept


class Ticks:
    """An absolute schedule: late ticks are not made up for, and do not shift the ones after them.

    Real time runs on the monotonic clock, which nobody sets; simulated time on the node's clock,
    and begins with the first message on /clock: before that there are no ticks.
    missed: ticks that were not made because `wait` returned late by more than a period. lateness:
    ns, of the last ticks.
    """

    def __init__(
        self, period: float, clock: Clock, is_simulated: bool, stop: threading.Event
    ) -> None:
        self._period = round(period * SECOND)
        self._clock, self._is_simulated, self._stop = clock, is_simulated, stop
        self._next = self._now()
        self.missed = 0
        self.lateness: deque[int] = deque(maxlen=LATENESS_WINDOW)

    def wait(self) -> bool:
        """Waits for the next tick; False if stopped."""
        while not self._stop.is_set():
            now = self._now()
            if self._next == 0 < now:
                self._next = now
            late = now - self._next
            if late >= 0 and now:
                missed = late // self._period
                self.missed += missed
                self.lateness.append(late)
                self._next += (missed + 1) * self._period
                return True
            if -late > 2 * self._period:  # simulated time was set back
                self._next = now
            time.sleep(SIMULATED_POLL if self._is_simulated else -late / SECOND)
        return False

    def _now(self) -> int:
        return self._clock.now().nanoseconds if self._is_simulated else time.monotonic_ns()
