# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SmolVLA (Shukor et al. 2025): flow matching on a small vision-language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.lerobot.families.family import FamilyOptions, tokenizer_override
from frame_ros.policies.lerobot.families.flow_matching import FlowMatching


class SmolVla(FlowMatching):
    """Its network is built from the configuration of its vision-language model, and its inputs made
    by that model's processor: both come from a local folder, the weights from the checkpoint.
    """

    encoder = 'vlm_with_expert'

    @classmethod
    def configure(cls, config: Any, options: FamilyOptions) -> None:
        """Names the folder of the vision-language model."""
        if options.vlm_folder:
            if not (Path(options.vlm_folder).expanduser() / 'config.json').is_file():
                raise CheckpointError(
                    f'vlm_folder {options.vlm_folder} has no config.json; it must be a local copy '
                    f'of {config.vlm_model_name} without the weights (config.json and the files of '
                    'processor and tokenizer)'
                )
            config.vlm_model_name = str(Path(options.vlm_folder).expanduser())
        config.load_vlm_weights = False  # all weights are in the checkpoint

    @classmethod
    def preprocessor_overrides(cls, options: FamilyOptions) -> dict[str, dict[str, Any]]:
        """The tokenizer is in the same folder."""
        return tokenizer_override(options, options.vlm_folder)

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """With padding, to the size of its vision encoder."""
        return config.resize_imgs_with_padding is not None
