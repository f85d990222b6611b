# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes from a CSV file, such as a spreadsheet of an evaluation without ROS."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from frame_ros.core.csv_table import CsvTable
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.outcomes import facts
from frame_ros.evaluation.outcomes.csv_columns import OF_EPISODE, PREFIXES, check_columns
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation

NOTE_SEPARATOR = ' | '
# Seconds by which `time` may differ from `end` - `begin`: both are rounded.
CLOSE = 1e-3
MOST_DIGITS = 15  # of a count
Value = TypeVar('Value')


@dataclass(frozen=True)
class _Row:
    """One row. values: column -> text, not empty."""

    path: Path
    line: int
    values: dict[str, str]

    def error(self, column: str, expected: str) -> ValueRangeError:
        """Returns the error of a value."""
        value = self.values.get(column, '')
        return ValueRangeError(
            f'{self.path}, line {self.line}, column {column}: the value is {value!r}; {expected}'
        )

    def number(self, column: str, is_infinite: bool = False) -> float | None:
        """Returns a number from 0; None if the cell is empty."""
        text = self.values.get(column)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not value >= 0 or (math.isinf(value) and not is_infinite):
            point = '; decimals have a point' if ',' in text else ''
            raise self.error(column, f'expected: seconds, a number from 0{point}')
        return value

    def count(self, column: str) -> int | None:
        """Returns a whole number from 0; None if the cell is empty."""
        text = self.values.get(column)
        if text is None:
            return None
        text = facts.without_point(text)
        if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
            raise self.error(column, 'expected: a whole number from 0')
        return int(text)

    def word(self, column: str, words: type[Value]) -> Value | None:
        """Returns the member of an enumeration; None if the cell is empty."""
        text = self.values.get(column)
        if text is None:
            return None
        known = {str(each): each for each in words}  # type: ignore[attr-defined]
        found = known.get(text.lower().replace(' ', '_'))
        if found is None:
            near = nearest(text.lower(), known)
            hint = f'; did you mean {near}?' if near else ''
            raise self.error(column, f'expected: {", ".join(known)}{hint}')
        return found

    def truth(self, column: str) -> bool | None:
        """Returns a truth; None if the cell is empty."""
        if column not in self.values:
            return None
        return self.checked(column, lambda: facts.truth(self.values[column], column))

    def checked(self, column: str, read: Callable[[], Value]) -> Value:
        """Returns what is read; an error names the place."""
        try:
            return read()
        except ValueRangeError as error:
            raise ValueRangeError(
                f'{self.path}, line {self.line}, column {column}: {error}'
            ) from error


def read_outcomes_csv(path: str | Path) -> tuple[list[EpisodeOutcome], list[str]]:
    """Returns the outcomes of a CSV file, in its order, and remarks for the reader.

    Its first line names columns of `csv_columns.COLUMNS`, at least policy and success (or ending).
    Rows with the same episode are its operations. Without times the operations are empty, and only
    the success is known. Semicolons or tabs may separate.

    A failure without an ending is censored at its time, as a timeout; write an ending otherwise.

    Raises:
        SetupError: the file cannot be read.
        ValueRangeError: a column is missing, misspelt or there twice, a value cannot be, rows of an
            episode contradict each other, or there is no row.
    """
    path = Path(path).expanduser()
    rows, remarks = _rows(path)
    episodes: dict[str, list[_Row]] = {}
    for row in rows:
        episodes.setdefault(row.values.get('episode', f'{path.stem} row {row.line}'), []).append(
            row
        )
    outcomes = [_outcome(name, own) for name, own in episodes.items()]
    unclear = sum(_is_unclear(row) for row in rows)
    if unclear:
        remarks.append(
            f'{path}: {counted(unclear, "failure")} with a time and no ending taken as timeouts, '
            'censored at that time; the column ending distinguishes them from hard failures'
        )
    return outcomes, remarks


def _rows(path: Path) -> tuple[list[_Row], list[str]]:
    table = CsvTable(path, 'outcomes')
    names = [name.lower() for name in table.names]
    remarks = check_columns(names, f'{path}, line 1')
    rows = []
    for line, cells in table.rows():
        row = _Row(path, line, {n: cell for n, cell in zip(names, cells) if n and cell})
        if row.values and 'policy' not in row.values:
            raise row.error('policy', 'every row names the policy')
        if row.values:
            rows.append(row)
    if not rows:
        raise ValueRangeError(f'{path} holds no outcome; rows such as act,true are expected')
    return rows, remarks


