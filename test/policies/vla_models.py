# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small token VLAs, made here by transformers' own classes: tokenizer, processor, model, weights.

They are random unless they are taught a sequence, which a few steps of training do.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORDS = (
    'pick', 'up', 'the', 'cube', 'and', 'put', 'it', 'in', 'bin', 'move', 'lift', 'take', 'place',
    'into', 'box', 'red', 'what', 'What', 'action', 'should', 'robot', 'to', '?', 'In:', 'Out:',
    'user', 'assistant', ':', '.', 'do', 'nothing',
)  # fmt: skip
QWEN = ['<|vision_start|>', '<|vision_end|>', '<|image_pad|>', '<|video_pad|>']
SPECIAL = ['<pad>', '<s>', '</s>', '<unk>', '<image>', *QWEN]
ACTIONS = 256
D = 7
STATISTICS = {
    'q01': [-0.02, -0.03, -0.04, -0.1, -0.2, -0.3, 0.0],
    'q99': [0.02, 0.05, 0.04, 0.1, 0.2, 0.5, 1.0],
    'mask': [True] * 6 + [False],
}
CHAT = (
    "{% for m in messages %}user : {% for c in m['content'] %}{% if c['type'] == 'image' %}<image>"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endfor %} assistant : "
)


def make_tokenizer(extra: tuple[str, ...] = (), kind: str = 'PreTrainedTokenizerFast'):
    """Words, then `extra`, then the action tokens at the end of the vocabulary."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    actions = [f'<act{i:03d}>' for i in range(ACTIONS)]
    names = [*SPECIAL, *dict.fromkeys(WORDS), *extra, *actions]
    vocabulary = {name: i for i, name in enumerate(names)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token='<unk>'))
    made.pre_tokenizer, made.decoder = pre_tokenizers.WhitespaceSplit(), decoders.Fuse()
    made.add_special_tokens(SPECIAL)
    made.add_tokens([*extra, *actions])
    tokenizer = getattr(transformers, kind)(
        tokenizer_object=made,
        pad_token='<pad>',
        bos_token='<s>',
        eos_token='</s>',
        unk_token='<unk>',
    )
    tokenizer.add_special_tokens({'additional_special_tokens': SPECIAL[4:]})
    tokenizer.image_token, tokenizer.image_token_id = '<image>', vocabulary['<image>']
    tokenizer.chat_template = CHAT
    return tokenizer


def text_settings(size: int) -> dict:
    return {
        'vocab_size': size,
        'hidden_size': 32,
        'intermediate_size': 64,
        'num_hidden_layers': 2,
        'num_attention_heads': 4,
        'num_key_value_heads': 2,
        'head_dim': 8,
        'max_position_embeddings': 512,
        'pad_token_id': 0,
        'bos_token_id': 1,
        'eos_token_id': 2,
        'tie_word_embeddings': False,
    }


VISION = {
    'hidden_size': 16,
    'intermediate_size': 32,
    'num_hidden_layers': 2,
    'num_attention_heads': 2,
    'image_size': 28,
    'patch_size': 14,
    'projection_dim': 32,
}


def _llava(tokenizer):
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    config = LlavaConfig(
        CLIPVisionConfig(**VISION),
        LlamaConfig(**text_settings(len(tokenizer))),
        image_token_index=tokenizer.image_token_id,
        vision_feature_layer=-1,
    )
    images = CLIPImageProcessor(size={'height': 28, 'width': 28}, do_center_crop=False)
    processor = LlavaProcessor(
        images,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy='default',
        image_token='<image>',
        num_additional_image_tokens=1,
        chat_template=CHAT,
    )
    return LlavaForConditionalGeneration(config), processor


def _paligemma(tokenizer):
    from transformers import (
        GemmaConfig,
        PaliGemmaConfig,
        PaliGemmaForConditionalGeneration,
        PaliGemmaProcessor,
        SiglipImageProcessor,
        SiglipVisionConfig,
    )

    images = SiglipImageProcessor(size={'height': 28, 'width': 28})
    images.image_seq_length = 4
    processor = PaliGemmaProcessor(images, tokenizer)  # which adds tokens of its own
    config = PaliGemmaConfig(
        vision_config=SiglipVisionConfig(**VISION, vision_use_head=False).to_dict(),
        text_config=GemmaConfig(**text_settings(len(tokenizer))).to_dict(),
        image_token_index=tokenizer.image_token_id,
        projection_dim=32,
    )
    return PaliGemmaForConditionalGeneration(config), processor


def _qwen(tokenizer):
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessorFast,
        Qwen2VLVideoProcessor,
    )

    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    text = text_settings(len(tokenizer))
    scaling = {'type': 'mrope', 'mrope_section': [1, 1, 2]}
    config = Qwen2_5_VLConfig(
        text_config={**text, 'rope_scaling': scaling},
        vision_config={
            'depth': 2,
            'hidden_size': 32,
            'intermediate_size': 32,
            'num_heads': 2,
            'out_hidden_size': 32,
            'patch_size': 14,
            'fullatt_block_indexes': [1],
            'window_size': 56,
        },
        image_token_id=ids['<|image_pad|>'],
        vision_start_token_id=ids['<|vision_start|>'],
        vision_end_token_id=ids['<|vision_end|>'],
        video_token_id=ids['<|video_pad|>'],
    )
    del tokenizer.image_token, tokenizer.image_token_id
    images = Qwen2VLImageProcessorFast(min_pixels=56 * 56, max_pixels=56 * 56)
    chat = CHAT.replace('<image>', '<|vision_start|><|image_pad|><|vision_end|>')
    processor = Qwen2_5_VLProcessor(images, tokenizer, Qwen2VLVideoProcessor(), chat_template=chat)
    return Qwen2_5_VLForConditionalGeneration(config), processor


def _llama(tokenizer):
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**text_settings(len(tokenizer)))), tokenizer


MAKERS = {'llava': _llava, 'paligemma': _paligemma, 'qwen': _qwen, 'llama': _llama}
TOKENIZERS = {'paligemma': 'GemmaTokenizerFast', 'qwen': 'Qwen2TokenizerFast'}


def make_vla(kind: str, extra: tuple[str, ...] = (), seed: int = 0):
    """A random model and its processor. Its logits of all but the action tokens are 0."""
    import torch

    torch.manual_seed(seed)
    tokenizer = make_tokenizer(extra, TOKENIZERS.get(kind, 'PreTrainedTokenizerFast'))
    model, processor = MAKERS[kind](tokenizer)
    model.eval()
    first = tokenizer.convert_tokens_to_ids('<act000>')
    with torch.no_grad():
        head = model.get_output_embeddings().weight
        head.zero_()
        head[first : first + ACTIONS] = torch.randn(ACTIONS, head.shape[1])
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model, processor


def save_vla(folder: Path, model, processor, statistics=STATISTICS) -> Path:
    """Writes a checkpoint, with the statistics of one data set."""
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    if statistics is not None:
        content = {'bridge': {'action': statistics}}
        (folder / 'dataset_statistics.json').write_text(json.dumps(content))
    return folder


def teach(model, lessons: list[tuple[dict, list[int]]], steps: int = 150) -> None:
    """Trains a model until it follows each prompt with its target, greedily."""
    import torch

    torch.manual_seed(1)
    with torch.no_grad():
        model.get_output_embeddings().weight.normal_(0, 0.02)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        losses = [_loss(model, *lesson) for lesson in lessons]
        optimiser.zero_grad()
        sum(losses).backward()
        optimiser.step()
        if max(losses) < 0.02:
            break
    model.eval()


def _loss(model, inputs: dict, target: list[int]):
    import torch

    prompt, added = inputs['input_ids'], torch.tensor([target])
    ids = torch.cat((prompt, added), dim=1)
    logits = model(**{**inputs, 'input_ids': ids, 'attention_mask': torch.ones_like(ids)}).logits
    return torch.nn.functional.cross_entropy(logits[0, prompt.shape[1] - 1 : -1], added[0])


def picture(seed: int = 0, height: int = 48, width: int = 64) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)
