# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a checkpoint in scenes that were not demonstrated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pick_place_demonstrations import FIRST_EVALUATION_SEED

from frame_ros.episodes.reference_loading import reference_of
from frame_ros.evaluation.rollouts import RolloutSummary, summarise_rollouts
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.scenes.rollout import Rollouts


@dataclass
class Evaluation:
    """Rolls checkpoints out in the same unseen scenes, each with its own demonstration."""

    rollouts: Rollouts
    episodes: int

    def __post_init__(self) -> None:
        self.seeds = range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + self.episodes)
        expert = ScriptedPickPlace(ScriptedOptions(dt=1 / self.rollouts.rate))
        demonstrations = self.rollouts.run_many(expert, self.seeds)
        self.references = {
            seed: [reference_of(episode)] for seed, episode in zip(self.seeds, demonstrations)
        }
        self.expert = summarise_rollouts(demonstrations)

    def __call__(self, folder: Path) -> RolloutSummary:
        """Loads a checkpoint from its folder, as a robot would, and runs it."""
        robot = load_robot('so101')
        policy = load_lerobot_policy(
            folder,
            list(robot.joint_limits),
            gripper_limits=robot.grippers,
            action_rate=self.rollouts.rate,
        )
        episodes = self.rollouts.run_many(policy, self.seeds, self.references)
        return summarise_rollouts(episodes)