def _outcome(name: str, rows: Sequence[_Row]) -> EpisodeOutcome:
    first = _merged(rows)
    ordered = _ordered(rows)
    operations = _operations(ordered)
    values = facts.with_plain_names(first.values)
    notes = values.get('notes', '')
    duration = first.number('duration')
    if duration is None:
        duration = max((each.end for each in operations), default=math.nan)
    return EpisodeOutcome(
        name=name,
        policy=values['policy'],
        object=values.get('object', ''),
        task=values.get('task', ''),
        duration=duration,
        operations=operations,
        is_success=_is_success(first, rows),
        stages={
            column.removeprefix(facts.STAGE): bool(first.truth(column))
            for column in values
            if column.startswith(facts.STAGE)
        },
        pair=facts.pair_of(values),
        is_human=first.checked(facts.HUMAN, lambda: facts.is_human(values)),
        label_source=first.word('label_source', LabelSource) or LabelSource.FILE,
        operator_count=first.count('operator_count'),
        interventions=first.count('interventions') or 0,
        conditions=_conditions(values),
        date=values.get('date', ''),
        source=first.path,
        notes=tuple(notes.split(NOTE_SEPARATOR)) if notes else (),
    )


def _conditions(values: Mapping[str, str]) -> dict[str, str]:
    return {
        column.removeprefix(facts.CONDITION): value
        for column, value in values.items()
        if column.startswith(facts.CONDITION)
    }


def _merged(rows: Sequence[_Row]) -> _Row:
    """Returns what the rows of an episode say of it, each at least once and nowhere differently."""
    merged = _Row(rows[0].path, rows[0].line, {})
    lines: dict[str, int] = {}
    for row in rows:
        for column, value in row.values.items():
            if column not in OF_EPISODE and not column.startswith(tuple(PREFIXES)):
                continue
            said = merged.values.setdefault(column, value)
            if facts.without_point(said) != facts.without_point(value):
                raise row.error(
                    column,
                    f'line {lines[column]} gives {said!r} for the same episode '
                    f'{row.values.get("episode")!r}; leave one, or name the episodes differently',
                )
            lines.setdefault(column, row.line)
    return merged


def _ordered(rows: Sequence[_Row]) -> list[_Row]:
    """Returns the rows of an episode in the order of their numbers, if they have them."""
    numbers = [row.count('operation') for row in rows]
    if None in numbers and any(number is not None for number in numbers):
        row = rows[numbers.index(None)]
        raise row.error('operation', 'the other rows of the episode have a number')
    seen: dict[int | None, int] = {}
    for row, number in zip(rows, numbers):
        if number is not None and seen.setdefault(number, row.line) != row.line:
            raise row.error('operation', f'line {seen[number]} has the same number')
    by_number = sorted(zip(numbers, range(len(rows))), key=lambda pair: (pair[0] or 0, pair[1]))
    return [rows[place] for _, place in by_number]


def _operations(rows: Sequence[_Row]) -> tuple[Operation, ...]:
    found: list[Operation] = []
    at = 0.0
    timed = [row for row in rows if row.values.keys() & {'time', 'end'}]
    if timed and len(timed) < len(rows):
        row = next(row for row in rows if row not in timed)
        raise row.error('time', 'other rows of the episode have a time; give every row one')
    for row in timed:
        operation = _operation(row, at)
        found.append(operation)
        at = operation.end
    return tuple(found)


def _operation(row: _Row, at: float) -> Operation:
    """Returns the operation of a row; that before ended at `at`, s."""
    ending = _ending(row)
    begin = row.number('begin')
    begin = at if begin is None else begin
    time, end = row.number('time', is_infinite=True), row.number('end')
    if time is not None and math.isinf(time):
        if ending is Ending.SUCCESS or row.values.get('ending') in ('timeout', 'stopped'):
            raise row.error('time', f'only a hard failure is infinite, not {ending}')
        # It only says that the failure is hard: its moment is not known.
        ending = Ending.FAILURE if ending is Ending.TIMEOUT else ending
        time = None
        end = begin if end is None else end
    if end is None:
        end = begin + (time or 0.0)
    elif time is not None and abs(end - begin - time) > CLOSE:
        raise row.error('time', f'begin and end say {end - begin:g} s; leave one')
    if end < begin:
        raise row.error('end', f'the operation begins at {begin:g} s; expected: at or after it')
    return Operation(begin, end, ending)


def _ending(row: _Row) -> Ending:
    """Returns the ending of a row with a time."""
    ending, success = row.word('ending', Ending), row.truth('success')
    if ending is None and success is None:
        raise row.error('success', 'expected: true or false, or an ending')
    if ending is not None and success is not None and success is not (ending is Ending.SUCCESS):
        raise row.error('success', f'the ending is {ending.value}; leave one')
    if ending is not None:
        return ending
    return Ending.SUCCESS if success else Ending.TIMEOUT


def _is_unclear(row: _Row) -> bool:
    """Returns whether a failure is censored for lack of an ending."""
    has_time = row.values.keys() & {'time', 'end'} and row.values.get('time') != 'inf'
    return bool(has_time) and 'ending' not in row.values and row.truth('success') is False


def _is_success(first: _Row, rows: Sequence[_Row]) -> bool | None:
    """Returns `episode_success`, else whether every operation succeeded; None if not known."""
    stated = first.truth('episode_success')
    if stated is not None:
        return stated
    found = [_result(row) for row in rows]
    if False in found:
        return False
    return None if None in found else True


def _result(row: _Row) -> bool | None:
    if not row.values.keys() & {'ending', 'success'}:
        return None
    return _ending(row) is Ending.SUCCESS
