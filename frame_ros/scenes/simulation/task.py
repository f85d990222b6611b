# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The task's state: done with the cube at rest in the bin, failed if it fell off the table."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from frame_ros.robots.simulated import Worktable
from frame_ros.scenes.generation.layout import SO101_TABLE

if TYPE_CHECKING:
    import mujoco

REST_SPEED = 0.02  # m/s
REST_TIME = 0.25  # s, for so long it must lie still and untouched
_OFF_TABLE_DEPTH = 0.03  # m below the table top


class TaskState(Enum):
    """State of the task."""

    RUNNING = 'running'
    SUCCESS = 'success'
    FAILURE = 'failure'


class PlacementTask:
    """Judges the task; the first success or failure is kept until `reset`."""

    def __init__(self, model: mujoco.MjModel, table: Worktable = SO101_TABLE):
        self._table = table
        self._body = model.body('cube').id
        self._dof = int(model.joint('cube_free').dofadr[0])
        self.reset()

    def reset(self) -> None:
        """Starts over."""
        self.state = TaskState.RUNNING
        self._still_since: float | None = None

    def update(self, data: mujoco.MjData, is_touched: bool) -> None:
        """Judges the state in `data`. is_touched: the robot touches the cube."""
        if self.state is not TaskState.RUNNING:
            return
        position = data.xpos[self._body]
        if is_off_table(position, self._table):
            self.state = TaskState.FAILURE
            return
        speed = float(np.linalg.norm(data.qvel[self._dof : self._dof + 3]))
        if is_touched or speed > REST_SPEED or not self._is_in_bin(data, position):
            self._still_since = None
        elif self._still_since is None:
            self._still_since = data.time
        elif data.time - self._still_since >= REST_TIME:
            self.state = TaskState.SUCCESS

    def _is_in_bin(self, data: mujoco.MjData, position: np.ndarray) -> bool:
        offset = position - data.mocap_pos[0]
        w, _, _, z = data.mocap_quat[0]
        cosine, sine = w * w - z * z, 2 * w * z
        inside = (cosine * offset[0] + sine * offset[1], cosine * offset[1] - sine * offset[0])
        half, height = self._table.bin_inner / 2, self._table.bin_height
        return max(map(abs, inside)) < half and 0.0 < offset[2] < height


def is_off_table(position: np.ndarray, table: Worktable) -> bool:
    """Returns whether a thing whose middle is at a position (3,) m has fallen off a table."""
    x, y, z = position[:3].tolist()
    is_off = abs(x - table.centre[0]) > table.size[0] / 2
    is_off = is_off or abs(y - table.centre[1]) > table.size[1] / 2
    return z < -_OFF_TABLE_DEPTH or (is_off and z < 0.0)
