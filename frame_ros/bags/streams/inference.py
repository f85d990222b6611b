# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The inferences of a bag, reduced block by block: their tokens and samples are large, and are
never held all at once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.cdr import Messages, decode
from frame_ros.bags.reader import Bag
from frame_ros.confidence.inference_uncertainty import (
    CHOSEN_FIELDS,
    ENSEMBLE_FIELD,
    TOKEN_FIELDS,
    chosen_confidence,
    ensemble_values,
    sample_variability,
    token_uncertainty,
)
from frame_ros.core.errors import BagError

BLOCK = 64
SHAPE_FIELDS = ('sample_count', 'horizon', 'action_dimension')
LARGE_FIELDS = (*TOKEN_FIELDS, *CHOSEN_FIELDS, ENSEMBLE_FIELD, 'samples')


class _Block:
    """Some of the messages of a table."""

    def __init__(self, table: Messages, first: int) -> None:
        self._table, self._first = table, first
        self.lengths = table.lengths[first : first + BLOCK]

    def data(self, index: int) -> NDArray[np.uint8]:
        """Returns the bytes of one message."""
        return self._table.data(self._first + index)

    def rows(self, indices: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """Returns the first `size` bytes of several messages, (n, size)."""
        return self._table.rows(indices + self._first, size)


def inference_columns(
    bag: Bag, topic: str, paths: Collection[str]
) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
    """Returns receive times (T,), ns, and columns of a topic of PolicyInference.

    Columns are the `paths`, none of them a sequence; 'token_count'; and the UNCERTAINTY_VALUES of
    `inference_uncertainty`. Messages that do not fit their definition are left out and
    reported in the bag's `problems`.

    Raises:
        BagError: the topic's type is not readable, or lacks a field that these need.
    """
    found = bag.topics[topic]
    if not found.types:
        raise BagError(f'{topic} cannot be read: {found.reason}')
    wanted = {*paths, *SHAPE_FIELDS, *LARGE_FIELDS, 'vocabulary_size'}
    _check_fields(topic, found.types[found.message_type], wanted)
    received: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    parts, bad = [], []
    for table in found.tables:
        for first in range(0, len(table), BLOCK):
            indices, columns = decode(
                found.types,
                found.message_type,
                _Block(table, first),
                wanted,
                lambda index, error: bad.append(str(error)),
            )
            if len(indices):
                received.append(table.received[first + indices])
                parts.append(_reduced(columns, paths, len(indices)))
    if bad:
        bag.report(f'{topic}: {len(bad)} unreadable messages left out (first: {bad[0]})')
    names = parts[0] if parts else {}
    return np.concatenate(received), {n: np.concatenate([p[n] for p in parts]) for n in names}


def _check_fields(topic: str, definition: Any, wanted: Collection[str]) -> None:
    names = {name for name, _ in definition[1]}
    missing = sorted(path for path in wanted if path.split('.')[0] not in names)
    if missing:
        raise BagError(
            f'{topic}: its frame_ros/msg/PolicyInference lacks {", ".join(missing)}: '
            'recorded with another version of the messages'
        )


def _reduced(columns: dict[str, NDArray], paths: Collection[str], count: int) -> dict[str, NDArray]:
    kept = {name: columns[name] for name in paths}
    kept['token_count'] = columns[f'{TOKEN_FIELDS[0]}.count'].astype(np.float64)
    rows = []
    for row in range(count):
        large = {n: columns[n][row, : columns[f'{n}.count'][row]] for n in LARGE_FIELDS}
        shape = (int(columns[name][row]) for name in SHAPE_FIELDS)
        rows.append(
            token_uncertainty(large, int(columns['vocabulary_size'][row]))
            | chosen_confidence(large, len(large[TOKEN_FIELDS[0]]))
            | ensemble_values(large[ENSEMBLE_FIELD])
            | sample_variability(large['samples'], *shape)
        )
    return kept | {name: np.array([row[name] for row in rows]) for name in rows[0]}
