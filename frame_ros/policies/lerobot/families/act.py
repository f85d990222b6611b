# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ACT (Zhao et al. 2023): one deterministic chunk; its variational prior can be sampled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.policies.lerobot.families.family import (
    NO_INSTRUCTION,
    Family,
    FamilyOptions,
    Outcome,
)


class Act(Family):
    """Action Chunking Transformer.

    What is executed is LeRobot's chunk, that of the latent z = 0, the mean of the prior of its
    variational autoencoder. Samples are the chunks of N draws of z from that prior, N(0, 1): they
    spread as far as the demonstrations differed in style, and say nothing of how well the network
    knows what it sees. The image is encoded only once.
    """

    feature_source = 'ACT: output of the transformer encoder, mean of its tokens'

    def __init__(self, model: Any, options: FamilyOptions) -> None:
        super().__init__(model, options)
        self._latents: Any = None
        self._features: Any = None
        model.model.encoder.register_forward_hook(self._keep)
        if self.options.samples and self.config.use_vae:
            model.model.encoder.register_forward_pre_hook(self._add_latents)
            model.model.decoder.register_forward_pre_hook(self._widen_queries)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """No tokens; samples only with a variational autoencoder."""
        reasons = {
            'tokens': 'ACT regresses actions; it has no distribution over tokens',
            'rephrasings': NO_INSTRUCTION,
        }
        if not self.config.use_vae:
            reasons['samples'] = 'this ACT was trained without a latent; it is deterministic'
        return reasons

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk, and those of further latents in the same batch."""
        if not (self.options.samples and self.config.use_vae):
            return Outcome(self.model.predict_action_chunk(batch), features=self._features)
        self._latents = self.others.normal(self.options.samples, self.config.latent_dim)
        chunks = self.model.predict_action_chunk(batch)
        return Outcome(chunks[:1], chunks[1:], features=self._features)

    def _keep(self, encoder: Any, arguments: tuple[Any, ...], output: Any) -> None:
        """Reads the encoder's output (S, 1 + N, dim); the first column is what is executed."""
        self._features = output[:, 0].mean(dim=0)

    def _add_latents(self, encoder: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the encoder's tokens (S, 1, dim), the latent's first, once per further sample."""
        import torch

        tokens = arguments[0]
        latents = self.model.model.encoder_latent_input_proj(self._latents)[None]
        rest = tokens[1:].expand(-1, len(self._latents), -1)
        others = torch.cat([latents, rest])
        return (torch.cat([tokens, others], dim=1), *arguments[1:])

    def _widen_queries(self, decoder: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The decoder's queries (H, 1, dim), one column for each chunk."""
        queries = arguments[0].expand(-1, 1 + len(self._latents), -1)
        return (queries, *arguments[1:])
