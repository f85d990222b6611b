# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Positions for some joints of a robot, as they come in a message, and the check of their form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.plain_text import counted
from frame_ros.gate.causes import Cause
from frame_ros.gate.records import Reason

MOST_LEARNT = 100  # sequences of names; more are learnt afresh


class NamedPositions(NamedTuple):
    """Positions that can be understood."""

    names: tuple[str, ...]  # the joints, in the message's order
    indices: NDArray[np.intp]  # (K,) places of these joints among the robot's
    positions: NDArray[np.float64]  # (K,) rad or m


class NamedPositionsReader:
    """Reads positions for some of the joints `names` of a robot, in any order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._learnt: dict[tuple[str, ...], NDArray[np.intp] | str] = {}
        self._names: Sequence[str] = ()
        self._key: tuple[str, ...] = ()
        self._found: NDArray[np.intp] | str = self._add_names(())

    def read(self, names: Sequence[str], positions: ArrayLike) -> NamedPositions | Reason:
        """Returns the positions, or why they cannot be understood."""
        if names != self._names:  # a list, which nearly always names the same as the last
            self._names, self._key = list(names), tuple(names)
            self._found = self._indices(self._key)
        key, found = self._key, self._found
        if isinstance(found, str):
            return Reason(Cause.MALFORMED, found)
        values = np.asarray(positions, dtype=np.float64)
        if values.shape != (len(key),):
            return Reason(
                Cause.MALFORMED,
                f'{counted(values.size, "position")} for {counted(len(key), "joint")}',
            )
        # A sum is not finite if one of them is not, or if they are very large.
        if not math.isfinite(sum(values.tolist())) and not np.isfinite(values).all():
            worst = int(np.argmin(np.isfinite(values)))
            text = f'{key[worst]} is {values[worst]}'
            return Reason(Cause.NOT_FINITE, text, key[worst], float(values[worst]))
        return NamedPositions(key, found, values)

    def _indices(self, names: tuple[str, ...]) -> NDArray[np.intp] | str:
        """Returns the places of these joints among the robot's, or what is wrong with the names."""
        found = self._learnt.get(names)
        if found is None:
            if len(self._learnt) >= MOST_LEARNT:
                self._learnt.clear()
            found = self._learnt[names] = self._add_names(names)
        return found

    def _add_names(self, names: tuple[str, ...]) -> NDArray[np.intp] | str:
        unknown = [name for name in names if name not in self._index]
        if not names:
            return 'it names no joint'
        if unknown:
            return f'unknown joint {unknown[0]!r}; known: {", ".join(self._index)}'
        if len(set(names)) != len(names):
            return f'a joint is named twice in {list(names)}'
        return np.array([self._index[name] for name in names], dtype=np.intp)
