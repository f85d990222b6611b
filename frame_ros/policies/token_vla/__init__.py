# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Vision-language-action models that write actions as tokens, by transformers' own classes."""

from frame_ros.policies.token_vla.latent import LatentCodes
from frame_ros.policies.token_vla.loading import VlaCheckpoint, load_token_vla
from frame_ros.policies.token_vla.policy import TokenVlaPolicy
from frame_ros.policies.token_vla.presets import PRESETS, VlaPreset
from frame_ros.policies.token_vla.token_map import (
    BinTokens,
    FastTokens,
    LatentTokens,
    ListTokens,
    SpatialTokens,
    TokenMap,
    token_map,
)

__all__ = [
    'PRESETS',
    'BinTokens',
    'FastTokens',
    'LatentCodes',
    'LatentTokens',
    'ListTokens',
    'SpatialTokens',
    'TokenMap',
    'TokenVlaPolicy',
    'VlaCheckpoint',
    'VlaPreset',
    'load_token_vla',
    'token_map',
]
