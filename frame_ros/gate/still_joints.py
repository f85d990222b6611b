# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints that have been measured at one place for a while, and so are there."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

STILL_FOR = 0.3  # s that a joint must be measured at one place
STILL = 0.05  # rad or m around it
LONGEST_GAP = 0.15  # s between two measurements of it
RECENT = 0.5  # s ago that it was measured there last, at most


class StillJoints:
    """The measured place of each of D joints, and since when it has not moved from there."""

    def __init__(self, size: int) -> None:
        self._now: Array = np.full(size, math.nan)
        self._place: Array = np.full(size, math.nan)
        self._since = np.zeros(size, dtype=np.int64)
        self._last = np.zeros(size, dtype=np.int64)

    def add(self, i: Indices, positions: Array, measured: int) -> None:
        """Adds positions (K,) of the joints `i`, measured at `measured` (ns). A repeated or late
        measurement counts only if it is elsewhere.
        """
        is_late = measured - self._last[i] > int(LONGEST_GAP * SECOND)
        stays = (np.abs(positions - self._place[i]) <= STILL) & ~is_late
        if stays.all() and measured <= self._last[i].max(initial=-1):
            return
        self._place[i] = np.where(stays, self._place[i], positions)
        self._since[i] = np.where(stays, self._since[i], measured)
        self._now[i], self._last[i] = positions, measured

    def forget(self, i: Indices) -> None:
        """Forgets the joints `i`, which may be anywhere."""
        self._place[i], self._last[i] = math.nan, 0

    def places(self, now: int) -> Array:
        """Returns (D,) the places of still joints at `now` (ns); NaN for the others."""
        is_still = np.isfinite(self._place) & (self._last - self._since >= int(STILL_FOR * SECOND))
        is_still &= now - self._last <= int(RECENT * SECOND)
        result: Array = np.where(is_still, self._now, math.nan)
        return result
