# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation of a scene file's scene: its robot, objects, light and cameras."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene, SceneObject
from frame_ros.scenes.description.shapes import extents
from frame_ros.scenes.simulation.contacts import Contact, Touching
from frame_ros.scenes.simulation.rendering import CameraFrame
from frame_ros.scenes.simulation.robot_simulation import JointReadings, RobotSimulation
from frame_ros.scenes.simulation.scene_model import build_scene_model
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.state import SceneState
from frame_ros.scenes.simulation.task import REST_SPEED, is_off_table
from frame_ros.scenes.tasks.rules import StepOutcomes

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
TABLE = 'table'
PICK_HEIGHT = 0.1  # m, of the goal of pick_up above where the target stood
# Objects settle for SETTLING, s, at least, and until they are still, for MOST_SETTLING at most.
SETTLING, MOST_SETTLING = 0.2, 1.0
# By settling an object may go so far, m, and turn so far, rad; more: it did not stand.
LARGEST_SHIFT, LARGEST_TURN = 0.01, 0.2
OVERLAP = 0.002  # m, by which things may lie in each other before they settle
# An object that is faster, m/s, or further from the base, m, was thrown by no arm. A fall from the
# table to the floor ends with less than 4 m/s.
FASTEST, FARTHEST = 10.0, 3.0
WARNINGS = ('mjWARN_BADQPOS', 'mjWARN_BADQVEL', 'mjWARN_BADQACC', 'mjWARN_INERTIA')


