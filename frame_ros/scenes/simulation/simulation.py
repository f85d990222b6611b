# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot at a table: commands in; joints, images, truth and the outcome out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import find_urdf
from frame_ros.robots.profiles import DEFAULT_ROBOT
from frame_ros.scenes.generation.clutter import Obstacle, draw_clutter
from frame_ros.scenes.generation.layout import COLOURS, SceneLayout, draw_layout
from frame_ros.scenes.simulation.external_forces import ExternalForces, ExternalTruth
from frame_ros.scenes.simulation.gear_friction import StickSlip, friction_scales, friction_set
from frame_ros.scenes.simulation.model import build_model
from frame_ros.scenes.simulation.robot_simulation import RobotSimulation
from frame_ros.scenes.simulation.scene_robot import SO101, scene_robot, with_gears
from frame_ros.scenes.simulation.task import PlacementTask, TaskState

# The SO-101's, by their own names.
JOINT_NAMES, HOME = SO101.joint_names, SO101.home
OBSTACLES = ('table', 'bin', 'can', 'block')


class PickPlaceSimulation(RobotSimulation):
    """The simulation, in its own time. One thread at a time may use it.

    Args:
        robot: what is particular to it.

    Attributes:
        joint_names: that can be commanded.
        lower, upper: (D,) their limits.
        model, data: MuJoCo's; new ones after obstacles were added or taken away.
    """

    def __init__(
        self,
        seed: int = 0,
        timestep: float | None = None,
        robot: str = DEFAULT_ROBOT,
        obstacles: Sequence[Obstacle] = (),
        friction: str = '',
    ):
        """Builds the scene and resets it to `seed`.

        Args:
            timestep: s, of the physics; None: the robot's own, 2 ms (SO-101) or 1 ms (FR3).
            robot: 'so101' or 'fr3'.
            obstacles: in addition to those of the task, see `add_obstacles`.
            friction: a measured set of the gears of the SO-101's arm, one of FRICTION_SETS, whose
                servos are then LeRobot's; '': they are ideal.

        Raises:
            MissingExtraError: mujoco is not installed.
            ValueRangeError: the seed is negative, the timestep is not within 0.1 to 5 ms, or there
                is no such robot, or no such friction for it.
            RobotError: the URDF cannot be used.
        """
        self.friction = friction
        found = scene_robot(robot)
        gears = None
        if friction:
            gear = friction_set(friction)
            found = with_gears(found, gear.servo())
            gears = StickSlip(gear, friction_scales(len(found.arm_joints), seed))
        timestep = found.timestep if timestep is None else timestep
        if not 1e-4 <= timestep <= 5e-3:
            raise ValueRangeError(f'timestep is {timestep} s: the physics needs 0.0001 to 0.005 s')
        super().__init__(found, gears)
        self.layout: SceneLayout
        self._build(timestep, tuple(obstacles))
        self.reset(seed)

    def _build(self, timestep: float, obstacles: tuple[Obstacle, ...]) -> None:
        robot = self.robot
        model = build_model(find_urdf(robot.source), timestep, robot, obstacles)
        self._attach(model, 'cube')
        self.obstacles = obstacles
        self._external = ExternalTruth(model, self._dofs[:-1], model.body(robot.tip_link).id)
        self._task = PlacementTask(model, robot.table)
        self._mocaps = {o.name: int(model.body_mocapid[model.body(o.name).id]) for o in obstacles}

    def reset(self, seed: int) -> None:
        """Puts the arm home and the objects where `seed` draws them; the same seed gives the same
        bits.

        Raises:
            ValueRangeError: the seed is negative.
        """
        self.layout = layout = draw_layout(seed, self.robot.table)
        self._go_home()
        if self.gears is not None:
            self.gears.reset()
        for placement in (layout.target, *layout.distractors):
            address = self.model.joint(f'{placement.name}_free').qposadr[0]
            self.data.qpos[address : address + 3] = placement.position
            self.data.qpos[address + 3 : address + 7] = _about_vertical(placement.yaw)
            self.model.geom(placement.name).rgba[:3] = COLOURS[placement.colour]
        self.data.mocap_pos[0] = layout.bin.position
        self.data.mocap_quat[0] = _about_vertical(layout.bin.yaw)
        self._disturb()
        self._derive()
        self._contacts.reset()
        self._task.reset()

    def step(
        self,
        targets: Sequence[float] | NDArray[np.float64] | None = None,
        steps: int = 10,
        on_step: Callable[[], None] | None = None,
    ) -> None:
        """Advances by `steps` timesteps.

        Args:
            targets: (D,) rad (m) of the servos, clipped to the limits; None: as before.
            on_step: called after every timestep, when positions and velocities are new, and forces,
                efforts and the wrench still those of the instant before it.

        Raises:
            ShapeError: there is not one target for each joint.
            ValueRangeError: a target is not finite.
        """
        if targets is not None:
            self.data.ctrl[self._actuators] = self._checked(targets)
        if self._forces or on_step is not None or self.gears is not None:
            for _ in range(steps):
                self._disturb()
                self._rub()
                self._mj.mj_step(self.model, self.data)
                if on_step is not None:
                    on_step()
            self._disturb()
        else:
            self._advance(steps)
        self._derive()
        self._task.update(self.data, self._is_target_touched())

    def _disturb(self) -> None:
        """Brings applied forces to the present time."""
        if self._forces:
            self._forces.write(self.data)

    def _rub(self) -> None:
        """Brings the friction of the gears to the present speeds."""
        if self.gears is not None:
            data, arm = self.data, self._dofs[:-1]
            # Weight, contacts and pushes: all but motors and friction.
            external = data.qfrc_actuator + data.qfrc_applied + data.qfrc_passive
            external -= data.qfrc_smooth + data.qfrc_constraint
            data.qfrc_applied[arm] = self.gears.step(
                data.qvel[arm], data.qfrc_actuator[arm], self.timestep, external[arm]
            )

    def _is_target_touched(self) -> bool:
        return any(contact.other == 'cube' for contact in self.contacts())

    def external(self) -> ExternalForces:
        """The true external joint torques and wrench, of contacts and applied forces."""
        return self._external.read(self.data, self._forces, self.contacts())

    def tip_wrench(self, torques: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns (6,) N, N m: the wrench about the tip, in the base's axes, that best explains
        external torques (A,) N m of the arm's joints.
        """
        return self._external.tip_wrench(self.data, np.asarray(torques, np.float64))

    @property
    def obstacle_names(self) -> tuple[str, ...]:
        """The objects that must not be touched."""
        return (*OBSTACLES, *(obstacle.name for obstacle in self.obstacles))

    def add_clutter(self, seed: int, count: int = 6) -> tuple[Obstacle, ...]:
        """Adds obstacles near the work space, drawn from a seed; see `draw_clutter` and
        `add_obstacles`.

        Raises:
            ValueRangeError: as of these.
        """
        clutter = draw_clutter(seed, self.robot, count)
        self.add_obstacles(clutter)
        return clutter

    def add_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Adds obstacles, which stay through resets, and resets the scene. Renderers must be
        rebuilt.

        Raises:
            ValueRangeError: a name is taken.
        """
        self._rebuild((*self.obstacles, *obstacles))

    def clear_obstacles(self) -> None:
        """Removes all added obstacles, and resets the scene."""
        self._rebuild(())

    def _rebuild(self, obstacles: tuple[Obstacle, ...]) -> None:
        self.close()
        self._build(self.timestep, obstacles)
        self.reset(self.layout.seed)

    def move_obstacle(self, name: str, position: Sequence[float]) -> None:
        """Puts the middle of an added obstacle at a position, (3,) m in the base frame; what is
        derived from it changes with the next step.

        Raises:
            ValueRangeError: there is no such obstacle.
        """
        if name not in self._mocaps:
            raise ValueRangeError(f'{name!r} is not an added obstacle: {list(self._mocaps)}')
        self.data.mocap_pos[self._mocaps[name]] = position

    def apply_force(
        self,
        link: str,
        position: Sequence[float] | NDArray[np.float64],
        force: Sequence[float] | NDArray[np.float64],
    ) -> None:
        """Pushes a link, from the next step on until `clear_forces` or a reset.

        Args:
            position: (3,) m, the point pushed, where it is now; it then moves with the link.
            force: (3,) N; it keeps its direction. Both in the base frame.

        Raises:
            ValueRangeError: the robot has no such link, or a number is not finite.
        """
        if link not in self._bodies:
            raise ValueRangeError(f'the {self.robot.name} has no link {link!r}')
        point, push = np.array(position, float), np.array(force, float)
        if point.shape != (3,) or push.shape != (3,) or not np.isfinite((point, push)).all():
            raise ValueRangeError(f'a push needs 3 + 3 finite numbers, not {position}, {force}')
        self._forces.add(self.data, self._bodies[link], point, push)

    def clear_forces(self) -> None:
        """Ends all pushes."""
        self._forces.clear(self.data)

    def goal_pose(self) -> NDArray[np.float64]:
        """Returns (7,) position (m) and quaternion xyzw of the middle of the bin's floor."""
        position = self.data.mocap_pos[0] + (0.0, 0.0, self.robot.table.bin_wall)
        return np.concatenate((position, np.roll(self.data.mocap_quat[0], -1)))

    @property
    def task_state(self) -> TaskState:
        """State of the task: done, failed, or neither; the first of the two stays."""
        return self._task.state

    def restart_task(self) -> None:
        """Forgets success and failure without moving anything."""
        self._task.reset()


def _about_vertical(yaw: float) -> NDArray[np.float64]:
    """Quaternion wxyz."""
    return np.array((np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)))
