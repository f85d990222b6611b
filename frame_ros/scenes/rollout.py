# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in the simulated scene without ROS, in the simulation's own time: one Episode.

Its streams and metrics are those of an episode read from a bag, through the same pipeline, so a
training loop sees the numbers that the robot will show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import process_episode
from frame_ros.episodes.reference import Reference
from frame_ros.policies.base import Policy
from frame_ros.robots.profiles import DEFAULT_ROBOT
from frame_ros.scenes.rollout_loop import RolloutLoop, StepListener
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.scenes.simulation.task import TaskState

INSTRUCTION = 'pick up the cube and put it in the bin'


class Rollouts(RolloutLoop):
    """Rolls policies out in a `PickPlaceSimulation`, one seeded episode at a time, see RolloutLoop.

    OT is that of putting the cube into the bin, where it is grasped when both fingers press on it.

    Args:
        rate: Hz of control steps.
        timeout: s after which an episode ends.
        cameras: name -> (width, height) of images for listeners, in addition to those that the
            policy requests; a requested camera that is not named here has 320 x 240.
        robot: 'so101' or 'fr3'.
    """

    simulation: PickPlaceSimulation

    def __init__(
        self,
        rate: float = 30.0,
        timeout: float = 20.0,
        instruction: str = INSTRUCTION,
        cameras: Mapping[str, tuple[int, int]] | None = None,
        robot: str = DEFAULT_ROBOT,
    ) -> None:
        """Builds the scene.

        Raises:
            ValueRangeError: rate is not within 10 and 250 Hz, timeout is not positive, or there is
                no such robot.
            MissingExtraError: mujoco is not installed.
        """
        found = scene_robot(robot)
        super().__init__(found, found.timestep, rate, timeout, cameras)
        self.instruction = instruction
        self.simulation = PickPlaceSimulation(timestep=self.timestep, robot=robot)
        self.settings = self._settings('put_in')

    def run(
        self,
        policy: Policy,
        seed: int,
        on_step: StepListener | None = None,
        references: Sequence[Reference] = (),
    ) -> Episode:
        """Runs one episode in the scene that `seed` draws, with its metrics and summary computed.

        Args:
            references: of ATE and RTE, see `reference_of`; the nearest counts.

        Raises:
            PolicyError: the policy cannot act on the scene's observations, or returned something
                unusable.
            ValueRangeError: the seed is negative.
        """
        self.simulation.reset(seed)
        policy.reset(seed)
        record, end = self._roll(policy, on_step)
        attributes = {
            'robot': self._robot.name,
            'seed': str(seed),
            'policy': policy.name,
            'checkpoint': policy.checkpoint,
            'instruction': self.instruction,
            'metrics_config': self.settings.to_json(),
        }
        name = f'{policy.name}-{seed}'
        episode = self._episode(name, self.simulation.task_state, record, end, attributes)
        process_episode(episode, references)
        return episode

    def run_many(
        self,
        policy: Policy,
        seeds: Iterable[int],
        references: Mapping[int, Sequence[Reference]] | None = None,
    ) -> list[Episode]:
        """Runs one episode for each seed. references: by seed; otherwise as `run`."""
        known = references or {}
        return [self.run(policy, seed, None, known.get(seed, ())) for seed in seeds]

    def close(self) -> None:
        """Frees the renderers, if there are any."""
        self.simulation.close()

    def _is_over(self) -> bool:
        return self.simulation.task_state is not TaskState.RUNNING
