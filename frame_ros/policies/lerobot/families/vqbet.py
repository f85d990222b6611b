# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""VQ-BeT (Lee et al. 2024): an action chunk as two codes of a residual vector quantisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.core.errors import CheckpointError
from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.lerobot.families.family import (
    NO_INSTRUCTION,
    Family,
    FamilyOptions,
    Outcome,
    stack_images,
)
from frame_ros.policies.protocol import TokenStatistics


class VqBet(Family):
    """Draws a primary and a secondary code, whose decoded chunk plus an offset is the action.

    The two codes are the tokens, each of the whole chunk: step and dimension are -1. Their logits
    are divided by the temperature at which they are drawn. Sample 0 is executed; the further draws
    of codes cost only the action head.
    """

    feature_source = "VQ-BeT: the transformer's output that codes are chosen by"

    def __init__(self, model: Any, options: FamilyOptions) -> None:
        super().__init__(model, options)
        self._features: Any = None
        self._head_output: dict[str, Any] = {}
        model.vqbet.action_head.register_forward_hook(self._keep)

    @classmethod
    def configure(cls, config: Any, options: FamilyOptions) -> None:
        """Refuses more or less than one camera, which LeRobot's network does not take."""
        if len(config.image_features) != 1:
            raise CheckpointError(
                f'VQ-BeT takes exactly one camera; config.json names {list(config.image_features)}'
            )

    @property
    def history_steps(self) -> int:
        """As trained."""
        return int(self.config.n_obs_steps)

    @property
    def n_action_steps(self) -> int:
        """The whole chunk."""
        return int(self.config.action_chunk_size)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Nothing but rephrasings."""
        return {'rephrasings': NO_INSTRUCTION}

    def notes(self) -> list[str]:
        """Returns whether the codes were ever trained."""
        if bool(self.model.vqbet.action_head.vqvae_model.discretized):
            return []
        return ['the residual quantisation was not trained to its end: the codes mean little']

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk of the codes that were drawn, further draws, and the codes' statistics."""
        steps = self.config.action_chunk_size
        with self.executed.installed():
            chunk = self.model.vqbet(stack_images(batch, self.config), rollout=True)[:, :steps]
        features = self._features[0, self.config.n_obs_steps - 1]
        samples = self._sample(chunk) if self.options.samples else None
        return Outcome(chunk, samples, self._tokens(), features=features)

    def _sample(self, chunk: Any) -> Any:
        """(N, H, D): the chunk itself, then other draws of codes for the same features."""
        import torch

        row = self.config.n_obs_steps - 1
        features = self._features[:, row : row + 1].expand(self.options.samples - 1, -1, -1)
        with self.others.installed():
            drawn = self.model.vqbet.action_head.forward(features)['predicted_action']
        return torch.cat([chunk, drawn.reshape(-1, *chunk.shape[1:])])

    def _tokens(self) -> TokenStatistics:
        row = self.config.n_obs_steps - 1
        logits = self._head_output['cbet_logits'][row] / self.config.bet_softmax_temperature
        reduced = token_statistics(
            logits.float().cpu().numpy(),
            self._head_output['sampled_centers'][row].cpu().numpy(),
            self.options.temperatures,
        )
        none = np.full(len(logits), -1, np.int32)
        return TokenStatistics(**vars(reduced), step=none, dimension=none)

    def _keep(self, head: Any, arguments: tuple[Any, ...], output: dict[str, Any]) -> None:
        self._features, self._head_output = arguments[0], output
