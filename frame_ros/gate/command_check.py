# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which commands an arm may be given, and what keeps it where it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class CommandCheck:
    """Whether a command for some of the joints can be executed.

    names: the joints. limits: (D, 2) rad. tolerance: rad beyond the limits that are let pass.
    """

    def __init__(self, names: Sequence[str], limits: Array, tolerance: float = 0.0) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._limits, self._tolerance = limits, tolerance

    def problem(self, names: Sequence[str], positions: Array) -> str:
        """Why the command cannot be executed, in words; empty if it can. positions: rad."""
        if not names:
            return 'it names no joint'
        unknown = [name for name in names if name not in self._index]
        if unknown:
            return f'unknown joint {unknown[0]!r}; known: {", ".join(self._index)}'
        if len(set(names)) != len(names):
            return f'a joint is named twice in {list(names)}'
        if len(positions) != len(names):
            return f'{len(positions)} positions for {len(names)} joints'
        if not np.isfinite(positions).all():
            return f'positions must be finite, not {np.asarray(positions).tolist()}'
        for name, position in zip(names, positions, strict=True):
            lower, upper = self._limits[self._index[name]]
            if not lower - self._tolerance <= position <= upper + self._tolerance:
                return f'{name} at {position:.3f} rad; its limits are {lower:.3f} to {upper:.3f}'
        return ''

    def merge(self, goals: Array, names: Sequence[str], positions: Array) -> Array:
        """The goals (D,) of all joints, with those of the command, these within the limits.

        The others stay: an arm may rest beyond the limits of its description.
        """
        merged, chosen = goals.copy(), [self._index[name] for name in names]
        merged[chosen] = np.clip(positions, *self._limits[chosen].T)
        return merged


def limited_step(
    goals: Array, positions: Array, is_gripper: NDArray[np.bool_], largest: float
) -> Array:
    """Goals (D,) at most `largest` rad from the positions (D,), as LeRobot's max_relative_target;
    0: as they are. A gripper's is left as it is: its distance from what it holds is the grip.
    """
    if largest <= 0.0:
        return goals
    room = np.where(is_gripper, np.inf, largest)
    return np.clip(goals, positions - room, positions + room)


def holding_goals(
    goals: Array, positions: Array, is_gripper: NDArray[np.bool_], tolerance: float
) -> Array:
    """(D,) rad, what keeps the arm where it is.

    A joint that has come within `tolerance` rad of its goal keeps it: making the sagged position
    the goal would let it sag again. A gripper keeps its goal always: what it holds stands between
    goal and position, and the difference is the grip.
    """
    keeps = is_gripper | (np.abs(goals - positions) <= tolerance)
    return np.where(keeps, goals, positions)
