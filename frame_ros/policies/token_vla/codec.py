# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From generated tokens to actions: the common part of all token maps, and bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.core.plain_text import counted
from frame_ros.policies.token_vla.token_map import Bins, BinTokens


@dataclass(frozen=True)
class ActionTokens:
    """The tokens of a generated sequence that are actions."""

    sequence: NDArray[np.int64]  # (N,) ids of all its tokens
    indices: NDArray[np.int64]  # (TN,) places of the action tokens in it
    step: NDArray[np.int32]  # (TN,), -1: none of its own
    dimension: NDArray[np.int32]  # (TN,), -1: none of its own

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of the action tokens, (TN,)."""
        return self.sequence[self.indices]


class Codec(Protocol):
    """A token map with its values from the checkpoint.

    Attributes:
        most_tokens: largest number of tokens to generate.
        is_open: the model ends the sequence itself; otherwise it has `most_tokens`.
        vocabulary: (K,) ids of the tokens that can be actions, ascending; None: any.
        action_shape: (H, D); None: known only from the actions.
    """

    most_tokens: int
    is_open: bool
    vocabulary: NDArray[np.int64] | None
    action_shape: tuple[int, int] | None

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """Returns the action tokens of a generated sequence, (N,), without its end.

        Raises:
            PolicyError: a token is not an action, or there are too few.
        """

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """Returns actions (H, D) in the range that the model was trained on.

        hidden: last hidden states of the prompt and of the tokens, if the map requests them.
        """


class BinScale:
    """Ids of tokens to the numbers of their bins, and to values in [-1, 1]."""

    def __init__(self, bins: Bins, vocabulary_size: int) -> None:
        """vocabulary_size: beyond the last token, for a map that begins there."""
        zero = vocabulary_size - 1 if bins.zero_token is None else bins.zero_token
        last = zero + bins.direction * (bins.bins - 1)
        if min(zero, last) < 0:
            raise PolicyError(
                f'the token map has {bins.bins} bins from token {zero} on, downwards; there are no '
                'tokens below 0'
            )
        self._zero, self._bins = zero, bins
        self.lowest, self.highest = min(zero, last), max(zero, last)
        self.vocabulary = np.arange(self.lowest, self.highest + 1)

    def numbers(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bin numbers of ids, (...,); those outside of `lowest` to `highest` are refused.

        Raises:
            PolicyError: a token is no action token.
        """
        check_range(ids, self.lowest, self.highest)
        numbers: NDArray[np.int64] = (ids - self._zero) * self._bins.direction
        return numbers

    def values(self, numbers: NDArray[np.int64], digits: int = 1) -> NDArray[np.float64]:
        """Values in [-1, 1] of bin numbers, (...,), of `digits` tokens each."""
        count = self._bins.bins**digits
        if self._bins.values == 'points':
            return -1.0 + 2.0 * numbers / (count - 1)
        centres = np.minimum(numbers, count - 2)
        values: NDArray[np.float64] = -1.0 + (2.0 * centres + 1.0) / (count - 1)
        return values


class BinCodec:
    """A fixed number of tokens per dimension."""

    is_open = False

    def __init__(self, declared: BinTokens, vocabulary_size: int) -> None:
        self._map = declared
        self._scale = BinScale(declared, vocabulary_size)
        self.action_shape: tuple[int, int] | None = (declared.horizon, declared.dimensions)
        self.most_tokens = declared.horizon * declared.dimensions * declared.tokens_per_dimension
        self.vocabulary: NDArray[np.int64] | None = self._scale.vocabulary

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """See `Codec`."""
        shape = (self._map.horizon, self._map.dimensions, self._map.tokens_per_dimension)
        check_count(
            ids,
            self.most_tokens,
            f'{counted(shape[0], "step")} of {counted(shape[1], "dimension")}, '
            f'{counted(shape[2], "token")} each',
        )
        self._scale.numbers(ids)
        step, dimension, _ = np.indices(shape, dtype=np.int32)
        return ActionTokens(ids, np.arange(len(ids)), step.ravel(), dimension.ravel())

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """See `Codec`."""
        digits = self._map.tokens_per_dimension
        numbers = self._scale.numbers(tokens.ids).reshape(
            self._map.horizon, self._map.dimensions, digits
        )
        powers = self._map.bins ** np.arange(digits - 1, -1, -1)
        return self._scale.values(numbers @ powers, digits)


def check_count(ids: Sequence[int] | NDArray[Any], count: int, why: str) -> None:
    """Raises PolicyError unless a sequence has `count` tokens."""
    if len(ids) != count:
        raise PolicyError(f'the model gave {len(ids)} action tokens; {why} make {count}')


def check_range(ids: NDArray[np.int64], lowest: int, highest: int) -> None:
    """Raises PolicyError at the first token that is not an action token."""
    outside = (ids < lowest) | (ids > highest)
    if outside.any():
        at = int(outside.argmax())
        raise PolicyError(
            f'the model gave token {int(ids.flat[at])} at place {at}, which is no action; action '
            f'tokens are {lowest} to {highest}'
        )


def no_places(count: int) -> NDArray[np.int32]:
    """Steps or dimensions of tokens that belong to none."""
    return np.full(count, -1, np.int32)
