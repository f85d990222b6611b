# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metric samples of an episode as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.metrics.message_fields import FIELDS, KINDS, LISTS


class SampleColumns:
    """The metric samples of one episode as arrays, one per field. They are taken block by block:
    as objects, those of an hour at 1 kHz would take several times as much.

    Attributes:
        summary: field of EpisodeSummary -> value, of the last summary; empty without one.
    """

    def __init__(self, episode_id: str, expected: Mapping[str, int] | None = None) -> None:
        """expected: kind -> number of samples, as far as it is known: memory is reserved at once,
        and what is not filled is not used.
        """
        self._episode_id = episode_id
        sizes = expected or {}
        self._columns = {
            kind: {name: _Column(sizes.get(kind, 0)) for name in ('stamp', *_fields(kind))}
            for kind in KINDS
        }
        self.summary: dict[str, Any] = {}

    def add(self, samples: Iterable[MetricSample]) -> None:
        """Takes the next samples; those of other episodes are left out."""
        chosen: dict[str, list[MetricSample]] = {}
        for sample in samples:
            if sample.episode_id == self._episode_id:
                chosen.setdefault(sample.kind, []).append(sample)
        for kind, own in chosen.items():
            if kind == 'summary':
                self.summary = own[-1].values
                continue
            columns, lists = self._columns[kind], LISTS.get(kind, ())
            columns['stamp'].extend(np.array([sample.stamp for sample in own], dtype=np.int64))
            for name, values in zip(_fields(kind), zip(*(sample.row for sample in own))):
                columns[name].extend(_objects(values) if name in lists else np.array(values))

    def metrics(self) -> dict[str, dict[str, NDArray]]:
        """Returns kind -> field -> (steps,) array, and 'stamp' (steps,) int64, ns."""
        found = {
            kind: {name: column.values for name, column in columns.items()}
            for kind, columns in self._columns.items()
        }
        for kind, columns in found.items():
            types = {'stamp': np.int64, **dict.fromkeys(LISTS.get(kind, ()), object)}
            for name, dtype in types.items():
                columns[name] = columns[name].astype(dtype, copy=False)  # also without samples
        return found


class _Column:
    """An array that grows, of the type that all its values have as one array."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._array: NDArray = np.zeros(0)
        self._count = 0

    @property
    def values(self) -> NDArray:
        """The values, (count,)."""
        return self._array[: self._count]

    def extend(self, values: NDArray) -> None:
        """Adds values behind those that are there."""
        known, count = self.values, self._count + len(values)
        dtype = np.result_type(known, values) if self._count else values.dtype
        if count > len(self._array) or dtype != self._array.dtype:
            size = max(count, self._expected, 2 * len(known))
            self._array = np.empty(size, dtype)
            self._array[: len(known)] = known
        self._array[self._count : count] = values
        self._count = count


def _fields(kind: str) -> tuple[str, ...]:
    """Returns the names of the values of a row."""
    return (*FIELDS[kind], *LISTS.get(kind, ()))


def _objects(values: Sequence[Any]) -> NDArray:
    """Returns values of any kind as an array of objects, (N,)."""
    found = np.empty(len(values), object)
    for index, value in enumerate(values):
        found[index] = value
    return found
