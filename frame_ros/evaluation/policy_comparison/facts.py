# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Facts in which two policies must agree to be compared, and those in which they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome

TASK, OBJECT, TIME_LIMIT, LABELS = 'task', 'object', 'time_limit', 'labels'
# Names of conditions of an episode -> the fact that they are.
CONDITIONS = {
    'robot': 'robot',
    'time_limit': TIME_LIMIT,
    'control_rate': 'control_rate',
}
FACTS = (TASK, OBJECT, *CONDITIONS, LABELS)
# Those in which policies may differ if the user says so; without a shared object there is no test.
OPTIONAL = tuple(fact for fact in FACTS if fact != OBJECT)
IN_WORDS = {
    TASK: 'tasks',
    OBJECT: 'objects',
    'robot': 'robots',
    TIME_LIMIT: 'time limits',
    'control_rate': 'control rates',
    LABELS: 'sources of labels',
}


@dataclass(frozen=True)
class Difference:
    """A fact in which two policies differ.

    Attributes:
        fact: one of `FACTS`.
        first, second: values of either policy.
        is_partial: whether they share a value: they are compared, and it is noted.
    """

    fact: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    is_partial: bool

    @property
    def in_words(self) -> str:
        """The difference in a sentence's part."""
        return f'{IN_WORDS[self.fact]} differ: {_listed(self.first)} against {_listed(self.second)}'


def facts_of(outcomes: Iterable[EpisodeOutcome]) -> dict[str, tuple[str, ...]]:
    """Returns fact -> its known values in some episodes, sorted."""
    found: dict[str, set[str]] = {fact: set() for fact in FACTS}
    for each in outcomes:
        for fact, value in _own_facts(each).items():
            if value:
                found[fact].add(value)
    return {fact: tuple(sorted(values)) for fact, values in found.items()}


def _own_facts(outcome: EpisodeOutcome) -> dict[str, str]:
    conditions = outcome.conditions
    return {
        TASK: outcome.task,
        OBJECT: outcome.object,
        LABELS: outcome.label_source.meaning if outcome.has_labels else '',
        **{fact: conditions.get(name, '') for name, fact in CONDITIONS.items()},
    }


def differences(
    first: Mapping[str, tuple[str, ...]], second: Mapping[str, tuple[str, ...]]
) -> list[Difference]:
    """Returns the facts in which two policies differ; a fact that is not known of both is none."""
    found = []
    for fact in FACTS:
        a, b = first[fact], second[fact]
        if a and b and a != b:
            found.append(Difference(fact, a, b, bool(set(a) & set(b))))
    return found


def _listed(values: tuple[str, ...]) -> str:
    shown = values[:4]
    more = len(values) - len(shown)
    return ', '.join(map(repr, shown)) + (f' and {more} more' if more else '')
