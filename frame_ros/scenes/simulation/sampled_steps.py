# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot's sensors at every timestep of the physics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]


class SensorSamples(NamedTuple):
    """After each of S timesteps: positions, velocities, efforts (S, D), see JointReadings; wrenches
    (S, 6) N and N m, see `PickPlaceSimulation.wrench`. Without noise.
    """

    positions: Array
    velocities: Array
    efforts: Array
    wrenches: Array


class StepSampler:
    """Steps a simulation and keeps what its sensors measured after each timestep.

    All of a sample is of one instant: a step's forces are those at its beginning, so they go with
    the positions behind the step before. A step costs a tenth of `joint_state` and `wrench`: it
    copies, and what is behind them is computed for all together.
    """

    def __init__(self, simulation: PickPlaceSimulation, steps: int) -> None:
        """steps: how many timesteps a call of `step` makes. The simulation's model must stay: no
        obstacles may be added.
        """
        self._simulation, self._steps = simulation, steps
        model, robot = simulation.model, simulation.robot
        joints = [model.joint(name) for name in robot.joint_names]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        self._arm = self._dofs[:-1]
        self._actuators = np.array([model.actuator(name).id for name in robot.joint_names])
        self._targets: Array = np.empty((steps, len(joints)))
        self._bodies = model.dof_bodyid[self._arm]
        first = int(model.sensor('wrench_force').adr[0])
        second = int(model.sensor('wrench_torque').adr[0])
        self._wrench = np.r_[first : first + 3, second : second + 3]
        self._moved = [np.empty((steps, size)) for size in (model.nq, model.nv)]
        shapes: list[tuple[int, ...]] = [(model.nv,), (model.nsensordata,)]
        if robot.has_torque_sensors:
            shapes += [(model.nv, 6), (model.nbody, 6)]
        self._pressed = [np.empty((steps, *shape)) for shape in shapes]
        self._row = 0

    def step(self, targets: Array) -> SensorSamples:
        """Advances by the timesteps. targets: (D,) as of `PickPlaceSimulation.step`, or (S, D), one
        for each timestep.
        """
        self._row = 0
        rows = np.broadcast_to(targets, (self._steps, len(self._dofs)))
        self._targets = np.clip(rows, self._simulation.lower, self._simulation.upper)
        self._simulation.step(rows[0], self._steps, self._sample)
        self._keep_forces(self._steps - 1)
        positions, velocities = (
            kept[:, columns]
            for kept, columns in zip(self._moved, (self._qpos, self._dofs), strict=True)
        )
        wrenches = self._pressed[1][:, self._wrench]
        return SensorSamples(positions, velocities, self._efforts(), wrenches)

    def _sample(self) -> None:
        data, row = self._simulation.data, self._row
        self._moved[0][row], self._moved[1][row] = data.qpos, data.qvel
        if row:
            self._keep_forces(row - 1)
        self._row = row + 1
        if self._row < self._steps:
            data.ctrl[self._actuators] = self._targets[self._row]

    def _keep_forces(self, row: int) -> None:
        data, kept = self._simulation.data, self._pressed
        kept[0][row], kept[1][row] = data.qfrc_actuator, data.sensordata
        if len(kept) > 2:
            kept[2][row], kept[3][row] = data.cdof, data.cfrc_int

    def _efforts(self) -> Array:
        """(S, D), as `PickPlaceSimulation.joint_state` has them."""
        efforts = self._pressed[0][:, self._dofs]
        if len(self._pressed) > 2:
            axes, forces = self._pressed[2][:, self._arm], self._pressed[3][:, self._bodies]
            efforts[:, :-1] = np.einsum('sij,sij->si', axes, forces)
        return efforts
