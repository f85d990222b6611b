# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""External forces on the simulated robot, as joint torques and as a wrench at its tip."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.scenes.simulation.applied_forces import AppliedForces
from frame_ros.scenes.simulation.contacts import Contact

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]


class ExternalForces(NamedTuple):
    """All external forces on the robot: contacts and applied forces; on the robot is positive.

    Franka's estimates (tau_ext_hat_filtered, O_F_ext_hat_K) have the opposite sign: there forces
    exerted by the robot are positive (libfranka, robot_state.h).

    Attributes:
        torques: (A,) N m, of the arm's joints, J^T f.
        wrench: (6,) N, N m: sum of the forces on all links but the base and their torque about the
            tip, in the base's axes.
    """

    torques: Array
    wrench: Array


class ExternalTruth:
    """External torques and wrenches of one model."""

    def __init__(self, model: mujoco.MjModel, dofs: NDArray[np.int64], tip: int):
        """dofs: of the arm's joints. tip: body id."""
        self._mj = mj = load_mujoco()
        self._model, self._dofs, self._tip = model, dofs, tip
        # The kinds of constraint that are contacts are the last.
        self._first_contact = int(mj.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)

    def read(
        self, data: mujoco.MjData, forces: AppliedForces, contacts: list[Contact]
    ) -> ExternalForces:
        """As of `data`, whose contacts with the robot are `contacts`, applied forces included."""
        wrench = np.zeros(6)
        for contact in contacts:
            wrench[:3] += contact.net_force
            wrench[3:] += contact.net_torque
        # From the base's origin to the tip.
        wrench[3:] -= np.cross(data.xpos[self._tip], wrench[:3])
        torques = self._torques(data, forces) if contacts else np.zeros(len(self._dofs))
        return ExternalForces(torques, wrench)

    def _torques(self, data: mujoco.MjData, forces: AppliedForces) -> Array:
        """(A,) N m, of the arm's joints; links that press on each other count too."""
        total = np.zeros(self._model.nv)
        if data.ncon:
            pressed = data.efc_force * (data.efc_type >= self._first_contact)
            self._mj.mj_mulJacTVec(self._model, data, total, pressed)
        if forces:
            total += forces.torques(self._model, data)
        return total[self._dofs]

    def tip_wrench(self, data: mujoco.MjData, torques: Array) -> Array:
        """Returns (6,) N, N m: the wrench about the tip, in the base's axes, that best explains
        external torques (A,), like an arm with joint torque sensors.
        """
        linear, angular = np.zeros((3, self._model.nv)), np.zeros((3, self._model.nv))
        self._mj.mj_jacBody(self._model, data, linear, angular, self._tip)
        jacobian = np.vstack((linear, angular))[:, self._dofs]
        return np.linalg.lstsq(jacobian.T, torques, rcond=1e-3)[0]
