# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the samples of several streams into the order of their stamps, however they arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from frame_ros.episodes.stamps import SECOND

Handler = Callable[[int, Any], None]


class StampMerge:
    """Releases samples in stamp order once every waited-for stream has passed them, or after a hold.

    A stream has passed a stamp when its newest sample is at or behind it. A stream that has been silent for
    `silence`, also at the very start, is not waited for. At equal stamps the stream named first in `handlers` goes first.
    """

    def __init__(
        self,
        handlers: dict[str, Handler],
        waits_for: Iterable[str],
        hold: float = 0.05,
        silence: float = 1.0,
    ) -> None:
        """`handlers`: stream -> what takes (stamp, value). `hold` and `silence` in s."""
        self._order = {name: i for i, name in enumerate(handlers)}
        self._handlers = list(handlers.values())
        self._newest: dict[str, int | None] = dict.fromkeys(waits_for)
        self._hold = int(hold * SECOND)
        self._silence = int(silence * SECOND)
        self._heap: list[tuple[int, int, int, int, Any]] = []
        self._pushed = 0
        self._first = 0
        self.frontier = 0  # stamp that every waited-for stream had passed at the last drain
        self.released = 0  # stamp up to which samples have been handed on
        self.late = dict.fromkeys(handlers, 0)

    def push(self, stream: str, stamp: int, value: Any, now: int = 0, ahead: bool = False) -> None:
        """Takes a sample that arrived at `now`; one announced `ahead` is due only when its stamp is.

        stamp, now: ns on one clock.
        """
        newest = self._newest
        if stream in newest:
            newest[stream] = stamp
            if not self._first:
                self._first = stamp
        if stamp < self.released:
            self.late[stream] += 1
        self._pushed += 1
        due = (stamp if ahead and stamp > now else now) + self._hold
        heappush(self._heap, (stamp, self._order[stream], self._pushed, due, value))

    def lagging(self, stamp: int) -> list[str]:
        """The waited-for streams that are alive but have not passed `stamp`."""
        return [
            name
            for name, newest in self._newest.items()
            if newest is not None and newest < stamp <= newest + self._silence
        ]

    def drain(self, now: int | None = None) -> None:
        """Hands on all that is in order; with `now` (ns) also what has been held for long enough."""
        heap, handlers = self._heap, self._handlers
        self.frontier = frontier = self._find_frontier() if self._newest else 0
        while heap:
            stamp, order, _, due, value = heap[0]
            if stamp > frontier and (now is None or due > now):
                return
            heappop(heap)
            if stamp > self.released:
                self.released = stamp
            handlers[order](stamp, value)

    def flush(self) -> None:
        """Hands on everything, as at the end of a bag."""
        while self._heap:
            stamp, order, _, _, value = heappop(self._heap)
            self.released = max(self.released, stamp)
            self._handlers[order](stamp, value)

    def forget(self) -> None:
        """After the clock was set anew: hands on everything, then knows no stamps."""
        self.flush()
        self._newest = dict.fromkeys(self._newest)
        self._first = self.released = self.frontier = 0

    def _find_frontier(self) -> int:
        """The stamp that every living waited-for stream has passed; 0 if there is none."""
        stamps = self._newest.values()
        if None not in stamps:
            lowest = min(stamps, default=0)
            if lowest >= max(stamps, default=0) - self._silence:
                return lowest
        known = [newest for newest in stamps if newest is not None]
        if not known:
            return 0
        alive = max(known) - self._silence
        if len(known) < len(stamps) and alive < self._first:
            return 0
        return min(newest for newest in known if newest >= alive)
