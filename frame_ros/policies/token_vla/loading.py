# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loads a token VLA from a checkpoint's folder and the user's options."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.fingerprint import FilesDigest, fingerprint_of
from frame_ros.policies.token_vla.codec import BinCodec, Codec
from frame_ros.policies.token_vla.fast import FastCodec
from frame_ros.policies.token_vla.folder import VlaFolder, open_folder
from frame_ros.policies.token_vla.latent import ActionDecoder, LatentCodec
from frame_ros.policies.token_vla.model import load_model
from frame_ros.policies.token_vla.normalisation import (
    NONE,
    Normalisation,
    find_statistics,
    identity,
    normalisation,
)
from frame_ros.policies.token_vla.options import VlaOptions, with_declared
from frame_ros.policies.token_vla.policy import ChunkFormat, TokenVlaPolicy, VlaGeneration
from frame_ros.policies.token_vla.presets import VlaPreset, find_preset
from frame_ros.policies.token_vla.prompts import PromptBuilder
from frame_ros.policies.token_vla.spatial import FIRST_TOKEN, SpatialCodec
from frame_ros.policies.token_vla.text_list import ListCodec
from frame_ros.policies.token_vla.token_map import (
    Bins,
    BinTokens,
    FastTokens,
    LatentTokens,
    ListTokens,
    SpatialTokens,
    TokenMap,
)
from frame_ros.robots.joint_units import joint_units

TRANSLATIONS = ('x', 'y', 'z')
Map = Callable[[NDArray[np.float64]], NDArray[np.float64]]
ROTATIONS = ('roll', 'pitch', 'yaw', 'rx', 'ry', 'rz')

logger = logging.getLogger(__name__)


class VlaCheckpoint(TokenVlaPolicy):
    """A TokenVlaPolicy that is loaded from its options; nothing is downloaded."""

    Options = VlaOptions
    needs = {'folder': 'the folder of a model'}

    @classmethod
    def make(cls, options: VlaOptions) -> TokenVlaPolicy:
        """Loads the model.

        Raises:
            CheckpointError: the folder is incomplete, needs code that may not run, or is for
                another robot.
            PolicyError: the options do not fit each other or the model.
            MissingExtraError: transformers is not installed.
        """
        checkpoint = open_folder(options.folder)
        weights = FilesDigest(checkpoint.path.glob('*.safetensors'))
        preset = with_declared(find_preset(options.preset, checkpoint), options.declared)
        names = preset.action_names or options.robot_joint_names
        if not names:
            raise PolicyError('the chunk is of joints; give action_names')
        normaliser = _normaliser(checkpoint, preset, options, len(names))
        chunk = _chunk_format(preset.action_space, names, options)
        chunk = replace(chunk, to_robot=_both(normaliser.actions, chunk.to_robot))
        remote = options.trust_remote_code
        model, processor, notes = load_model(checkpoint, options.device, options.dtype, remote)
        views = tuple((options.camera_names or {}).values()) or options.cameras
        prompts = PromptBuilder(
            processor, preset, len(views), model.device, model.dtype, options.unnorm_key
        )
        assert preset.tokens is not None
        codec = make_codec(preset.tokens, checkpoint, prompts.tokenizer, options.action_decoder)
        if codec.action_shape is not None:
            _check_width(codec.action_shape[1], names)
        for note in notes:
            logger.warning('%s: %s', checkpoint.path, note)
        name, path = options.preset or checkpoint.model_type, str(checkpoint.path)
        generation = _generation(options, preset, codec)
        policy = cls(name, path, views, model, prompts, codec, chunk, generation, notes)
        policy.fingerprint = fingerprint_of(weights.value(), normaliser.digest)
        return policy

    @classmethod
    def check(cls, options: VlaOptions) -> None:
        """Checks that the folder holds a checkpoint.

        Raises:
            CheckpointError: it does not.
        """
        open_folder(options.folder)


