# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the samples of several streams into the order of their stamps, however they arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from frame_ros.core.time import SECOND

Handler = Callable[[int, Any], None]


class StampMerge:
    """Releases samples in stamp order once every waited-for stream has passed them, or after a
    hold.

    A stream has passed a stamp when its newest sample is at or behind it. A stream of which nothing
    has arrived for `silence`, also at the very start, is not waited for. The hold counts from a
    sample's arrival, beyond the period of the slowest stream waited for: what comes every 100 ms
    cannot have passed a stamp earlier. At equal stamps the stream named first in `handlers` goes
    first.

    What is `sporadic` may come once and stay valid: it is waited for, and lags, only while it comes
    again and again.
    """

    def __init__(
        self,
        handlers: dict[str, Handler],
        waits_for: Iterable[str],
        hold: float = 0.05,
        silence: float = 1.0,
        sporadic: Iterable[str] = (),
    ) -> None:
        """`handlers`: stream -> what takes (stamp, value). `hold` and `silence` in s. `sporadic`:
        some of `waits_for`.
        """
        self._order = {name: i for i, name in enumerate(handlers)}
        self._handlers = list(handlers.values())
        self._newest: dict[str, Any] = dict.fromkeys(waits_for)  # name -> stamp, None: not seen
        self._periods = dict.fromkeys(self._newest, 0)
        self._arrived = dict.fromkeys(self._newest, 0)
        # Sporadic streams are in the three tables only while they come again and again.
        self._sporadic = dict.fromkeys(sporadic, 0)  # name -> last stamp
        for name in self._sporadic:
            self._leave(name)
        self._hold = int(hold * SECOND)
        self._silence = int(silence * SECOND)
        self._heap: list[tuple[int, int, int, int, Any]] = []
        self._pushed = 0
        self._first = 0
        self.passed = 0  # stamp that every waited-for stream seen so far had passed, last drain
        self.released = 0  # stamp up to which samples have been handed on
        self.late = dict.fromkeys(handlers, 0)

    def push(
        self, stream: str, stamp: int, value: Any, now: int | None = None, ahead: bool = False
    ) -> None:
        """Takes a sample that arrived at `now`, at its stamp if not said; one announced `ahead` is
        held from its stamp on.

        stamp, now: ns.
        """
        if now is None:
            now = stamp
        newest = self._newest
        if stream in self._sporadic:
            self._join(stream, stamp, now)
        if stream in newest:
            last = newest[stream]
            if last is not None:
                self._follow_period(stream, stamp - last)
            newest[stream] = stamp
            self._arrived[stream] = now
            if not self._first:
                self._first = now
        if stamp < self.released:
            self.late[stream] += 1
        self._pushed += 1
        held_from = stamp if ahead and stamp > now else now
        heappush(self._heap, (stamp, self._order[stream], self._pushed, held_from, value))

    def waiting(self, stream: str) -> int:
        """Number of samples of a stream have not been handed on."""
        order = self._order[stream]
        return sum(entry[1] == order for entry in self._heap)

    def lagging(self, stamp: int) -> list[str]:
        """The waited-for streams seen so far that have not passed `stamp`."""
        return [
            name for name, newest in self._newest.items() if newest is not None and newest < stamp
        ]

    def drain(self, now: int | None = None) -> None:
        """Hands on all that is in order; with `now` (ns) also what was held long enough."""
        heap, handlers = self._heap, self._handlers
        if not heap:
            return
        frontier = self._find_frontier() if self._newest else 0
        held = None if now is None else now - self._hold - max(self._periods.values(), default=0)
        while heap:
            stamp, order, _, held_from, value = heap[0]
            if stamp > frontier and (held is None or held_from > held):
                return
            heappop(heap)
            if stamp > self.released:
                self.released = stamp
            handlers[order](stamp, value)

    def drain_before(self, stamp: int) -> None:
        """Hands on all that is before a stamp (ns), behind which all is that is still to come."""
        heap, handlers = self._heap, self._handlers
        while heap and heap[0][0] < stamp:
            released, order, _, _, value = heappop(heap)
            self.released = max(self.released, released)
            handlers[order](released, value)

    def flush(self, keep: str = '') -> None:
        """Hands on everything, as at the end of a bag, but the samples of the stream `keep`."""
        kept_order = self._order.get(keep, -1)
        kept = []
        while self._heap:
            entry = heappop(self._heap)
            stamp, order, _, _, value = entry
            if order == kept_order:
                kept.append(entry)
                continue
            self.released = max(self.released, stamp)
            self._handlers[order](stamp, value)
        self._heap.extend(kept)

    def forget(self, stream: str, stamp: int) -> None:
        """The clock of a stream was reset, to `stamp` (ns): what is far from it is not waited
        for.

        Streams on the old clock are known again from their next sample on.
        """
        for name, newest in self._newest.items():
            if name == stream or (newest is not None and abs(newest - stamp) > self._silence):
                self._newest[name] = None
                self._periods[name] = 0
        for name in self._sporadic:
            self._sporadic[name] = 0
            self._leave(name)
        self._first = 0
        self.passed = self.released = 0

    def _join(self, stream: str, stamp: int, now: int) -> None:
        """A sporadic stream that has come within the silence before is waited for."""
        last = self._sporadic[stream]
        self._sporadic[stream] = stamp
        if stream not in self._newest and last and 0 < stamp - last < self._silence:
            self._newest[stream], self._periods[stream] = last, 0
            self._arrived[stream] = now

    def _leave(self, stream: str) -> None:
        for table in (self._newest, self._periods, self._arrived):
            table.pop(stream, None)

    def _follow_period(self, stream: str, interval: int) -> None:
        """A longer interval counts at once, shorter ones little by little; a silence is none."""
        if 0 < interval < self._silence:
            period = self._periods[stream]
            change = interval - period
            self._periods[stream] = interval if change > 0 else period + change // 8

    def _find_frontier(self) -> int:
        """The stamp that every living waited-for stream has passed; 0 if there is none."""
        newest, arrived = self._newest.values(), self._arrived.values()
        if None not in newest and min(arrived) >= max(arrived) - self._silence:
            self.passed = lowest = min(newest)
            return lowest
        oldest = max(arrived) - self._silence
        for name in self._sporadic:
            if name in self._newest and self._arrived[name] < oldest:
                self._leave(name)
        known = {name: stamp for name, stamp in self._newest.items() if stamp is not None}
        if not known:
            return 0
        alive = max(self._arrived[name] for name in known) - self._silence
        if len(known) < len(newest) and alive < self._first:
            return 0
        self.passed = min(known.values())
        return min(stamp for name, stamp in known.items() if self._arrived[name] >= alive)
