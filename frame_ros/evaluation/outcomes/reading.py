# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of episodes from bags, folders of bags, LeRobot's eval_info.json and CSV files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.bags.find_bags import survey, unread_lines
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError, FrameRosError, SetupError, ValueRangeError
from frame_ros.core.input_files import TEXT, read_bytes
from frame_ros.core.options import flatten, walk
from frame_ros.core.time import SECOND
from frame_ros.episodes.event_reading import LARGEST_DRIFT, read_event_episodes
from frame_ros.episodes.reading import read_bag
from frame_ros.evaluation.outcomes.assembly import assembled
from frame_ros.evaluation.outcomes.cache import OutcomeCache, default_folder
from frame_ros.evaluation.outcomes.csv_reading import read_outcomes_csv
from frame_ros.evaluation.outcomes.label_choice import LabelChoice, read_label_choice
from frame_ros.evaluation.outcomes.lerobot_evaluation import USUAL_NAME, read_lerobot_evaluation
from frame_ros.evaluation.outcomes.options import EpisodeOutcomeOptions, OutcomeOptions
from frame_ros.evaluation.outcomes.outcome_set import LeftOut, OutcomeSet
from frame_ros.evaluation.outcomes.recording import RecordedOutcome, recorded_outcome_of

CSV_SUFFIXES = ('.csv', '.tsv')
JSON_SUFFIX = '.json'
# Levels of folders below a given one that are searched for files of lerobot-eval.
DEEPEST = 6


@dataclass
class _Found:
    """Content of the paths, before duplicates are found."""

    episodes: list[tuple[str, RecordedOutcome]] = field(default_factory=list)  # label, episode
    unread: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Digest of a file -> the first of that content, and its label.
    contents: dict[str, tuple[Path, str]] = field(default_factory=dict)


def read_outcomes(
    paths: Iterable[str | os.PathLike[str]],
    options: OutcomeOptions | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> OutcomeSet:
    """Returns the outcomes at the paths, each episode once.

    A path is a bag, a folder of bags and of LeRobot's eval_info*.json, such a file, or a CSV file;
    LABEL=PATH names the policy of all its episodes. Of bags only events and facts are read, if they
    suffice, and cached (see `cache`). A bag that cannot be read is in `unread`.

    progress: called with the number of bags read, and of all.

    Raises:
        BagError: a path is missing, or holds nothing that can be read.
        SetupError, ValueRangeError: a file cannot be read, or has a mistake; the message names the
            place.
    """
    options = options or OutcomeOptions()
    found = _Found()
    bags: dict[str, tuple[str, Path]] = {}
    for given in paths:
        label, path = _labelled(os.fspath(given))
        for kind, each in _contents(path, found):
            if kind == 'bag':
                bags.setdefault(os.path.realpath(each), (label, each))
            else:
                _take_file(kind, each, label, options, found)
    _take_bags(list(bags.values()), options, found, progress)
    return assembled(found.episodes, found.unread, found.notes)


def _labelled(given: str) -> tuple[str, Path]:
    """Returns the label of LABEL=PATH, '' without, and the path."""
    label, mark, rest = given.partition('=')
    try:
        path = Path(given).expanduser()
        if mark and label and rest and '/' not in label and not path.exists():
            return label.strip(), Path(rest).expanduser()
    except (RuntimeError, OSError, ValueError) as error:  # an unknown home, or no path at all
        raise BagError(f'{given!r} cannot be read: {error}') from error
    return '', path


def _contents(path: Path, found: _Found) -> Iterator[tuple[str, Path]]:
    """Yields kind ('csv', 'json', 'bag') and path of what a path holds."""
    if path.is_file() and path.suffix.lower() in CSV_SUFFIXES:
        yield 'csv', path
        return
    if path.is_file() and path.suffix.lower() == JSON_SUFFIX:
        yield 'json', path
        return
    evaluations = list(_evaluations(path)) if path.is_dir() else []
    try:
        surveyed = survey(path)
    except BagError:
        if not evaluations:
            raise
    else:
        yield from (('bag', bag) for bag in surveyed.bags)
        found.notes.extend(unread_lines(surveyed, with_others=False))
    yield from (('json', file) for file in evaluations)


def _evaluations(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if not f.startswith('.')) if depth < DEEPEST else []
        for name in sorted(files):
            if name.startswith(USUAL_NAME) and name.endswith(JSON_SUFFIX):
                yield Path(place) / name


def _take_file(kind: str, path: Path, label: str, options: OutcomeOptions, found: _Found) -> None:
    """Adds the episodes of a CSV or JSON file, unless the same content was added already.

    Raises:
        ValueRangeError: it was, of another policy: it cannot be said whose episodes they are.
    """
    digest = _digest(path)
    earlier, of = found.contents.setdefault(digest, (path, label))
    if earlier is not path and of != label:
        given, other = (each or 'the policy that it names' for each in (label, of))
        raise ValueRangeError(
            f'{path}, given as {given}, has the content of {earlier}, given as {other}; an episode '
            'has one policy: if they are two studies, a column episode with names of their own '
            'distinguishes them'
        )
    if earlier is not path:
        same = 'is given twice' if os.path.samefile(earlier, path) else f'is a copy of {earlier}'
        found.notes.append(f'{path} {same}: counted once')
        return
    if kind == 'json':
        outcomes, remarks = read_lerobot_evaluation(path, label, options.pair_by_position)
    else:
        outcomes, remarks = read_outcomes_csv(path)
    found.notes.extend(remarks)
    found.episodes.extend((label, RecordedOutcome.of_file(each)) for each in outcomes)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, TEXT)).hexdigest()
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error}') from error