def load_token_vla(folder: str | Path, preset: str = '', **others: Any) -> TokenVlaPolicy:
    """Loads a model that writes actions as tokens, from a local folder. others: further
    `VlaOptions`.

    Raises:
        FrameRosError: as of `VlaCheckpoint.make`, or an option is out of range.
    """
    read = VlaCheckpoint.read_options
    return VlaCheckpoint.make(read(folder=str(folder), preset=preset, **others))


def _generation(options: VlaOptions, preset: VlaPreset, codec: Codec) -> VlaGeneration:
    batch = options.rephrasing_batch
    return VlaGeneration(
        options.temperatures,
        _vocabulary(codec) if options.restrict_vocabulary else None,
        options.samples,
        options.sampling_temperature,
        preset.largest_batch if batch is None else batch,
        options.rephrasing_aggregate,
    )


def make_codec(
    declared: TokenMap,
    folder: VlaFolder,
    tokenizer: Any,
    action_decoder: str | ActionDecoder | None = None,
) -> Codec:
    """Returns a token map with its values from the checkpoint.

    Raises:
        CheckpointError: the checkpoint lacks it.
        PolicyError: the map does not fit it.
    """
    if isinstance(declared, BinTokens):
        return BinCodec(declared, _vocabulary_size(declared, folder, tokenizer))
    if isinstance(declared, ListTokens):
        return ListCodec(declared, tokenizer, _vocabulary_size(declared, folder, tokenizer))
    if isinstance(declared, SpatialTokens):
        first = tokenizer.get_vocab().get(FIRST_TOKEN)
        return SpatialCodec(declared, folder.settings, first)
    if isinstance(declared, FastTokens):
        return FastCodec(declared, folder.path)
    assert isinstance(declared, LatentTokens)
    return LatentCodec(declared, action_decoder)


def _vocabulary_size(declared: Bins, folder: VlaFolder, tokenizer: Any) -> int:
    """Beyond the last token, for bins that begin there."""
    names = int(getattr(tokenizer, 'vocab_size', None) or len(tokenizer))
    size = folder.vocabulary_size or names
    begins_at_last = declared.zero_token is None and getattr(declared, 'items', '') != 'number'
    if begins_at_last and size != names and not folder.config.get('pad_to_multiple_of'):
        raise CheckpointError(
            f'{folder.path} has {size} classes, its tokenizer {names} tokens without added ones; '
            'which of them is the last bin is not clear: give zero_token (the id of the lowest '
            f'bin) in the token map, such as {names - 1} or {size - 1}'
        )
    return size


def _check_width(width: int, names: tuple[str, ...]) -> None:
    if width != len(names):
        raise CheckpointError(
            f'the token map has {width} dimensions, the chunk {len(names)} columns: '
            f'{", ".join(names)}; is the checkpoint for another robot?'
        )


def _both(first: Map, second: Map) -> Map:
    return lambda values: second(first(values))


def _normaliser(
    folder: VlaFolder,
    preset: VlaPreset,
    asked: VlaOptions,
    dimensions: int,
) -> Normalisation:
    if preset.normalisation == NONE:
        return identity(dimensions)
    statistics, source = find_statistics(folder, asked.statistics)
    return normalisation(
        statistics,
        source,
        asked.unnorm_key,
        dimensions,
        preset.normalisation,
        preset.raw_dimensions,
        preset.uses_mask,
    )


def _chunk_format(space: str, names: tuple[str, ...], options: VlaOptions) -> ChunkFormat:
    period = 1.0 / options.action_rate
    if space in ('joint_position', 'joint_delta'):
        converter = joint_units(options.units, names, options.gripper_limits)
        converter = converter.of_changes if space == 'joint_delta' else converter
        return ChunkFormat(space, names, ('rad',) * len(names), period, converter.to_radians)
    columns = tuple(
        'm' if name in TRANSLATIONS else 'rad' if name in ROTATIONS else '1' for name in names
    )
    return ChunkFormat(space, names, columns, period, lambda values: values)


def _vocabulary(codec: Codec) -> Any:
    if codec.vocabulary is None:
        raise PolicyError(
            'restrict_vocabulary needs a token map whose action tokens are known; a list in the '
            'text may hold any'
        )
    return codec.vocabulary
