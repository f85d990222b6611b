# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks of the policies by each scalar: the choice of a scalar can decide who is first (PhAIL,
sections 3.2 and 5.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from frame_ros.core.plain_text import counted
from frame_ros.reports.html.study_page import GOOD, PLAIN, QUIET, Cell, Table
from frame_ros.reports.model.numbers import UNAVAILABLE, readable

ORDINALS = {1: '1st', 2: '2nd', 3: '3rd'}


class Scalar(NamedTuple):
    """A scalar of every policy.

    Attributes:
        name: with its parameter, such as RMST(240 s).
        values: policy -> value; NaN, or missing: not available.
        higher_is_better: its direction.
        unit: shown after the name; '' for none.
        hint: its definition, in words.
        hrefs: policy -> where its value comes from, within the page.
    """

    name: str
    values: Mapping[str, float]
    higher_is_better: bool
    unit: str = ''
    hint: str = ''
    hrefs: Mapping[str, str] = {}


def ranks_of(scalar: Scalar) -> dict[str, int]:
    """Returns policy -> rank from 1, of those with a value; the same value has the same rank.
    Infinite values have ranks too.
    """
    sign = -1.0 if scalar.higher_is_better else 1.0
    keys = {each: sign * value for each, value in scalar.values.items() if not math.isnan(value)}
    return {each: 1 + sum(other < key for other in keys.values()) for each, key in keys.items()}


def scalar_table(
    scalars: Sequence[Scalar], policies: Iterable[str], caption: str = '', digits: int = 3
) -> Table:
    """Returns a row per scalar with the value and rank of each policy, the first place marked.

    Args:
        scalars: the rows.
        policies: the columns, without a human reference.
        caption: above the table; the sentence of `disagreement` if empty.
        digits: significant digits.
    """
    names = list(policies)
    rows: list[list[str | Cell]] = []
    for scalar in scalars:
        values = {each: scalar.values.get(each, math.nan) for each in names}
        ranks = ranks_of(scalar._replace(values=values))
        row: list[str | Cell] = [_heading(scalar)]
        row += [_cell(scalar, each, values[each], ranks, digits) for each in names]
        rows.append(row)
    return Table(
        ('scalar', *names),
        rows,
        caption or disagreement(scalars, names),
        numbers=frozenset(range(1, len(names) + 1)),
    )


def disagreement(scalars: Sequence[Scalar], policies: Iterable[str]) -> str:
    """Returns a sentence: whom each scalar puts first, or that all agree."""
    names = list(policies)
    leaders: dict[tuple[str, ...], list[str]] = {}
    orders = set()
    for scalar in scalars:
        values = {each: scalar.values.get(each, math.nan) for each in names}
        ranks = ranks_of(scalar._replace(values=values))
        first = tuple(each for each in names if ranks.get(each) == 1)
        if first and len(ranks) > 1:
            leaders.setdefault(first, []).append(scalar.name)
            orders.add(tuple(ranks.get(each, 0) for each in names))
    total = sum(map(len, leaders.values()))
    if not total:
        return 'No scalar ranks two policies.'
    if len(leaders) == 1:
        (first,) = leaders
        rest = 'in the same order' if len(orders) == 1 else 'the order behind it differs'
        who = first[0] if len(first) == 1 else f'{" and ".join(first)} equally'
        agree = 'The one scalar ranks' if total == 1 else f'All {counted(total, "scalar")} rank'
        return f'{agree} {who} first' + ('.' if total == 1 or len(names) < 3 else f', {rest}.')
    parts = [f'{" and ".join(first)} by {", ".join(by)}' for first, by in leaders.items()]
    return f'The scalars disagree on the first place: {"; ".join(parts)}.'


def _heading(scalar: Scalar) -> Cell:
    arrow = '↑' if scalar.higher_is_better else '↓'
    unit = f' ({scalar.unit})' if scalar.unit else ''
    return Cell(f'{scalar.name}{unit} {arrow}', hint=scalar.hint)


def _cell(scalar: Scalar, policy: str, value: float, ranks: Mapping[str, int], digits: int) -> Cell:
    if policy not in ranks:
        return Cell(UNAVAILABLE, QUIET, 'not available')
    rank, is_shared = ranks[policy], list(ranks.values()).count(ranks[policy]) > 1
    place = ORDINALS.get(rank, f'{rank}th') + (' (shared)' if is_shared else '')
    is_first = rank == 1 and len(ranks) > 1
    return Cell(
        readable(value, digits), GOOD if is_first else PLAIN, below=place,
        href=scalar.hrefs.get(policy, ''), strength=0.5 if is_first else 0.0,
    )  # fmt: skip
