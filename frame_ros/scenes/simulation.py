# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated SO-101 at a table: commands in; joints, images, truth and the outcome out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.robots import find_urdf
from frame_ros.scenes.contacts import FINGER_LINKS, Contact, ContactTruth
from frame_ros.scenes.distances import DistanceTruth, LeastDistance
from frame_ros.scenes.engine import load_mujoco
from frame_ros.scenes.layout import BIN_WALL, COLOURS, SceneLayout, draw_layout
from frame_ros.scenes.model import BASE_LINK, TIP_LINK, build_model
from frame_ros.scenes.rendering import CameraFrame, Intrinsics, SceneRenderer, intrinsics
from frame_ros.scenes.task import PlacementTask, TaskState

if TYPE_CHECKING:
    import mujoco

JOINT_NAMES = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
HOME = (
    0.0,
    -1.35,
    1.25,
    0.85,
    0.0,
    0.3,
)  # rad: folded back, the gripper above the table's near edge
OBSTACLES = ('table', 'bin', 'can', 'block')
# base_link stands on the table and shoulder_link turns about a vertical axis right above it: their
# distance to the table says nothing of the motion, so they are not watched.
WATCHED_LINKS = ('upper_arm_link', 'lower_arm_link', 'wrist_link', *FINGER_LINKS)


@dataclass(frozen=True)
class JointReadings:
    """positions (D,) rad, velocities (D,) rad/s, efforts (D,) N m, ordered as `JOINT_NAMES`."""

    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    efforts: NDArray[np.float64]


@dataclass(frozen=True)
class SceneState:
    """All that a picture of the scene depends on. time: s since the reset."""

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


