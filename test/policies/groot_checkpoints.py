# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A small GR00T N1.7 with random weights, by LeRobot's and transformers' own classes (0.6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.lerobot_import import import_lerobot, offline

WIDTH, HORIZON, DIMENSIONS, PADDED = 32, 12, 6, 8
SPECIAL = (
    '<pad>', '<|im_start|>', '<|im_end|>', '<|vision_start|>', '<|vision_end|>', '<|image_pad|>',
    '<|video_pad|>', '<unk>',
)  # fmt: skip
TEMPLATE = (
    '{% for m in messages %}<|im_start|> {{ m.role }} {% for c in m.content %}'
    "{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    '{% else %} {{ c.text }}{% endif %}{% endfor %}<|im_end|>{% endfor %}'
)


def make_groot_checkpoint(
    folder: Path, cameras: Sequence[str] = ('front', 'wrist'), seed: int = 0
) -> dict[str, Path]:
    """Saves a policy and returns its folders: 'folder', 'base' (the base model) and 'vlm'."""
    import_lerobot()
    import torch
    from lerobot.policies.factory import get_policy_class, make_pre_post_processors
    from lerobot.policies.groot.groot_n1_7 import GR00TN17

    folders = {name: folder / name for name in ('folder', 'base', 'vlm')}
    torch.manual_seed(seed)
    with offline():
        _save_vlm(folders['vlm'])
        GR00TN17(_sizes(folders['vlm']), load_backbone_weights=False).save_pretrained(
            folders['base']
        )
        config = _config(folders['base'], cameras)
        get_policy_class('groot')(config).save_pretrained(folders['folder'])
        processors = make_pre_post_processors(policy_cfg=config, dataset_stats=_statistics())
    encode = next(step for step in processors[0].steps if hasattr(step, 'image_target_size'))
    encode.image_target_size, encode.image_crop_size = [32, 32], [28, 28]
    for processor in processors:
        processor.save_pretrained(folders['folder'])
    return folders


def _save_vlm(folder: Path) -> None:
    """Tokenizer, image processor and configuration of a Qwen3-VL of a few thousand weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        PreTrainedTokenizerFast,
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLVideoProcessor,
    )

    words = [*SPECIAL, 'user', 'pick', 'up', 'the', 'cube', 'place', 'it']
    tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token='<unk>')
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token='<pad>',
        unk_token='<unk>',
        eos_token='<|im_end|>',
        additional_special_tokens=list(SPECIAL[1:7]),
    )
    wrapped.chat_template = TEMPLATE
    wrapped.save_pretrained(folder)
    patches = {'patch_size': 4, 'merge_size': 2, 'temporal_patch_size': 2}
    Qwen2VLImageProcessor(**patches, min_pixels=64, max_pixels=4096).save_pretrained(folder)
    Qwen3VLVideoProcessor(**patches).save_pretrained(folder)
    Qwen3VLConfig(
        image_token_id=5,
        video_token_id=6,
        vision_start_token_id=3,
        vision_end_token_id=4,
        tie_word_embeddings=True,
        text_config=_text_sizes(),
        vision_config=_vision_sizes(),
    ).save_pretrained(folder)


def _text_sizes() -> dict[str, Any]:
    return {
        'hidden_size': WIDTH,
        'intermediate_size': 48,
        'num_hidden_layers': 2,
        'num_attention_heads': 2,
        'num_key_value_heads': 1,
        'head_dim': 16,
        'vocab_size': 64,
        'max_position_embeddings': 512,
        'rope_scaling': {
            'mrope_interleaved': True,
            'mrope_section': [4, 2, 2],
            'rope_type': 'default',
        },
        'rope_theta': 10000.0,
    }


def _vision_sizes() -> dict[str, Any]:
    return {
        'depth': 1,
        'hidden_size': 16,
        'intermediate_size': 24,
        'num_heads': 2,
        'patch_size': 4,
        'spatial_merge_size': 2,
        'temporal_patch_size': 2,
        'out_hidden_size': WIDTH,
        'num_position_embeddings': 64,
        'deepstack_visual_indexes': [0],
        'in_channels': 3,
    }


def _sizes(vlm: Path) -> Any:
    from lerobot.policies.groot.groot_n1_7 import GR00TN17Config

    attention = {
        'positional_embeddings': None,
        'num_attention_heads': 2,
        'attention_head_dim': 16,
        'dropout': 0.0,
        'final_dropout': False,
    }
    return GR00TN17Config(
        model_name=str(vlm),
        backbone_model_type='qwen',
        select_layer=2,
        backbone_embedding_dim=WIDTH,
        hidden_size=WIDTH,
        input_embedding_dim=WIDTH,
        action_horizon=HORIZON,
        max_state_dim=PADDED,
        max_action_dim=PADDED,
        max_seq_len=64,
        diffusion_model_cfg={
            **attention,
            'num_layers': 2,
            'norm_type': 'ada_norm',
            'output_dim': WIDTH,
            'interleave_self_attention': True,
        },
        vl_self_attention_cfg={**attention, 'num_layers': 1},
        load_bf16=False,
    )


def _config(base: Path, cameras: Sequence[str]) -> Any:
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.factory import make_policy_config

    images = {
        f'observation.images.{name}': PolicyFeature(FeatureType.VISUAL, (3, 48, 64))
        for name in cameras
    }
    return make_policy_config(
        'groot',
        input_features={
            **images,
            'observation.state': PolicyFeature(FeatureType.STATE, (DIMENSIONS,)),
        },
        output_features={'action': PolicyFeature(FeatureType.ACTION, (DIMENSIONS,))},
        device='cpu',
        base_model_path=str(base),
        chunk_size=HORIZON,
        n_action_steps=HORIZON,
        max_state_dim=PADDED,
        max_action_dim=PADDED,
        use_bf16=False,
    )


def _statistics() -> dict[str, dict[str, np.ndarray]]:
    vector = {
        'mean': np.zeros(DIMENSIONS, np.float32),
        'std': np.ones(DIMENSIONS, np.float32),
        'min': np.full(DIMENSIONS, -90.0, np.float32),
        'max': np.full(DIMENSIONS, 90.0, np.float32),
    }
    return {'observation.state': vector, 'action': vector}
