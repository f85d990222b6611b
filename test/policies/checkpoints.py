# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small LeRobot checkpoints with random weights, saved by LeRobot's own code.

For tests and benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.lerobot_import import import_lerobot, offline


def make_act_checkpoint(
    folder: str | Path,
    cameras: Sequence[str] = ('front', 'wrist'),
    image_size: tuple[int, int] = (96, 128),
    joints: int = 6,
    chunk_size: int = 30,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    seed: int = 0,
    dim_model: int = 64,
    state: int | None = None,
    actions: int | None = None,
    poses: int = 0,
    **settings: Any,
) -> Path:
    """Saves an ACT policy (ResNet18, random weights) and its processors into `folder` and returns
    the folder.

    image_size: (H, W). mean, std: of state and action in the data set's units; default: 0 and 0.2.
    state, actions: their widths; default: joints. poses: how many make its environment state; ACT
    needs some if it has no camera, and is then tiny. settings: further ones of LeRobot's
    configuration.
    """
    small = {
        'chunk_size': chunk_size,
        'n_action_steps': chunk_size,
        'pretrained_backbone_weights': None,
        'dim_model': dim_model,
        'dim_feedforward': 2 * dim_model,
        'n_heads': 4,
        'n_encoder_layers': 1,
        'n_vae_encoder_layers': 1,
        'latent_dim': 8,
    }
    statistics = {'mean': 0.0 if mean is None else mean, 'std': 0.2 if std is None else std}
    features = _features(cameras, image_size, state or joints, actions or joints, poses)
    return save_checkpoint(folder, 'act', {**small, **settings}, features, statistics, seed)


def make_diffusion_checkpoint(
    folder: str | Path,
    cameras: Sequence[str] = ('front', 'wrist'),
    image_size: tuple[int, int] = (64, 96),
    joints: int = 6,
    seed: int = 0,
    **settings: Any,
) -> Path:
    """Saves a Diffusion policy with a narrow U-Net and few denoising steps; as the one of ACT."""
    small = {
        'horizon': 16,
        'n_action_steps': 8,
        'down_dims': (16, 32),
        'n_groups': 4,
        'num_train_timesteps': 10,
        'num_inference_steps': 4,
        'crop_shape': None,
        'pretrained_backbone_weights': None,
        'spatial_softmax_num_keypoints': 4,
        'diffusion_step_embed_dim': 16,
    }
    features = _features(cameras, image_size, joints)
    return save_checkpoint(folder, 'diffusion', {**small, **settings}, features, seed=seed)


def make_vqbet_checkpoint(
    folder: str | Path,
    cameras: Sequence[str] = ('front',),
    image_size: tuple[int, int] = (64, 96),
    joints: int = 6,
    seed: int = 0,
    is_discretized: bool = True,
    **settings: Any,
) -> Path:
    """Saves a VQ-BeT policy with a small transformer, whose codes pass for trained."""
    small = {
        'crop_shape': None,
        'pretrained_backbone_weights': None,
        'n_obs_steps': 3,
        'n_action_pred_token': 3,
        'action_chunk_size': 4,
        'vqvae_n_embed': 8,
        'vqvae_embedding_dim': 16,
        'vqvae_enc_hidden_dim': 16,
        'gpt_input_dim': 32,
        'gpt_output_dim': 32,
        'gpt_n_layer': 1,
        'gpt_n_head': 2,
        'gpt_hidden_dim': 32,
        'spatial_softmax_num_keypoints': 4,
        'bet_softmax_temperature': 0.5,
    }

    def discretize(model: Any) -> None:
        model.vqbet.action_head.vqvae_model.discretized.fill_(is_discretized)

    features = _features(cameras, image_size, joints)
    values = {**small, **settings}
    return save_checkpoint(folder, 'vqbet', values, features, seed=seed, change=discretize)


def make_smolvla_checkpoint(
    folder: str | Path,
    vlm_folder: str | Path,
    cameras: Sequence[str] = ('front', 'wrist'),
    image_size: tuple[int, int] = (64, 96),
    joints: int = 6,
    seed: int = 0,
    **settings: Any,
) -> Path:
    """Saves a SmolVLA policy on the vision-language model that `make_vlm_folder` saved."""
    small = {
        'vlm_model_name': str(vlm_folder),
        'load_vlm_weights': False,
        'chunk_size': 10,
        'n_action_steps': 8,
        'max_state_dim': 8,
        'max_action_dim': 8,
        'num_steps': 3,
        'num_vlm_layers': 2,
        'resize_imgs_with_padding': (32, 32),
        'tokenizer_max_length': 16,
    }
    features = _features(cameras, image_size, joints)
    return save_checkpoint(folder, 'smolvla', {**small, **settings}, features, seed=seed)


