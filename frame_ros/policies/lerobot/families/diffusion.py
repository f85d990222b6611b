# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Diffusion Policy (Chi et al. 2023): chunks denoised from noise, several in one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.policies.lerobot.families.family import (
    NO_INSTRUCTION,
    Family,
    Outcome,
    stack_images,
)


class Diffusion(Family):
    """Denoises `samples` chunks at once, under one encoding of the observations.

    Sample 0 is executed. The chunk begins at the newest observation and holds all that the network
    denoised from there on, horizon - n_obs_steps + 1 steps, of which `n_action_steps` were meant
    to be executed; LeRobot cuts the rest off, chunk overlap needs it.
    """

    feature_source = 'Diffusion: condition of the denoising, states and keypoints of the images'

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """If it was trained so; several cameras are stacked before, so must be of one size."""
        has_size = getattr(config, 'resize_shape', None) is not None
        return has_size and len(config.image_features) == 1

    @property
    def history_steps(self) -> int:
        """As trained."""
        return int(self.config.n_obs_steps)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """No tokens."""
        return {
            'tokens': 'diffusion denoises actions; it has no distribution over tokens',
            'rephrasings': NO_INSTRUCTION,
        }

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk of sample 0, and all samples."""
        import torch

        network = self.model.diffusion
        condition = network._prepare_global_conditioning(stack_images(batch, self.config))
        count = max(1, self.options.samples)
        streams = [self.executed] + [self.others] * (count - 1)
        shape = (1, self.config.horizon, self.config.action_feature.shape[0])
        noise = torch.cat([stream.normal(*shape, dtype=condition.dtype) for stream in streams])
        # One generator per sample: the noise of each step is drawn for each alone.
        chunks = network.conditional_sample(
            count,
            global_cond=condition.expand(count, -1),
            generator=[stream.generator for stream in streams],
            noise=noise,
        )[:, self.config.n_obs_steps - 1 :]
        samples = chunks if self.options.samples else None
        return Outcome(chunks[:1], samples, features=condition[0])
