# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Labelled episodes by task and policy: successes of each quality, and failures (VLA-UQ, RQ1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def grouped(
    episodes: Sequence[Episode], ratings: Sequence[Rating]
) -> tuple[list[Group], list[str]]:
    """Returns the groups, those of a task together, else in the order of their first episodes, and
    remarks for the reader.

    Raises:
        ValueRangeError: a label names several episodes, or none of them names any.
    """
    by_place, remarks = _matched(episodes, ratings)
    groups: dict[tuple[str, str], Group] = {}
    for place, (episode, policy) in enumerate(zip(episodes, policy_labels(episodes))):
        task = str(episode.attributes.get('instruction') or TASKLESS)
        group = groups.setdefault((task, policy), Group(task, policy))
        group.add(place, episode.outcome, by_place.get(place, []))
    tasks = list(dict.fromkeys(task for task, _ in groups))
    return sorted(groups.values(), key=lambda group: tasks.index(group.task)), remarks


def names_of(episode: Episode) -> set[str]:
    """Returns the names by which a label may call an episode: its id, its bag's name or path."""
    path = episode.path
    return {episode.episode_id, path.name, path.name.removesuffix(PARTIAL_SUFFIX), str(path)} - {''}


def _matched(
    episodes: Sequence[Episode], ratings: Iterable[Rating]
) -> tuple[dict[int, list[Rating]], list[str]]:
    places: dict[str, list[int]] = {}
    for place, episode in enumerate(episodes):
        for name in names_of(episode):
            places.setdefault(name, []).append(place)
    found: dict[int, list[Rating]] = {}
    unknown: dict[str, None] = {}
    for rating in ratings:
        named = places.get(rating.episode.rstrip('/'), [])
        if len(named) > 1:
            paths = ' and '.join(str(episodes[place].path) for place in named[:2])
            raise ValueRangeError(
                f'the label in line {rating.line} names {rating.episode!r}, which are '
                f'{len(named)} episodes, such as {paths}; use the path of the bag'
            )
        if named:
            found.setdefault(named[0], []).append(rating)
        else:
            unknown[rating.episode] = None
    if not found:
        example = next(iter(names_of(episodes[0])), '') if episodes else ''
        raise ValueRangeError(
            f'none of the labelled episodes ({_listed(unknown)}) is among the {len(episodes)} that '
            f'were read; label them by their ids or the names of their bags, such as {example!r}'
        )
    if not unknown:
        return found, []
    return found, [f'labelled, but not among the bags: {_listed(unknown)}']


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    more = len(all_names) - MOST_NAMED
    return ', '.join(all_names[:MOST_NAMED]) + (f' and {more} more' if more > 0 else '')
