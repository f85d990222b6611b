# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small LeRobot checkpoints with random weights, saved by LeRobot's own code.

For tests and benchmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from frame_ros.lerobot_import import import_lerobot, offline


def make_act_checkpoint(
    folder: str | Path,
    cameras: Sequence[str] = ('front', 'wrist'),
    image_size: tuple[int, int] = (96, 128),
    joints: int = 6,
    chunk_size: int = 30,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    seed: int = 0,
    dim_model: int = 64,
) -> Path:
    """Saves an ACT policy (ResNet18, random weights) and its processors into `folder` and returns
    the folder.

    image_size: (H, W). mean, std: of state and action in the data set's units; default: 0 and 0.2.
    """
    import_lerobot()
    import torch
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.factory import make_pre_post_processors

    images = {
        f'observation.images.{name}': PolicyFeature(FeatureType.VISUAL, (3, *image_size))
        for name in cameras
    }
    config = ACTConfig(
        input_features={**images, 'observation.state': PolicyFeature(FeatureType.STATE, (joints,))},
        output_features={'action': PolicyFeature(FeatureType.ACTION, (joints,))},
        device='cpu',
        chunk_size=chunk_size,
        n_action_steps=chunk_size,
        pretrained_backbone_weights=None,
        dim_model=dim_model,
        dim_feedforward=2 * dim_model,
        n_heads=4,
        n_encoder_layers=1,
        n_vae_encoder_layers=1,
        latent_dim=8,
    )
    vector = {
        'mean': np.zeros(joints) if mean is None else np.asarray(mean),
        'std': np.full(joints, 0.2) if std is None else np.asarray(std),
    }
    statistics = {
        **{
            name: {'mean': np.full((3, 1, 1), 0.45), 'std': np.full((3, 1, 1), 0.22)}
            for name in images
        },
        'observation.state': vector,
        'action': vector,
    }
    torch.manual_seed(seed)
    with offline():
        ACTPolicy(config).save_pretrained(folder)
        for processor in make_pre_post_processors(policy_cfg=config, dataset_stats=statistics):
            processor.save_pretrained(folder)
    return Path(folder)
