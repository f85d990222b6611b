# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and bars of benchmarks/failure_prediction.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from parts.bars import Bars

from frame_ros.evaluation.failure_prediction.alarms import CHOSEN, WITH, is_single
from frame_ros.evaluation.failure_prediction.figures import (
    Group,
    PredictorRows,
    Share,
    difference,
    predictor_rows,
    share,
)
from frame_ros.metrics import wilson_interval

RECOMMENDED = CHOSEN + WITH
SEEN, HELD_OUT = 'all kinds known', 'kind held out'
HEADING = (
    '| predictor | fitted with | false alarms | detected before the end | balanced accuracy '
    '| by the median duration of a success | share of the episode left | median alarm |'
)
RULE = '| --- | --- | --- | --- | --- | --- | --- | --- |'
Rows = Mapping[str, PredictorRows]


def tables(groups: Sequence[Group]) -> list[str]:
    """The results as Markdown."""
    seen, held_out = predictor_rows(groups, False), predictor_rows(groups, True)
    return [
        *_counts(groups),
        '',
        *_predictors(seen, held_out),
        '',
        *_by_kind(seen, held_out),
        '',
        *_by_policy(seen, held_out),
        '',
        *_against_singles(held_out),
    ]


def judge(groups: Sequence[Group], bars: Bars) -> None:
    """The bars of the recommended combination."""
    for name, rows in (
        (SEEN, predictor_rows(groups, False)),
        (HELD_OUT, predictor_rows(groups, True)),
    ):
        own = rows[RECOMMENDED]
        detected = float(own.measures['detected'].mean())
        bars.at_least(f'{name}, failures detected before the end', detected, 0.8)
        bars.at_most(
            f'{name}, false alarms over successes, upper 95 % bound', false_alarms(own).upper, 0.15
        )
        least = min(_leads_over_singles(rows).values(), key=lambda found: found.value)
        bars.at_least(f'{name}, lead over the best single predictor', least.value, 0.0)


def false_alarms(rows: PredictorRows) -> Share:
    """The rate over successes with Wilson's interval, of which each success is one trial."""
    count, mean = len(rows.false_alarms), float(rows.false_alarms.mean())
    lower, upper = wilson_interval(mean * count, count)
    return Share(mean, float(lower), float(upper))


def _counts(groups: Sequence[Group]) -> list[str]:
    """Episodes by how they ended: a row of each kind, a column of each policy."""
    kinds = sorted({kind for group in groups for kind in group.kinds if kind})
    found = [Counter(group.kinds) for group in groups]
    rows = [
        ('episodes', [group.name for group in groups]),
        ('---', ['---'] * len(groups)),
        ('success', [str(each['']) for each in found]),
        *((kind, [str(each[kind]) for each in found]) for kind in kinds),
        ('recovered', [str(group.recovered) for group in groups]),
    ]
    return [f'| {title} | {" | ".join(cells)} |' for title, cells in rows]


def _predictors(seen: Rows, held_out: Rows) -> list[str]:
    """Combinations first, then every single input in its forms; by the share that is left."""
    made = [(name, SEEN, rows) for name, rows in seen.items() if not is_single(name)]
    made += [(name, HELD_OUT, rows) for name, rows in held_out.items() if not is_single(name)]
    single = [(name, 'successes', rows) for name, rows in seen.items() if is_single(name)]
    ordered = (sorted(part, key=lambda row: -row[2].measures['lead'].mean())
               for part in (made, single))  # fmt: skip
    return [HEADING, RULE, *(_predictor(*row) for part in ordered for row in part)]


def _predictor(name: str, fitted: str, rows: PredictorRows) -> str:
    detected, early, left = (share(rows.measures[n]) for n in ('detected', 'early', 'lead'))
    wrong = false_alarms(rows)
    time = f'{np.median(rows.times):.1f} s' if len(rows.times) else '-'
    return (
        f'| {name} | {fitted} | {_percent(wrong)} | {_percent(detected)} '
        f'| {50 * (detected.value + 1.0 - wrong.value):.0f} % | {_percent(early)} '
        f'| {_percent(left)} | {time} |'
    )


