# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The turns of measured joints that turn without end, of drivers that count them and of those that
publish positions within one turn, such as from -pi to pi.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.turns import TURN, nearest_turn

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

NOISE = 0.02  # rad beyond one turn that still are within it
# rad from where a joint was sent, from which on it is taken on the other side of there: more than
# half a turn, so that one that rests just opposite does not change sides at each measurement.
SIDE = math.pi + 0.5


class MeasuredTurns:
    """Counts the turns of D joints whose driver does not.

    What a driver publishes is taken as it is, until it jumps by a turn: it has no other way to say
    that a joint that it publishes within one turns on. Of a joint that was published over more than
    a turn, a jump is no such thing.
    """

    def __init__(self, is_endless: NDArray[np.bool_]) -> None:
        self._is_endless, self._has_such = is_endless, bool(is_endless.any())
        self._has_jumped = np.zeros(len(is_endless), dtype=bool)
        self._before: Array = np.full(len(is_endless), math.nan)  # published last
        self._lowest: Array = np.full(len(is_endless), math.inf)
        self._highest: Array = np.full(len(is_endless), -math.inf)

    def look(self, i: Indices, published: Array, room: Array) -> None:
        """Notices which of the joints `i` jump by a turn: they cannot have come to what is
        published (K,) from what was last, but can have come there the short way. room: (K,) rad
        that they can have gone meanwhile.
        """
        with np.errstate(invalid='ignore'):
            jump = published - self._before[i]
        way = np.abs(nearest_turn(jump, 0.0, self._is_within(i, published)))
        self._has_jumped[i] |= (np.abs(jump) > room) & (way <= room)
        self._before[i] = published

    def counted(self, i: Indices, published: Array, last: Array, sent: Array) -> Array:
        """Returns positions (K,) of the joints `i`: of those that jump at the turn nearest where
        they were measured last, which is at most `SIDE` from where they were sent; both (K,) rad,
        NaN where unknown.
        """
        if not self._has_such:
            return published
        jumps = self._jumps(i, published)
        near = nearest_turn(published, np.where(np.isfinite(last), last, sent), jumps)
        with np.errstate(invalid='ignore'):
            return nearest_turn(near, sent, jumps & (np.abs(near - sent) > SIDE))

    def way(self, i: Indices, published: Array, values: Array, last: Array) -> Array:
        """Returns (K,) rad how far the joints `i` went from `last` to `values`, as counted of what
        was published: of those that jump the short way.
        """
        if not self._has_such:
            return np.abs(values - last)
        return np.abs(nearest_turn(values - last, 0.0, self._jumps(i, published)))

    def note(self, i: Indices, published: Array) -> None:
        """Notes what was published (K,) of the joints `i`, and taken."""
        if self._has_such:
            self._lowest[i] = np.minimum(self._lowest[i], published)
            self._highest[i] = np.maximum(self._highest[i], published)

    def _jumps(self, i: Indices, published: Array) -> NDArray[np.bool_]:
        """Returns (K,) whether the joints are published within one turn, which they have shown."""
        return self._has_jumped[i] & self._is_within(i, published)

    def _is_within(self, i: Indices, published: Array) -> NDArray[np.bool_]:
        """Returns (K,) whether joints were published within one turn, with these positions."""
        low, high = np.fmin(self._lowest[i], published), np.fmax(self._highest[i], published)
        found: NDArray[np.bool_] = self._is_endless[i] & (high - low <= TURN + NOISE)
        return found
