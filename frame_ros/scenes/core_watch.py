# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that answers in time, and what the machine gave it where it did not."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND

LAST_CORE = 36  # place in /proc/PID/task/TID/stat, behind the name


class LostAnswers(NamedTuple):
    """Answers in a row that did not come in time.

    Attributes:
        number: how many.
        asked: s of time.monotonic(), when the first was asked for.
        ended: the same, when the next answer came.
        waited: s of these for which the thread was ready to run and had no core.
        ran: s for which it ran.
        core: on which it had run last as the first was lost.
    """

    number: int
    asked: float
    ended: float
    waited: float
    ran: float
    core: int


class CoreWatch:
    """Notes answers that did not come in time, and how long meanwhile the thread that gives them
    ran, and was ready to run and had no core: the kernel adds that up in /proc (schedstat) once the
    thread runs again.
    """

    def __init__(self) -> None:
        self._schedule: int | None = None
        self._state: int | None = None
        self._asked = (0.0, 0.0, 0.0)  # s: when, and what it had run and waited then
        self._first = self._asked  # of the first that was lost
        self._core = self._lost = 0

    def watch(self, process: int, thread: int) -> None:
        """Watches this thread from now on.

        Raises:
            SetupError: there is no such thread, or the system does not say (Linux does).
        """
        self.close()
        folder = f'/proc/{process}/task/{thread}'
        try:
            self._schedule = os.open(f'{folder}/schedstat', os.O_RDONLY)
            self._state = os.open(f'{folder}/stat', os.O_RDONLY)
        except OSError as error:
            self.close()
            raise SetupError(
                f'the thread {thread} of process {process} cannot be watched: {error}'
            ) from error
        self.ask()  # what it did before is of no answer

    def ask(self) -> None:
        """Notes that the thread is asked now."""
        self._asked = (time.monotonic(), *self.spent())

    def lose(self) -> None:
        """Notes that it has not answered in time."""
        if self._schedule is None:
            return
        if not self._lost:
            self._first, self._core = self._asked, self._last_core()
        self._lost += 1

    def forget(self) -> None:
        """Notes that nothing is asked any more."""
        self._lost = 0

    def answered(self) -> LostAnswers | None:
        """Notes that it has answered; returns those that it lost in a row before, if it did and
        has not ended since.
        """
        now_ran, now_waited = self.spent()
        number, self._lost = self._lost, 0
        if not number:
            return None
        asked, ran, waited = self._first
        return LostAnswers(
            number, asked, time.monotonic(), now_waited - waited, now_ran - ran, self._core
        )

    def spent(self) -> tuple[float, float]:
        """Returns s for which the thread has run, and has been ready to run and had no core; 0 of
        none.
        """
        words = self._read(self._schedule)
        return (int(words[0]) / SECOND, int(words[1]) / SECOND) if words else (0.0, 0.0)

    def _last_core(self) -> int:
        words = self._read(self._state)
        return int(words[LAST_CORE]) if words else -1

    def _read(self, file: int | None) -> list[bytes]:
        """Returns the words of a file in /proc, behind the name; none of a thread that ended."""
        if file is None:
            return []
        try:
            return os.pread(file, 1024, 0).rpartition(b')')[2].split()
        except OSError:
            self.close()
            return []

    def close(self) -> None:
        """Watches no thread any more."""
        for file in (self._schedule, self._state):
            if file is not None:
                os.close(file)
        self._schedule = self._state = None
        self._lost = 0