def _by_kind(seen: Rows, held_out: Rows) -> list[str]:
    """The recommended combination, known and held out, and the best single predictor of all."""
    best = best_single(seen)
    lines = [
        f'| failure | episodes | {RECOMMENDED}, {SEEN} | {RECOMMENDED}, {HELD_OUT} '
        f'| left then | {best} | left then |',
        '| --- | --- | --- | --- | --- | --- | --- |',
    ]
    for kind in sorted(set(seen[RECOMMENDED].kinds)):
        lines.append(_row_of(kind, kind, seen, held_out, best, 'kinds'))
    return lines


def _by_policy(seen: Rows, held_out: Rows) -> list[str]:
    """The same by policy, and a table of the false alarms over its successes."""
    best = best_single(seen)
    lines = [
        f'| policy | failures | {RECOMMENDED}, {SEEN} | {RECOMMENDED}, {HELD_OUT} '
        f'| left then | {best} | left then |',
        '| --- | --- | --- | --- | --- | --- | --- |',
    ]
    alarms = [
        f'| policy | false alarms of {RECOMMENDED}, {HELD_OUT} | of {best} |',
        '| --- | --- | --- |',
    ]
    for name in dict.fromkeys(seen[RECOMMENDED].groups):
        lines.append(_row_of(name, name, seen, held_out, best, 'groups'))
        rates = []
        for rows in (held_out[RECOMMENDED], seen[best]):
            own = np.array(rows.success_groups) == name
            rates.append(_percent(share(rows.false_alarms[own])))
        alarms.append(f'| {name} | {" | ".join(rates)} |')
    return [*lines, '', *alarms]


def _row_of(title: str, value: str, seen: Rows, held_out: Rows, best: str, column: str) -> str:
    cells = []
    for rows, measure in (
        (seen[RECOMMENDED], 'detected'),
        (held_out[RECOMMENDED], 'detected'),
        (held_out[RECOMMENDED], 'lead'),
        (seen[best], 'detected'),
        (seen[best], 'lead'),
    ):
        members = np.array(getattr(rows, column)) == value
        cells.append(_percent(share(rows.measures[measure][members])))
    return f'| {title} | {int(members.sum())} | {" | ".join(cells)} |'


def _against_singles(held_out: Rows) -> list[str]:
    """The difference to every single predictor over the same failures, kinds held out."""
    lines = [
        f'| {RECOMMENDED}, {HELD_OUT}, minus | detected before the end | share that is left |',
        '| --- | --- | --- |',
    ]
    leads, detections = _leads_over_singles(held_out), _over_singles(held_out, 'detected')
    for name, found in sorted(leads.items(), key=lambda item: item[1].value):
        lines.append(f'| {name} | {_percent(detections[name], True)} | {_percent(found, True)} |')
    others = [name for name in held_out if is_single(name) and not _is_of_all(held_out, name)]
    if others:
        lines += ['', f'Not compared, as not every policy has them: {", ".join(others)}.']
    return lines


def best_single(rows: Rows) -> str:
    """The single predictor with the largest share of the episode left at its alarms, of those that
    every failure has.
    """
    singles = [name for name in rows if is_single(name) and _is_of_all(rows, name)]
    return max(singles, key=lambda name: rows[name].measures['lead'].mean())


def _is_of_all(rows: Rows, name: str) -> bool:
    return len(rows[name].kinds) == len(rows[RECOMMENDED].kinds)


def _leads_over_singles(rows: Rows) -> dict[str, Share]:
    return _over_singles(rows, 'lead')


def _over_singles(rows: Rows, measure: str) -> dict[str, Share]:
    own = rows[RECOMMENDED]
    return {
        name: difference(own.measures[measure], other.measures[measure])
        for name, other in rows.items()
        if is_single(name) and _is_of_all(rows, name)
    }


def _percent(found: Share, is_signed: bool = False) -> str:
    sign = '+' if is_signed else ''
    return (
        f'{100 * found.value:{sign}.0f} % ({100 * found.lower:{sign}.0f} to '
        f'{100 * found.upper:{sign}.0f})'
    )
