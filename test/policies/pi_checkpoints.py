# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small pi0, pi0.5 and pi0-FAST checkpoints with random weights, for LeRobot 0.6 and later.

LeRobot offers two sizes of Gemma only. Here its own classes are built from smaller numbers, while
they are saved and while they are loaded (`small_models`); all else is LeRobot's code.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from frame_ros.core.lerobot_import import import_lerobot, offline

WIDTH, VOCABULARY, IMAGE = 32, 1000, 28
CHUNK, DIMENSIONS = 10, 6
WORDS = (
    '<pad>', '<eos>', '<bos>', '<unk>', 'Action', ':', '|', '▁', ';', ',', 'Task', 'State',
    *map(str, range(256)), 'pick', 'up', 'the', 'cube', 'place', 'it', 'lift', 'grab', 'block',
)  # fmt: skip
MODULES = {'pi0': 'modeling_pi0', 'pi05': 'modeling_pi05', 'pi0_fast': 'modeling_pi0_fast'}

# The FAST tokenizer comes with Python code of its own; this one has as many attributes of it as
# LeRobot uses: a decoder of single characters, a scale and an offset. It knows 951 tokens.
TOKENIZER_CODE = """
from transformers import ProcessorMixin


class Characters:
    def decode(self, tokens):
        if max(tokens) > 950:
            raise ValueError('no such token')
        return ''.join(chr(int(token)) for token in tokens)


class TinyActionTokenizer(ProcessorMixin):
    attributes = []

    def __init__(self, scale=10.0, min_token=-50, **kwargs):
        super().__init__()
        self.scale, self.min_token = scale, min_token
        self.bpe_tokenizer = Characters()
"""


@contextlib.contextmanager
def small_models(kind: str) -> Iterator[None]:
    """Inside, LeRobot builds its `kind` of model with a few thousand weights."""
    module = import_module(f'lerobot.policies.{kind}.{MODULES[kind]}')
    gemma = module.GemmaConfig
    name = 'PaliGemmaForConditionalGenerationWithPiGemma'
    build = getattr(module, name)

    def sizes(variant: str) -> Any:
        return gemma(width=WIDTH, depth=2, mlp_dim=48, num_heads=2, num_kv_heads=1, head_dim=16)

    def small(config: Any) -> Any:
        config.text_config.vocab_size = config.vocab_size = config._vocab_size = VOCABULARY
        config.image_token_index = config.image_token_id = VOCABULARY - 1
        vision = config.vision_config
        vision.hidden_size, vision.intermediate_size, vision.projection_dim = 24, 32, WIDTH
        vision.num_hidden_layers, vision.num_attention_heads = 1, 2
        vision.image_size, vision.patch_size = IMAGE, 14
        config.projection_dim = config.hidden_size = WIDTH
        return build(config=config)

    with (
        mock.patch.object(module, 'get_gemma_config', sizes),
        mock.patch.object(module, name, small),
    ):
        yield


def make_text_tokenizer(folder: Path) -> Path:
    """A tokenizer of whole words, with PaliGemma's special tokens, as wide as the vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(WORDS)}
    words |= {f'<{i}>': i for i in range(len(words), VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token='<unk>'))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token='<bos>',
        eos_token='<eos>',
        unk_token='<unk>',
        pad_token='<pad>',
    )
    wrapped.save_pretrained(folder)
    return folder


def make_action_tokenizer(folder: Path) -> Path:
    """A processor with code of its own, as the FAST tokenizer is."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'processing_tiny.py').write_text(TOKENIZER_CODE)
    content = {
        'processor_class': 'TinyActionTokenizer',
        'auto_map': {'AutoProcessor': 'processing_tiny.TinyActionTokenizer'},
        'scale': 10.0,
        'min_token': -50,
    }
    (folder / 'processor_config.json').write_text(json.dumps(content))
    return folder


def make_pi_checkpoint(
    kind: str, folder: Path, cameras: Sequence[str] = ('front', 'wrist'), seed: int = 0
) -> dict[str, Path]:
    """Saves a policy of `kind` ('pi0', 'pi05', 'pi0_fast') and returns the folders: 'folder',
    'tokenizer' and, for pi0_fast, 'action_tokenizer'.
    """
    import_lerobot()
    import torch
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.factory import (
        get_policy_class,
        make_policy_config,
        make_pre_post_processors,
    )

    folders = {'folder': folder / kind, 'tokenizer': make_text_tokenizer(folder / 'tokenizer')}
    options: dict[str, Any] = {}
    if kind == 'pi0_fast':
        folders['action_tokenizer'] = make_action_tokenizer(folder / 'action_tokenizer')
        options = {
            'text_tokenizer_name': str(folders['tokenizer']),
            'action_tokenizer_name': str(folders['action_tokenizer']),
            'max_decoding_steps': 12,
            'fast_skip_tokens': 0,
            'validate_action_token_prefix': False,
        }
    else:
        options = {'num_inference_steps': 3}
    images = {
        f'observation.images.{name}': PolicyFeature(FeatureType.VISUAL, (3, 48, 64))
        for name in cameras
    }
    config = make_policy_config(
        kind,
        input_features={
            **images,
            'observation.state': PolicyFeature(FeatureType.STATE, (DIMENSIONS,)),
        },
        output_features={'action': PolicyFeature(FeatureType.ACTION, (DIMENSIONS,))},
        device='cpu',
        chunk_size=CHUNK,
        n_action_steps=CHUNK,
        image_resolution=(IMAGE, IMAGE),
        tokenizer_max_length=40,
        **options,
    )
    torch.manual_seed(seed)
    with offline(), small_models(kind):
        get_policy_class(kind)(config).save_pretrained(folders['folder'])
        with _tokenizer_of(folders['tokenizer']):
            processors = make_pre_post_processors(policy_cfg=config, dataset_stats=_statistics())
    for processor in processors:
        processor.save_pretrained(folders['folder'])
    return folders


@contextlib.contextmanager
def _tokenizer_of(folder: Path) -> Iterator[None]:
    """LeRobot's recipe for pi0 and pi0.5 names a tokenizer of the hub; here it is a folder."""
    from lerobot.processor import TokenizerProcessorStep

    build = TokenizerProcessorStep.__init__

    def local(self: Any, *arguments: Any, **options: Any) -> None:
        build(self, *arguments, **{**options, 'tokenizer_name': str(folder)})

    with mock.patch.object(TokenizerProcessorStep, '__init__', local):
        yield


def _statistics() -> dict[str, dict[str, np.ndarray]]:
    vector = {
        'mean': np.linspace(-10.0, 10.0, DIMENSIONS, dtype=np.float32),
        'std': np.full(DIMENSIONS, 20.0, np.float32),
        'min': np.full(DIMENSIONS, -90.0, np.float32),
        'max': np.full(DIMENSIONS, 90.0, np.float32),
        'q01': np.full(DIMENSIONS, -80.0, np.float32),
        'q99': np.full(DIMENSIONS, 80.0, np.float32),
    }
    return {'observation.state': vector, 'action': vector}
