# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small ACT with LeRobot and logs frame_ros's metrics with the losses.

    python examples/training/train_act.py --output runs/act

Demonstrations by the scripted policy in the simulated scene become a LeRobotDataset; LeRobot's own
functions make the policy, its processors, the optimiser and the checkpoints; at every evaluation
the checkpoint is loaded as a robot would load it, rolled out in scenes that were not demonstrated,
and its metrics go to TensorBoard or Weights & Biases. `--smoke` does all of it in half a minute.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.scenes.rollout import Rollouts

import_lerobot()

import torch  # noqa: E402
from checkpoint_evaluation import Evaluation  # noqa: E402
from frames_in_memory import make_loader  # noqa: E402
from lerobot.configs.default import DatasetConfig, WandBConfig  # noqa: E402
from lerobot.configs.train import TrainPipelineConfig  # noqa: E402
from lerobot.configs.types import NormalizationMode  # noqa: E402
from lerobot.datasets.factory import make_dataset  # noqa: E402
from lerobot.optim.factory import make_optimizer_and_scheduler  # noqa: E402
from lerobot.policies.act.configuration_act import ACTConfig  # noqa: E402
from lerobot.policies.factory import make_policy, make_pre_post_processors  # noqa: E402
from lerobot.utils.random_utils import set_seed  # noqa: E402
from lerobot.utils.train_utils import (  # noqa: E402
    get_step_checkpoint_dir,
    save_checkpoint,
    update_last_checkpoint,
)
from pick_place_demonstrations import record_demonstrations  # noqa: E402
from progress_table import Checkpoint, markdown_table, write_table  # noqa: E402
from run_log import LOGGERS, RunLog, make_log  # noqa: E402

IMAGE_SIZE = (128, 96)  # width, height
SMOKE = {
    'demonstrations': 2, 'steps': 4, 'eval_freq': 2, 'eval_episodes': 1, 'timeout': 1.0,
    'dim_model': 32, 'batch_size': 8, 'log_freq': 1,
}  # fmt: skip


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options; the defaults are those of the table in docs/training.md."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument('--output', type=Path, default=Path('runs/act'), help='a new folder')
    parser.add_argument('--demonstrations', type=int, default=100)
    parser.add_argument('--quality', type=float, nargs='+', default=[1.0], help='of the scripted')
    parser.add_argument('--dataset', type=Path, help='a data set recorded before, instead')
    parser.add_argument('--camera', choices=('front', 'wrist'), help='images instead of poses')
    parser.add_argument('--steps', type=int, default=2400)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--learning-rate', type=float, default=1e-4)
    parser.add_argument('--dim-model', type=int, default=128)
    parser.add_argument('--chunk-size', type=int, default=30, help='steps predicted')
    parser.add_argument('--action-steps', type=int, default=15, help='steps executed')
    parser.add_argument('--eval-freq', type=int, default=200, help='steps between evaluations')
    parser.add_argument('--eval-episodes', type=int, default=40)
    parser.add_argument('--timeout', type=float, default=12.0, help='s, of an episode')
    parser.add_argument('--log-freq', type=int, default=50)
    parser.add_argument('--logger', choices=LOGGERS, default='tensorboard')
    parser.add_argument('--seed', type=int, default=1000)
    parser.add_argument('--threads', type=int, default=1, help='of torch')
    parser.add_argument('--smoke', action='store_true', help='the whole run, tiny')
    options = parser.parse_args(arguments)
    if options.smoke:
        vars(options).update(SMOKE)
    return options


def make_config(options: argparse.Namespace, dataset: Path) -> TrainPipelineConfig:
    """Returns the configuration of `lerobot-train`, with a policy small enough for a CPU."""
    size = options.dim_model
    policy = ACTConfig(
        device='cpu',
        push_to_hub=False,
        chunk_size=options.chunk_size,
        n_action_steps=options.action_steps,
        dim_model=size,
        dim_feedforward=4 * size,
        n_heads=4,
        n_encoder_layers=2,
        n_vae_encoder_layers=1,
        latent_dim=16,
        dropout=0.05,
        pretrained_backbone_weights=None,
        optimizer_lr=options.learning_rate,
        optimizer_lr_backbone=options.learning_rate,
        normalization_mapping=dict.fromkeys(
            ('VISUAL', 'STATE', 'ENV', 'ACTION'), NormalizationMode.MEAN_STD
        ),
    )
    config = TrainPipelineConfig(
        dataset=DatasetConfig(
            repo_id=f'local/{dataset.name}', root=str(dataset), use_imagenet_stats=False
        ),
        policy=policy,
        output_dir=options.output / 'training',
        job_name='act',
        seed=options.seed,
        num_workers=0,
        batch_size=options.batch_size,
        steps=options.steps,
        eval_freq=options.eval_freq,
        save_freq=options.eval_freq,
        log_freq=options.log_freq,
        wandb=WandBConfig(enable=options.logger == 'wandb', mode='offline', disable_artifact=True),
    )
    config.validate()
    return config


