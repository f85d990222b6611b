# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Actions as lists in the generated text: names of bins, or numbers.

Source of the names of bins: Lee et al., MolmoAct: Action Reasoning Models that can Reason in Space,
which writes an action as a list of names from the end of the vocabulary, after its reasoning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.token_vla.codec import ActionTokens, BinScale
from frame_ros.policies.token_vla.token_map import ListTokens

_LIST = re.compile(r'\[([^\[\]]*)\]')
_ITEM = re.compile(r'[^,]+')
# Written for bytes that are not a whole character yet.
_PARTIAL = '\ufffd'
_SHOWN = 80


@dataclass(frozen=True)
class Item:
    """An item of a list. start, end: its place in the text."""

    text: str
    start: int
    end: int

    @property
    def number(self) -> float:
        """Its value, NaN if it is no number."""
        try:
            return float(self.text)
        except ValueError:
            return math.nan


class ListCodec:
    """One list a step."""

    is_open = True

    def __init__(self, declared: ListTokens, tokenizer: Any, vocabulary_size: int) -> None:
        self._map, self._tokenizer = declared, tokenizer
        names_bins = declared.items == 'vocabulary'
        self._scale = BinScale(declared, vocabulary_size) if names_bins else None
        self.most_tokens = declared.most_tokens
        self.vocabulary: NDArray[np.int64] | None = None
        self.action_shape: tuple[int, int] | None = (declared.horizon, declared.dimensions)

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """See `Codec`: the tokens that write the items, not brackets and commas."""
        text, starts, ends = token_spans(ids, self._decode)
        indices, step, dimension = [], [], []
        for row, items in enumerate(self._lists(text)):
            for column, item in enumerate(items):
                within = np.flatnonzero((starts < item.end) & (ends > item.start))
                indices += within.tolist()
                step += [row] * len(within)
                dimension += [column] * len(within)
        places = np.array(indices, np.int64)
        return ActionTokens(ids, places, np.array(step, np.int32), np.array(dimension, np.int32))

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """See `Codec`."""
        rows = self._lists(self._decode(tokens.sequence.tolist()))
        if self._scale is None:
            return np.array([[item.number for item in row] for row in rows])
        numbers = [[self._bin(item) for item in row] for row in rows]
        return self._scale.values(np.array(numbers, np.int64))

    def _decode(self, ids: list[int]) -> str:
        text: str = self._tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return text

    def _lists(self, text: str) -> list[list[Item]]:
        """Returns the first H lists of D items of the wanted kind."""
        found = []
        for match in _LIST.finditer(text):
            items = [_stripped(part, match.start(1)) for part in _ITEM.finditer(match[1])]
            are_numbers = all(math.isfinite(item.number) for item in items)
            if len(items) == self._map.dimensions and are_numbers == (self._scale is None):
                found.append(items)
        if len(found) < self._map.horizon:
            what = 'numbers' if self._scale is None else 'names of action tokens'
            raise PolicyError(
                f'the model wrote {len(found)} lists of {self._map.dimensions} {what}; '
                f'{self._map.horizon} are expected; it wrote ...{text[-_SHOWN:]!r}'
            )
        return found[: self._map.horizon]

    def _bin(self, item: Item) -> int:
        assert self._scale is not None
        found = self._tokenizer.convert_tokens_to_ids(item.text)
        if found is None or found == self._tokenizer.unk_token_id:
            raise PolicyError(f'the model wrote {item.text!r}, which is no token of its vocabulary')
        return int(self._scale.numbers(np.array([found]))[0])


def token_spans(
    ids: NDArray[np.int64], decode: Callable[[list[int]], str]
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """The text of tokens (N,), and where in it each begins and ends, (N,) each. A token of a part
    of a character has that character's place.
    """
    sequence = ids.tolist()
    lengths, whole = [0], decode(sequence)
    for count in range(1, len(sequence) + 1):
        lengths.append(len(decode(sequence[:count]).rstrip(_PARTIAL)))
    starts = np.array(lengths[:-1], np.int64)
    ends = np.maximum(np.array(lengths[1:], np.int64), starts + 1)
    return whole, starts, ends


def _stripped(match: re.Match[str], offset: int) -> Item:
    """An item without the blanks and quotes around it."""
    text = match[0]
    inner = text.strip().strip('"\'').strip()
    start = offset + match.start() + (text.index(inner) if inner else 0)
    return Item(inner, start, start + len(inner))
