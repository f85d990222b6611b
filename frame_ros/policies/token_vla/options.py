# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options for loading and calling a token VLA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import attrs

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import option, options
from frame_ros.policies.protocol import ACTION_SPACES
from frame_ros.policies.token_vla.presets import VlaPreset
from frame_ros.policies.token_vla.token_map import token_map
from frame_ros.robots.joint_units import UNITS

# Derivation of a rephrasing's confidence from its tokens.
AGGREGATES = ('mean', 'dimension_mean', 'geometric', 'min', 'max')
# Fields of a preset that cannot be replaced by an option of the same name.
_KEPT = ('source', 'model_types', 'tokens')
_REPLACEABLE = ('token_map', *(f.name for f in fields(VlaPreset) if f.name not in _KEPT))
# Each field of a preset that an option can replace, and the token map. None is a value of some.
_AS_PRESET = object()
PresetChanges: type[Any] = attrs.make_class(
    'PresetChanges', {name: attrs.field(default=_AS_PRESET, kw_only=True) for name in _REPLACEABLE}
)


@options
class VlaOptions(PresetChanges):
    """Options of a token VLA, in addition to the fields of `VlaPreset` that it replaces."""

    folder: str = option('', 'the checkpoint')
    preset: str = option('', "what is known of the model; empty: by the checkpoint's kind of model")
    device: str = option('cpu', 'device of the model: cpu, cuda, cuda:1, mps')
    robot_joint_names: tuple[str, ...] = option((), 'columns of a chunk of joints')
    gripper_limits: Mapping[str, tuple[float, float]] | None = option(
        None, 'gripper joint -> closed and open position, rad or m'
    )
    units: str = option('degrees', 'of a chunk of joints', choices=UNITS)
    action_rate: float = option(5.0, 'rate of the training data', unit='Hz', above=0.0)
    camera_names: Mapping[str, str] | None = option(
        None, "the policy's image -> camera, in the model's order; takes precedence over cameras"
    )
    cameras: tuple[str, ...] = option(('front',), "cameras, in the model's order")
    temperatures: tuple[float, ...] = option((), 'grid of the token statistics', above=0.0)
    samples: int = option(
        0, 'further chunks drawn, besides the most likely one', at_least=2, besides=(0,)
    )
    sampling_temperature: float = option(1.0, 'of the samples', above=0.0)
    dtype: str = option('auto', 'of the weights; auto: as in the checkpoint')
    unnorm_key: str | None = option(None, 'data set whose statistics hold; none: the only one')
    statistics: str | None = option(None, "file of the statistics; none: the checkpoint's")
    trust_remote_code: bool = option(False, "run the checkpoint's own Python code")
    action_decoder: Any = attrs.field(default=None)  # of latent tokens, see `find_decoder`
    restrict_vocabulary: bool = option(
        False, 'probabilities over the action tokens alone, not the whole vocabulary'
    )
    rephrasing_batch: int | None = option(
        None, 'prompts, or samples, in one batch; 0: no limit; none: as the preset', at_least=0
    )
    rephrasing_aggregate: str = option(
        'mean', "a rephrasing's confidence from those of its tokens", choices=AGGREGATES
    )

    @property
    def declared(self) -> dict[str, Any]:
        """Replacements of the preset's fields and token map."""
        values = {name: getattr(self, name) for name in _REPLACEABLE}
        return {name: value for name, value in values.items() if value is not _AS_PRESET}


def with_declared(preset: VlaPreset, declared: Mapping[str, Any]) -> VlaPreset:
    """Returns the preset with redeclared fields and `token_map`.

    Raises:
        PolicyError: an impossible value, or no token map.
    """
    changes = dict(declared)
    if 'token_map' in changes:
        changes['tokens'] = token_map(changes.pop('token_map'))
    for name in ('action_names', 'raw_dimensions', 'image_size'):
        if changes.get(name) is not None:
            if not isinstance(changes[name], (list, tuple)):
                raise PolicyError(f'{name} is {changes[name]!r}; a list is expected')
            changes[name] = tuple(changes[name])
    found = replace(preset, **changes)
    if found.tokens is None:
        raise PolicyError('this preset has no token map; give token_map')
    if not isinstance(found.prompt, str) or '{instruction}' not in found.prompt:
        raise PolicyError(f'the prompt {found.prompt!r} has no place for the {{instruction}}')
    if found.action_space not in ACTION_SPACES:
        raise PolicyError(
            f'action_space is {found.action_space!r}; one of {", ".join(ACTION_SPACES)} is expected'
        )
    if found.action_space.startswith('joint') and 'action_names' not in changes:
        return replace(found, action_names=())
    return found
