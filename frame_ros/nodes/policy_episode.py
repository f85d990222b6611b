# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When a policy may act: between the stamps of START and END, which are announced ahead."""

from __future__ import annotations

import heapq
import itertools
import threading
from dataclasses import dataclass

from frame_ros.episodes.data import EventType

# A person or a safety function stopped the robot: the policy stays silent until the next START.
ENDINGS = (EventType.END, EventType.STOP)


@dataclass(frozen=True)
class PolicyEpisode:
    """What a policy needs to know of an episode.

    seed: of its START event, if it has one. number: counts, from 0.
    """

    episode_id: str = ''
    instruction: str = ''
    seed: int | None = None
    number: int = 0


@dataclass(frozen=True)
class Boundary:
    """A START, END or STOP event that takes effect at `stamp` (ns)."""

    stamp: int
    type: EventType
    episode_id: str = ''
    instruction: str = ''
    seed: int | None = None


class EpisodeGate:
    """The episode that runs at a time; events are added by one thread, time is advanced by another.

    acts_always: between episodes an unnamed one runs.
    """

    def __init__(self, acts_always: bool = False) -> None:
        self._acts_always = acts_always
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._pending: list[tuple[int, int, Boundary]] = []
        self._count = 0
        self.episode: PolicyEpisode | None = self._next() if acts_always else None

    def add(self, boundary: Boundary) -> None:
        """Notes a boundary, which may lie in the future or in the past."""
        with self._lock:
            heapq.heappush(self._pending, (boundary.stamp, next(self._order), boundary))

    def advance(self, now: int) -> bool:
        """Applies the boundaries up to `now` (ns); returns whether `episode` became another one."""
        before = self.episode
        with self._lock:
            while self._pending and self._pending[0][0] <= now:
                self._apply(heapq.heappop(self._pending)[2])
        return self.episode is not before

    def _apply(self, boundary: Boundary) -> None:
        if boundary.type == EventType.START:
            self.episode = self._next(boundary)
        elif self.episode is not None and self._ends(boundary, self.episode):
            acts_on = self._acts_always and boundary.type != EventType.STOP
            self.episode = self._next() if acts_on else None

    def _ends(self, boundary: Boundary, episode: PolicyEpisode) -> bool:
        return boundary.type in ENDINGS and (
            not boundary.episode_id
            or not episode.episode_id
            or boundary.episode_id == episode.episode_id
        )

    def _next(self, start: Boundary | None = None) -> PolicyEpisode:
        number, self._count = self._count, self._count + 1
        if start is None:
            return PolicyEpisode(number=number)
        return PolicyEpisode(start.episode_id, start.instruction, start.seed, number)