def make_vlm_folder(folder: str | Path, words: Sequence[str] = ('pick', 'up', 'cube')) -> Path:
    """Saves the configuration, tokenizer and processor of a tiny SmolVLM, and no weights."""
    import_lerobot()
    from transformers import (
        SmolVLMConfig,
        SmolVLMImageProcessor,
        SmolVLMProcessor,
        SmolVLMVideoProcessor,
    )

    tokenizer = _tokenizer(words)
    network = {
        'hidden_size': 32,
        'intermediate_size': 64,
        'num_hidden_layers': 2,
        'num_attention_heads': 4,
    }
    text = {'model_type': 'llama', 'num_key_value_heads': 2, 'head_dim': 8, 'pad_token_id': 0}
    SmolVLMConfig(
        text_config={**network, **text, 'vocab_size': len(tokenizer)},
        vision_config={**network, 'image_size': 32, 'patch_size': 8},
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids('<image>'),
        pad_token_id=0,
    ).save_pretrained(folder)
    sizes = {'size': {'longest_edge': 32}, 'max_image_size': {'longest_edge': 32}}
    SmolVLMProcessor(
        SmolVLMImageProcessor(**sizes),
        tokenizer,
        SmolVLMVideoProcessor(**sizes),
        image_seq_len=4,
        chat_template='{{ messages }}',
    ).save_pretrained(folder)
    return Path(folder)


def _tokenizer(words: Sequence[str]) -> Any:
    """A byte-pair tokenizer with the special tokens of SmolVLM."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    own = {'pad_token': '<pad>', 'bos_token': '<|im_start|>', 'eos_token': '<|im_end|>'}
    of_images = {
        'image_token': '<image>',
        'fake_image_token': '<fake_token_around_image>',
        'global_image_token': '<global-img>',
        'end_of_utterance_token': '<end_of_utterance>',
    }
    tokenizer = Tokenizer(models.BPE(unk_token='<unk>'))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=[*own.values(), *of_images.values(), '<unk>'],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([' '.join(words)], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token='<unk>', **own, extra_special_tokens=of_images
    )


def save_checkpoint(
    folder: str | Path,
    kind: str,
    settings: Mapping[str, Any],
    features: tuple[Mapping[str, Any], Mapping[str, Any]],
    vector: Mapping[str, Any] | None = None,
    seed: int = 0,
    change: Any = None,
) -> Path:
    """Builds a LeRobot policy of random weights and saves it with its processors.

    features: those of input and output. vector: statistics of state and action, broadcast to their
    width. change: a function of the model, called before it is saved.
    """
    import_lerobot()
    import torch
    from lerobot.policies.factory import (
        get_policy_class,
        make_policy_config,
        make_pre_post_processors,
    )

    inputs, outputs = features
    config = make_policy_config(
        kind, input_features=dict(inputs), output_features=dict(outputs), device='cpu', **settings
    )
    torch.manual_seed(seed)
    with offline():
        model = get_policy_class(kind)(config)
        if change is not None:
            change(model)
        model.save_pretrained(folder)
        statistics = _statistics(inputs, outputs, vector or {'mean': 0.0, 'std': 0.2})
        for processor in make_pre_post_processors(policy_cfg=config, dataset_stats=statistics):
            processor.save_pretrained(folder)
    return Path(folder)


def _features(
    cameras: Sequence[str],
    image_size: tuple[int, int],
    joints: int,
    actions: int | None = None,
    poses: int = 0,
) -> tuple[dict[str, Any], dict[str, Any]]:
    import_lerobot()
    from lerobot.configs.types import FeatureType, PolicyFeature

    images = {
        f'observation.images.{name}': PolicyFeature(FeatureType.VISUAL, (3, *image_size))
        for name in cameras
    }
    vectors = {'observation.state': PolicyFeature(FeatureType.STATE, (joints,))}
    if poses:
        vectors['observation.environment_state'] = PolicyFeature(FeatureType.ENV, (7 * poses,))
    return (
        {**images, **vectors},
        {'action': PolicyFeature(FeatureType.ACTION, (actions or joints,))},
    )


def _statistics(
    inputs: Mapping[str, Any], outputs: Mapping[str, Any], vector: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Mean, spread and range of every feature, as a data set would hold them."""
    statistics = {}
    for name, feature in {**inputs, **outputs}.items():
        if feature.type.name == 'VISUAL':
            values = {'mean': 0.45, 'std': 0.22, 'min': 0.0, 'max': 1.0}
            shape: tuple[int, ...] = (3, 1, 1)
        else:
            spread = {'mean': 0.0, 'std': 1.0} if feature.type.name == 'ENV' else vector
            values = {'min': -1.0, 'max': 1.0, **spread}
            shape = tuple(feature.shape)
        statistics[name] = {key: np.broadcast_to(v, shape).copy() for key, v in values.items()}
    return statistics
