# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode that a command gate is in: START and END are announced ahead of their stamps."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

from frame_ros.gate.records import Moment

START, END = 'start', 'end'
# Pending STARTs and ENDs; usually one or two.
MOST_PENDING = 100


def push_earliest(heap: list[Any], entry: Any, most: int = MOST_PENDING) -> None:
    """Pushes onto a heap that keeps the `most` smallest entries."""
    heapq.heappush(heap, entry)
    if len(heap) > most:
        heap.remove(max(heap))
        heapq.heapify(heap)


class GateEpisode:
    """Tracks whether an episode runs, and which.

    Attributes:
        episode_id: empty outside one.
        began, ended: monotonic ns of the last START and END that took effect, or None.
    """

    def __init__(self) -> None:
        self.is_running = False
        self.episode_id = ''
        self.began: int | None = None
        self.ended: int | None = None
        self._order = itertools.count()
        self._pending: list[tuple[int, int, str, str]] = []

    def add(self, kind: str, episode_id: str, stamp: int) -> None:
        """Notes START or END, which takes effect at `stamp` (ns of the robot's clock). Beyond
        MOST_PENDING the latest is forgotten.
        """
        push_earliest(self._pending, (stamp, next(self._order), kind, episode_id))

    def advance(self, moment: Moment) -> bool:
        """Applies what is due; returns whether another episode has begun."""
        has_begun = False
        while self._pending and self._pending[0][0] <= moment.clock:
            _, _, kind, episode_id = heapq.heappop(self._pending)
            if kind == START:
                self.is_running, self.episode_id = True, episode_id
                self.began, has_begun = moment.monotonic, True
            elif self.is_running and self.is_meant(episode_id):
                self.is_running, self.episode_id = False, ''
                self.ended = moment.monotonic
        return has_begun

    def is_meant(self, episode_id: str) -> bool:
        """Returns whether an event with this id, which may be empty, is of the running episode."""
        return not episode_id or not self.episode_id or episode_id == self.episode_id