class PickPlaceSimulation:
    """The simulation, in its own time. One thread at a time may use it."""

    joint_names = JOINT_NAMES

    def __init__(self, seed: int = 0, timestep: float = 0.002, urdf: Path | None = None):
        """Builds the scene and resets it to `seed`. timestep: s, of the physics.

        Raises:
            MissingExtraError: mujoco is not installed.
            ValueRangeError: the seed is negative or the timestep is not within 0.1 to 5 ms.
            RobotError: the URDF cannot be used.
        """
        if not 1e-4 <= timestep <= 5e-3:
            raise ValueRangeError(f'timestep is {timestep} s: the physics needs 0.0001 to 0.005 s')
        self._mj = load_mujoco()
        self.model = build_model(find_urdf('so101') if urdf is None else urdf, timestep)
        self.data = self._mj.MjData(self.model)
        self._actuators = np.array([self.model.actuator(n).id for n in JOINT_NAMES])
        self._qpos = np.array([self.model.joint(n).qposadr[0] for n in JOINT_NAMES])
        self._dofs = np.array([self.model.joint(n).dofadr[0] for n in JOINT_NAMES])
        self.lower, self.upper = self.model.actuator_ctrlrange[self._actuators].T.copy()
        links = self._robot_links()
        ignored = {frozenset((BASE_LINK, 'table'))}
        self._contacts = ContactTruth(self.model, links, 'cube', ignored)
        bodies = {name: body for body, name in links.items()}
        self._distances = DistanceTruth(
            self.model,
            {name: bodies[name] for name in WATCHED_LINKS},
            {name: self.model.body(name).id for name in OBSTACLES},
        )
        self._task = PlacementTask(self.model)
        self._renderers: dict[tuple[int, int], SceneRenderer] = {}
        self.layout: SceneLayout
        self.reset(seed)

    def _robot_links(self) -> dict[int, str]:
        base = self.model.body(BASE_LINK).id
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

    def reset(self, seed: int) -> None:
        """Puts the arm home and the things where `seed` draws them; the same seed gives the same
        bits.

        Raises:
            ValueRangeError: the seed is negative.
        """
        self.layout = layout = draw_layout(seed)
        self._mj.mj_resetData(self.model, self.data)
        self.data.qpos[self._qpos] = HOME
        self.data.ctrl[self._actuators] = HOME
        for placement in (layout.target, *layout.distractors):
            address = self.model.joint(f'{placement.name}_free').qposadr[0]
            self.data.qpos[address : address + 3] = placement.position
            self.data.qpos[address + 3 : address + 7] = _about_vertical(placement.yaw)
            self.model.geom(placement.name).rgba[:3] = COLOURS[placement.colour]
        self.data.mocap_pos[0] = layout.bin.position
        self.data.mocap_quat[0] = _about_vertical(layout.bin.yaw)
        self._mj.mj_forward(self.model, self.data)
        self._contacts.reset()
        self._task.reset()

    def step(
        self, targets: Sequence[float] | NDArray[np.float64] | None = None, steps: int = 10
    ) -> None:
        """Advances by `steps` timesteps. targets: (D,) rad, what the servos go to, clipped to the
        limits; None: as before.

        Raises:
            ShapeError: there is not one target for each joint.
            ValueRangeError: a target is not finite.
        """
        if targets is not None:
            self.data.ctrl[self._actuators] = self._checked(targets)
        self._mj.mj_step(self.model, self.data, nstep=steps)
        # mj_step leaves positions newer than what is derived from them; this brings all to the same
        # instant.
        self._mj.mj_forward(self.model, self.data)
        self._task.update(self.data, self._is_target_touched())

    def _checked(self, targets: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.asarray(targets, float)
        if values.shape != (len(JOINT_NAMES),):
            raise ShapeError(
                f'targets have shape {values.shape}; needed is one for each of '
                f'{", ".join(JOINT_NAMES)}'
            )
        if not np.isfinite(values).all():
            raise ValueRangeError(f'targets must be finite, not {values.tolist()}')
        return np.clip(values, self.lower, self.upper)

    def _is_target_touched(self) -> bool:
        return any(contact.other == 'cube' for contact in self.contacts())

    def joint_state(self) -> JointReadings:
        """Joint positions, velocities and the torques of the servos."""
        data = self.data
        return JointReadings(
            data.qpos[self._qpos], data.qvel[self._dofs], data.qfrc_actuator[self._dofs]
        )

    @property
    def targets(self) -> NDArray[np.float64]:
        """(D,) rad, where the servos are going."""
        return self.data.ctrl[self._actuators]

    def wrench(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Force (3,) N and torque (3,) N m that the gripper exerts on the wrist, in gripper_link,
        weight included.
        """
        return self.data.sensor('wrench_force').data.copy(), self.data.sensor(
            'wrench_torque'
        ).data.copy()

    def contacts(self) -> list[Contact]:
        """What the robot touches now; positions and normals in the base frame."""
        return self._contacts.read(self.data)

    def distance(self) -> LeastDistance:
        """The least distance from the watched links to table, bin and distractors; the cube is
        meant to be touched.
        """
        return self._distances.read(self.data)

    def tip_position(self) -> NDArray[np.float64]:
        """(3,) m, of gripper_frame_link."""
        return self.data.body(TIP_LINK).xpos.copy()

    def object_pose(self) -> NDArray[np.float64]:
        """(7,) position (m) and quaternion xyzw of the cube, in the base frame."""
        body = self.data.body('cube')
        return np.concatenate((body.xpos, np.roll(body.xquat, -1)))

    def goal_pose(self) -> NDArray[np.float64]:
        """(7,) position (m) and quaternion xyzw of the middle of the bin's floor, in the base
        frame.
        """
        position = self.data.mocap_pos[0] + (0.0, 0.0, BIN_WALL)
        return np.concatenate((position, np.roll(self.data.mocap_quat[0], -1)))

    @property
    def task_state(self) -> TaskState:
        """Whether the cube lies released in the bin, fell off the table, or neither; the first of
        the two stays.
        """
        return self._task.state

    def restart_task(self) -> None:
        """Forgets success and failure without moving anything."""
        self._task.reset()

    def state(self) -> SceneState:
        """A copy of what a picture depends on, for a renderer in another thread."""
        data = self.data
        return SceneState(
            data.time, data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()
        )

    def intrinsics(self, camera: str, width: int = 320, height: int = 240) -> Intrinsics:
        """The pinhole camera that `render` is."""
        return intrinsics(self.model, camera, width, height)

    def camera_pose(self, camera: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) m and rotation (3, 3) of a camera's optical frame (x right, y down, z
        forward) in the base.
        """
        found = self.data.cam(camera)
        return found.xpos.copy(), found.xmat.reshape(3, 3) * (1.0, -1.0, -1.0)

    def camera_mount(self, camera: str) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
        """The link that carries a camera, and position (3,) m and quaternion xyzw of its optical
        frame in that link.
        """
        position, rotation = self.camera_pose(camera)
        body = int(self.model.cam_bodyid[self.model.cam(camera).id])
        link = self.model.body(body).name if body else BASE_LINK
        link_rotation = self.data.body(link).xmat.reshape(3, 3)
        quaternion = np.zeros(4)
        self._mj.mju_mat2Quat(quaternion, (link_rotation.T @ rotation).ravel())
        return (
            link,
            link_rotation.T @ (position - self.data.body(link).xpos),
            np.roll(quaternion, -1),
        )

    def render(
        self, camera: str, width: int = 320, height: int = 240, with_depth: bool = False
    ) -> CameraFrame:
        """Draws the present state; always call it from the same thread."""
        if (width, height) not in self._renderers:
            self._renderers[width, height] = SceneRenderer(self.model, width, height)
        return self._renderers[width, height].render(self.state(), camera, with_depth)

    def close(self) -> None:
        """Frees the renderers that `render` made."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()


def _about_vertical(yaw: float) -> NDArray[np.float64]:
    """Quaternion wxyz."""
    return np.array((np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)))
