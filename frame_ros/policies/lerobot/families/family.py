# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A family of LeRobot policies: its checkpoints' configuration, and a call's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import option, options
from frame_ros.policies.lerobot.random_stream import RandomStream, seed_apart
from frame_ros.policies.protocol import TokenStatistics


class NoActionError(PolicyError):
    """The network ran, and what it gave is no action."""


NO_INSTRUCTION = 'it takes no instruction'


@options
class FamilyOptions:
    """Options of a family, and local folders that some need in addition to the checkpoint."""

    samples: int = option(0, 'chunks sampled with each inference', at_least=2, besides=(0,))
    temperatures: tuple[float, ...] = option((), 'grid of the token statistics', above=0.0)
    sample_temperature: float = option(
        1.0, 'at which a greedy policy draws the further samples', above=0.0
    )
    vlm_folder: str = option('', 'configuration and processor of the vision-language model')
    base_model_folder: str = option('', 'base model of GR00T')
    tokenizer_folder: str = option('', 'tokenizer, if it is not in vlm_folder')
    action_tokenizer_folder: str = option('', 'action tokenizer of pi0-FAST')
    trust_remote_code: bool = option(False, 'run Python code in a tokenizer folder')


@dataclass(frozen=True)
class Outcome:
    """The result of one call of a network, in its own normalised units.

    Attributes:
        chunk: (1, H, D) tensor, which is executed.
        samples: (N, H, D) tensor.
        tokens: their statistics.
        unavailable: output missing from this call -> reason.
        features: (E,) tensor, the embedding of the observation, as `Family.feature_source` says.
    """

    chunk: Any
    samples: Any = None
    tokens: TokenStatistics | None = None
    unavailable: Mapping[str, str] = field(default_factory=dict)
    features: Any = None


class Family:
    """Base of the families; deterministic, without history, tokens or instruction.

    Attributes:
        needs_instruction: an inference without one is refused.
        may_lack_cameras: image features can be left without a camera. `executed` draws what is
            executed, `others` the further samples: asking for samples changes nothing that is
            executed beyond rounding.
        postprocesses_singly: LeRobot's postprocessor takes one chunk at a time.
        feature_source: the embedding of the observation that it yields, in words.
    """

    needs_instruction: ClassVar[bool] = False
    may_lack_cameras: ClassVar[bool] = False
    postprocesses_singly: ClassVar[bool] = False
    feature_source: ClassVar[str] = ''

    def __init__(self, model: Any, options: FamilyOptions) -> None:
        """model: LeRobot's policy, with its weights and on its device."""
        import torch

        self.model = model
        self.config = model.config
        self.options = options
        device = torch.device(model.config.device)
        self.executed, self.others = RandomStream(device), RandomStream(device)

    # How a checkpoint is loaded.

    @classmethod
    def configure(cls, config: Any, options: FamilyOptions) -> None:
        """Changes LeRobot's configuration before the network is built.

        Raises:
            CheckpointError: it does not fit, or a folder is missing.
        """

    @classmethod
    def preprocessor_overrides(cls, options: FamilyOptions) -> dict[str, dict[str, Any]]:
        """Step of the preprocessor -> arguments that replace the checkpoint's."""
        return {}

    @classmethod
    def weight_names(cls, names: frozenset[str]) -> frozenset[str]:
        """The names that LeRobot gives the tensors `names` of the file when it loads them."""
        return names

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """Returns whether the network takes images of any size."""
        return False

    # What it yields.

    @property
    def history_steps(self) -> int:
        """Number of observations, at the data's rate, of one inference."""
        return 1

    @property
    def n_action_steps(self) -> int:
        """Number of steps of a chunk meant to be executed before the next."""
        return int(getattr(self.config, 'n_action_steps', 0))

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Output that it cannot give ('tokens', 'samples', 'rephrasings') -> reason."""
        return {}

    def notes(self) -> list[str]:
        """Returns remarks for the user about the loaded weights."""
        return []

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode. seed: of all that is drawn from now on; None: drawn on."""
        self.model.reset()
        if seed is not None:
            self.executed.seed(seed)
            self.others.seed(seed_apart(seed))

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """One call of the network.

        batch: as the preprocessor gives it; with `history_steps` above 1, the tensors of every
        observation are stacked along axis 1, oldest first.
        """
        return Outcome(self.model.predict_action_chunk(batch))

    def rephrased_confidences(self, batches: Sequence[dict[str, Any]]) -> NDArray[np.float64]:
        """The confidence, in [0, 1], under each of r instructions: (r,); NaN under one that gave no
        action.

        batches: one per instruction, the same in all else. Only asked of a family that does not
        name 'rephrasings' in `unavailable`.
        """
        raise PolicyError(f'{self.config.type} has no confidence under an instruction')


def tokenizer_override(options: FamilyOptions, folder: str = '') -> dict[str, dict[str, Any]]:
    """The override by which the preprocessor takes its tokenizer from a local folder.

    folder: where it is if `tokenizer_folder` is empty.
    """
    chosen = options.tokenizer_folder or folder
    if not chosen:
        return {}
    return {'tokenizer_processor': {'tokenizer_name': str(Path(chosen).expanduser())}}


def stack_images(batch: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """`batch` with the images of all cameras in one tensor (B, T, cameras, C, H, W) under
    LeRobot's key for them.
    """
    import torch
    from lerobot.utils.constants import OBS_IMAGES

    stacked = dict(batch)
    if config.image_features:
        stacked[OBS_IMAGES] = torch.stack([batch[key] for key in config.image_features], dim=-4)
    return stacked
