# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The inferences of a bag, reduced block by block: their tokens and samples are large."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.cdr import Messages, decode
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import MessageForm, RecordedStream, Values, column_of
from frame_ros.confidence.dimension_confidence import (
    RECALIBRATION_VALUES,
    TEMPERATURE_FIELDS,
    recalibration_values,
)
from frame_ros.confidence.fingerprint import SETUP_FIELDS
from frame_ros.confidence.inference_uncertainty import (
    CHOSEN_FIELDS,
    CHUNK_VALUES,
    ENSEMBLE_FIELD,
    TOKEN_FIELDS,
    UNCERTAINTY_VALUES,
    chosen_confidence,
    chunk_values,
    ensemble_values,
    is_delta,
    sample_values,
    token_uncertainty,
)
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND, stamp_ns

INFERENCE_TYPE = 'frame_ros/msg/PolicyInference'
INFERENCE_FIELDS = (
    'sequence',
    'latency',
    'preprocess',
    'forward',
    'postprocess',
    'transport',
    'cpu_time',
    'memory_rss',
    'memory_device',
    'queue_depth',
    'stalls',
    'chunk_overlap',
    'sample_count',
    'vocabulary_size',
)
TIMES = ('request_stamp', 'observation_stamp')
SPACE = 'action_space'
PATHS = ('header.stamp', *INFERENCE_FIELDS, *TIMES, SPACE)
# Fields that messages of older versions lack -> what stands for them.
LATER_FIELDS = dict.fromkeys(CHUNK_VALUES, 0.0)
_NO_FEATURES = np.zeros(0)
# What acts, and what it saw: the same, whose values are taken as they stand.
CONTEXT: dict[str, Any] = {
    **dict(zip(SETUP_FIELDS, ('', '', np.zeros(0, np.str_)))),
    'action_units': np.zeros(0, np.str_), 'features': _NO_FEATURES, 'feature_source': '',
}  # fmt: skip
BLOCK = 64
SHAPE_FIELDS = ('sample_count', 'horizon', 'action_dimension')
OF_TOKENS = (*TOKEN_FIELDS, *CHOSEN_FIELDS, *TEMPERATURE_FIELDS)
LARGE_FIELDS = (*OF_TOKENS, ENSEMBLE_FIELD, 'samples')


def inference_values(message: Any) -> dict[str, Any]:
    """Returns the numbers of a PolicyInference by name, `observation_age`, the counts, and its
    uncertainties and confidences: its tokens, samples and rephrasings are reduced to them.

    observation_age: s, request_stamp - observation_stamp; NaN if either is zero (unset).
    UNCERTAINTY_VALUES: see `inference_uncertainty`. RECALIBRATION_VALUES: arrays, see
    `dimension_confidence`. CONTEXT: texts, and arrays (D,), (F,).
    """
    values: dict[str, Any] = {name: float(getattr(message, name)) for name in INFERENCE_FIELDS}
    request, observation = stamp_ns(message.request_stamp), stamp_ns(message.observation_stamp)
    is_known = request != 0 and observation != 0
    values['observation_age'] = (request - observation) / SECOND if is_known else float('nan')
    for name in ('sequence', 'sample_count', 'vocabulary_size'):
        values[name] = int(getattr(message, name))
    later = (getattr(message, name, absent) for name, absent in LATER_FIELDS.items())
    values.update(chunk_values(*later))
    values['is_delta'] = is_delta(message.action_space)
    for name, absent in CONTEXT.items():
        found = getattr(message, name, absent)
        values[name] = np.array(found, np.float64) if absent is _NO_FEATURES else found
    values['token_count'] = len(message.token_max_probability)
    tokens = {name: getattr(message, name) for name in OF_TOKENS}
    values.update(_token_values(tokens, values['vocabulary_size']))
    values.update(ensemble_values(getattr(message, ENSEMBLE_FIELD)))
    shape = (values['sample_count'], int(message.horizon), int(message.action_dimension))
    values.update(sample_values(message.samples, *shape))
    return values


def _token_values(tokens: Mapping[str, Any], vocabulary_size: int) -> Mapping[str, Any]:
    """Returns what the tokens of one inference, OF_TOKENS -> values, are reduced to."""
    has_tokens = any(map(len, tokens.values()))
    return _reduced_tokens(tokens, vocabulary_size) if has_tokens else _no_tokens()


