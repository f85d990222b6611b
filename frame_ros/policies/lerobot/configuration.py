# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint's config.json as LeRobot's configuration, on the wanted device."""

from __future__ import annotations

import dataclasses
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.checkpoint import CheckpointFolder


def load_config(checkpoint: CheckpointFolder, device: str) -> tuple[Any, list[str]]:
    """The configuration, and notes on fields that were left out.

    It is decoded as LeRobot's own `from_pretrained` does, but without the command-line parser that
    this makes, which takes ten times as long as all else.

    Raises:
        CheckpointError: a value does not fit, or torch has no such device.
    """
    import draccus
    from lerobot.configs.policies import PreTrainedConfig

    kind = PreTrainedConfig.get_choice_class(checkpoint.policy_type)
    known = {field.name for field in dataclasses.fields(kind)}
    content = {name: value for name, value in checkpoint.config.items() if name in known}
    notes = []
    if dropped := sorted(set(checkpoint.config) - known - {'type'}):
        notes.append(
            'fields of config.json that this version of LeRobot does not know are left out: '
            f'{dropped}'
        )
    _check_device(device)
    # LeRobot announces a device of the training machine that is not here.
    content['device'] = device
    try:
        config = draccus.decode(kind, content)
    except Exception as error:  # draccus raises many kinds for a value of the wrong type
        raise CheckpointError(
            f'{checkpoint.path / "config.json"} does not fit LeRobot: {error}'
        ) from error
    if hasattr(config, 'pretrained_backbone_weights'):
        config.pretrained_backbone_weights = (
            None  # they are in the checkpoint; otherwise they would be downloaded
        )
    return config, notes


def _check_device(device: str) -> None:
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise CheckpointError(
            f'device is {device!r}; it must be one that torch knows, such as cpu or cuda:0'
        ) from error
    if kind == 'cuda' and not torch.cuda.is_available():
        raise CheckpointError(
            f'device is {device!r}, but torch {torch.__version__} sees no CUDA device; use cpu'
        )
