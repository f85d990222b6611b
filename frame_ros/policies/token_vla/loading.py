# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loads a token VLA from a checkpoint's folder and the user's options."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError, PolicyError
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
from frame_ros.policies.token_vla.options import VlaOptions, read_options, with_declared
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


def load_token_vla(
    folder: str | Path,
    preset: str = '',
    *,
    camera_names: Mapping[str, str] | None = None,
    robot_joint_names: Sequence[str] = (),
    gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    units: str = 'degrees',
    action_rate: float = 5.0,
    device: str = 'cpu',
    temperatures: Sequence[float] = (),
    samples: int = 0,
    **options: Any,
) -> TokenVlaPolicy:
    """Loads a model that writes actions as tokens, from a local folder; nothing is downloaded.

    Args:
        preset: a name of PRESETS, or '' for that of the checkpoint's kind of model.
        options: fields of VlaOptions; `token_map`, and fields of VlaPreset, which take precedence
            over its own.
        camera_names: the policy's image -> camera, in the model's order; takes precedence over the
            option cameras.
        robot_joint_names, units, gripper_limits: for a chunk of joints, see `joint_units`; the
            names unless action_names are declared.
        action_rate: Hz, of the training data.
        temperatures: at which the largest probability of each token is also computed.
        samples: N chunks drawn in addition to the most likely one; 0: none.

    Raises:
        CheckpointError: the folder is incomplete, needs code that may not run, or is for another
            robot.
        PolicyError: impossible options.
        MissingExtraError: transformers is missing.
    """
    checkpoint = open_folder(folder)
    asked, declared = read_options(options)
    chosen = with_declared(find_preset(preset, checkpoint), declared)
    names = _action_names(chosen, tuple(robot_joint_names))
    settings = _settings(asked, chosen, temperatures, samples)
    normaliser = _normaliser(checkpoint, chosen, asked, len(names))
    chunk = _chunk_format(chosen.action_space, names, action_rate, units, gripper_limits)
    chunk = replace(chunk, to_robot=_both(normaliser.actions, chunk.to_robot))
    model, processor, notes = load_model(checkpoint, device, asked.dtype, asked.trust_remote_code)
    views = tuple(camera_names.values()) if camera_names else asked.cameras
    prompts = PromptBuilder(
        processor, chosen, len(views), model.device, model.dtype, asked.unnorm_key
    )
    assert chosen.tokens is not None
    codec = make_codec(chosen.tokens, checkpoint, prompts.tokenizer, asked.action_decoder)
    if codec.action_shape is not None:
        _check_width(codec.action_shape[1], names)
    if asked.restrict_vocabulary:
        settings = replace(settings, vocabulary=_vocabulary(codec))
    for note in notes:
        logger.warning('%s: %s', checkpoint.path, note)
    name, path = preset or checkpoint.model_type, str(checkpoint.path)
    return TokenVlaPolicy(name, path, views, model, prompts, codec, chunk, settings, notes)


def _settings(
    asked: VlaOptions, preset: VlaPreset, temperatures: Sequence[float], samples: int
) -> VlaGeneration:
    if samples < 0 or samples == 1:
        raise PolicyError(f'samples is {samples}; 0 (none), or 2 or more, which have a deviation')
    batch = asked.rephrasing_batch
    return VlaGeneration(
        tuple(float(temperature) for temperature in temperatures),
        None,
        samples,
        asked.sampling_temperature,
        preset.largest_batch if batch is None else batch,
        asked.rephrasing_aggregate,
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


def _action_names(preset: VlaPreset, joints: tuple[str, ...]) -> tuple[str, ...]:
    names = preset.action_names or joints
    if not names:
        raise PolicyError('the chunk is of joints; give action_names')
    return names


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


def _chunk_format(
    space: str,
    names: tuple[str, ...],
    rate: float,
    units: str,
    gripper_limits: Mapping[str, tuple[float, float]] | None,
) -> ChunkFormat:
    if not (np.isfinite(rate) and rate > 0):
        raise PolicyError(f'action_rate is {rate} Hz; it must be positive')
    if space == 'joint_position':
        converter = joint_units(units, names, gripper_limits)
        columns = ('rad',) * len(names)
        return ChunkFormat(space, names, columns, 1.0 / rate, converter.to_radians)
    if space == 'joint_delta':
        # A difference has no offset.
        converter = joint_units(units, names, gripper_limits)
        columns = ('rad',) * len(names)
        return ChunkFormat(space, names, columns, 1.0 / rate, lambda v: v / converter.scale)
    columns = tuple(
        'm' if name in TRANSLATIONS else 'rad' if name in ROTATIONS else '1' for name in names
    )
    return ChunkFormat(space, names, columns, 1.0 / rate, lambda values: values)


def _vocabulary(codec: Codec) -> Any:
    if codec.vocabulary is None:
        raise PolicyError(
            'restrict_vocabulary needs a token map whose action tokens are known; a list in the '
            'text may hold any'
        )
    return codec.vocabulary
