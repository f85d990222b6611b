# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A chunk on its way to the robot: row by row, or interpolated linearly between rows if they are
further apart than the control ticks.

A row sent whole in one tick demands its motion in one tick: at 15 Hz under control at 50 Hz more
than three times too fast, then rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.policies.execution.chunk import Chunk

Array = NDArray[np.float64]
# Periods are rounded to nanoseconds: what differs by this share of one is the same.
RESOLUTION = 1000


@dataclass(frozen=True)
class Motion:
    """A chunk from the time it is taken over.

    Attributes:
        begun: ns, when it is taken over.
        origin: (D,), the action before that; None: there was none, so that the first row goes out
            at once.
        period: ns between two control ticks; 0: never interpolate.
    """

    chunk: Chunk
    begun: int
    origin: Array | None
    period: int

    @property
    def is_interpolated(self) -> bool:
        """True if its rows are further apart than the ticks."""
        return 0 < self.period + self.period // RESOLUTION < self.chunk.dt

    def action_at(self, time: int, end: int) -> Array:
        """The action (D,) of the tick at `time` (ns), of the rows before `end`; of the last one
        where they are over.

        Row i is due from start + i dt on. Interpolated, it is approached since then from the row
        before (from `origin`, since `begun`, where that row was not executed), and reached in the
        last tick before the next is due.
        """
        if not self.is_interpolated:
            return self.chunk.actions[min(self.chunk.step_at(time), end - 1)]
        start, dt, rows = self.chunk.start, self.chunk.dt, self.chunk.actions
        reach, tolerance = time + self.period, self.period // RESOLUTION
        row = max(0, -(-(reach - tolerance - start) // dt) - 1)
        if row >= end:
            return rows[end - 1]
        former, since = self.origin, self.begun
        if start + row * dt > self.begun:
            former, since = rows[row - 1], start + row * dt
        due = start + (row + 1) * dt
        if former is None or reach >= due - tolerance:
            return rows[row]
        step = self.chunk.near(rows[row] - former, 0.0)
        return self.chunk.near(former + (reach - since) / (due - since) * step, rows[row])
