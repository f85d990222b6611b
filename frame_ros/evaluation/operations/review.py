# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Review of candidates by hand: a CSV file that is written, edited, and read back."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from frame_ros.core.csv_table import CsvTable
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.output_files import write_whole
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.candidates import Candidate, Verdict
from frame_ros.evaluation.outcomes.operation import Ending

NEEDED = ('bag', 'episode', 'time', 'verdict', 'reviewed')
COLUMNS = (
    'bag', 'episode', 'candidate', 'time', 'kind', 'zone', 'grasp_zone', 'held', 'displacement',
    'opening', 'squeeze', 'ledger', 'verdict', 'reason', 'reviewed',
)  # fmt: skip
MOST_ITEMS = 100
WORDS = {
    'success': (Ending.SUCCESS,),
    'failure': (Ending.DROP,),
    'drop': (Ending.DROP,),
    'neutral': (),
    'none': (),
}
EXPECTED = f'{", ".join(WORDS)}, the number of items placed, or nothing (the verdict stands)'
NONE_FOUND = 'the detector found nothing: give the time of each success, in a row of its own'


@dataclass
class ReviewedEpisode:
    """The endings that a reviewer confirmed or corrected in one episode.

    Attributes:
        endings: times (s since the episode's start) and endings, in time.
        lines: of the file, from 1, with something in the column `reviewed`.
    """

    endings: list[tuple[float, Ending]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def key_of(episode: Episode) -> tuple[str, str]:
    """Returns the name of an episode's bag and its own, by which a review finds it."""
    return episode.path.name, episode.episode_id


def write_review(path: Path, rows: Iterable[tuple[Episode, Sequence[Candidate]]]) -> int:
    """Writes the candidates of episodes to a CSV file with an empty column `reviewed`; returns the
    number of rows. An episode without candidates has a row without a time.

    Raises:
        SetupError: the file cannot be written.
        ValueRangeError: two episodes have the same name, in bags of the same name.
    """
    text = StringIO(newline='')
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(COLUMNS)
    seen: set[tuple[str, str]] = set()
    count = 0
    for episode, candidates in rows:
        key = key_of(episode)
        if key in seen:
            raise ValueRangeError(
                f'two bags called {key[0]} hold an episode {key[1]}: review them one at a time'
            )
        seen.add(key)
        lines = [_row(key, place, each) for place, each in enumerate(candidates, 1)]
        for line in lines or [[*key, *[''] * 11, NONE_FOUND, '']]:
            writer.writerow(line)
            count += 1
    write_whole(path, text.getvalue(), '--review')
    return count


def _row(key: tuple[str, str], place: int, each: Candidate) -> list[str]:
    return [
        *key, str(place), f'{each.time:.3f}', each.kind.value, each.zone, each.grasp_zone,
        f'{each.held:.3f}', '' if math.isnan(each.displacement) else f'{each.displacement:.4f}',
        f'{each.opening:.4f}', f'{each.squeeze:.4f}', str(each.ledger), each.verdict.value,
        each.reason, '',
    ]  # fmt: skip


def read_review(path: str | Path) -> dict[tuple[str, str], ReviewedEpisode]:
    """Returns bag and episode -> what a reviewer made of it, of an edited CSV file.

    `reviewed` is a verdict, or the number of items placed at that moment; where it is empty, the
    verdict of the detector stands, which must not be unknown then. Rows may be added, and times
    corrected. An episode without any entry in `reviewed` is not reviewed, and left out.

    Raises:
        SetupError: the file cannot be read.
        ValueRangeError: a column is missing; a line is not readable or ambiguous (with its number).
    """
    found: dict[tuple[str, str], ReviewedEpisode] = {}
    undecided: dict[tuple[str, str], int] = {}
    lines: dict[tuple[str, ...], int] = {}
    for line, row in _rows(path):
        where = f'{path}, line {line}'
        key = (row['bag'], row['episode'])
        if not all(key):
            raise ValueRangeError(f'{where}: bag and episode must be named')
        _check_repeated(where, line, (*key, row.get('candidate', ''), row['time']), lines)
        each = found.setdefault(key, ReviewedEpisode())
        word = row['reviewed'].lower()
        if word:
            each.lines.append(line)
        endings = _endings(where, word)
        if not word:
            endings = _by_verdict(where, row)
            if row['verdict'].lower() == Verdict.UNKNOWN.value:
                undecided.setdefault(key, line)
        if endings:
            each.endings += [(_time(where, row['time']), ending) for ending in endings]
    reviewed = {key: each for key, each in found.items() if each.lines}
    for key, line in undecided.items():
        if key in reviewed:
            raise ValueRangeError(
                f'{path}, line {line}: the verdict is unknown and nothing is in the column '
                f'reviewed, while others of the episode are reviewed; expected: {EXPECTED}'
            )
    for each in reviewed.values():
        each.endings.sort(key=lambda pair: pair[0])
    return reviewed


def _rows(path: str | Path) -> list[tuple[int, dict[str, str]]]:
    """Returns line numbers and rows, column -> text."""
    table = CsvTable(path, 'review')
    names = [name.lower() for name in table.names]
    _check_columns(path, names)
    return [(line, dict(zip(names, cells))) for line, cells in table.rows()]


def _check_columns(path: str | Path, names: Sequence[str]) -> None:
    wrong = [name for name in NEEDED if names.count(name) != 1]
    if wrong:
        raise ValueRangeError(
            f'{path} must name the column {" and ".join(wrong)} once in its first line; it is: '
            f'{", ".join(names) or "empty"}; `frame-ros operations --review` writes such a file'
        )


def _check_repeated(
    where: str, line: int, identity: tuple[str, ...], lines: dict[tuple[str, ...], int]
) -> None:
    """Raises ValueRangeError for a candidate, or an added time, that another line has too."""
    bag, episode, candidate, time = identity
    key = (bag, episode, 'candidate', candidate) if candidate else (bag, episode, 'time', time)
    if (candidate or time) and key in lines:
        what = f'candidate {candidate}' if candidate else f'the added time {time}'
        raise ValueRangeError(f'{where}: {what} of {episode} is in line {lines[key]} too')
    lines[key] = line


def _endings(where: str, word: str) -> tuple[Ending, ...]:
    """Returns the endings that an entry of a reviewer stands for."""
    if not word or word in WORDS:
        return WORDS.get(word, ())
    if word.isascii() and word.isdigit() and int(word) <= MOST_ITEMS:
        return (Ending.SUCCESS,) * int(word)
    raise ValueRangeError(f'{where}: reviewed is {word!r}; expected: {EXPECTED}')


def _by_verdict(where: str, row: Mapping[str, str]) -> tuple[Ending, ...]:
    """Returns the endings of a row by the detector's verdict."""
    word = row['verdict'].lower()
    if word and word not in list(map(str, Verdict)):
        raise ValueRangeError(
            f'{where}: verdict is {word!r}; one of {", ".join(Verdict)} is expected; corrections '
            'belong in the column reviewed'
        )
    if not word and row['time']:
        raise ValueRangeError(f'{where}: an added time without an entry in reviewed')
    return WORDS.get(word, ())


def _time(where: str, text: str) -> float:
    try:
        time = float(text)
    except ValueError:
        time = math.nan
    if not (math.isfinite(time) and time >= 0):
        raise ValueRangeError(
            f"{where}: time is {text!r}; seconds since the episode's start are expected"
        )
    return time
