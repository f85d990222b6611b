# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that an arm may be given, and goals that keep it where it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.gate.causes import Cause
from frame_ros.gate.named_positions import NamedPositions, NamedPositionsReader
from frame_ros.gate.records import Reason

Array = NDArray[np.float64]


class CommandCheck:
    """Checks commands to some of the joints of an arm.

    Attributes:
        names: the joints.

    Args:
        names: the joints.
        limits: (D, 2) rad.
        tolerance: distance beyond the limits that is let pass, rad.
    """

    def __init__(self, names: Sequence[str], limits: Array, tolerance: float = 0.0) -> None:
        self.names, self._limits, self._tolerance = tuple(names), limits, tolerance
        self._reader = NamedPositionsReader(names)

    def read(self, names: Sequence[str], positions: ArrayLike) -> NamedPositions | Reason:
        """Returns the command, or why it cannot be executed. positions: (K,) rad."""
        found = self._reader.read(names, positions)
        if isinstance(found, Reason):
            return found
        lower, upper = self._limits[found.indices].T
        excess = np.maximum(lower - found.positions, found.positions - upper)
        if (excess > self._tolerance).any():
            i = int(excess.argmax())
            return Reason(
                Cause.JOINT_LIMIT,
                f'{found.names[i]} at {found.positions[i]:.3f} rad; its limits are '
                f'{lower[i]:.3f} to {upper[i]:.3f}',
                found.names[i],
                float(found.positions[i]),
            )
        return found

    def merge(self, goals: Array, command: NamedPositions) -> Array:
        """Returns the goals (D,) of all joints, with those of the command, these within the limits.
        The others stay: an arm may rest beyond the limits of its description.
        """
        merged, chosen = goals.copy(), command.indices
        merged[chosen] = np.clip(command.positions, *self._limits[chosen].T)
        return merged


def limited_step(
    goals: Array, positions: Array, is_gripper: NDArray[np.bool_], largest: float
) -> Array:
    """Returns goals (D,) at most `largest` rad from the positions (D,), as LeRobot's
    max_relative_target. 0: unlimited. A gripper's goal is left as it is: its distance from the held
    object is the grip.
    """
    if largest <= 0.0:
        return goals
    room = np.where(is_gripper, np.inf, largest)
    return np.clip(goals, positions - room, positions + room)


def holding_goals(
    goals: Array, positions: Array, is_gripper: NDArray[np.bool_], tolerance: float
) -> Array:
    """Returns the goals (D,) that keep the arm where it is, rad.

    A joint within `tolerance` rad of its goal keeps that goal: taking the sagged position as the
    goal would let it sag again. A gripper always keeps its goal: the held object stops it short,
    and the difference is the grip.
    """
    keeps = is_gripper | (np.abs(goals - positions) <= tolerance)
    return np.where(keeps, goals, positions)
