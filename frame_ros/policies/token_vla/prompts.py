# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instruction and images to a model's inputs, several instructions in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.token_vla.presets import VlaPreset


class PromptBuilder:
    """Makes the inputs of a model by its own processor."""

    def __init__(
        self,
        processor: Any,
        preset: VlaPreset,
        image_count: int,
        device: Any,
        dtype: Any = None,
        data_set: str | None = None,
    ) -> None:
        """dtype: of the model, which images become too; None: as the processor makes them.
        data_set: whose statistics are used, for processors that want to know. Raises
        CheckpointError: the processor cannot take as many images, or has no chat.
        """
        self._processor, self._preset, self._device = processor, preset, device
        self._dtype, self._data_set = dtype, data_set
        self.tokenizer = getattr(processor, 'tokenizer', processor)
        takes_images = getattr(processor, 'image_processor', None) is not None
        if image_count and not takes_images:
            raise CheckpointError(
                f'{image_count} cameras are named; the checkpoint has no processor of images'
            )
        if preset.is_chat and not self._chat_template():
            raise CheckpointError(
                'the prompt is a chat message, and the checkpoint has no chat template'
            )
        self._image_count = image_count
        self._image_token = str(getattr(processor, 'image_token', '') or '')
        if image_count and not self._image_token and '{image}' in preset.prompt:
            raise CheckpointError(
                'the prompt has {image}, and the processor has no token for it; leave it out'
            )

    def _chat_template(self) -> Any:
        of_processor = getattr(self._processor, 'chat_template', None)
        return of_processor or getattr(self.tokenizer, 'chat_template', None)

    def text(self, instruction: str) -> str:
        """The prompt of an instruction, before the model's tokenizer.

        Raises:
            PolicyError: it is empty, or holds the token that marks images.
        """
        words = instruction.strip()
        if not words:
            raise PolicyError('the observation has no instruction; a token VLA needs one')
        if self._image_token and self._image_token in words:
            raise PolicyError(
                f'the instruction {instruction!r} holds {self._image_token!r}, which marks an image'
            )
        if self._preset.lowers_instruction:
            words = words.lower().rstrip('.').rstrip()
        if not words:
            raise PolicyError(f'the instruction {instruction!r} has no words')
        images = self._image_token * self._image_count
        prompt = self._preset.prompt.replace('{image}', images).replace('{instruction}', words)
        if not self._preset.is_chat:
            return prompt
        content = [{'type': 'image'}] * self._image_count + [{'type': 'text', 'text': prompt}]
        return str(
            self._processor.apply_chat_template(
                [{'role': 'user', 'content': content}], tokenize=False, add_generation_prompt=True
            )
        )

    def inputs(
        self, instructions: Sequence[str], images: Sequence[NDArray[np.uint8]]
    ) -> dict[str, Any]:
        """Tensors of a batch, one row per instruction, padded on the left.

        images: (H, W, 3) of each camera, the same for all rows.

        Raises:
            PolicyError: an instruction or image that cannot be.
        """
        texts = [self.text(instruction) for instruction in instructions]
        options: dict[str, Any] = {'return_tensors': 'pt', 'padding': len(texts) > 1}
        if self._image_count:
            pictures = [self._picture(image) for image in images]
            nested = self._preset.nests_images or len(pictures) > 1
            row: list[Any] = [pictures] if nested else pictures
            options['images'] = row * len(texts)
        if self._preset.names_data_set:
            options['unnorm_key'] = self._data_set
        try:
            found = dict(self._processor(text=texts, **options))
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise PolicyError(f"the model's processor refuses the observation: {error}") from error
        tensors = {
            name: self._moved(value) for name, value in found.items() if hasattr(value, 'to')
        }
        return self._with_appended(tensors)

    def _moved(self, value: Any) -> Any:
        """Moves a value to the model's device and precision."""
        is_floating = self._dtype is not None and value.is_floating_point()
        return value.to(self._device, self._dtype) if is_floating else value.to(self._device)

    def _picture(self, image: NDArray[np.uint8]) -> Any:
        from PIL import Image

        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise PolicyError(
                f'an image has shape {image.shape} of {image.dtype}; (H, W, 3) of uint8 is expected'
            )
        picture = Image.fromarray(np.ascontiguousarray(image))
        size = self._preset.image_size
        return picture if size is None else picture.resize((size[1], size[0]))

    def _with_appended(self, tensors: dict[str, Any]) -> dict[str, Any]:
        import torch

        appended, ids = self._preset.appended_token, tensors['input_ids']
        if appended is None or bool((ids[:, -1] == appended).all()):
            return tensors
        for name, value in (('input_ids', appended), ('attention_mask', 1), ('token_type_ids', 0)):
            if name in tensors:
                column = torch.full_like(tensors[name][:, :1], value)
                tensors[name] = torch.cat((tensors[name], column), dim=1)
        return tensors