@cache
def _no_tokens() -> Mapping[str, Any]:
    """The same of an inference without tokens, as most policies have them."""
    return MappingProxyType(_reduced_tokens(dict.fromkeys(OF_TOKENS, np.zeros(0)), 0))


def _reduced_tokens(tokens: Mapping[str, Any], vocabulary_size: int) -> dict[str, Any]:
    return (
        token_uncertainty(tokens, vocabulary_size)
        | chosen_confidence(tokens, len(tokens[TOKEN_FIELDS[0]]))
        | recalibration_values(tokens)
    )


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


def inference_columns(bag: Bag, topic: str) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
    """Returns receive times (T,), ns, and columns of a topic of PolicyInference: 'header.stamp' and
    the values of `inference_values`.

    Messages that do not fit their definition are left out and reported in the bag's `problems`.

    Raises:
        BagError: the topic's type is not readable, or lacks a field that these need.
    """
    found = bag.topics[topic]
    if not found.types:
        raise BagError(f'{topic} cannot be read: {found.reason}')
    wanted = {*PATHS, *SHAPE_FIELDS, *LARGE_FIELDS}
    _check_fields(topic, found.types[found.message_type], wanted)
    wanted.update(LATER_FIELDS, CONTEXT)
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
                parts.append(_reduced(columns, len(indices)))
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


def _reduced(columns: dict[str, NDArray], count: int) -> dict[str, NDArray]:
    kept = {name: columns[name].astype(np.float64) for name in INFERENCE_FIELDS}
    kept['header.stamp'] = columns['header.stamp']
    request, observation = (columns[name] for name in TIMES)
    is_known = (request != 0) & (observation != 0)
    kept['observation_age'] = np.where(is_known, (request - observation) / SECOND, np.nan)
    kept['token_count'] = columns[f'{TOKEN_FIELDS[0]}.count'].astype(np.float64)
    kept['is_delta'] = np.array([is_delta(str(space)) for space in columns[SPACE]])
    kept |= _as_they_stand(columns, count)
    rows = []
    for row in range(count):
        large = {n: columns[n][row, : columns[f'{n}.count'][row]] for n in LARGE_FIELDS}
        shape = (int(columns[name][row]) for name in SHAPE_FIELDS)
        vocabulary_size = int(columns['vocabulary_size'][row])
        later = (
            float(columns[name][row]) if name in columns else absent
            for name, absent in LATER_FIELDS.items()
        )
        rows.append(
            {**_token_values({name: large[name] for name in OF_TOKENS}, vocabulary_size)}
            | ensemble_values(large[ENSEMBLE_FIELD])
            | sample_values(large['samples'], *shape)
            | chunk_values(*later)
        )
    return kept | {name: column_of([row[name] for row in rows]) for name in rows[0]}


def _as_they_stand(columns: dict[str, NDArray], count: int) -> dict[str, NDArray]:
    """The values CONTEXT of `count` inferences."""
    found = {}
    for name, absent in CONTEXT.items():
        if name not in columns:
            found[name] = column_of([absent] * count)
        elif isinstance(absent, str):
            found[name] = columns[name]
        else:
            rows = zip(columns[name], columns[f'{name}.count'], strict=True)
            found[name] = column_of([row[:length] for row, length in rows])
    return found


def usable_inference(value: dict[str, float]) -> dict[str, float] | None:
    """Returns the values of `inference_values`; the latency must be a duration, or NaN."""
    return None if value['latency'] < 0 or math.isinf(value['latency']) else value


def inference_samples(values: Values) -> list[dict[str, Any]]:
    """Returns the samples of columns one by one."""
    columns = {name: column.tolist() for name, column in values.items()}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


VALUES = (
    *INFERENCE_FIELDS, 'observation_age', 'token_count', 'is_delta', *CHUNK_VALUES,
    *UNCERTAINTY_VALUES, *RECALIBRATION_VALUES, *CONTEXT,
)  # fmt: skip
INFERENCE = RecordedStream(
    'inference',
    ('policy_inference',),
    (
        MessageForm(
            INFERENCE_TYPE, {name: name for name in VALUES}, inference_values, inference_samples,
            read=inference_columns,
        ),
    ),
    usable_inference,
)  # fmt: skip
