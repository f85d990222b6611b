# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Latent tokens: codes that a separate network, supplied by the user, turns into actions.

Source: Bu et al., UniVLA: Learning to Act Anywhere with Task-centric Latent Actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.token_vla.codec import ActionTokens, check_count, check_range, no_places
from frame_ros.policies.token_vla.token_map import LatentTokens


@dataclass(frozen=True)
class LatentCodes:
    """The input of an action decoder.

    Attributes:
        codes: (TN,) from 0.
        hidden: (P + TN - 1, E), the language model's last hidden states, prompt first; the last TN
            of them are those that the codes were chosen from. None unless the decoder has a true
            `wants_hidden_states`.
    """

    codes: NDArray[np.int64]
    hidden: NDArray[np.float32] | None


ActionDecoder = Callable[[LatentCodes], Any]


def find_decoder(decoder: str | ActionDecoder | None) -> ActionDecoder:
    """The user's own function that turns LatentCodes into actions (H, D).

    decoder: it, or 'module:function' of an installed module.

    Raises:
        PolicyError: there is none.
    """
    if decoder is None:
        raise PolicyError(
            'latent tokens have no decoding of their own; give action_decoder, a function or '
            '"module:function", that takes LatentCodes and returns actions (H, D)'
        )
    if not isinstance(decoder, str):
        return decoder
    module, _, name = decoder.partition(':')
    try:
        found: ActionDecoder = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise PolicyError(
            f'action_decoder is {decoder!r}, which cannot be imported: {error}; '
            '"module:function" is expected'
        ) from error
    return found


class LatentCodec:
    """A fixed number of codes."""

    is_open = False

    def __init__(self, declared: LatentTokens, decoder: str | ActionDecoder | None) -> None:
        self._map, self._decoder = declared, find_decoder(decoder)
        self.wants_hidden_states = bool(getattr(self._decoder, 'wants_hidden_states', False))
        self.most_tokens = declared.count
        self.action_shape: tuple[int, int] | None = None
        self.vocabulary: NDArray[np.int64] | None = np.arange(
            declared.first_token, declared.first_token + declared.codes
        )

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """See `Codec`."""
        check_count(ids, self._map.count, 'latent codes')
        check_range(ids, self._map.first_token, self._map.first_token + self._map.codes - 1)
        places = no_places(len(ids))
        return ActionTokens(ids, np.arange(len(ids)), places, places)

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """See `Codec`.

        Raises:
            PolicyError: the user's decoder fails, or gives no (H, D) numbers.
        """
        codes = LatentCodes(tokens.ids - self._map.first_token, hidden)
        try:
            actions = np.asarray(self._decoder(codes), dtype=np.float64)
        except Exception as error:  # whatever the user's function raises
            raise PolicyError(
                f'the action decoder raised {type(error).__name__}: {error}'
            ) from error
        if actions.ndim != 2:
            raise PolicyError(f'the action decoder gave shape {actions.shape}; (H, D) is expected')
        return actions
