# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities that take an arm along the straight lines between one joint goal and the next, or to
rest at each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.franky.approach import AHEAD

Array = NDArray[np.float64]
LONGEST = 0.2  # s between two goals that count as one movement
# s in which a `RestServo` settles at the fastest: as a velocity counts AHEAD later, a joint that
# settles within that swings about its goal for ever.
SHORTEST = 1.5 * AHEAD


class GoalServo:
    """Follows goals with the delay of one of their periods, and never goes beyond a goal.

    Args:
        settling: s in which a distance from the line shrinks to a third.
        largest: (D,) rad/s.
    """

    def __init__(self, settling: float, largest: Array) -> None:
        self._settling, self._largest = settling, largest
        self.reset()

    def reset(self) -> None:
        """Forgets the goals."""
        self._start: Array | None = None
        self._goal: Array = np.zeros(len(self._largest))
        self._began, self._duration, self._last_time = 0.0, LONGEST, -np.inf

    def take(self, goal: Array, time: float, now: float, positions: Array) -> None:
        """Takes the next goal.

        Args:
            goal: (D,) rad.
            time: s, when it was commanded.
            now: s, on the clock of `rates`.
            positions: (D,) rad, where the joints are.
        """
        passed = time - self._last_time
        is_first = self._start is None or not 0.0 < passed <= LONGEST
        self._start = positions if is_first else self._line(now)
        self._duration = LONGEST if is_first else passed
        self._goal, self._began, self._last_time = goal, now, time

    def rates(self, now: float, positions: Array) -> Array:
        """Returns the velocities (D,) rad/s at `now`, s, for joints at `positions` (D,)."""
        if self._start is None:
            return np.zeros(len(self._largest))
        is_under_way = now - self._began < self._duration
        along = (self._goal - self._start) / self._duration if is_under_way else 0.0
        wanted = along + (self._line(now) - positions) / self._settling
        return np.minimum(np.maximum(wanted, -self._largest), self._largest)

    def _line(self, now: float) -> Array:
        assert self._start is not None
        share = min(1.0, (now - self._began) / self._duration)
        return self._start + share * (self._goal - self._start)


class RestServo:
    """Goes to each goal as fast as it may, in a straight line from where the joints are, and comes
    to rest there.

    Args:
        settling: s in which a distance that is left shrinks to a third at the end; less than
            SHORTEST counts as that.
        largest: (D,) rad/s. decelerations: (D,) rad/s^2, with which the joints brake.
    """

    def __init__(self, settling: float, largest: Array, decelerations: Array) -> None:
        self._settling = max(settling, SHORTEST)
        self._largest, self._decelerations = largest, decelerations
        self.reset()

    def reset(self) -> None:
        """Forgets the goal."""
        self._goal: Array | None = None

    def take(self, goal: Array) -> None:
        """Takes the next goal, (D,) rad."""
        self._goal = goal

    def rates(self, positions: Array) -> Array:
        """Returns the velocities (D,) rad/s for joints at `positions` (D,)."""
        if self._goal is None:
            return np.zeros(len(self._largest))
        left = self._goal - positions
        distances = np.abs(left)
        slow = self._decelerations * self._settling**2  # rad, within which it settles
        braking = np.sqrt(2.0 * self._decelerations * np.maximum(distances - slow / 2.0, 0.0))
        speeds = np.where(distances < slow, distances / self._settling, braking)
        speeds = np.minimum(speeds, self._largest)
        # All joints arrive together.
        duration = float(np.max(distances / np.maximum(speeds, 1e-12), initial=0.0))
        rates: Array = left / max(duration, self._settling)
        return rates
