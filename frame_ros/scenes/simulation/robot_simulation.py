# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot among things: commands in; joints, wrench, images and contacts out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.simulation.applied_forces import AppliedForces
from frame_ros.scenes.simulation.cameras import SceneCameras
from frame_ros.scenes.simulation.contacts import (
    CLOSING,
    Contact,
    ContactTruth,
    Touching,
    pressing,
)
from frame_ros.scenes.simulation.distances import DistanceTruth, LeastDistance
from frame_ros.scenes.simulation.gear_friction import StickSlip
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.sensing.proximity.link_distances import DistanceReading

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class JointReadings:
    """positions (D,) rad, velocities (D,) rad/s, efforts (D,) N m, ordered as the robot's
    `joint_names`; m, m/s, N of a gripper that slides.
    """

    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    efforts: NDArray[np.float64]


class RobotSimulation(SceneCameras):
    """The parts of a simulation that do not depend on what stands on the table.

    Args:
        robot: what is particular to it.
        gears: as of the attribute.

    Attributes:
        joint_names: that can be commanded.
        lower, upper: (D,) their limits.
        model, data: MuJoCo's.
        gears: friction of the arm's gears in the physics; None: they are ideal.
    """

    def __init__(self, robot: SceneRobot, gears: StickSlip | None = None) -> None:
        super().__init__()
        self.robot, self.gears = robot, gears
        self.joint_names = robot.joint_names

    def _attach(self, model: mujoco.MjModel, target: str) -> None:
        """Begins with a model, whose object to pick is a body by that name."""
        robot, self._target = self.robot, target
        self.model, self.data = model, self._mj.MjData(model)
        self._actuators = np.array([model.actuator(n).id for n in robot.joint_names])
        self._qpos = np.array([model.joint(n).qposadr[0] for n in robot.joint_names])
        self._dofs = np.array([model.joint(n).dofadr[0] for n in robot.joint_names])
        self._arm = self._dofs[:-1], model.dof_bodyid[self._dofs[:-1]]
        self.lower, self.upper = model.actuator_ctrlrange[self._actuators].T.copy()
        self._followers = [
            (model.jnt_qposadr[follower], model.jnt_qposadr[leader])
            for follower, leader in zip(model.eq_obj1id, model.eq_obj2id, strict=True)
        ]
        self._links = self._robot_links()
        self._bodies = {name: body for body, name in self._links.items()}
        ignored = {frozenset((robot.base_link, 'table'))}
        self._contacts = ContactTruth(
            model, self._links, target, ignored, robot.finger_links, self._is_closing
        )
        self._distances: dict[tuple[str, ...], DistanceTruth] = {}
        self._forces = AppliedForces()
        self._ids: dict[str, int] = {}  # of bodies
        parts = self._mj.mjtState
        self._state_parts = int(
            parts.mjSTATE_QPOS | parts.mjSTATE_QVEL | parts.mjSTATE_MOCAP_POS
            | parts.mjSTATE_MOCAP_QUAT
        )  # fmt: skip
        self._state_size = self._mj.mj_stateSize(model, self._state_parts)
        self._derived = b''  # the state that everything was derived from

    def _go_home(self) -> None:
        """Puts the arm home, with the gripper's followers, at rest."""
        self._mj.mj_resetData(self.model, self.data)
        self._forces.clear(self.data)
        self.data.qpos[self._qpos] = self.robot.home
        for follower, leader in self._followers:
            self.data.qpos[follower] = self.data.qpos[leader]
        self.data.ctrl[self._actuators] = self.robot.home
        if self.model.na:
            self.data.act[self.model.actuator_actadr[self._actuators]] = self.robot.home

    def _robot_links(self) -> dict[int, str]:
        base = self.model.body(self.robot.base_link).id
        return {
            i: self.model.body(i).name for i in range(self.model.nbody) if self._descends(i, base)
        }

    def _descends(self, body: int, ancestor: int) -> bool:
        while body not in (0, ancestor):
            body = int(self.model.body_parentid[body])
        return body == ancestor

    @property
    def time(self) -> float:
        """s since the reset."""
        return float(self.data.time)

    @property
    def timestep(self) -> float:
        """s, of the physics."""
        return float(self.model.opt.timestep)

    def _checked(self, targets: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.asarray(targets, float)
        if values.shape != (len(self.joint_names),):
            raise ShapeError(
                f'targets have shape {values.shape}; needed is one for each of '
                f'{", ".join(self.joint_names)}'
            )
        if not np.isfinite(values).all():
            raise ValueRangeError(f'targets must be finite, not {values.tolist()}')
        return np.minimum(np.maximum(values, self.lower), self.upper)

    def _advance(self, steps: int) -> None:
        """Steps the physics. Results that depend on the positions alone are not computed again for
        the first step, which halves the cost of single steps, unless something was moved.
        """
        state = np.empty(self._state_size)
        self._mj.mj_getState(self.model, self.data, state, self._state_parts)
        if steps > 0 and state.tobytes() == self._derived:
            self._mj.mj_step2(self.model, self.data)
            steps -= 1
        if steps > 0:
            option, sensors = self.model.opt, int(self._mj.mjtDisableBit.mjDSBL_SENSOR)
            kept = option.disableflags
            option.disableflags = kept | sensors  # nothing reads them in between
            try:
                self._mj.mj_step(self.model, self.data, nstep=steps)
            finally:
                option.disableflags = kept

    def _derive(self) -> None:
        """Brings everything derived to the instant of the positions."""
        self._mj.mj_forward(self.model, self.data)
        state = np.empty(self._state_size)
        self._mj.mj_getState(self.model, self.data, state, self._state_parts)
        self._derived = state.tobytes()

    def _is_closing(self, data: Any) -> bool:
        """Returns whether the gripper's drive goes to a smaller opening than it has, or presses."""
        closed, opened = self.robot.gripper_ends
        way = data.ctrl[self._actuators[-1]] - data.qpos[self._qpos[-1]]
        return bool(way / (closed - opened) > CLOSING)

    def joint_state(self) -> JointReadings:
        """Joint positions, velocities, and efforts. Efforts are the torques of the servos; of a
        robot with torque sensors what those measure behind the gears: all that moves and bears the
        links, their weight included (Franka's tau_J). The gripper's is that of its drive.
        """
        data = self.data
        efforts = data.qfrc_actuator[self._dofs]
        if self.robot.has_torque_sensors:
            arm, bodies = self._arm
            efforts[:-1] = np.einsum('ij,ij->i', data.cdof[arm], data.cfrc_int[bodies])
        return JointReadings(data.qpos[self._qpos], data.qvel[self._dofs], efforts)

    @property
    def targets(self) -> NDArray[np.float64]:
        """(D,) rad (m), the servos' targets."""
        return self.data.ctrl[self._actuators]

    def wrench(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns force (3,) N and torque (3,) N m by which the robot carries its `wrench_link` and
        all beyond it. They are in that link's axes and about its origin, without noise. At rest the
        force is their weight, pointing up; a push on the hand appears reversed.
        """
        return self.data.sensor('wrench_force').data.copy(), self.data.sensor(
            'wrench_torque'
        ).data.copy()

    def contacts(self) -> list[Contact]:
        """Returns the robot's contacts and forces applied to it, in the base frame."""
        return self._contacts.read(self.data, self._forces, self.pressing())

    def pressing(self) -> Touching:
        """Returns what presses on what, as of `contacts.pressing`."""
        return pressing(self.model, self.data)

    def tip_position(self) -> NDArray[np.float64]:
        """(3,) m, of the robot's tip link."""
        return self.data.body(self.robot.tip_link).xpos.copy()

    def distance(self) -> LeastDistance:
        """Returns the least distance from the watched links to what must not be touched."""
        return self._truth(None).read(self.data)

    def places(self) -> NDArray[np.float64]:
        """Returns (G, 12), from which `least_distances` are computed later."""
        return self._truth(None).places(self.data)

    def least_distances(self, places: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Returns (T,) m: of `distance` the least alone, at T of the `places`."""
        return self._truth(None).leasts(places)

    def distances_of_links(self, obstacles: Sequence[str] | None = None) -> DistanceReading:
        """The true distance of every watched link to the nearest of the named things, with the
        closest points; None: those of `distance`. Names are of bodies, such as 'table', and
        of a `PickPlaceSimulation` 'bin', 'can', 'block', 'cube', and further obstacles.

        Raises:
            ValueRangeError: there is no such thing, or none is named.
        """
        return self._truth(obstacles).read(self.data).reading()

    def _truth(self, obstacles: Sequence[str] | None) -> DistanceTruth:
        names = self.obstacle_names if obstacles is None else tuple(obstacles)
        if names not in self._distances:
            ids = {name: self._mj.mj_name2id(self.model, 1, name) for name in names}
            unknown = [name for name, body in ids.items() if body < 1 or body in self._links]
            if unknown or not names:
                raise ValueRangeError(
                    f'distances are to things of the scene ({", ".join(self.obstacle_names)}, '
                    f'{self._target}), not to {unknown or "nothing"}'
                )
            links = {name: self._bodies[name] for name in self.robot.watched_links}
            self._distances[names] = DistanceTruth(self.model, links, ids)
        return self._distances[names]

    @property
    def obstacle_names(self) -> tuple[str, ...]:
        """Names of bodies that must not be touched."""
        raise NotImplementedError

    def object_pose(self) -> NDArray[np.float64]:
        """(7,) position (m) and quaternion xyzw of the object to pick, in the base frame."""
        return self.pose_of(self._target)

    def goal_pose(self) -> NDArray[np.float64]:
        """(7,) position (m) and quaternion xyzw of where it is to go."""
        raise NotImplementedError

    def step(self, targets: Sequence[float] | NDArray[np.float64] | None, steps: int) -> None:
        """Advances by `steps` timesteps, see the simulations."""
        raise NotImplementedError

    def pose_of(self, body: str) -> NDArray[np.float64]:
        """Returns (7,) position (m) and quaternion xyzw of a body, in the base frame."""
        if body not in self._ids:
            self._ids[body] = int(self.model.body(body).id)
        index, pose = self._ids[body], np.empty(7)
        pose[:3], quaternion = self.data.xpos[index], self.data.xquat[index]
        pose[3:6], pose[6] = quaternion[1:], quaternion[0]
        return pose
