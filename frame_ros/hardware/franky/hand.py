# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Franka Hand: a thread that reads its opening, and moves it to the newest goal.

The hand takes one command at a time and answers when it has ended, about a second later; then the
newest goal is the next. A connection is not given up while a command is under way: franky's thread
of it would be left without its memory, and the process would crash.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from frame_ros.core.errors import FrameRosError
from frame_ros.core.thread_priority import raise_priority
from frame_ros.hardware.franky.connecting import Connecting
from frame_ros.hardware.franky.library import franky_errors, import_franky
from frame_ros.hardware.franky.options import FciOptions

PERIOD = 0.02  # s between two states
# Below that of the arm's thread, which waits for the interpreter's lock while this one has it.
PRIORITY = 39
LEAST_CHANGE = 0.002  # m of the width between two goals that differ
LEAST_INTERVAL = 0.1  # s between two commands
RECONNECT_PERIOD = 1.0  # s
LAST_WAIT = 3.0  # s for the command under way when the thread ends
_KEPT: list[tuple[Any, Any]] = []  # connections with a command that has not ended
# A goal below what is between the fingers is a grasp, of whatever width.
ANY_WIDTH = 0.08  # m


@dataclass(frozen=True)
class HandReading:
    """Opening of the hand.

    Attributes:
        width: m between the fingers.
        speed: m/s at which it opens.
        is_grasped: True if it holds something with its force.
    """

    width: float
    speed: float
    is_grasped: bool


class FrankyHand(threading.Thread):
    """Owns the connection to the hand from `start` to `stop`.

    Attributes:
        reading: newest state; None before the first, and while it does not answer.
        problem: why there is none, in words.
        commands: commands sent so far.
        ready: set once there is a state.
    """

    def __init__(self, host: str, options: FciOptions) -> None:
        super().__init__(name='franka hand', daemon=True)
        self._franky = import_franky()
        self._host, self._options = host, options
        self._gripper: Any = None
        self._connecting = Connecting(
            lambda: self._franky.Gripper(host), f'the hand at {host}', options.connect_timeout
        )
        self._ending = threading.Event()
        self.ready = threading.Event()
        self._goal: float | None = None
        self._sent: float | None = None
        self._sent_at = self._read_at = 0.0
        self._running: Any = None  # future of the command under way
        self.reading: HandReading | None = None
        self.problem = 'not connected yet'
        self.commands = 0

    def set_goal(self, width: float) -> None:
        """Sets the opening to be reached, m; from any thread."""
        self._goal = width

    def stop(self) -> None:
        """Ends the thread; the hand keeps what it holds."""
        self._ending.set()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """The thread."""
        raise_priority(PRIORITY)
        while not self._ending.is_set():
            try:
                with franky_errors(f'no connection to the hand at {self._host}'):
                    self._gripper = self._connecting.wait()
                self.problem = ''
                while not self._ending.wait(PERIOD):
                    self._cycle()
            except FrameRosError as error:
                self.reading, self.problem = None, str(error)
                self._let_go()
                self._ending.wait(RECONNECT_PERIOD)
        self._connecting.give_up()
        self._let_go()

    def _cycle(self) -> None:
        with franky_errors('no state from the hand'):
            state = self._gripper.state
        before, width, time_before = self.reading, state.width, self._read_at
        self._read_at = time.monotonic()
        speed = 0.0 if before is None else (width - before.width) / (self._read_at - time_before)
        self.reading = HandReading(width, speed, state.is_grasped)
        self.ready.set()
        goal, now = self._goal, time.monotonic()
        if goal is None or now - self._sent_at < LEAST_INTERVAL or self._is_busy():
            return
        if self._sent is None or abs(goal - self._sent) >= LEAST_CHANGE:
            self._command(goal, width, now)

    def _is_busy(self) -> bool:
        """Returns whether a command is under way."""
        return self._running is not None and not self._running.wait(0.0)

    def _let_go(self) -> None:
        """Gives up the connection, after the command under way; one that never ends is kept."""
        end = time.monotonic() + LAST_WAIT
        while self._is_busy() and time.monotonic() < end:
            time.sleep(PERIOD)
        if self._is_busy():
            _KEPT.append((self._gripper, self._running))
        # What it was to do before is not what is wanted when it answers again.
        self._gripper = self._running = self._sent = self._goal = None

    def _command(self, goal: float, width: float, now: float) -> None:
        """Sends a goal: opening moves the fingers, closing grasps with the force."""
        options = self._options
        with franky_errors('the hand does not move'):
            if goal < width:
                self._running = self._gripper.grasp_async(
                    goal, options.gripper_speed, options.gripper_force, ANY_WIDTH, ANY_WIDTH
                )
            else:
                self._running = self._gripper.move_async(goal, options.gripper_speed)
        self._sent, self._sent_at = goal, now
        self.commands += 1
