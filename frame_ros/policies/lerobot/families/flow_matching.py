# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies that integrate a flow from noise to a chunk (SmolVLA, pi0, pi0.5)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar

from frame_ros.policies.lerobot.families.family import Family, FamilyOptions, Outcome
from frame_ros.policies.lerobot.families.prefix_encoding import PrefixEncoding

NO_TOKENS = {
    'tokens': 'flow matching gives actions from noise; it has no distribution over tokens',
    'rephrasings': 'without tokens there is no confidence to compare under each',
}


class FlowMatching(Family):
    """Integrates `samples` chunks at once, under one encoding of images, instruction and state.
    Sample 0 is executed. LeRobot's own loop does the work: it is given the noise of all samples,
    and what it encoded of the observation is repeated where a step of the flow begins.

    encoder: the network's attribute that is the vision-language model.
    """

    needs_instruction: ClassVar[bool] = True
    may_lack_cameras: ClassVar[bool] = True
    feature_source = 'output of the vision-language model, mean of its tokens'
    encoder: ClassVar[str]

    def __init__(self, model: Any, options: FamilyOptions) -> None:
        super().__init__(model, options)
        self._prefix = PrefixEncoding(model.model, getattr(model.model, self.encoder))
        if options.samples > 1:
            network = model.model
            network.denoise_step = functools.partial(_denoise_many, network.denoise_step)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """No tokens."""
        return NO_TOKENS

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk of sample 0, and all samples."""
        chunks = self.model.predict_action_chunk(batch, noise=self._noise())
        samples = chunks if self.options.samples else None
        return Outcome(chunks[:1], samples, features=self._prefix.features)

    def _noise(self) -> Any:
        """(N, chunk, padded dimensions), the first from the stream of what is executed."""
        import torch

        shape = (self.config.chunk_size, self.config.max_action_dim)
        first = self.executed.normal(1, *shape)
        if self.options.samples < 2:
            return first
        return torch.cat([first, self.others.normal(self.options.samples - 1, *shape)])


def _denoise_many(denoise: Any, **arguments: Any) -> Any:
    """One step of the flow for all samples, with what is of one sample repeated for all."""
    count = arguments['x_t'].shape[0]
    return denoise(**{name: _repeated(value, count) for name, value in arguments.items()})


def _repeated(value: Any, count: int) -> Any:
    """Tensors of batch 1, and keys and values of attention kept as such, for a batch of `count`."""
    if hasattr(value, 'shape'):
        is_one = value.ndim > 0 and value.shape[0] == 1
        return value.expand(count, *value.shape[1:]) if is_one else value
    if isinstance(value, Mapping):
        return {key: _repeated(entry, count) for key, entry in value.items()}
    if hasattr(value, 'batch_repeat_interleave'):  # transformers' cache, repeated once in place
        if value.layers[0].keys.shape[0] == 1:
            value.batch_repeat_interleave(count)
        return value
    return value
