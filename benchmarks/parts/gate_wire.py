# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks whether published commands can have kept to a joint's limits, of which only the time of
publication is known.

Each output has a time that the gate counts it for, which lies before its publication by at most a
known time. All such times are followed, on a grid, each with the speeds that the joint can have had
at it; an output that none of them leads to breaks a limit. The grid makes it more lenient by one of
its steps, never stricter.
"""

from __future__ import annotations

import math

import numpy as np

from frame_ros.gate.limits.command_limits import JointLimits

GRID = 0.0005  # s


class WireCheck:
    """The outputs to joint `index` of `limits`.

    late: s by which the time of an output may lie before its publication.
    """

    def __init__(self, limits: JointLimits, index: int, late: float) -> None:
        self._name = limits.names[index]
        self._range = limits.lower[index] - 1e-9, limits.upper[index] + 1e-9
        self._v, self._a = limits.velocity[index], limits.acceleration[index]
        self._late = np.arange(0.0, late + GRID / 2, GRID)
        self._place: float | None = None
        self._times = self._low = self._high = np.zeros(0)  # possible times, and speeds at each

    def see(self, place: float, at: float) -> str:
        """An output published at `at`, s; how it breaks a limit, or ''."""
        if not self._range[0] <= place <= self._range[1]:
            return f'{self._name} at {place}'
        if self._place is None:
            return self._begin(place, at)
        way, before = place - self._place, self._place
        times = at - self._late
        h = times[None, :] - self._times[:, None]
        longest, shortest = h + GRID, np.maximum(h - GRID, 0.0)
        with np.errstate(divide='ignore', invalid='ignore'):
            ends = np.where(way == 0.0, 0.0, way / np.stack([longest, shortest]))
        least, most = np.minimum(*ends), np.maximum(*ends)
        gain = self._a * longest
        low = np.maximum(np.maximum(least, self._low[:, None] - gain), -self._v)
        high = np.minimum(np.minimum(most, self._high[:, None] + gain), self._v)
        if way == 0.0:  # sent once more: no time of the stream needs have passed
            is_same = np.abs(h) <= GRID
            low = np.where(is_same, np.minimum(low, self._low[:, None]), low)
            high = np.where(is_same, np.maximum(high, self._high[:, None]), high)
        can_be = (low <= high + 1e-9) & (longest > 0.0)
        if not can_be.any():
            slow, fast = float(self._low.min()), float(self._high.max())
            gap = at - float(self._times[0])
            self._begin(place, at)
            return (
                f'{self._name} from {before:.4f} to {place:.4f} in {gap:.4f} s, after speeds of '
                f'{slow:.3f} to {fast:.3f}'
            )
        is_possible = can_be.any(axis=0)
        self._low = np.where(can_be, low, math.inf).min(axis=0)[is_possible]
        self._high = np.where(can_be, high, -math.inf).max(axis=0)[is_possible]
        self._times, self._place = times[is_possible], place
        return ''

    def _begin(self, place: float, at: float) -> str:
        self._place, self._times = place, at - self._late
        self._low = np.full(len(self._late), -self._v)
        self._high = np.full(len(self._late), self._v)
        return ''
