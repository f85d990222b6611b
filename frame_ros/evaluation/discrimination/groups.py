# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Labelled episodes by task and policy: successes of each quality, and failures (VLA-UQ, RQ1)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from frame_ros.bags.writer import PARTIAL_SUFFIX
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Outcome
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.discrimination.labels import QUALITY, Level, Rating, consensus
from frame_ros.evaluation.policy_labels import policy_labels

TASKLESS = 'unnamed task'
FAILURES = (Outcome.FAILURE, Outcome.TIMEOUT)
MOST_NAMED = 5


@dataclass
class Group:
    """The episodes of one policy at one task; places are those in the list of episodes.

    Attributes:
        levels: quality -> places of the successes that were labelled so.
        failures: places of the episodes that failed.
        unlabelled: successes without a label.
        left_out: reason -> places of the episodes that are in none of these.
    """

    task: str
    policy: str
    levels: dict[Level, list[int]] = field(default_factory=lambda: {q: [] for q in QUALITY})
    failures: list[int] = field(default_factory=list)
    unlabelled: list[int] = field(default_factory=list)
    left_out: dict[str, list[int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """'task: policy'."""
        return f'{self.task}: {self.policy}'

    @property
    def labelled(self) -> list[int]:
        """Places of the labelled successes, the best first."""
        return [place for level in QUALITY for place in self.levels[level]]

    @property
    def episodes(self) -> int:
        """All of them."""
        others = (self.failures, self.unlabelled, *self.left_out.values())
        return len(self.labelled) + sum(map(len, others))

    def add(self, place: int, outcome: Outcome, ratings: Sequence[Rating]) -> None:
        """Takes an episode with its outcome as recorded and its ratings."""
        level = consensus(ratings) if ratings else None
        if ratings and level is None:
            self._leave_out('the raters do not agree, and no label has a majority', place)
        elif level is Level.EXCLUDED:
            self._leave_out('excluded by the raters', place)
        elif level is Level.FAILED and outcome is Outcome.SUCCESS:
            self._leave_out('recorded as a success, labelled failed', place)
        elif level in self.levels and outcome in FAILURES:
            self._leave_out('recorded as a failure, labelled as a success', place)
        elif level is Level.FAILED or (level is None and outcome in FAILURES):
            self.failures.append(place)
        elif level is not None:
            self.levels[level].append(place)
        elif outcome is Outcome.SUCCESS:
            self.unlabelled.append(place)
        else:
            self._leave_out('neither a label nor an outcome', place)

    def _leave_out(self, reason: str, place: int) -> None:
        self.left_out.setdefault(reason, []).append(place)


def grouped(episodes: Sequence[Episode], by_place: Mapping[int, Sequence[Rating]]) -> list[Group]:
    """Returns the groups, those of a task together, else in the order of their first episodes.

    by_place: the ratings of the episodes, as `matched` finds them.
    """
    groups: dict[tuple[str, str], Group] = {}
    for place, (episode, policy) in enumerate(zip(episodes, policy_labels(episodes))):
        task = str(episode.attributes.get('instruction') or TASKLESS)
        group = groups.setdefault((task, policy), Group(task, policy))
        group.add(place, episode.outcome, by_place.get(place, []))
    tasks = list(dict.fromkeys(task for task, _ in groups))
    return sorted(groups.values(), key=lambda group: tasks.index(group.task))


def names_of(episode: Episode) -> set[str]:
    """Returns the names by which a label may call an episode: its id, its bag's name or path."""
    path = episode.path
    names = {episode.episode_id, path.name, path.name.removesuffix(PARTIAL_SUFFIX)}
    return (names | {str(path), os.path.realpath(path)}) - {''}


def matched(
    episodes: Sequence[Episode],
    ratings: Iterable[Rating],
    copies: Sequence[Sequence[Episode]] = (),
) -> tuple[dict[int, list[Rating]], list[str]]:
    """Returns place of an episode -> its ratings, one of each rater, and remarks for the reader.

    copies: of each episode its further recordings, by whose names a label may call it.

    Raises:
        ValueRangeError: a label names several episodes, none of them names any, or a rater gave
            an episode two labels under two of its names.
    """
    places: dict[str, list[int]] = {}
    for place, episode in enumerate(episodes):
        recordings = (episode, *(copies[place] if copies else ()))
        for name in set[str]().union(*map(names_of, recordings)):
            places.setdefault(name, []).append(place)
    found: dict[int, dict[str, Rating]] = {}
    unknown: dict[str, None] = {}
    for rating in ratings:
        named = _places_of(rating.episode, places)
        if len(named) > 1:
            raise ValueRangeError(_ambiguity(rating, [episodes[place] for place in named]))
        if not named:
            unknown[rating.episode] = None
            continue
        earlier = found.setdefault(named[0], {}).setdefault(rating.rater, rating)
        if earlier.level is not rating.level:
            raise ValueRangeError(
                f'lines {earlier.line} and {rating.line} label the same episode, as '
                f'{earlier.episode!r} and as {rating.episode!r}, {earlier.level.name.lower()} and '
                f'{rating.level.name.lower()} by the same rater; leave one'
            )
    if not found:
        example = episodes[0].episode_id or episodes[0].path.name if episodes else ''
        raise ValueRangeError(
            f'none of the labelled episodes ({_listed(unknown)}) is among the {len(episodes)} that '
            f'were read; label them by their ids or the names of their bags, such as {example!r}'
        )
    by_place = {place: list(own.values()) for place, own in found.items()}
    return by_place, [f'labelled, but not among the bags: {_listed(unknown)}'] if unknown else []


def _places_of(name: str, places: Mapping[str, list[int]]) -> list[int]:
    """Returns the episodes that a label names; a path may be relative to the current folder."""
    plain = name.rstrip('/')
    if plain in places or '\0' in plain:
        return places.get(plain, [])
    return places.get(os.path.realpath(os.path.expanduser(plain)), [])


def _ambiguity(rating: Rating, episodes: Sequence[Episode]) -> str:
    """Describes a label of several episodes, and the names that distinguish them."""
    first, second = episodes[:2]
    text = f'the label in line {rating.line} names {rating.episode!r}, which are {len(episodes)} '
    if first.path != second.path:
        return f'{text}episodes, such as {first.path} and {second.path}; use the path of the bag'
    if first.episode_id != second.episode_id:
        ids = f'{first.episode_id!r} and {second.episode_id!r}'
        return f'{text}episodes of the bag {first.path}; use their ids, such as {ids}'
    return f'{text}episodes of the bag {first.path} with one id: no label can name only one of them'


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    more = len(all_names) - MOST_NAMED
    return ', '.join(all_names[:MOST_NAMED]) + (f' and {more} more' if more > 0 else '')
