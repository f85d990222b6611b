# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Spatial tokens: a cell of translations, a cell of rotations and the gripper, per step.

Source: Qu et al., SpatialVLA: Exploring Spatial Representations for Visual-Language-Action Models,
and the `bin_policy` of its checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.core.plain_text import counted
from frame_ros.policies.token_vla.codec import ActionTokens, check_count, check_range
from frame_ros.policies.token_vla.token_map import SpatialTokens

FIRST_TOKEN = '<ACTION00000>'
TRANSLATION = ('theta', 'phi', 'r')
ROTATION = ('roll', 'pitch', 'yaw')
TOKENS = 3
GRIPPER_TOKENS = 2
GRIPPER = 6  # dimension of the gripper; those before it are x, y, z, roll, pitch, yaw
# Of cells that the checkpoint gives in number only: they are equal.
RANGES = {
    'theta': (0.0, np.pi),
    'phi': (-np.pi, np.pi),
    'r': (0.0, 3**0.5),
    **dict.fromkeys(ROTATION, (-1.0, 1.0)),
}


class SpatialCodec:
    """Three tokens a step."""

    is_open = False

    def __init__(
        self, declared: SpatialTokens, settings: Mapping[str, Any], first_token: int | None
    ) -> None:
        """settings: the checkpoint's processor_config.json. first_token: id of FIRST_TOKEN in its
        vocabulary, None if it has none.

        Raises:
            CheckpointError: neither map nor checkpoint say what is needed.
        """
        edges = declared.edges if declared.edges is not None else checkpoint_edges(settings)
        self._translation = [_edges(edges, name) for name in TRANSLATION]
        self._rotation = [_edges(edges, name) for name in ROTATION]
        first = declared.first_token if declared.first_token is not None else first_token
        if first is None:
            raise CheckpointError(
                f'the vocabulary has no {FIRST_TOKEN}; name first_token in the token map'
            )
        horizon = declared.horizon or settings.get('action_chunk_size') or 1
        spherical = declared.is_spherical
        if spherical is None:
            spherical = (settings.get('action_config') or {}).get('use_spherical', True)
        self._is_spherical, self._names_first = bool(spherical), declared.names_first
        sizes = (_cells(self._translation), _cells(self._rotation), GRIPPER_TOKENS)
        self._starts = first + np.cumsum([0, *sizes])
        self.action_shape: tuple[int, int] | None = (int(horizon), declared.dimensions)
        self.most_tokens = TOKENS * int(horizon)
        self.vocabulary: NDArray[np.int64] | None = np.arange(first, self._starts[-1])

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """See `Codec`."""
        expected = counted(self.most_tokens // TOKENS, 'step')
        check_count(ids, self.most_tokens, f'{expected} of {TOKENS} tokens')
        for kind in range(TOKENS):
            check_range(ids[kind::TOKENS], self._starts[kind], self._starts[kind + 1] - 1)
        steps = np.arange(len(ids), dtype=np.int32) // TOKENS
        dimensions = np.array((0, 3, GRIPPER) if self._names_first else (-1, -1, GRIPPER), np.int32)
        return ActionTokens(
            ids, np.arange(len(ids)), steps, np.tile(dimensions, len(ids) // TOKENS)
        )

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """See `Codec`; translations outside [-1, 1] are clipped, as in training."""
        numbers = tokens.ids.reshape(-1, TOKENS) - self._starts[:TOKENS]
        translation = _middles(self._translation, numbers[:, 0])
        if self._is_spherical:
            theta, phi, r = translation.T
            translation = r[:, None] * np.column_stack(
                (np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta))
            )
        rotation = _middles(self._rotation, numbers[:, 1])
        return np.column_stack((np.clip(translation, -1, 1), rotation, numbers[:, 2]))


def checkpoint_edges(settings: Mapping[str, Any]) -> dict[str, list[float]]:
    """theta, phi, r, roll, pitch, yaw -> edges, from a checkpoint's processor_config.json.

    Raises:
        CheckpointError: it has neither `bin_policy` nor the numbers of cells.
    """
    policy = settings.get('bin_policy') or {}
    counts = (settings.get('action_config') or {}).get('num_bins') or {}
    found: dict[str, list[float]] = {}
    for part, names in (('translation', TRANSLATION), ('rotation', ROTATION)):
        for name in names:
            given = (policy.get(part) or {}).get(f'{name}_bins')
            count = (counts.get(part) or {}).get(f'{name}_bins')
            if given is None and not count:
                raise CheckpointError(
                    f'processor_config.json has neither bin_policy nor action_config.num_bins for '
                    f'{part}.{name}_bins; declare the edges in the token map'
                )
            equal = np.linspace(*RANGES[name], int(count or 0) + 1).tolist()
            found[name] = equal if given is None else given
    return found


def _edges(edges: Mapping[str, Any], name: str) -> NDArray[np.float64]:
    try:
        values = np.asarray(edges[name], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f'the token map has no edges of numbers for {name!r}: {error}') from error
    if values.ndim != 1 or len(values) < 2 or not (np.diff(values) >= 0).all():
        raise PolicyError(f'the edges of {name!r} are {values.tolist()}; two or more, ascending')
    return values


def _cells(edges: list[NDArray[np.float64]]) -> int:
    return int(np.prod([len(each) - 1 for each in edges]))


def _middles(edges: list[NDArray[np.float64]], cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) numbers of cells -> (n, 3)."""
    places = np.unravel_index(cells, [len(each) - 1 for each in edges])
    return np.column_stack([0.5 * (e[i] + e[i + 1]) for e, i in zip(edges, places)])
