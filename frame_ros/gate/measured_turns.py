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

    A driver that publishes a joint within one turn has no other way to say that it turns on than a
    jump of a turn. Of a joint that was published over more than a turn, a jump is no such thing.
    """

    def __init__(self, is_endless: NDArray[np.bool_]) -> None:
        self._is_endless, self._has_such = is_endless, bool(is_endless.any())
        self._lowest: Array = np.full(len(is_endless), math.inf)
        self._highest: Array = np.full(len(is_endless), -math.inf)

    def counted(self, i: Indices, values: Array, last: Array, sent: Array) -> Array:
        """Returns positions (K,) of the joints `i` at the turn nearest where they were measured
        last, which is at most `SIDE` from where they were sent; both (K,) rad, NaN where unknown.
        """
        if not self._has_such:
            return values
        self._lowest[i] = np.fmin(self._lowest[i], values)
        self._highest[i] = np.fmax(self._highest[i], values)
        is_within = self._within(i)
        near = nearest_turn(values, np.where(np.isfinite(last), last, sent), is_within)
        with np.errstate(invalid='ignore'):
            return nearest_turn(near, sent, is_within & (np.abs(near - sent) > SIDE))

    def way(self, i: Indices, values: Array, last: Array) -> Array:
        """Returns (K,) rad how far the joints `i` went from `last` to `values`: of those that are
        published within one turn, the short way.
        """
        return np.abs(nearest_turn(values - last, 0.0, self._within(i)))

    def _within(self, i: Indices) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._is_endless[i] & (
            self._highest[i] - self._lowest[i] <= TURN + NOISE
        )
        return found
