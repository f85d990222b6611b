# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that answers in time, and whether the machine gave it a core for that."""

from __future__ import annotations

import os

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND

NONE_LOST = -1.0


class CoreWatch:
    """Judges answers that did not come in time, by how long the thread that gives them was ready to
    run and had no core: the kernel adds that up in /proc (schedstat) once the thread runs again.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        self._asked, self._lost_since, self._lost = 0.0, NONE_LOST, 0

    def watch(self, process: int, thread: int) -> None:
        """Watches this thread from now on.

        Raises:
            SetupError: there is no such thread, or the system does not say (Linux does).
        """
        self.close()
        try:
            self._file = os.open(f'/proc/{process}/task/{thread}/schedstat', os.O_RDONLY)
        except OSError as error:
            raise SetupError(
                f'the thread {thread} of process {process} cannot be watched: {error}'
            ) from error

    def ask(self) -> None:
        """Notes that the thread is asked now."""
        self._asked = self.waited()

    def lose(self) -> None:
        """Notes that it has not answered in time."""
        if self._file is None:
            return
        if self._lost_since == NONE_LOST:
            self._lost_since, self._lost = self._asked, 0
        self._lost += 1

    def forget(self) -> None:
        """Notes that nothing is asked any more."""
        self._lost_since = NONE_LOST

    def answered(self, time: float) -> int:
        """Notes that it has answered; returns for how many of the answers that it lost in a row
        before it had no core in more than half of their time, s each.
        """
        if self._lost_since == NONE_LOST:
            return 0
        since, self._lost_since = self._lost_since, NONE_LOST
        return min(self._lost, round((self.waited() - since) / time))

    def waited(self) -> float:
        """Returns s for which the thread has been ready to run and had no core; 0 of none."""
        if self._file is None:
            return 0.0
        try:
            return int(os.pread(self._file, 80, 0).split()[1]) / SECOND
        except OSError:  # it has ended
            self.close()
            return 0.0

    def close(self) -> None:
        """Watches no thread any more."""
        file, self._file, self._lost_since = self._file, None, NONE_LOST
        if file is not None:
            os.close(file)
