# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A group of rows of the sensing's benchmark, declared once: its kinds, trials and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from parts.bars import Bars

from frame_ros.evaluation.trials.campaign import Outcome, Trial

NO_RESULTS = 'no results'


@dataclass(frozen=True)
class Asked:
    """What a run is asked for.

    Attributes:
        kinds: of trials.
        hours: of free motion of a row.
        share: of the trials of each row, the first ones, at least one.
        friction: the only set; '': all.
        faults: of the wrist sensor's hard set.
    """

    kinds: Sequence[str]
    hours: float
    share: float
    friction: str
    faults: Sequence[str]


def _none(_: object = None) -> Iterator[Trial]:
    yield from ()


@dataclass(frozen=True)
class RowGroup:
    """Rows of some kinds of trials.

    Attributes:
        kinds: of its trials.
        lines: makes the tables, as Markdown, and judges the bars; asked for where a kind is.
        trials: of all rows.
        short_trials: one of each kind and robot, of a few seconds.
        long_kinds: those that take minutes however short they are.
    """

    kinds: Sequence[str]
    lines: Callable[[Sequence[Outcome], Asked, Bars], list[str]]
    trials: Callable[[Asked], Iterator[Trial]] = _none
    short_trials: Callable[[], Iterator[Trial]] = _none
    long_kinds: Sequence[str] = ()


def lines_of(
    groups: Sequence[RowGroup], outcomes: Sequence[Outcome], asked: Asked, bars: Bars
) -> list[str]:
    """Returns the tables of all groups of which a kind is asked for, an empty line between two."""
    found: list[str] = []
    for group in groups:
        if set(group.kinds) & set(asked.kinds):
            lines = group.lines(outcomes, asked, bars)
            is_apart = not found or not lines or not lines[0]
            found += lines if is_apart else ['', *lines]
    return found


def percent_text(value: float, interval: tuple[float, float], digits: int = 1) -> str:
    """A share with its interval, in percent."""
    low, high = interval
    return f'{100 * value:.{digits}f} % ({100 * low:.{digits}f} to {100 * high:.{digits}f})'
