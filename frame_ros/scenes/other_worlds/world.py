# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A scene in the other world: its physics, robot, pictures and verdict, behind our simulation."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.other_worlds.environment import (
    SITE,
    TARGET,
    environment_module,
    make_environment,
)
from frame_ros.scenes.other_worlds.nominal import own_world
from frame_ros.scenes.other_worlds.writing import write_model
from frame_ros.scenes.simulation.rendering import CameraFrame
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation
from frame_ros.scenes.simulation.state import SceneState
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.rules import OWN_RULE, StepOutcomes

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
GOAL_MARGIN = 0.03  # m; its servos sag by half of it


class LiftSimulation(SceneSimulation):
    """A scene in `lerobot_env_so101/SO101PickCube-v0`. One thread at a time may use it.

    Joint targets go to the environment's own actuators, by its own `step`. Its end at the border of
    where it draws cubes is left out, as operators put the cube beyond it.

    Attributes:
        environment: of gymnasium.
        own_times: step of the task -> s at which the environment's rule first held. Its success is
            'success'; the height that it asks for is 'lift'; its distance from cube to gripper is
            'grasp', as it has no rule of one.
    """

    environment: Any

    def __init__(
        self,
        scene: Scene,
        robot: SceneRobot | None = None,
        timestep: float | None = None,
        is_drawn: bool = True,
    ) -> None:
        """Builds the scene in the world and settles it.

        Args:
            robot: None: the world's.
            timestep: s, of the physics; None: the world's own.
            is_drawn: as of SceneSimulation; its model is the same.

        Raises:
            MissingExtraError: the package is not installed.
            ValueRangeError: the world cannot hold the scene; otherwise as of SceneSimulation.
        """
        self.own_times: dict[str, float] = {}
        super().__init__(scene, robot or own_world().robot, timestep, is_drawn)

    def _build_model(self, scene: Scene, robot: SceneRobot) -> mujoco.MjModel:
        with tempfile.TemporaryDirectory() as folder:
            file = write_model(scene, Path(folder))  # raises for a scene that is not of the world
            (camera,) = scene.cameras or ()
            assert camera.width and camera.height
            size = camera.width, camera.height
            self.environment = make_environment(file, robot.timestep, size)
        self._near = float(environment_module('pick_env').SUCCESS_DISTANCE)
        return self.environment.model

    def _attach(self, model: mujoco.MjModel, target: str) -> None:
        super()._attach(model, target)
        self.data = self.environment.data

    def _go_home(self) -> None:
        """Resets the environment, with its cube where the scene has the target."""
        self.environment.reset(seed=0)
        self._forces.clear(self.data)
        target = self.scene.target
        pose = (*target.position, target.height, *np.roll(target.orientation, 1))
        self.environment.begin(np.array(pose, float))
        self.own_times = dict.fromkeys(TASKS[self.scene.task.kind].steps, float('nan'))

    def step(
        self, targets: Sequence[float] | NDArray[np.float64] | None = None, steps: int = 10
    ) -> None:
        """Advances as `SceneSimulation.step`, by the environment's step."""
        now = self.data.ctrl.copy() if targets is None else self._checked(targets)
        is_success = self.environment.advance(now, steps)
        self._look_again()
        self._note(is_success)

    def _note(self, is_success: bool) -> None:
        cube = self.data.body(TARGET).xpos
        holds = {
            'grasp': float(np.linalg.norm(cube - self.tip_position())) < self._near,
            'lift': float(cube[2]) > self.environment.success_height,
            'success': is_success,
        }
        for name, is_so in holds.items():
            if is_so and np.isnan(self.own_times[name]):
                self.own_times[name] = self.time

    def own_outcomes(self) -> StepOutcomes:
        """Returns the steps by the environment's rule, see `own_times`."""
        reached = {name: bool(np.isfinite(time)) for name, time in self.own_times.items()}
        return StepOutcomes(self.scene.task.kind, OWN_RULE, reached, dict(self.own_times))

    def goal_pose(self) -> Array:
        """Returns (7,) as `SceneSimulation.goal_pose`, GOAL_MARGIN above the height for success."""
        goal = super().goal_pose()
        goal[2] = max(goal[2], self.environment.success_height + GOAL_MARGIN)
        return goal

    def tip_position(self) -> Array:
        """(3,) m, of the environment's site between the jaws."""
        return np.array(self.data.site(SITE).xpos, float)

    def draw(
        self, camera: str, with_depth: bool = False, state: SceneState | None = None
    ) -> CameraFrame:
        """Draws the environment's own picture; with depth, which it does not give, ours."""
        if with_depth or camera not in self._sizes:
            return super().draw(camera, with_depth, state)
        drawn = self.data
        if state is not None:
            drawn = self._mj.MjData(self.model)
            state.copy_to(drawn)
            self._mj.mj_forward(self.model, drawn)
        return CameraFrame(float(drawn.time), self.environment.picture(drawn), None)

    def close(self) -> None:
        """Frees the renderers and the environment; nothing can be done with it any more."""
        super().close()
        self.environment.close()
        # Its model of many MB is in a circle of references, whose size Python does not know.
        del self.environment, self._contacts
        self._distances.clear()
