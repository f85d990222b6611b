# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forces applied to points of the simulated robot's links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
APPLIED = 'applied force'  # the name of such a contact's other side


class AppliedForces:
    """Forces that keep their direction in the base frame, at points that move with their links."""

    def __init__(self) -> None:
        self._mj = load_mujoco()
        self._forces: list[tuple[int, Array, Array]] = []

    def __bool__(self) -> bool:
        """Returns whether there are any."""
        return bool(self._forces)

    def add(self, data: mujoco.MjData, body: int, position: Array, force: Array) -> None:
        """position: (3,) m and force: (3,) N, in the base frame, as of `data`."""
        rotation = data.xmat[body].reshape(3, 3)
        self._forces.append((body, rotation.T @ (position - data.xpos[body]), force))

    def clear(self, data: mujoco.MjData) -> None:
        """Removes all forces."""
        self._forces.clear()
        data.xfrc_applied[:] = 0.0

    def at(self, data: mujoco.MjData) -> list[tuple[int, Array, Array]]:
        """(body, position (3,) m, force (3,) N) of each, in the base frame."""
        return [
            (body, data.xpos[body] + data.xmat[body].reshape(3, 3) @ local, force)
            for body, local, force in self._forces
        ]

    def write(self, data: mujoco.MjData) -> None:
        """Applies them to the physics, at the present places of the links."""
        data.xfrc_applied[:] = 0.0
        for body, position, force in self.at(data):
            data.xfrc_applied[body, :3] += force
            data.xfrc_applied[body, 3:] += np.cross(position - data.xipos[body], force)

    def torques(self, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        """Returns (nv,) generalised forces."""
        total = np.zeros(model.nv)
        for body, position, force in self.at(data):
            self._mj.mj_applyFT(model, data, force, np.zeros(3), position, body, total)
        return total
