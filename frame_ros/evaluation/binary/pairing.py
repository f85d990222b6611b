# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of episodes of two policies by task, object and pair key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome

Key = tuple[str, str, str]


class Unpaired(MeaningEnum):
    """Reasons why an episode has no pair."""

    NO_KEY = 'no_key', 'it has no pair key'
    NO_PARTNER = 'no_partner', 'the other policy has no episode of its task, object and pair key'
    SURPLUS = 'surplus', 'the other policy has fewer episodes of its task, object and pair key'


@dataclass(frozen=True)
class Pairing:
    """Episodes of two policies in pairs.

    Attributes:
        pairs: places of both episodes of each pair, in the order of the first policy's.
        first_left, second_left: place -> why it has no pair, of the other episodes.
    """

    pairs: tuple[tuple[int, int], ...]
    first_left: dict[int, Unpaired]
    second_left: dict[int, Unpaired]


def pair_key(outcome: EpisodeOutcome) -> Key | None:
    """Returns what paired episodes share: task, object, pair; None for an unpaired episode."""
    return (outcome.task, outcome.object, outcome.pair) if outcome.pair else None


def pair_episodes(first: Sequence[EpisodeOutcome], second: Sequence[EpisodeOutcome]) -> Pairing:
    """Pairs the episodes of two policies.

    Several of one key are matched in their order, the first with the first; those that are left
    have no pair. No outcome is looked at, so that pairs do not depend on it: the order must be that
    of the recordings or names. Averages over a key would be no outcomes that McNemar's test takes.
    """
    waiting: dict[Key, list[int]] = {}
    for place, outcome in enumerate(second):
        if (key := pair_key(outcome)) is not None:
            waiting.setdefault(key, []).append(place)
    known = set(waiting)
    pairs, first_left = [], {}
    for place, outcome in enumerate(first):
        key = pair_key(outcome)
        if key is not None and waiting.get(key):
            pairs.append((place, waiting[key].pop(0)))
        else:
            first_left[place] = _reason(key, known)
    taken = {other for _, other in pairs}
    keys = {pair_key(outcome) for outcome in first}
    second_left = {
        place: _reason(pair_key(outcome), keys)
        for place, outcome in enumerate(second)
        if place not in taken
    }
    return Pairing(tuple(pairs), first_left, second_left)


def _reason(key: Key | None, others: set[Key] | set[Key | None]) -> Unpaired:
    if key is None:
        return Unpaired.NO_KEY
    return Unpaired.SURPLUS if key in others else Unpaired.NO_PARTNER
