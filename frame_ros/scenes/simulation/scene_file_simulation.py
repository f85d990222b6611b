# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scenes of a file, one at a time, as the simulator node runs them in real time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.simulation.applied_forces import AppliedForces
from frame_ros.scenes.simulation.episode_states import StateRecorder
from frame_ros.scenes.simulation.external_forces import ExternalForces, ExternalTruth
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation
from frame_ros.scenes.simulation.task import TaskState
from frame_ros.scenes.tasks.rules import is_success
from frame_ros.scenes.world_names import OURS

Array = NDArray[np.float64]
FRAME, JUDGEMENT = 0.1, 0.5  # s between two frames of the task's rules, and two judgements
_JUDGED = 50  # frames, the newest that a judgement looks at


class LiveScene(SceneSimulation):
    """A scene with what the simulator node needs of it: forces on the arm, the task's state.

    The task is judged by the paper's rule, a frame each FRAME.
    """

    def __init__(self, scene: Scene, robot: SceneRobot | None = None) -> None:
        """Raises as of SceneSimulation."""
        super().__init__(scene, robot)
        model = self.model
        self._external = ExternalTruth(model, self._dofs[:-1], model.body(self.robot.tip_link).id)
        self._none = AppliedForces()
        self.restart_task()

    def restart_task(self) -> None:
        """Forgets success and failure without moving anything."""
        self.task_state = TaskState.RUNNING
        self._recorder = StateRecorder(self.model, self.scene, self.robot)
        self._recorder.record(self.data)
        self._next_frame, self._next_judgement = self.time + FRAME, self.time + JUDGEMENT

    def step(
        self,
        targets: Sequence[float] | Array | None = None,
        steps: int = 10,
        on_step: Callable[[], None] | None = None,
    ) -> None:
        """As of SceneSimulation; on_step: called after every timestep."""
        if on_step is None:
            super().step(targets, steps)
        else:
            if targets is not None:
                self.data.ctrl[self._actuators] = self._checked(targets)
            for _ in range(steps):
                self._mj.mj_step(self.model, self.data)
                on_step()
            super().step(None, 0)
        self._judge()

    def _judge(self) -> None:
        if self.time < self._next_frame or self.task_state is not TaskState.RUNNING:
            return
        self._next_frame = self.time + FRAME
        self._recorder.record(self.data)
        if self.is_lost:
            self.task_state = TaskState.FAILURE
        elif self.time >= self._next_judgement:
            self._next_judgement = self.time + JUDGEMENT
            states = self._recorder.states(_JUDGED)
            if is_success(self.scene, states):
                self.task_state = TaskState.SUCCESS

    def external(self) -> ExternalForces:
        """The true external joint torques and wrench, of contacts."""
        return self._external.read(self.data, self._none, self.contacts())

    def tip_wrench(self, torques: Array) -> Array:
        """Returns (6,) N, N m, as of `ExternalTruth.tip_wrench`."""
        return self._external.tip_wrench(self.data, np.asarray(torques, np.float64))


class SceneFileSimulation:
    """The scenes of a file in turn. All but what is here is of the present scene, a LiveScene.

    Attributes:
        scenes: of the file.
        place: of the present one, from 0.
        current: its simulation.
    """

    def __init__(
        self, scenes: Sequence[Scene], robot: str, place: int = 0, cameras: Collection[str] = ()
    ) -> None:
        """Builds the scene at a place.

        Args:
            cameras: that every scene must have.

        Raises:
            SetupError: a scene is of another robot or world, or lacks a camera.
            FrameRosError: as of SceneSimulation.
        """
        found = scene_robot(robot)
        for each in scenes:
            if scene_robot(each.robot).name != found.name:
                raise SetupError(f'the scene {each.name} is of {each.robot}, the robot is {robot}')
            if each.world != OURS:
                raise SetupError(f'the scene {each.name} is of the world {each.world}, not {OURS}')
            names = [camera.name for camera in each.cameras or ()]
            if lacking := [name for name in cameras if name not in names]:
                raise SetupError(
                    f'the scene {each.name} has no camera {", ".join(lacking)}; it has '
                    f'{", ".join(names) or "none"}'
                )
        self.scenes, self._robot = tuple(scenes), found
        self.place, self.current = place, self._built(place)

    def _built(self, place: int) -> LiveScene:
        made = LiveScene(self.scenes[place], self._robot)
        if made.problem:
            raise SetupError(f'the scene {made.scene.name} cannot be run: {made.problem}')
        return made

    def reset(self, seed: int) -> None:
        """Goes to a scene: the first at 0, and after the last again the first.

        Raises:
            SetupError: it does not stand as it should; the scene before stays.
            FrameRosError: it cannot be built; the scene before stays.
        """
        place = seed % len(self.scenes)
        if place == self.place:
            self.current.reset()
            self.current.restart_task()
            return
        made = self._built(place)
        self.current.close()
        self.place, self.current = place, made

    @property
    def text(self) -> str:
        """The present scene in words."""
        scene = self.scenes[self.place]
        return f'scene {self.place + 1} of {len(self.scenes)}, {scene.name}: {scene.instruction}'

    def __getattr__(self, name: str) -> Any:
        """Of the present scene."""
        if name == 'current':  # not built yet
            raise AttributeError(name)
        return getattr(self.current, name)
