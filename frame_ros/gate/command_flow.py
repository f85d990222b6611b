# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rate of incoming commands: more than any policy sends is a flood, a sign of a fault."""

from __future__ import annotations

from frame_ros.core.time import SECOND

SPAN = 0.5  # s of commands at the limit that may come at once, after a network that stood still


class CommandFlow:
    """The commands of one topic, as a bucket that drains at `limit` per second and holds SPAN of
    it. A limit of 0 allows any number.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._capacity = limit * SPAN
        self._level, self._at = 0.0, 0
        self._is_flooded = False
        self._began, self._count, self._rate = 0, 0, 0.0

    def add(self, count: int, at: int) -> None:
        """Adds `count` commands received up to `at` (monotonic, ns)."""
        if at - self._began >= SPAN * SECOND:
            self._rate = self._count * SECOND / max(at - self._began, 1) if self._began else 0.0
            self._began, self._count = at, 0
        self._count += count
        drained = self.limit * (at - self._at) / SECOND  # while they came
        self._level = min(max(self._level + count - drained, 0.0), self._capacity)
        self._at = at
        if 0.0 < self._capacity <= self._level:
            self._is_flooded = True

    def is_flooded(self, at: int) -> bool:
        """Returns whether the bucket overflowed; it must be half empty to recover."""
        if self._is_flooded and self._drained(at) < self._capacity / 2:
            self._is_flooded = False
        return self._is_flooded

    def rate(self, at: int) -> float:
        """Returns the recent rate, in commands per second."""
        return max(self._rate, self._count * SECOND / max(at - self._began, SECOND // 20))

    def _drained(self, at: int) -> float:
        return max(self._level - self.limit * (at - self._at) / SECOND, 0.0)
