# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of two policies as a stream of pairs, in the order in which they became complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from frame_ros.core.csv_table import CsvTable
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.plain_text import counted, plain, quoted
from frame_ros.evaluation.outcomes.csv_reading import read_outcomes_csv
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.facts import truth

BY_KEY = 'pairs share a task, object and pair key'
BY_ORDER = (
    'the episodes have no pair keys: the n-th of one policy is paired with the n-th of the other, '
    'which is valid if no success rate changes during the study and the next episode is chosen '
    'without regard to outcomes'
)
BY_ROW = 'each row is a pair'
# Further columns of a file with a row per pair, next to those of the policies.
NAMES_OF_PAIRS = ('pair', 'index', 'scene', 'seed')


@dataclass(frozen=True)
class Pair:
    """A pair of episodes.

    Attributes:
        name: unique in the study.
        first, second: whether either policy succeeded.
    """

    name: str
    first: bool
    second: bool


@dataclass(frozen=True)
class PairStream:
    """All complete pairs so far.

    Attributes:
        first, second: the policies.
        pairs: in the order in which they became complete.
        remarks: how they were paired, and what is left out, in words.
    """

    first: str
    second: str
    pairs: tuple[Pair, ...]
    remarks: tuple[str, ...]


def read_pairs(path: str | Path, first: str = '', second: str = '') -> PairStream:
    """Returns the pairs of a CSV file: with a column policy one row per episode, as
    `read_outcomes_csv` reads it; else one row per pair, with a column named after each policy that
    holds its success, and possibly pair or index.

    Args:
        first, second: policies to compare; empty: the two of the file, in its order.

    Raises:
        SetupError: the file cannot be read.
        ValueRangeError: see `read_outcomes_csv` and `pair_stream`.
    """
    table = CsvTable(path, 'outcomes')
    names = table.names
    _check_names(names, table.path)
    if 'policy' in [name.lower() for name in names]:
        outcomes, remarks = read_outcomes_csv(path)
        stream = pair_stream(outcomes, first, second)
        return PairStream(stream.first, stream.second, stream.pairs, (*remarks, *stream.remarks))
    policies = [name for name in names if name.lower() not in NAMES_OF_PAIRS]
    first, second = chosen_policies(policies, first, second, str(path))
    pairs = [_row_pair(names, cells, line, (first, second), path) for line, cells in table.rows()]
    seen: set[str] = set()
    for pair in pairs:
        if pair.name in seen:
            raise ValueRangeError(f'{path}: the pair {pair.name!r} is there twice; leave one')
        seen.add(pair.name)
    return PairStream(first, second, tuple(pairs), (BY_ROW,))


def pair_stream(
    outcomes: Sequence[EpisodeOutcome], first: str = '', second: str = ''
) -> PairStream:
    """Returns the pairs of outcomes, which are in the order of the study.

    Raises:
        ValueRangeError: there are not two policies, or others than those named; a success is not
            known; only some episodes have a pair key; or a policy has two of one.
    """
    found = list(dict.fromkeys(outcome.policy for outcome in outcomes))
    first, second = chosen_policies(found, first, second, 'the outcomes')
    own = [outcome for outcome in outcomes if outcome.policy in (first, second)]
    if unknown := [outcome.name for outcome in own if outcome.is_success is None]:
        raise ValueRangeError(
            f'{len(unknown)} episodes have no success, {unknown[0]} the first; leaving them out '
            'could favour a policy: give each true or false'
        )
    keyed = sum(bool(outcome.pair) for outcome in own)
    if keyed not in (0, len(own)):
        lacking = next(outcome.name for outcome in own if not outcome.pair)
        raise ValueRangeError(
            f'{keyed} of {len(own)} episodes have a pair key, {lacking} has none; give all one, or '
            'none'
        )
    pairs, waiting = _completed(own, first, bool(keyed))
    remarks = [BY_KEY if keyed else BY_ORDER]
    if waiting:
        remarks.append(f'waiting for the other half of a pair: {counted(waiting, "episode")}')
    left = len(outcomes) - len(own)
    if left:
        remarks.append(f'left out: {counted(left, "episode")} of other policies')
    return PairStream(first, second, tuple(pairs), tuple(remarks))


def chosen_policies(found: Sequence[str], first: str, second: str, source: str) -> tuple[str, str]:
    """Returns the two policies to compare.

    Raises:
        ValueRangeError: they are not found, one and the same, or not clear.
    """
    names = ', '.join(map(plain, found))
    for name in filter(None, (first, second)):
        if name not in found:
            raise ValueRangeError(f'{source}: no policy {quoted(name)}; there are {names}')
    if first and first == second:
        raise ValueRangeError(f'the policy {quoted(first)} is compared with itself; name two')
    rest = [name for name in found if name not in (first, second)]
    if len(rest) < (not first) + (not second):
        raise ValueRangeError(f'{source}: the only policy is {names}; two are expected')
    if len(rest) > (not first) + (not second) and not (first and second):
        raise ValueRangeError(
            f'{source}: {len(found)} policies, {names}; name the two that are compared by --first '
            'and --second'
        )
    first = first or rest.pop(0)
    return first, second or rest[0]


def _completed(
    outcomes: Sequence[EpisodeOutcome], first: str, is_keyed: bool
) -> tuple[list[Pair], int]:
    """Returns the complete pairs, and the number of episodes that wait."""
    waiting: dict[tuple[str, ...], EpisodeOutcome] = {}
    done: set[tuple[str, ...]] = set()
    counts: dict[str, int] = {}
    pairs = []
    for outcome in outcomes:
        place = counts[outcome.policy] = counts.get(outcome.policy, 0) + 1
        key = (outcome.task, outcome.object, outcome.pair) if is_keyed else (str(place),)
        name = ', '.join(filter(None, key))
        other = waiting.pop(key, None)
        if key in done or (other is not None and other.policy == outcome.policy):
            raise ValueRangeError(
                f'{outcome.policy} has two episodes of the pair {name!r}, {outcome.name} the '
                'second; name the pairs differently'
            )
        if other is None:
            waiting[key] = outcome
            continue
        done.add(key)
        a, b = (outcome, other) if outcome.policy == first else (other, outcome)
        pairs.append(Pair(name, bool(a.is_success), bool(b.is_success)))
    return pairs, len(waiting)


def _check_names(names: Sequence[str], path: Path) -> None:
    if not names or len(names) != len(set(names)) or not all(names):
        raise ValueRangeError(
            f'{path}, line 1: {names}; a name for each column is expected, each once'
        )


def _row_pair(
    names: Sequence[str], cells: Sequence[str], line: int, policies: tuple[str, str], path: object
) -> Pair:
    values = dict(zip(names, cells, strict=True))
    label = [value for name, value in values.items() if name.lower() in NAMES_OF_PAIRS]
    try:
        first, second = (truth(values[policy], policy) for policy in policies)
    except ValueRangeError as error:
        raise ValueRangeError(f'{path}, line {line}: {error}') from error
    return Pair(', '.join(label) or f'line {line}', first, second)
