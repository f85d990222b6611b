# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of several places as one set: labels, duplicates, exclusions, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.outcome_set import LeftOut, OutcomeSet
from frame_ros.evaluation.outcomes.recording import RecordedOutcome
from frame_ros.evaluation.policy_labels import labels_of

NAMED_AT_ONCE = 4
# How the reason begins for which a second recording is left out.
TWICE = 'recorded twice'


def assembled(
    episodes: Iterable[tuple[str, RecordedOutcome]],
    unread: Iterable[LeftOut] = (),
    notes: Iterable[str] = (),
) -> OutcomeSet:
    """Returns the set of episodes, each with a label given for its policy, or ''.

    Two recordings with the same name and start are one episode:
    the one with an END counts, else the one with more events, else the first by path. Episodes of
    the same name that differ in start both count, with their bags in their names.
    """
    found = [*notes]
    by_place = sorted(episodes, key=lambda pair: _order(pair[1].outcome))
    kept, copies = _each_once(by_place)
    excluded = [*copies]
    counted: list[tuple[str, RecordedOutcome]] = []
    for label, episode in kept:
        if episode.reason:
            own = episode.outcome
            own = replace(own, policy=label or own.policy)
            excluded.append(LeftOut(own.name, own.source, episode.reason, own))
        else:
            counted.append((label, episode))
    if copies:
        found.append(_named(f'{TWICE}, counted once', [copy.name for copy in copies]))
    outcomes, repeated = with_names(_with_labels(counted))
    if repeated:
        found.append(
            _named('different episodes have one name, all count with their bags named', repeated)
        )
    if equal := _equal(each.outcome for _, each in counted if not each.content):
        found.append(
            _named(
                'several files have the same rows, which count in each; leave one file out if they '
                'are of the same episodes',
                equal,
            )
        )
    excluded.sort(key=lambda each: (natural(each.name), str(each.source)))
    ordered = sorted(unread, key=lambda each: natural(str(each.source)))
    return OutcomeSet(
        tuple(sorted(outcomes, key=_order)),
        tuple(excluded),
        tuple(ordered),
        tuple(dict.fromkeys(found)),
    )


def natural(text: str) -> list[tuple[int, str]]:
    """Returns a sort key by which numbers in texts are ordered by value."""
    parts = re.split(r'(\d+)', text)
    return [(int(part), '') if part.isdecimal() else (0, part) for part in parts]


def _order(outcome: EpisodeOutcome) -> tuple[list[tuple[int, str]], str]:
    return natural(outcome.name), str(outcome.source)


def _each_once(
    episodes: Sequence[tuple[str, RecordedOutcome]],
) -> tuple[list[tuple[str, RecordedOutcome]], list[LeftOut]]:
    """Returns the episodes without second recordings, and those."""
    groups: dict[object, list[tuple[str, RecordedOutcome]]] = {}
    for place, pair in enumerate(episodes):
        groups.setdefault(pair[1].identity or place, []).append(pair)
    kept, copies = [], []
    for group in groups.values():
        best = max(group, key=lambda pair: (pair[1].is_complete, pair[1].events))
        kept.append(best)
        copies += [_copy(pair[1], best[1]) for pair in group if pair is not best]
    return kept, copies


def _copy(copy: RecordedOutcome, kept: RecordedOutcome) -> LeftOut:
    if copy.content == kept.content:
        reason = f'the same as in {kept.outcome.source}'
    else:
        reason = f'another recording of the episode, less complete than {kept.outcome.source}'
    own = copy.outcome
    return LeftOut(own.name, own.source, f'{TWICE}: {reason}', own)


def _with_labels(episodes: Sequence[tuple[str, RecordedOutcome]]) -> list[EpisodeOutcome]:
    """Returns the outcomes with labels of their policies that are distinct among all."""
    recorded = [episode for label, episode in episodes if not label and episode.facts is not None]
    labels = iter(labels_of(episode.facts or {} for episode in recorded))
    return [
        replace(
            episode.outcome,
            policy=label or (episode.outcome.policy if episode.facts is None else next(labels)),
        )
        for label, episode in episodes
    ]


def _equal(outcomes: Iterable[EpisodeOutcome]) -> list[str]:
    """Returns the names of outcomes that are in several files with the same content."""
    named: dict[str, list[EpisodeOutcome]] = {}
    for outcome in outcomes:
        named.setdefault(outcome.name, []).append(replace(outcome, source=None))
    return [name for name, own in named.items() if any(own.count(each) > 1 for each in own)]


def with_names(outcomes: Sequence[EpisodeOutcome]) -> tuple[list[EpisodeOutcome], list[str]]:
    """Returns the outcomes with names of their own, by bag and folder where several have one name,
    and the names that several had.
    """
    counts = Counter(outcome.name for outcome in outcomes)
    repeated = [name for name, count in counts.items() if count > 1]
    found, taken = [], set(counts)
    for outcome in outcomes:
        name = outcome.name
        if counts[name] > 1:
            name = _free(f'{name} ({_place(outcome.source)})', taken)
        found.append(replace(outcome, name=name))
    return found, repeated


def _place(source: Path | None) -> str:
    if source is None:
        return 'no file'
    folder = source.absolute().parent.name
    return f'{folder}/{source.name}' if folder else source.name


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f'{name} {number}'
    taken.add(found)
    return found


def _named(text: str, names: Sequence[str]) -> str:
    more = len(names) - NAMED_AT_ONCE
    listed = ', '.join(names[:NAMED_AT_ONCE]) + (f' and {more} more' if more > 0 else '')
    return f'{text}: {listed}'
