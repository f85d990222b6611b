# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Labels of episodes by human raters: a CSV file, the raters' consensus and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations
from pathlib import Path

from frame_ros.core.csv_table import CsvTable
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest
from frame_ros.evaluation.statistics.agreement import cohens_kappa


class Level(IntEnum):
    """A rater's word on an episode; the numbers of the first three are the paper's."""

    HIGH = 1
    MEDIUM = 2
    LOW = 3
    FAILED = 4
    EXCLUDED = 5


QUALITY = (Level.HIGH, Level.MEDIUM, Level.LOW)
NAMES = {
    **{level.name.lower(): level for level in Level},
    **{str(int(level)): level for level in QUALITY},
    # As pandas writes whole numbers of a column that has empty cells.
    **{f'{level:.1f}': level for level in QUALITY},
    **{f'{level.name.lower()}-quality': level for level in QUALITY},
    'failure': Level.FAILED, 'fail': Level.FAILED, 'exclude': Level.EXCLUDED,
}  # fmt: skip
NEEDED, KNOWN = ('episode', 'label'), ('episode', 'label', 'rater', 'note')


@dataclass(frozen=True)
class Rating:
    """The label that one rater gave one episode.

    Attributes:
        episode: as it is named in the file.
        line: in the file, from 1.
    """

    episode: str
    rater: str
    level: Level
    line: int


@dataclass(frozen=True)
class Agreement:
    """Two raters on the episodes that both have labelled.

    Attributes:
        episodes: their number.
        same: share of them with the same label.
        kappa: Cohen's; NaN if both named one label throughout.
    """

    first: str
    second: str
    episodes: int
    same: float
    kappa: float


def read_labels(path: str | Path) -> list[Rating]:
    """Returns the ratings of a CSV file with the columns episode, label, and possibly rater and
    note; others are not read. Rows without a label are left out. Semicolons or tabs may separate.

    label: high, medium, low (or 1, 2, 3), failed, excluded; the case does not count.

    Raises:
        SetupError: the file cannot be read.
        ValueRangeError: a column is missing, misspelt or there twice, a row is longer than the
            first line, a label is unknown, a rater labelled an episode twice and differently, some
            labels have a rater and others none, or nothing is labelled.
    """
    table = CsvTable(path, 'labels')
    names = [name.lower() for name in table.names]
    _check_columns(names, path)
    found: dict[tuple[str, str], Rating] = {}
    for line, cells in table.rows():
        _add(found, dict(zip(names, cells)), line, path)
    if not found:
        raise ValueRangeError(f'{path} holds no label; rows such as run1_ep3,high are expected')
    _check_raters(list(found.values()), path)
    return list(found.values())


def _check_columns(names: Sequence[str], path: str | Path) -> None:
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise ValueRangeError(
            f'{path} lacks the column {" and ".join(missing)}; its first line must name the '
            f'columns {", ".join(NEEDED)}, and possibly {", ".join(KNOWN[len(NEEDED) :])}; it is: '
            f'{", ".join(names) or "empty"}'
        )
    for name in dict.fromkeys(filter(None, names)):
        if name in KNOWN and names.count(name) > 1:
            raise ValueRangeError(f'{path} has {names.count(name)} columns {name}; leave one')
        near = '' if name in KNOWN else nearest(name, KNOWN)
        if near and near not in names:
            raise ValueRangeError(f'{path} has a column {name!r}; did you mean {near}?')


def _check_raters(ratings: Sequence[Rating], path: str | Path) -> None:
    nameless = [rating.line for rating in ratings if not rating.rater]
    named = [rating for rating in ratings if rating.rater]
    if nameless and named:
        raise ValueRangeError(
            f'{path}, line {nameless[0]}: a label without a rater, while line {named[0].line} '
            f'names {named[0].rater!r}; name the rater of every label, or of none'
        )


def _add(
    found: dict[tuple[str, str], Rating], row: Mapping[str, object], line: int, path: str | Path
) -> None:
    episode, label, rater = (str(row.get(n) or '').strip() for n in ('episode', 'label', 'rater'))
    if not episode and not label:
        return
    if not episode:
        raise ValueRangeError(f'{path}, line {line}: a label without an episode')
    if not label:
        return
    level = NAMES.get(label.lower())
    if level is None:
        near = nearest(label.lower(), NAMES)
        hint = f'; did you mean {near}?' if near else ''
        raise ValueRangeError(
            f'{path}, line {line}: the label is {label!r}; expected: high, medium, low (or 1, 2, '
            f'3), failed, excluded{hint}'
        )
    rating = Rating(episode, rater, level, line)
    earlier = found.setdefault((episode, rater), rating)
    if earlier.level is not level:
        who = f'rater {rater!r}' if rater else 'the one rater'
        raise ValueRangeError(
            f'{path}, lines {earlier.line} and {line}: {who} labels {episode!r} '
            f'{earlier.level.name.lower()} and {level.name.lower()}; leave one'
        )


def consensus(ratings: Sequence[Rating]) -> Level | None:
    """Returns the label that more than half of an episode's raters gave; None without one."""
    level, count = Counter(rating.level for rating in ratings).most_common(1)[0]
    return level if 2 * count > len(ratings) else None


def agreements(ratings: Sequence[Rating]) -> list[Agreement]:
    """Returns the agreement of each two raters who have labelled common episodes."""
    by_rater: dict[str, dict[str, Level]] = {}
    for rating in ratings:
        by_rater.setdefault(rating.rater, {})[rating.episode] = rating.level
    found = []
    for first, second in combinations(by_rater, 2):
        common = sorted(by_rater[first].keys() & by_rater[second].keys())
        if common:
            a, b = ([int(by_rater[who][each]) for each in common] for who in (first, second))
            same = sum(x == y for x, y in zip(a, b)) / len(common)
            found.append(Agreement(first, second, len(common), same, cohens_kappa(a, b)))
    return found