class Training:
    """The loop, made of LeRobot's pieces."""

    def __init__(self, config: TrainPipelineConfig, log: RunLog, evaluation: Evaluation) -> None:
        self.config, self.log, self.evaluation = config, log, evaluation
        set_seed(config.seed)
        dataset = make_dataset(config)
        self.policy = make_policy(config.policy, ds_meta=dataset.meta)
        self.processors = make_pre_post_processors(config.policy, dataset_stats=dataset.meta.stats)
        self.optimizer, self.scheduler = make_optimizer_and_scheduler(config, self.policy)
        self.batches = _endless(make_loader(dataset, config.batch_size))
        self.checkpoints: list[Checkpoint] = []

    def run(self) -> list[Checkpoint]:
        """Trains; returns the evaluations."""
        losses: list[dict[str, float]] = []
        since = 0
        for step in range(1, self.config.steps + 1):
            losses.append(self.update())
            if step % self.config.log_freq == 0:
                self.log.log_dict(_means(losses[since:]), step)
                since = len(losses)
            if step % self.config.eval_freq == 0 or step == self.config.steps:
                self.evaluate(step, _means(losses)['loss'])
                losses, since = [], 0
        return self.checkpoints

    def update(self) -> dict[str, float]:
        """One step of the optimiser; its losses."""
        self.policy.train()
        loss, parts = self.policy.forward(self.processors[0](next(self.batches)))
        loss.backward()
        clip = self.config.optimizer.grad_clip_norm or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.scheduler is not None:
            self.scheduler.step()
        return {'loss': loss.item(), 'grad_norm': norm.item(), **parts}

    def evaluate(self, step: int, loss: float) -> None:
        """Saves a checkpoint as `lerobot-train` does, rolls it out and logs its metrics."""
        folder = get_step_checkpoint_dir(self.config.output_dir, self.config.steps, step)
        save_checkpoint(
            folder, step, self.config, self.policy, self.optimizer, self.scheduler, *self.processors
        )
        update_last_checkpoint(folder)
        summary = self.evaluation(folder / 'pretrained_model')
        self.log.log_dict(summary.scalars(), step, mode='eval')
        self.checkpoints.append(Checkpoint(step, loss, summary))
        rate = summary.success_rate
        print(
            f'step {step}: loss {loss:.3f}, success {rate.value:.0%} '
            f'({rate.lower:.0%} to {rate.upper:.0%}), ps {summary.metrics["ps"].value:.3f}',
            flush=True,
        )


def _endless(loader: torch.utils.data.DataLoader) -> Iterator[dict[str, Any]]:
    while True:
        yield from loader


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main(arguments: list[str] | None = None) -> list[Checkpoint]:
    """Runs the example and prints its table."""
    options = parse_arguments(arguments)
    torch.set_num_threads(options.threads)
    cameras = {options.camera: IMAGE_SIZE} if options.camera else {}
    begun = time.monotonic()
    options.output.mkdir(parents=True, exist_ok=False)
    rollouts = Rollouts(timeout=options.timeout, cameras=cameras)
    dataset = options.dataset
    if dataset is None:
        dataset = options.output / 'demonstrations'
        recorder = Rollouts(cameras=cameras)
        poses = () if options.camera else ('object', 'goal')
        record_demonstrations(
            dataset, recorder, options.demonstrations, options.quality, poses, cameras
        )
        recorder.close()
    print(f'demonstrations in {dataset} after {time.monotonic() - begun:.0f} s', flush=True)
    evaluation = Evaluation(rollouts, options.eval_episodes)
    with offline(), redirect_stdout(StringIO()):
        config = make_config(options, dataset)
        training = Training(config, make_log(options.logger, config), evaluation)
    checkpoints = training.run()
    training.log.close()
    rollouts.close()
    # What the demonstrator does in the same scenes: where the metrics are heading.
    expert = Checkpoint(0, math.nan, evaluation.expert)
    facts = {name: str(value) for name, value in vars(options).items()}
    write_table(checkpoints, options.output, {**facts, 'demonstrator': expert.record()})
    print(markdown_table(checkpoints))
    print(f'\nThe demonstrator in the same scenes:\n\n{markdown_table([expert])}')
    print(f'\nall after {time.monotonic() - begun:.0f} s; written to {options.output}')
    return checkpoints


if __name__ == '__main__':
    main()
