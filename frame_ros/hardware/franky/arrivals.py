# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which the states of an arm arrive, learnt from when they were found: who looks at
the right time looks once per state.
"""

from __future__ import annotations

CYCLE = 0.001  # s between two states
EARLIER = 4e-6  # s by which the next look comes earlier after one that found its state
# s by which it comes later after one that did not: nine of ten find it.
LATER = 9 * EARLIER
BEHIND = 0.5 * CYCLE  # s of a delay that the arm makes up for
MOST_BEHIND = 100  # states with such a delay after which it never will
LOST_TRACK = 0.5  # s of a delay from which the times are learnt again


class Arrivals:
    """Schedule of the looks, by the arm's own count of ms. An arm that is late and makes up for it
    sends states in a row: the schedule is behind then, and every look is due at once.
    """

    def __init__(self) -> None:
        self._count, self._behind = -1, 0
        self._offset = 0.0  # s of time.monotonic() at which count 0 would be looked for

    def due(self, count: int) -> float:
        """Returns when to look for the state of this count, s of time.monotonic()."""
        return self._offset + count * CYCLE

    def note(self, count: int, now: float, is_first_look: bool) -> None:
        """Learns from the state of this count, found at `now`, s of time.monotonic().
        is_first_look: False if an earlier look for it found none, or one that was not due yet.
        """
        late = now - self.due(count)
        self._behind = self._behind + 1 if late > BEHIND and not is_first_look else 0
        has_restarted = count < self._count or self._count < 0
        if has_restarted or abs(late) > LOST_TRACK or self._behind > MOST_BEHIND:
            self._offset, self._behind = self._offset + late, 0
        elif is_first_look:
            self._offset -= EARLIER
        elif not self._behind:
            self._offset += LATER
        self._count = count

    def restart(self, count: int, now: float) -> None:
        """Begins with a state that arrived at `now`, s."""
        self._count, self._offset = count, now - count * CYCLE
