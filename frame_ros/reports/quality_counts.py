# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The data-quality counters of an episode as a table, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from frame_ros.episodes.data import Episode

# The order of the usual counters; others follow as they come.
USUAL = ('gaps', 'late', 'backward', 'duplicate', 'zero', 'invalid', 'drops')


@dataclass(frozen=True)
class QualityCounts:
    """columns: names of counters. rows: stream -> one count per column, None where the stream has
    no such counter.

    total: the sum of all counts.
    """

    columns: list[str] = field(default_factory=list)
    rows: dict[str, list[int | None]] = field(default_factory=dict)
    total: int = 0


def quality_counts(episode: Episode) -> QualityCounts:
    """Sorts counters named 'stream.counter' into a table; a name without a dot belongs to the
    stream 'episode'.
    """
    table: dict[str, dict[str, int]] = {}
    for name, count in episode.data_quality.items():
        stream, _, counter = name.rpartition('.')
        table.setdefault(stream or 'episode', {})[counter] = int(count)
    found = dict.fromkeys(counter for counts in table.values() for counter in counts)
    columns = [c for c in USUAL if c in found] + [c for c in found if c not in USUAL]
    rows = {stream: [counts.get(c) for c in columns] for stream, counts in table.items()}
    return QualityCounts(columns, rows, sum(episode.data_quality.values()))


def warnings_of(episode: Episode) -> list[str]:
    """What a reader should know before trusting the numbers: problems, a cut bag, counters above
    zero.
    """
    found = []
    if episode.is_truncated:
        found.append('the bag is truncated: it was cut before its end; values cover what was saved')
    found += [str(problem) for problem in episode.problems]
    counts = {name: int(n) for name, n in episode.data_quality.items() if n}
    found += [f'{name}: {count:,}' for name, count in counts.items()]
    return found


def count_warnings(episodes: Sequence[Episode]) -> int:
    """The number of warnings over all episodes."""
    return sum(len(warnings_of(episode)) for episode in episodes)
