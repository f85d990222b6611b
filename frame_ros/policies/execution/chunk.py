# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A chunk of actions on the time line of executed actions, in integer nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.turns import nearest_turn
from frame_ros.metrics import chunk_distances

# A tick this share of a step before the next step counts as that step: periods are rounded to
# nanoseconds. It is never more than half a tick.
TOLERANCE = 20


@dataclass(frozen=True)
class Chunk:
    """A chunk."""

    actions: NDArray[np.float64]  # (H, D)
    dt: int  # ns between two steps
    start: int  # ns, the time of its first step
    period: int = 0  # ns between two control ticks; 0: unknown, and not far below dt
    # (D,) whether each joint turns without end; None: none does.
    is_continuous: NDArray[np.bool_] | None = None

    @property
    def _tolerance(self) -> int:
        share = self.dt // TOLERANCE
        return min(share, self.period // 2) if self.period else share

    def near(
        self, actions: NDArray[np.float64], others: NDArray[np.float64] | float
    ) -> NDArray[np.float64]:
        """Returns actions (..., D), those of joints that turn without end by the turns nearest
        others.
        """
        if self.is_continuous is None:
            return actions
        return nearest_turn(actions, others, self.is_continuous)

    def step_at(self, time: int) -> int:
        """Returns the step due at `time` (ns); H or more: all have passed."""
        return (time - self.start + self._tolerance) // self.dt

    def ticks_until(self, step: int, time: int, period: int) -> int:
        """Returns how many ticks, `period` ns apart from `time` on, come before `step` is due."""
        remaining = self.start + step * self.dt - self._tolerance - time
        return max(0, -(-remaining // period))

    def moved_to(self, start: int) -> Chunk:
        """Returns the same actions with the first at `start`."""
        return replace(self, start=start)


@dataclass(frozen=True)
class ChunkComparison:
    """A chunk compared with the one before it, over the steps both predict.

    Attributes:
        overlap: mean absolute difference, unit of the actions; NaN if they share no step.
        consistency: mean Euclidean distance, likewise.
        shift: steps from the beginning of the one before; 0 where they cannot be compared.
    """

    overlap: float = float('nan')
    consistency: float = float('nan')
    shift: float = 0.0


def compare_chunks(former: Chunk | None, newer: Chunk) -> ChunkComparison:
    """Returns how two chunks differ; nothing is known of chunks that differ in width or in the time
    between steps. Joints that turn without end differ by the short way.
    """
    if (
        former is None
        or former.dt != newer.dt
        or former.actions.shape[1:] != newer.actions.shape[1:]
    ):
        return ChunkComparison()
    exact = (newer.start - former.start) / newer.dt
    shift, pair = round(exact), (former.actions, newer.actions)
    if shift < 0:
        shift, pair = -shift, pair[::-1]
    previous, current = pair
    steps = min(len(current), len(previous) - shift)
    if newer.is_continuous is not None and steps > 0:
        shared = newer.near(current[:steps], previous[shift : shift + steps])
        current = np.concatenate((shared, current[steps:]))
    return ChunkComparison(*chunk_distances(previous, current, shift), max(exact, 0.0))
