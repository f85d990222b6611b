# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Presets of published token VLAs: token map, prompt, images, normalisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frame_ros.core.errors import PolicyError
from frame_ros.policies.token_vla.folder import VlaFolder
from frame_ros.policies.token_vla.token_map import (
    BinTokens,
    FastTokens,
    LatentTokens,
    ListTokens,
    SpatialTokens,
    TokenMap,
)

POSE_NAMES = ('x', 'y', 'z', 'roll', 'pitch', 'yaw', 'gripper')


@dataclass(frozen=True)
class VlaPreset:
    """The interface of a model.

    Attributes:
        source: where this is from.
        tokens: its token map; None: it must be declared.
        prompt: with {instruction}, and {image} where the text marks the place of the images.
        is_chat: the prompt is a user's message of the processor's chat template, after the images.
        lowers_instruction: in lower case, without a full stop at its end.
        appended_token: id put after the prompt, if it is not there.
        image_size: height and width to which images are scaled first.
        nests_images: images go to the processor as one list per prompt.
        names_data_set: the processor takes unnorm_key too, for the intrinsics of the camera.
        normalisation, raw_dimensions, uses_mask: see `normalisation`.
        action_space, action_names: of the chunk.
        largest_batch: prompts in one batch; 0: as many as there are.
        model_types: config.json's model_type that identifies it.
    """

    source: str
    tokens: TokenMap | None = None
    prompt: str = '{image}{instruction}'
    is_chat: bool = False
    lowers_instruction: bool = False
    appended_token: int | None = None
    image_size: tuple[int, int] | None = None
    nests_images: bool = True
    names_data_set: bool = False
    normalisation: str = 'quantiles'
    raw_dimensions: tuple[int, ...] = ()
    uses_mask: bool = True
    action_space: str = 'ee_delta'
    action_names: tuple[str, ...] = POSE_NAMES
    largest_batch: int = 0
    model_types: tuple[str, ...] = ()


OPENVLA_PROMPT = 'In: What action should the robot take to {instruction}?\nOut:'
_NORA_TOKENS = FastTokens(first_token=151665, last_token=153712, horizon=1, dimensions=7)
_MOLMOACT_PROMPT = (
    'The task is {instruction}. What is the action that the robot should take. To figure out the '
    "action that the robot should take to {instruction}, let's think through it step by step. "
    'First, what is the depth map for the first image? Second, what is the trajectory of the end '
    'effector in the first image? Based on the depth map of the first image and the trajectory of '
    'the end effector in the first image, along with other images from different camera views as '
    'additional information, what is the action that the robot should take?'
)

PRESETS = {
    'generic': VlaPreset(source='none: declare token_map, prompt and normalisation'),
    'openvla': VlaPreset(
        source='Kim et al., OpenVLA (2024), section 3.2, and its published inference code',
        tokens=BinTokens(),
        prompt=OPENVLA_PROMPT,
        lowers_instruction=True,
        appended_token=29871,
        nests_images=False,
        largest_batch=1,  # its published code refuses more
        model_types=('openvla',),
    ),
    # The same tokens and prompt in a model of transformers' own classes.
    'openvla_bins': VlaPreset(
        source='the tokens of OpenVLA in a model of another architecture',
        tokens=BinTokens(),
        prompt='{image}' + OPENVLA_PROMPT,
        lowers_instruction=True,
    ),
    'molmoact': VlaPreset(
        source='Lee et al., MolmoAct (2025), and its published inference code',
        tokens=ListTokens(zero_token=151642),
        prompt=_MOLMOACT_PROMPT,
        is_chat=True,
        raw_dimensions=(-1,),
        largest_batch=1,
        model_types=('molmoact',),
    ),
    'spatialvla': VlaPreset(
        source='Qu et al., SpatialVLA (2025), section III-B, and its published inference code',
        tokens=SpatialTokens(),
        prompt='What action should the robot take to {instruction}?',
        nests_images=False,
        names_data_set=True,
        model_types=('spatialvla',),
    ),
    'nora': VlaPreset(
        source='Hung et al., NORA (2025), and its published inference code',
        tokens=_NORA_TOKENS,
        prompt='{instruction}',
        is_chat=True,
        image_size=(224, 224),
        uses_mask=False,
    ),
    'nora_long': VlaPreset(
        source='Hung et al., NORA (2025): NORA-Long, chunks of 5 actions',
        tokens=replace(_NORA_TOKENS, horizon=5),
        prompt='{instruction}',
        is_chat=True,
        image_size=(224, 224),
        uses_mask=False,
    ),
    'univla': VlaPreset(
        source='Bu et al., UniVLA (2025), and its published inference code',
        tokens=LatentTokens(count=4, first_token=32001, codes=16),
        prompt=OPENVLA_PROMPT,
        lowers_instruction=True,
        appended_token=29871,
        nests_images=False,
        largest_batch=1,
    ),
    'numbers': VlaPreset(
        source='a language model that was trained to write actions as numbers',
        tokens=ListTokens(items='number', most_tokens=256),
        prompt='{image}' + OPENVLA_PROMPT,
        normalisation='none',
    ),
}


def find_preset(name: str, folder: VlaFolder) -> VlaPreset:
    """The preset `name`; '' that of the checkpoint's kind of model.

    Raises:
        PolicyError: there is none.
    """
    if name in PRESETS:
        return PRESETS[name]
    known = ', '.join(PRESETS)
    if name:
        raise PolicyError(f'there is no preset {name!r} of token VLAs; known: {known}')
    for preset in PRESETS.values():
        if folder.model_type in preset.model_types:
            return preset
    raise PolicyError(
        f'{folder.path} is a {folder.model_type or "model"}, which does not say how its tokens '
        f'become actions: give preset, one of {known}'
    )
