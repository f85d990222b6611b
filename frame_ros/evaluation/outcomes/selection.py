# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of outcomes by policy, object, task and date, and their groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from fnmatch import fnmatchcase

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest, option, options, rule
from frame_ros.core.plain_text import counted, quoted
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.facts import plain_name

Groups = dict[str, dict[str, dict[str, list[EpisodeOutcome]]]]
DAY = re.compile(r'\d{4}-\d{2}-\d{2}')
A_DAY = 'a day such as 2026-03-01'


@options
class SelectionOptions:
    """The outcomes that are compared. Names may have the wildcards * and ?."""

    policies: tuple[str, ...] = option((), 'names of policies; none: all, with the human reference')
    objects: tuple[str, ...] = option((), 'names of objects; none: all')
    tasks: tuple[str, ...] = option((), 'instructions; none: all')
    since: str = option('', "first day of recordings, UTC, such as 2026-03-01; '': all")
    until: str = option('', "last day of recordings, UTC; '': all")

    @rule('since', f"{A_DAY} or ''")
    def _has_first_day(self) -> bool:
        return not self.since or _is_day(self.since)

    @rule('until', f"{A_DAY} or '', not before since")
    def _has_last_day(self) -> bool:
        return not self.until or (_is_day(self.until) and self.since <= self.until)


def selected(
    outcomes: Iterable[EpisodeOutcome], choice: SelectionOptions
) -> tuple[list[EpisodeOutcome], list[str]]:
    """Returns the chosen outcomes, in their order, and remarks on the others.

    Outcomes without a date are left out where `since` or `until` is given.

    Raises:
        ValueRangeError: a name chooses nothing.
    """
    kept = list(outcomes)
    notes: list[str] = []
    for kind, wanted, of in _FILTERS:
        names = getattr(choice, wanted)
        if names:
            kept = _by_name(kept, kind, names, of, notes)
    if choice.since or choice.until:
        kept = _by_day(kept, choice, notes)
    return kept, notes


def grouped(outcomes: Iterable[EpisodeOutcome]) -> Groups:
    """Returns task -> policy -> object -> outcomes, each in the order of first appearance."""
    groups: Groups = {}
    for each in outcomes:
        policies = groups.setdefault(each.task, {})
        policies.setdefault(each.policy, {}).setdefault(each.object, []).append(each)
    return groups


_FILTERS: tuple[tuple[str, str, Callable[[EpisodeOutcome], str]], ...] = (
    ('policy', 'policies', lambda outcome: outcome.policy),
    ('object', 'objects', lambda outcome: outcome.object),
    ('task', 'tasks', lambda outcome: outcome.task),
)


def _by_name(
    outcomes: Sequence[EpisodeOutcome],
    kind: str,
    wanted: Sequence[str],
    of: Callable[[EpisodeOutcome], str],
    notes: list[str],
) -> list[EpisodeOutcome]:
    names = list(dict.fromkeys(of(outcome) for outcome in outcomes))
    for pattern in wanted:
        if not any(_matches(name, pattern, kind) for name in names):
            near = nearest(pattern, names)
            hint = f'; did you mean {quoted(near)}?' if near else ''
            known = ', '.join(map(quoted, names)) or 'none'
            raise ValueRangeError(
                f'no {kind} is called {quoted(pattern)}; there are: {known}{hint}'
            )
    chosen = {name for name in names if any(_matches(name, each, kind) for each in wanted)}
    kept = [outcome for outcome in outcomes if of(outcome) in chosen]
    others = [name or f'no {kind}' for name in names if name not in chosen]
    if others:
        text = f'left out: {counted(len(outcomes) - len(kept), "episode")} of another {kind}'
        notes.append(f'{text} ({", ".join(others)})')
    return kept


def _by_day(
    outcomes: Sequence[EpisodeOutcome], choice: SelectionOptions, notes: list[str]
) -> list[EpisodeOutcome]:
    dated = [outcome for outcome in outcomes if outcome.date]
    kept = [
        outcome
        for outcome in dated
        if (choice.since or '0') <= outcome.date[:10] <= (choice.until or '9')
    ]
    for count, text in (
        (len(outcomes) - len(dated), 'without a date'),
        (len(dated) - len(kept), 'of other days'),
    ):
        if count:
            notes.append(f'left out: {counted(count, "episode")} {text}')
    if not kept:
        days = sorted(outcome.date[:10] for outcome in dated)
        span = f'{days[0]} to {days[-1]}' if days else 'none has a date'
        raise ValueRangeError(
            f'no episode is of {choice.since or "..."} to {choice.until or "..."}; they are: {span}'
        )
    return kept


def _matches(name: str, pattern: str, kind: str) -> bool:
    return name in (pattern, plain_name(kind, pattern)) or fnmatchcase(name, pattern)


def _is_day(text: str) -> bool:
    try:
        return DAY.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:
        return False
