# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""GR00T N1.7 (NVIDIA 2025): flow matching on the features of a Qwen3-VL model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.lerobot.families.family import Family, FamilyOptions, Outcome
from frame_ros.policies.lerobot.families.flow_matching import NO_TOKENS

# Inputs of the action head in addition to the features, one row per chunk.
ROWS = ('state', 'state_mask', 'action_mask', 'embodiment_id')
FEATURES = ('backbone_features', 'backbone_attention_mask', 'image_mask')
UNUSED = ('_groot_model.backbone.model.lm_head.weight',)


class Groot(Family):
    """Images and instruction are encoded once; the N - 1 further samples are integrated from the
    same features in one batch.

    `base_model_folder` is a local copy of the base model (its config.json and files of the
    processor; the checkpoint has the weights), `vlm_folder` of the vision-language model's
    tokenizer and image processor.
    """

    needs_instruction: ClassVar[bool] = True
    # Relative poses are composed with the state of one observation.
    postprocesses_singly: ClassVar[bool] = True
    feature_source = 'GR00T: output of the vision-language model, mean of its tokens'

    @classmethod
    def configure(cls, config: Any, options: FamilyOptions) -> None:
        """Names the folder of the base model."""
        if not options.base_model_folder:
            return
        folder = Path(options.base_model_folder).expanduser()
        if not (folder / 'config.json').is_file():
            raise CheckpointError(
                f'base_model_folder {folder} has no config.json; it must be a local copy of '
                f'{config.base_model_path}'
            )
        config.base_model_path = str(folder)

    @classmethod
    def preprocessor_overrides(cls, options: FamilyOptions) -> dict[str, dict[str, Any]]:
        """The tokenizer and the image processor of the vision-language model."""
        if not options.vlm_folder:
            return {}
        folder = str(Path(options.vlm_folder).expanduser())
        return {'groot_n1_7_vlm_encode_v1': {'model_name': folder}}

    @classmethod
    def weight_names(cls, names: frozenset[str]) -> frozenset[str]:
        """The head of the language model is tied to its embedding, and not used."""
        return names | frozenset(UNUSED)

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """Cropped and resized as trained."""
        return True

    @property
    def unavailable(self) -> Mapping[str, str]:
        """No tokens."""
        return NO_TOKENS

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk, and the further samples."""
        import torch

        with self._encoding_kept() as kept, self.executed.installed():
            chunk = self.model.predict_action_chunk(batch)
        features, count = kept.pop('features', None), self.options.samples - 1
        if count < 1:
            return Outcome(chunk, features=features)
        rows = {name: value for name, value in batch.items() if name in ROWS}
        repeated = {name: value.repeat_interleave(count, 0) for name, value in rows.items()}
        with self._encoding_given(kept, count), self.others.installed():
            others = self.model.predict_action_chunk({**batch, **repeated})
        return Outcome(chunk, torch.cat([chunk, others]), features=features)

    @contextlib.contextmanager
    def _encoding_kept(self) -> Iterator[dict[str, Any]]:
        """Notes what the vision-language model gives; the action head changes it in place."""
        kept: dict[str, Any] = {}

        def keep(module: Any, arguments: Any, output: Any) -> None:
            kept.update({name: output[name] for name in FEATURES})
            hidden, mask = output[FEATURES[0]][0].float(), output[FEATURES[1]][0].float()
            kept['features'] = mask @ hidden / mask.sum()

        hook = self.model._groot_model.backbone.register_forward_hook(keep)
        try:
            yield kept
        finally:
            hook.remove()

    @contextlib.contextmanager
    def _encoding_given(self, kept: dict[str, Any], count: int) -> Iterator[None]:
        """Inside, the vision-language model gives what it gave before, `count` times."""
        from transformers import BatchFeature

        backbone = self.model._groot_model.backbone
        backbone.forward = lambda _: BatchFeature(
            data={name: value.repeat_interleave(count, 0) for name, value in kept.items()}
        )
        try:
            yield
        finally:
            del backbone.forward
