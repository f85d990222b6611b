# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metric samples of an episode as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    def __init__(self, episode_id: str) -> None:
        self._episode_id = episode_id
        self._blocks: dict[str, dict[str, list[NDArray]]] = {
            kind: {name: [] for name in ('stamp', *_fields(kind))} for kind in KINDS
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
            blocks, lists = self._blocks[kind], LISTS.get(kind, ())
            blocks['stamp'].append(np.array([sample.stamp for sample in own], dtype=np.int64))
            for name, column in zip(_fields(kind), zip(*(sample.row for sample in own))):
                blocks[name].append(_objects(column) if name in lists else np.array(column))

    def metrics(self) -> dict[str, dict[str, NDArray]]:
        """Returns kind -> field -> (steps,) array, and 'stamp' (steps,) int64, ns."""
        return {
            kind: {name: self._column(kind, name) for name in blocks}
            for kind, blocks in self._blocks.items()
        }

    def _column(self, kind: str, name: str) -> NDArray:
        blocks = self._blocks[kind][name]
        if not blocks:
            dtype = {'stamp': np.int64, **dict.fromkeys(LISTS.get(kind, ()), object)}.get(name)
            return np.zeros(0, dtype)
        if len(blocks) > 1:  # the parts of one column alone are in memory twice
            blocks[:] = [np.concatenate(blocks)]
        return blocks[0]


def _fields(kind: str) -> tuple[str, ...]:
    """Returns the names of the values of a row."""
    return (*FIELDS[kind], *LISTS.get(kind, ()))


def _objects(values: Sequence[Any]) -> NDArray:
    """Returns values of any kind as an array of objects, (N,)."""
    found = np.empty(len(values), object)
    for index, value in enumerate(values):
        found[index] = value
    return found
