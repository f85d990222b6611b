# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""State of the simulated scene that a renderer draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class SceneState:
    """Everything that a picture of the scene depends on. time: s since the reset."""

    time: float
    qpos: NDArray[np.float64]
    mocap_positions: NDArray[np.float64]
    mocap_quaternions: NDArray[np.float64]

    def copy_to(self, data: mujoco.MjData) -> None:
        """Puts this state into MuJoCo data of the same model; kinematics are left to the caller."""
        data.time = self.time
        data.qpos[:] = self.qpos
        data.mocap_pos[:] = self.mocap_positions
        data.mocap_quat[:] = self.mocap_quaternions
