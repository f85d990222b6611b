# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of a training run: TensorBoard, or Weights & Biases as LeRobot does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from lerobot.configs.train import TrainPipelineConfig

LOGGERS = ('tensorboard', 'wandb', 'none')


class RunLog(Protocol):
    """Takes numbers at a step; mode: 'train' or 'eval', prefixed to the names."""

    def log_dict(self, d: Mapping[str, float], step: int, mode: str = 'train') -> None:
        """Logs {'ps': 0.1} as 'eval/ps'."""

    def close(self) -> None:
        """Ends the log."""


class TensorBoardLog:
    """Event files for `tensorboard --logdir`."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder))

    def log_dict(self, d: Mapping[str, float], step: int, mode: str = 'train') -> None:
        """Logs and writes out, so that a running training can be watched."""
        for name, value in d.items():
            self._writer.add_scalar(f'{mode}/{name}', value, step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()


class NoLog:
    """Writes nothing."""

    def log_dict(self, d: Mapping[str, float], step: int, mode: str = 'train') -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


class WandBLog:
    """A run of Weights & Biases with the names and settings that LeRobot's own logger gives it.
    That logger itself (LeRobot 0.4.4) asks the run for `get_url`, which wandb 0.31 no longer has.
    """

    def __init__(self, config: TrainPipelineConfig) -> None:
        import wandb

        self._run = wandb.init(
            project=config.wandb.project,
            name=config.job_name,
            dir=config.output_dir,
            config=config.to_dict(),
            job_type='train_eval',
            mode=config.wandb.mode,
            save_code=False,
        )

    def log_dict(self, d: Mapping[str, float], step: int, mode: str = 'train') -> None:
        """Logs all at once."""
        self._run.log({f'{mode}/{name}': value for name, value in d.items()}, step=step)

    def close(self) -> None:
        """Ends the run."""
        self._run.finish()


def make_log(kind: str, config: TrainPipelineConfig) -> RunLog:
    """kind: one of LOGGERS; 'wandb' goes by the settings in `config.wandb`."""
    config.output_dir.mkdir(parents=True, exist_ok=True)
    if kind == 'wandb':
        return WandBLog(config)
    if kind == 'tensorboard':
        return TensorBoardLog(config.output_dir / 'tensorboard')
    return NoLog()
