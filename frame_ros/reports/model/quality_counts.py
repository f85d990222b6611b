# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The data-quality counters of an episode as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The order of the usual counters; others follow as they come.
USUAL = ('gap', 'late', 'backward', 'duplicate', 'zero', 'invalid', 'jump', 'reset')


@dataclass(frozen=True)
class QualityCounts:
    """columns: names of counters. rows: stream -> one count per column, None where the stream has
    no such counter.

    total: the sum of all counts.
    """

    columns: list[str] = field(default_factory=list)
    rows: dict[str, list[int | None]] = field(default_factory=dict)
    total: int = 0


def quality_counts(counts: Mapping[str, int]) -> QualityCounts:
    """Sorts counters named 'stream.counter' into a table; a name without a dot belongs to the
    stream 'episode'.
    """
    table: dict[str, dict[str, int]] = {}
    for name, count in counts.items():
        stream, _, counter = name.rpartition('.')
        table.setdefault(stream or 'episode', {})[counter] = int(count)
    found = dict.fromkeys(counter for row in table.values() for counter in row)
    columns = [c for c in USUAL if c in found] + [c for c in found if c not in USUAL]
    rows = {stream: [row.get(c) for c in columns] for stream, row in table.items()}
    return QualityCounts(columns, rows, sum(counts.values()))
