# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of joints that turn without end (`continuous` in a URDF): each is one of many that lie
whole turns apart, of which drivers publish the one from -pi to pi, or count on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
TURN = 2.0 * pi


def nearest_turn(
    values: Array, reference: Array | float, is_continuous: NDArray[np.bool_]
) -> Array:
    """Brings positions to the turn nearest a reference: at most half a turn from it.

    A difference of positions is brought to the short way by the reference 0.

    Args:
        values: (..., D) rad or m.
        reference: of a shape that fits; what is not finite there brings nothing nearer.
        is_continuous: (D,) whether each joint turns without end; the others stay as they are.

    Returns:
        `values` itself where nothing is a turn away, so that other robots keep their numbers.
    """
    if not is_continuous.any():
        return values
    with np.errstate(invalid='ignore'):
        turns = np.round((reference - values) / TURN)
    turns = np.where(is_continuous & np.isfinite(turns), turns, 0.0)
    return np.where(turns != 0.0, values + TURN * turns, values) if turns.any() else values


def continuous_among(names: Sequence[str], continuous: Collection[str]) -> NDArray[np.bool_]:
    """(D,) whether each of some joints is one of those that turn without end."""
    return np.array([name in continuous for name in names], np.bool_)


def unwrapped(positions: Array, is_continuous: NDArray[np.bool_]) -> Array:
    """Counts finite positions (T, D), rad or m, on over their turns, from a first one between -pi
    and pi: the same of one motion, whether it was published so or not. Returns `positions` itself
    where that changes nothing.
    """
    if not len(positions) or not is_continuous.any():
        return positions
    first = nearest_turn(positions[:1], 0.0, is_continuous)
    found = np.concatenate((first, positions[1:]))
    found[:, is_continuous] = np.unwrap(found[:, is_continuous], axis=0)
    return positions if (found == positions).all() else found


class Unwrapper:
    """Counts positions on over their turns: each is brought to the turn nearest the one before, one
    sample at a time. The first stays as it is. Batch form: `unwrapped`.
    """

    __slots__ = ('_places', '_last')

    def __init__(self, names: Sequence[str], continuous: Collection[str]) -> None:
        """names: D joints, in the order of the samples; continuous: those that turn without end."""
        self._places = [place for place, name in enumerate(names) if name in continuous]
        self.reset()

    def reset(self) -> None:
        """Forgets the turns: the next sample stays as it is."""
        self._last: Sequence[float] = ()

    def update(self, positions: list[float]) -> list[float]:
        """Takes D finite positions, rad or m; returns them counted on, the list itself if that
        changes nothing.
        """
        if not self._places:
            return positions
        if self._last:
            found = positions
            for place in self._places:
                turns = round((self._last[place] - positions[place]) / TURN)
                if turns:
                    found = found[:] if found is positions else found
                    found[place] += TURN * turns
            positions = found
        self._last = positions
        return positions
