# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Demonstrations of picking and placing by the scripted policy, as a LeRobotDataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from frame_ros.episodes.export.demonstrations import DemonstrationDataset
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.scenes.rollout import Rollouts

# Scenes of demonstrations are drawn from seeds from 0 on, those of evaluations from here on.
FIRST_EVALUATION_SEED = 100_000


def record_demonstrations(
    folder: Path,
    rollouts: Rollouts,
    demonstrations: int,
    qualities: Sequence[float] = (1.0,),
    poses: Sequence[str] = ('object', 'goal'),
    cameras: Mapping[str, tuple[int, int]] | None = None,
    seed: int = 0,
) -> list[int]:
    """Writes so many successful demonstrations into a new folder; returns their scenes' seeds.

    Args:
        qualities: of the scripted policy, taken in turn.
        poses, cameras: what the policy to be trained will see in addition to the joints.
    """
    robot = load_robot('so101')
    dataset = DemonstrationDataset(
        folder, tuple(robot.joint_limits), robot.grippers, round(rollouts.rate), poses, cameras
    )
    policies = [
        ScriptedPickPlace(ScriptedOptions(quality=quality, dt=1 / rollouts.rate))
        for quality in qualities
    ]
    kept: list[int] = []
    while len(kept) < demonstrations:
        episode = rollouts.run(policies[len(kept) % len(policies)], seed, dataset.add)
        with redirect_stderr(StringIO()):  # a progress bar for every episode
            if episode.is_success:
                dataset.save_episode()
                kept.append(seed)
            else:
                dataset.drop_episode()
        seed += 1
    dataset.close()
    return kept
