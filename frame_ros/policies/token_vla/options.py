# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options for loading and calling a token VLA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import ACTION_SPACES
from frame_ros.policies.token_vla.latent import ActionDecoder
from frame_ros.policies.token_vla.presets import VlaPreset
from frame_ros.policies.token_vla.token_map import token_map

# Derivation of a rephrasing's confidence from its tokens.
AGGREGATES = ('mean', 'dimension_mean', 'geometric', 'min', 'max')
# Fields of a preset that these names do not redeclare.
_KEPT = ('source', 'model_types', 'tokens')


@dataclass(frozen=True)
class VlaOptions:
    """Options in addition to those of the preset.

    cameras: whose images the model sees, in its order. dtype: of the weights, auto: as they are in
    the checkpoint. unnorm_key, statistics: which data set's statistics un-normalise the actions,
    from which file; None: the only one, of the checkpoint. trust_remote_code: the checkpoint's own
    Python code may run. action_decoder: for latent tokens, see `find_decoder`.
    restrict_vocabulary: probabilities are over the action tokens alone, not the whole vocabulary.
    sampling_temperature: of the samples. rephrasing_batch: prompts, or samples, in one batch; 0: no
    limit; None: as the preset says. rephrasing_aggregate: one of AGGREGATES.
    """

    cameras: tuple[str, ...] = ('front',)
    dtype: str = 'auto'
    unnorm_key: str | None = None
    statistics: str | None = None
    trust_remote_code: bool = False
    action_decoder: str | ActionDecoder | None = None
    restrict_vocabulary: bool = False
    sampling_temperature: float = 1.0
    rephrasing_batch: int | None = None
    rephrasing_aggregate: str = 'mean'

    def __post_init__(self) -> None:
        for name in ('trust_remote_code', 'restrict_vocabulary'):
            if not isinstance(getattr(self, name), bool):
                raise PolicyError(f'{name} is {getattr(self, name)!r}; true or false is expected')
        if isinstance(self.cameras, str):
            raise PolicyError(f'cameras is {self.cameras!r}; a list of names is expected')
        if not (np.isfinite(self.sampling_temperature) and self.sampling_temperature > 0):
            raise PolicyError(
                f'sampling_temperature is {self.sampling_temperature}; it must be above 0'
            )
        batch = self.rephrasing_batch
        if batch is not None and (
            isinstance(batch, bool) or not isinstance(batch, int) or batch < 0
        ):
            raise PolicyError(f'rephrasing_batch is {batch!r}; a whole number, 0 for no limit')
        if self.rephrasing_aggregate not in AGGREGATES:
            raise PolicyError(
                f'rephrasing_aggregate is {self.rephrasing_aggregate!r}; one of '
                f'{", ".join(AGGREGATES)} is expected'
            )


def read_options(given: Mapping[str, Any]) -> tuple[VlaOptions, dict[str, Any]]:
    """Returns the options, and the redeclared fields of the preset.

    Raises:
        PolicyError: an unknown option or an impossible value.
    """
    own = {field.name for field in fields(VlaOptions)}
    of_preset = {field.name for field in fields(VlaPreset)}.difference(_KEPT) | {'token_map'}
    if unknown := sorted(set(given) - own - of_preset):
        raise PolicyError(
            f'a token VLA has no option {", ".join(unknown)}; it has '
            f'{", ".join(sorted(own | of_preset))}'
        )
    options = {name: value for name, value in given.items() if name in own}
    if isinstance(options.get('cameras'), list):
        options['cameras'] = tuple(options['cameras'])
    return VlaOptions(**options), {k: v for k, v in given.items() if k in of_preset}


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