class SceneSimulation(RobotSimulation):
    """A scene, in its own time. One thread at a time may use it.

    Contacts of the fingers with the target are expected while they close, as of ContactTruth;
    nothing else is to be touched, the receptacle included.

    Attributes:
        scene: that is simulated.
        problem: why it does not stand as it should, or has diverged; '': it is sound.
    """

    def __init__(
        self,
        scene: Scene,
        robot: SceneRobot | None = None,
        timestep: float | None = None,
        is_drawn: bool = True,
    ) -> None:
        """Builds the scene and settles it.

        Args:
            robot: None: the scene's.
            timestep: s, of the physics; None: the robot's own.
            is_drawn: False: nothing will be drawn of it, and it takes less time.

        Raises:
            FrameRosError: as of `build_scene_model`.
            ValueRangeError: the timestep is not within 0.1 to 5 ms.
        """
        robot = robot or scene_robot(scene.robot)
        if timestep is not None:
            if not 1e-4 <= timestep <= 5e-3:
                raise ValueRangeError(
                    f'timestep is {timestep} s: the physics needs 0.0001 to 0.005 s'
                )
            robot = attrs.evolve(robot, timestep=timestep)
        super().__init__(robot)
        self.scene, self.problem = scene, ''
        self._read: list[Contact] | None = None
        self._joints: JointReadings | None = None
        self._touching: Touching | None = None
        self._is_drawn = is_drawn
        self._attach(self._build_model(scene, robot), scene.task.target)
        self._sizes = {c.name: (c.width or 320, c.height or 240) for c in scene.cameras or ()}
        self._goal_rise = self._rise(scene.receptacle) if scene.receptacle else 0.0
        self._inside = self._middle_inside(scene)
        self._objects = [self.model.body(each.name).id for each in scene.objects]
        self._loose = {
            each.name: int(self.model.body(each.name).dofadr[0])
            for each in scene.objects
            if self.model.body(each.name).jntnum[0]
        }
        self._speeds = np.array([[a, a + 1, a + 2] for a in self._loose.values()]).reshape(-1, 3)
        kinds = self._mj.mjtWarning
        self._warnings = [int(getattr(kinds, name)) for name in WARNINGS]
        self.reset()

    def _build_model(self, scene: Scene, robot: SceneRobot) -> mujoco.MjModel:
        return build_scene_model(scene, robot, self._is_drawn)

    def own_outcomes(self) -> StepOutcomes | None:
        """Returns the steps by a rule of the world's own; None: it has none."""
        return None

    def reset(self) -> None:
        """Puts the arm home, and lets the objects settle where the scene puts them. Sets `problem`,
        and the time to 0. It gives the same bits each time.
        """
        self._go_home()
        self._derive()
        self.problem = self._overlap()
        if not self.problem:
            self._settle()
        self.data.time = 0.0
        self._contacts.reset()
        self._look_again()
        self._start = self.object_pose()

    def _overlap(self) -> str:
        """Returns which objects lie in something; '': none."""
        found, names = self.data.contact, self.body_names
        for index in np.flatnonzero(found.dist < -OVERLAP) if self.data.ncon else ():
            bodies = [int(self.model.geom_bodyid[g]) for g in found.geom[index]]
            if any(body in self._objects for body in bodies):
                one, other = (names[body] for body in bodies)
                return f'{one} and {other} overlap by {-1e3 * found.dist[index]:.1f} mm'
        return ''

    def _settle(self) -> None:
        before = {each.name: self.pose_of(each.name) for each in self.scene.objects}
        steps = max(1, round(SETTLING / self.timestep))
        for _ in range(round(MOST_SETTLING / SETTLING)):
            self._mj.mj_step(self.model, self.data, nstep=steps)
            if self.problem:
                return
            if self._fastest() < REST_SPEED:
                break
        self._derive()
        self.problem = self.divergence() or self._unsteady(before)

    def _unsteady(self, before: dict[str, Array]) -> str:
        if self._fastest() >= REST_SPEED:
            return f'an object still moves by {self._fastest():.3f} m/s after {MOST_SETTLING} s'
        for name, pose in before.items():
            now = self.pose_of(name)
            shift = float(np.linalg.norm(now[:3] - pose[:3]))
            turn = 2 * float(np.arccos(min(1.0, abs(float(now[3:] @ pose[3:])))))
            if shift > LARGEST_SHIFT or turn > LARGEST_TURN:
                text = f'{name} does not stand where it was put: it settled'
                return f'{text} {1e3 * shift:.0f} mm and {turn:.2f} rad away'
        return ''

    def _fastest(self) -> float:
        """m/s, of the fastest object."""
        speeds = self.data.qvel[self._speeds]
        return math.sqrt(float((speeds * speeds).sum(axis=1).max())) if len(speeds) else 0.0

    def divergence(self) -> str:
        """Returns why the state is of no physical motion: NaN, a warning of MuJoCo, or an object
        that is too fast or too far; '': it is sound.
        """
        data = self.data
        # Usually nothing moves fast or is far, the robot included; NaN is never less.
        is_slow = data.qvel @ data.qvel < (FASTEST / 2) ** 2
        is_near = is_slow and np.vdot(data.xpos, data.xpos) < FARTHEST**2
        if is_near and math.isfinite(data.qpos @ data.qpos) and not data.warning.number.any():
            return ''
        if (numbers := data.warning.number[self._warnings]).any():
            name = WARNINGS[int(numbers.argmax())].removeprefix('mjWARN_')
            return f'MuJoCo warns of {name} at {data.time:.3f} s'
        if not math.isfinite(float(data.qpos.sum() + data.qvel.sum())):
            return f'the state is not finite at {data.time:.3f} s'
        if (fastest := self._fastest()) > FASTEST:
            return f'an object moves by {fastest:.0f} m/s at {data.time:.3f} s'
        way = float(np.abs(data.xpos[self._objects]).max())
        return '' if way < FARTHEST else f'an object is {way:.1f} m away at {data.time:.3f} s'

    def step(
        self, targets: Sequence[float] | NDArray[np.float64] | None = None, steps: int = 10
    ) -> None:
        """Advances by `steps` timesteps, and sets `problem` if the simulation diverges.

        Args:
            targets: (D,) rad (m) of the servos, clipped to the limits; None: as before.

        Raises:
            ShapeError: there is not one target for each joint.
            ValueRangeError: a target is not finite.
        """
        if targets is not None:
            self.data.ctrl[self._actuators] = self._checked(targets)
        self._advance(steps)
        self._look_again()

    def _look_again(self) -> None:
        """After any motion: derives everything again, and sets `problem` if it has diverged."""
        self._derive()
        self._read = self._joints = self._touching = None
        self.problem = self.problem or self.divergence()

    def joint_state(self) -> JointReadings:
        """As of RobotSimulation."""
        if self._joints is None:
            self._joints = super().joint_state()
        return self._joints

    def contacts(self) -> list[Contact]:
        """Returns the robot's contacts, in the base frame."""
        if self._read is None:
            self._read = super().contacts()
        return self._read

    def pressing(self) -> Touching:
        """As of RobotSimulation."""
        if self._touching is None:
            self._touching = super().pressing()
        return self._touching

    @property
    def obstacle_names(self) -> tuple[str, ...]:
        """The table, and every object but the target."""
        others = (each.name for each in self.scene.objects if each.name != self.scene.task.target)
        return (TABLE, *others)

    def goal_pose(self) -> Array:
        """Returns (7,) position (m) and quaternion xyzw of the middle of the floor inside or of the
        receptacle's top; of move_near the receptacle's foot; of pick_up a place PICK_HEIGHT above
        where the target stood.
        """
        receptacle = self.scene.receptacle
        if receptacle is None:
            return np.asarray(self._start + (0, 0, PICK_HEIGHT, 0, 0, 0, 0))
        pose = self.pose_of(receptacle.name)
        if self._inside is not None:
            pose[:3] += Rotation.from_quat(pose[3:]).apply(self._inside)
        pose[2] += self._goal_rise
        return pose

    @staticmethod
    def _middle_inside(scene: Scene) -> Array | None:
        """(3,) m, level in a receptacle's axes, where the inside of a mesh has its middle."""
        shape = scene.receptacle.shape if scene.receptacle else None
        if scene.task.kind != 'put_in' or shape is None or not shape.mesh or shape.cavity is None:
            return None
        return np.array((*shape.cavity.centre, 0.0))

    def _rise(self, receptacle: SceneObject) -> float:
        """m from a receptacle's middle to its goal."""
        shape = receptacle.shape
        assert shape is not None
        if self.scene.task.kind == 'put_in':
            return shape.cavity.floor if shape.cavity is not None else 0.0
        rise = float(extents(shape, receptacle.rotation)[2])
        return -rise if self.scene.task.kind == 'move_near' else rise

    def object_poses(self) -> dict[str, Array]:
        """Every object -> (7,) position (m) and quaternion xyzw, in the base frame."""
        return {each.name: self.pose_of(each.name) for each in self.scene.objects}

    @property
    def is_lost(self) -> bool:
        """True if the target has fallen off the table."""
        return is_off_table(self.object_pose(), self.robot.table)

    def draw(
        self, camera: str, with_depth: bool = False, state: SceneState | None = None
    ) -> CameraFrame:
        """Draws a camera's picture in the size of the scene.

        Args:
            state: of `state`, that is drawn; None: the present one.

        Raises:
            ValueRangeError: the scene has no such camera, or is not one that is drawn.
        """
        if not self._is_drawn:
            raise ValueRangeError('the scene was built with is_drawn=False: it has no pictures')
        if camera not in self._sizes:
            names = ', '.join(self._sizes) or 'none'
            raise ValueRangeError(f'the scene has no camera {camera!r}; it has {names}')
        drawn = self.state() if state is None else state
        return self._renderer(*self._sizes[camera]).render(drawn, camera, with_depth)
