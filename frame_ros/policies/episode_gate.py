# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which a policy may act: between START and END, announced ahead, without a takeover.

A STOP is obeyed when it is received, whatever its stamp.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from dataclasses import dataclass, replace

from frame_ros.core.events import EventType
from frame_ros.gate.episode import push_earliest

# The user or a safety function stopped the robot: the policy stays silent until the next START.
ENDINGS = (EventType.END, EventType.STOP)
TAKEOVERS = (EventType.INTERVENTION_START, EventType.INTERVENTION_END)
BOUNDARIES = (EventType.START, *ENDINGS, *TAKEOVERS)


@dataclass(frozen=True)
class PolicyEpisode:
    """An episode as a policy needs it."""

    episode_id: str = ''
    instruction: str = ''
    seed: int | None = None  # of its START event, if it has one
    number: int = 0  # counts, from 0
    start: str = ''  # names its START, also to a node that was started since; '': there was none


@dataclass(frozen=True)
class Boundary:
    """An event of BOUNDARIES that takes effect at `stamp` (ns)."""

    stamp: int
    type: EventType
    episode_id: str = ''
    instruction: str = ''
    seed: int | None = None


class EpisodeGate:
    """The episode that runs at a time; events are added by one thread, time is advanced by another.

    Attributes:
        episode: the one that runs.
        acting: the same while the policy acts in it, None during a takeover; afterwards an equal
            but other object: to the policy it is a new episode.
        acts_always: between episodes an unnamed one runs.
    """

    def __init__(self, acts_always: bool = False) -> None:
        self._acts_always = acts_always
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._pending: list[tuple[int, int, Boundary]] = []
        self._count = 0
        self._now: int | None = None  # the time that was applied last
        self.episode: PolicyEpisode | None = self._next() if acts_always else None
        self.acting = self.episode

    def add(self, boundary: Boundary) -> None:
        """Notes a boundary, in the future or in the past. A STOP takes effect at the next tick,
        even if its sender's clock is ahead, and cancels a START that was announced before it.
        """
        with self._lock:
            if boundary.type == EventType.STOP and self._now is not None:
                boundary = replace(boundary, stamp=min(boundary.stamp, self._now))
                self._cancel_starts(boundary)
            push_earliest(self._pending, (boundary.stamp, next(self._order), boundary))

    def advance(self, now: int) -> bool:
        """Applies the boundaries up to `now` (ns); returns whether `acting` became another one."""
        before = self.acting
        with self._lock:
            self._now = now
            while self._pending and self._pending[0][0] <= now:
                self._apply(heapq.heappop(self._pending)[2])
        return self.acting is not before

    def _cancel_starts(self, stop: Boundary) -> None:
        """Forgets the pending STARTs that the stop concerns."""
        self._pending = [
            entry
            for entry in self._pending
            if entry[2].type != EventType.START or not _concerns(stop, entry[2])
        ]
        heapq.heapify(self._pending)

    def _apply(self, boundary: Boundary) -> None:
        if boundary.type == EventType.START:
            self.episode = self.acting = self._next(boundary)
        elif self.episode is None or not _concerns(boundary, self.episode):
            return
        elif boundary.type in ENDINGS:
            acts_on = self._acts_always and boundary.type != EventType.STOP
            self.episode = self.acting = self._next() if acts_on else None
        elif boundary.type == EventType.INTERVENTION_START:
            self.acting = None
        elif self.acting is None:
            self.acting = replace(self.episode)

    def _next(self, start: Boundary | None = None) -> PolicyEpisode:
        number, self._count = self._count, self._count + 1
        if start is None:
            return PolicyEpisode(number=number)
        name = f'{start.stamp} {start.episode_id}'.rstrip()
        return PolicyEpisode(start.episode_id, start.instruction, start.seed, number, name)


def _concerns(boundary: Boundary, episode: PolicyEpisode | Boundary) -> bool:
    """Returns whether it belongs to this episode; one without a name belongs to any."""
    return (
        not boundary.episode_id
        or not episode.episode_id
        or boundary.episode_id == episode.episode_id
    )
