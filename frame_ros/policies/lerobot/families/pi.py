# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""pi0 (Black et al. 2024) and pi0.5 (2025): flow matching with PaliGemma."""

from __future__ import annotations

import re
from typing import Any

from frame_ros.policies.lerobot.families.family import FamilyOptions, tokenizer_override
from frame_ros.policies.lerobot.families.flow_matching import FlowMatching

PREFIX = 'model.'
HEAD = 'model.paligemma_with_expert.paligemma.lm_head.weight'
EMBEDDING = 'model.paligemma_with_expert.paligemma.model.language_model.embed_tokens.weight'


class Pi0(FlowMatching):
    """All weights are in the checkpoint; PaliGemma's tokenizer is in `tokenizer_folder`."""

    encoder = 'paligemma_with_expert'
    renamed = (r'^time_mlp_(in|out)\.', r'action_time_mlp_\1.')

    @classmethod
    def preprocessor_overrides(cls, options: FamilyOptions) -> dict[str, dict[str, Any]]:
        """The tokenizer."""
        return tokenizer_override(options)

    @classmethod
    def weight_names(cls, names: frozenset[str]) -> frozenset[str]:
        """As LeRobot does: a prefix for OpenPI's names, and one tensor for head and embedding."""
        return paligemma_weight_names(frozenset(re.sub(*cls.renamed, name) for name in names))

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """With padding, to the size of its vision encoder."""
        return True


class Pi05(Pi0):
    """The state is a part of the prompt, in 256 bins."""

    renamed = (r'^action_time_mlp_(in|out)\.', r'time_mlp_\1.')


def paligemma_weight_names(names: frozenset[str]) -> frozenset[str]:
    """The names as LeRobot's networks on PaliGemma have them."""
    prefixed = {name if name.startswith(PREFIX) else PREFIX + name for name in names}
    return frozenset(prefixed | ({EMBEDDING} if HEAD in prefixed else set()))
