# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates every checkpoint of a LeRobot training run and prints the table of its progress.

    python examples/training/evaluate_checkpoints.py outputs/train/act

For a run of `lerobot-train` itself, finished or still going. The metrics go to TensorBoard below
the run's folder, at the steps of the checkpoints.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from checkpoint_evaluation import Evaluation
from progress_table import Checkpoint, markdown_table, write_table

from frame_ros.scenes.rollout import Rollouts


def main(arguments: list[str] | None = None) -> list[Checkpoint]:
    """Evaluates and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('run', type=Path, help='the output_dir of lerobot-train')
    parser.add_argument('--eval-episodes', type=int, default=40)
    parser.add_argument('--timeout', type=float, default=12.0, help='s, of an episode')
    options = parser.parse_args(arguments)
    folders = sorted(options.run.glob('checkpoints/[0-9]*/pretrained_model'))
    if not folders:
        parser.error(f'{options.run} has no checkpoints/<step>/pretrained_model')
    from torch.utils.tensorboard import SummaryWriter

    rollouts = Rollouts(timeout=options.timeout)
    evaluation = Evaluation(rollouts, options.eval_episodes)
    writer = SummaryWriter(str(options.run / 'tensorboard'))
    checkpoints = []
    for folder in folders:
        step = int(folder.parent.name)
        checkpoints.append(Checkpoint(step, math.nan, evaluation(folder)))
        for name, value in checkpoints[-1].summary.scalars().items():
            writer.add_scalar(f'eval/{name}', value, step)
    writer.close()
    rollouts.close()
    expert = Checkpoint(0, math.nan, evaluation.expert)
    write_table(checkpoints, options.run, {'demonstrator': expert.record()})
    print(markdown_table(checkpoints))
    return checkpoints


if __name__ == '__main__':
    main()
