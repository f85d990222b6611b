# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that `frame-ros report` reads, and the episodes in them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from frame_ros.bags.find_bags import Survey, each_once, survey, unread_lines
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import BagError
from frame_ros.core.plain_text import plain
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_errors import is_from_bag
from frame_ros.episodes.foreign_bags.complete_options import is_incomplete
from frame_ros.episodes.foreign_bags.topic_uses import is_usable
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.reference import Reference, mean_reference
from frame_ros.episodes.released import release
from frame_ros.evaluation.sessions.labels import labelled_attributes
from frame_ros.reports.model.episode_check import EpisodeChecks, has_data
from frame_ros.reports.model.options import ReportOptions


def survey_all(paths: list[Path], is_quiet: bool) -> list[tuple[Path, Survey]]:
    """Returns the bags at each path, each bag once, and prints the files that are not read.

    Raises:
        BagError: a path is missing or not a bag.
    """
    found = _without_parts([(path, survey(path)) for path in each_once(paths)])
    for _, surveyed in found:
        for line in unread_lines(surveyed, not is_quiet):
            print(plain(line), file=sys.stderr)
    return found


def _without_parts(surveys: list[tuple[Path, Survey]]) -> list[tuple[Path, Survey]]:
    """Returns the surveys but those whose bags are all among those of another, such as of a folder
    and of a bag in it: its episodes would count twice.
    """
    bags = [{bag.resolve() for bag in surveyed.bags} for _, surveyed in surveys]
    return [
        each
        for i, each in enumerate(surveys)
        if not bags[i]
        or not any(bags[i] < other or (bags[i] == other and j < i) for j, other in enumerate(bags))
    ]


def load_episodes(
    surveys: Sequence[tuple[Path, Survey]],
    is_quiet: bool,
    references: list[Reference] | None = None,
    mean_by: str = '',
    checks: EpisodeChecks | None = None,
    options: ReportOptions | None = None,
    is_drawn: bool = True,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    **choice: Any,
) -> list[Episode]:
    """Returns the episodes of all bags with their metrics. A bag that cannot be read gives an
    episode without streams, whose problems name the reason.

    mean_by: as of `read_each`. checks, options, is_drawn: as of `checked`. labels: of a session's
    trials. choice: further arguments of `read_episodes`.

    Raises:
        ShapeError, ValueRangeError: references that have no mean, which is wanted.
    """
    episodes: list[Episode] = []
    for path, bags in ((path, surveyed.bags) for path, surveyed in surveys):
        if references:
            read = read_each(bags, references, mean_by, choice)
        else:
            read = read_all(path, references=references, **choice)
        if labels:
            read = labelled(read, labels)
        if checks is not None:
            read = checked(read, checks, options, is_drawn)
        episodes += progress_bar(read, f'reading {path.name}', is_quiet, len(bags))
    return episodes


def labelled(
    episodes: Iterable[Episode], labels: Mapping[str, Mapping[str, str]]
) -> Iterator[Episode]:
    """Yields the episodes, those of a session's trials with what the labels say of them."""
    for episode in episodes:
        episode.attributes = labelled_attributes(episode.attributes, labels)
        yield episode


def checked(
    episodes: Iterable[Episode],
    checks: EpisodeChecks,
    options: ReportOptions | None = None,
    is_drawn: bool = True,
) -> Iterator[Episode]:
    """Yields the episodes, checked and, if `is_drawn`, drawn one by one: the bag of the newest is
    open then. With options their arrays are released, unless a command that completes them is to be
    found.
    """
    from frame_ros.reports.html.episode_pictures import episode_pictures

    for episode in episodes:
        if has_data(episode):
            checks.of(episode)
            if is_drawn and is_usable(episode):
                checks.drawn(episode, episode_pictures)
            if options is not None:
                checks.errors(episode, options)
                if is_usable(episode) and not is_incomplete(episode):
                    release(episode)
        yield episode


def read_each(
    bags: Sequence[Path], references: Sequence[Reference], mean_by: str, choice: dict[str, Any]
) -> Iterator[Episode]:
    """Yields the episodes of each bag, measured against the references from other bags: against
    itself an episode has no error.

    mean_by: 'time' or 'arc_length' takes the mean of the references, matched so; '' takes each.
    """
    for bag in bags:
        others = [r for r in references if not is_from_bag(r, bag)]
        if mean_by and others:
            others = [mean_reference(others, mean_by)]
        for episode in read_all(bag, references=others, **choice):
            episode.is_own_reference = not others
            yield episode


def read_all(path: Path, **choice: Any) -> Iterator[Episode]:
    """Yields the episodes at a path as `read_episodes` does; a single bag that cannot be read gives
    an episode without streams, as one in a folder of bags does.
    """
    try:
        yield from read_episodes(path, **choice)
    except BagError as error:
        yield Episode(path, path.name, {}, [], {}, {}, problems=[str(error)])