def _take_bags(
    bags: list[tuple[str, Path]],
    options: OutcomeOptions,
    found: _Found,
    progress: Callable[[int, int], object] | None,
) -> None:
    own = deciding_options(options)
    labels = read_label_choice(options.labels, options.zones, options.reviewed)
    made_by = json.dumps([flatten(own), labels.digest], sort_keys=True)
    cache = _cache(options, made_by, found.notes)
    known: list[tuple[str, str]] = []
    for count, (label, bag) in enumerate(bags, 1):
        try:
            episodes = outcomes_of_bag(bag, cache, own, labels)
            found.episodes.extend((label, episode) for episode in episodes)
            known += ((bag.name, episode.outcome.name) for episode in episodes)
        except FrameRosError as error:
            found.unread.append(LeftOut(bag.name, bag, str(error)))
        if progress is not None:
            progress(count, len(bags))
    labels.check(options.reviewed, known)
    if cache is not None and cache.problem:
        found.notes.append(f'outcomes are not kept for later runs: {cache.problem}')


def _cache(options: OutcomeOptions, made_by: str, notes: list[str]) -> OutcomeCache | None:
    if not options.cache:
        return None
    try:
        folder = Path(options.cache_folder or default_folder()).expanduser()
    except (RuntimeError, SetupError) as error:  # an unknown home
        notes.append(f'outcomes are not kept for later runs: {error}')
        return None
    return OutcomeCache(folder, made_by)


def deciding_options(options: OutcomeOptions) -> EpisodeOutcomeOptions:
    """Returns those of the options that decide on the outcomes of a bag."""
    names = (each.name for each in walk(EpisodeOutcomeOptions))
    return EpisodeOutcomeOptions(**{name: getattr(options, name) for name in names})


def outcomes_of_bag(
    bag: Path,
    cache: OutcomeCache | None = None,
    options: EpisodeOutcomeOptions | None = None,
    labels: LabelChoice | None = None,
) -> list[RecordedOutcome]:
    """Returns the outcomes of the episodes of one bag, from the cache if it has them.

    options, labels: None: the usual ones; the cache must be of the same.

    Raises:
        BagError: it is not a bag, or cannot be read.
    """
    state = cache.state(bag) if cache is not None else None
    cached = cache.load(bag, state) if cache is not None else None
    if cached is not None:
        return cached
    is_whole = (options is not None and options.stages_from_streams) or (
        labels is not None and labels.is_detected
    )
    if is_whole:
        found = read_bag(Bag(bag))
    else:
        believed = (options or EpisodeOutcomeOptions()).clock_jump
        found = read_event_episodes(bag, min(LARGEST_DRIFT, round(believed * SECOND)))
    episodes = [recorded_outcome_of(episode, options, labels) for episode in found]
    if cache is not None:
        cache.store(bag, state, episodes)
    return episodes
