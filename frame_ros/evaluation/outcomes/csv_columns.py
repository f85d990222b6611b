# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of a CSV file of outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest
from frame_ros.evaluation.outcomes.facts import CONDITION, STAGE

# Column -> content. Those of the operation of a row, then those of its episode.
OF_OPERATION = {
    'operation': 'its number in the episode, which orders the rows; else the file does',
    'success': 'of the operation: true or false (also 1 or 0, yes or no)',
    'ending': 'success, drop, failure, safety_stop, timeout or stopped',
    'time': 's from the beginning of the operation to its ending; inf: a hard failure',
    'begin': 's since the start of the episode; empty: the end of the operation before',
    'end': 's since the start of the episode, instead of time',
}
OF_EPISODE = {
    'episode': 'its name; several rows of one are its operations; without it every row is one',
    'policy': 'label of the policy',
    'object': 'name of what was manipulated',
    'task': 'the instruction',
    'episode_success': 'true or false, if it is not that of every operation',
    'duration': 's',
    'pair': 'name of what episodes share that are paired',
    'scene': 'pairs episodes if there is no pair',
    'seed': 'pairs episodes if there is no pair',
    'human': 'true for the human reference',
    'operator_count': 'successes that the operator wrote down',
    'interventions': 'number of times that an operator took over',
    'label_source': 'events, detected, reviewed, outcome or file',
    'date': 'start, ISO 8601',
    'notes': 'remarks, separated by |',
}
COLUMNS = {**OF_EPISODE, **OF_OPERATION}
PREFIXES = {STAGE: 'true or false: the stage was reached', CONDITION: 'of the setup'}
# One of these says how an operation, or the episode, ended.
RESULTS = ('success', 'ending', 'episode_success')


def check_columns(names: Sequence[str], place: str) -> list[str]:
    """Returns remarks on columns that are not read.

    place: the file, and its line of names.

    Raises:
        ValueRangeError: the policy or every result is missing, a column is there twice, or is
            most likely misspelt.
    """
    if not any(names):
        raise ValueRangeError(f'{place}: it names no column; expected: policy,success at least')
    if 'policy' not in names or not any(name in names for name in RESULTS):
        lacks = 'policy' if 'policy' not in names else 'success (or ending)'
        raise ValueRangeError(
            f'{place}: no column {lacks}; expected: policy and success at least, found: '
            f'{", ".join(names)}{_hint(names)}'
        )
    unknown = []
    for name in dict.fromkeys(filter(None, names)):
        if names.count(name) > 1:
            raise ValueRangeError(f'{place}: {names.count(name)} columns {name}; leave one')
        if name in COLUMNS or any(name.startswith(each) and name != each for each in PREFIXES):
            continue
        near = suggestion(name)
        if near and near not in names:
            raise ValueRangeError(f'{place}: a column {name!r}; did you mean {near}?')
        unknown.append(name)
    return [f'{place}: columns that are not read: {", ".join(unknown)}'] if unknown else []


def suggestion(name: str) -> str:
    """Returns the column that is probably meant; '' if none is like it."""
    for prefix in PREFIXES:
        head, _, tail = name.partition('.')
        if tail and (head + '.' == prefix or head in (prefix[:-1] + 's', prefix[:-1])):
            return prefix + tail
    return nearest(name, COLUMNS)


def _hint(names: Sequence[str]) -> str:
    near = {name: suggestion(name) for name in names if name and name not in COLUMNS}
    found = [f'did you mean {right} by {name!r}?' for name, right in near.items() if right]
    return f'; {found[0]}' if found else ''
