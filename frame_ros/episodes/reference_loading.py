# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reference trajectories for ATE and RTE: the TCP's way in recorded demonstrations.

references = load_references(['demonstrations'])
episodes = read_episodes('runs', references=references)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.recording_options import HEADER, RecordedUnits
from frame_ros.core.errors import BagError
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.episodes.reference import Reference, mean_reference

if TYPE_CHECKING:
    from frame_ros.bags.streams.form import Stream
    from frame_ros.episodes.episode import Episode


def load_references(
    paths: Sequence[str | os.PathLike[str]],
    only_successful: bool = True,
    mean: bool = False,
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
    match: str = 'time',
    with_unknown: bool = False,
    joint_units: RecordedUnits | None = None,
    stamps: str = HEADER,
    action_joints: Sequence[str] = (),
) -> list[Reference]:
    """Returns the references that demonstrations give: TCP positions from START to END, zero at
    START, at their control steps (at every pose where there are none). Without START or END as
    `bounds_of` says.

    Args:
        paths: bags, or folders of bags.
        only_successful: leave out episodes whose END does not say success.
        mean: one reference instead of all: their mean trajectory, `frame_ros.metrics
            .mean_trajectory`.
        namespace, topics, robot, joint_units, stamps, action_joints: as of `read_episodes`.
        match: how the mean brings them together, 'time' or 'arc_length'.
        with_unknown: with `only_successful`, take episodes too that were recorded to their end
            without an outcome.

    Raises:
        BagError: no path, no bag at one, a bag that cannot be read or has no poses, or none of its
            episodes is successful though they must be; the bag is named.
        ShapeError, ValueRangeError: references of which there is no mean.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    choice: dict[str, Any] = {
        'namespace': namespace,
        'topics': topics,
        'robot': robot,
        'joint_units': joint_units,
        'stamps': stamps,
        'action_joints': action_joints,
    }
    found = [
        reference
        for path in paths
        for reference in _references_at(path, only_successful, with_unknown, choice)
    ]
    if not found:
        raise BagError('no reference is given; name at least one bag of a demonstration')
    return [mean_reference(found, match)] if mean else found


def _references_at(
    path: str | os.PathLike[str],
    only_successful: bool,
    with_unknown: bool,
    choice: Mapping[str, Any],
) -> list[Reference]:
    from frame_ros.bags.find_bags import find_bags
    from frame_ros.bags.reader import Bag
    from frame_ros.episodes.reading import read_bag
    from frame_ros.episodes.recorded.actions import is_ended

    episodes = [
        episode for bag in find_bags(os.fspath(path)) for episode in read_bag(Bag(bag), **choice)
    ]
    chosen = [
        e
        for e in episodes
        if not only_successful
        or is_successful(e)
        or (with_unknown and is_ended(e) and not has_outcome(e))
    ]
    if not chosen:
        raise BagError(
            f'{path}: of its {counted(len(episodes), "episode")} none ended in success, so none is '
            'a reference; name a successful one, or allow those that are not'
        )
    return [reference_of(episode) for episode in chosen]


def is_successful(episode: Episode) -> bool:
    """Returns whether the episode's END is a success."""
    from frame_ros.core.events import EventType, Outcome

    ends = [event for event in episode.events if event.type is EventType.END]
    return bool(ends) and ends[-1].outcome is Outcome.SUCCESS


def has_outcome(episode: Episode) -> bool:
    """Returns whether an END of the episode has an outcome."""
    from frame_ros.core.events import EventType, Outcome

    ends = (event for event in episode.events if event.type is EventType.END)
    return any(event.outcome is not Outcome.UNKNOWN for event in ends)


def reference_of(episode: Episode) -> Reference:
    """Returns an episode's trajectory as a reference, in time from its begin (`bounds_of`).

    Raises:
        BagError: it has no usable pose between START and END.
    """
    from frame_ros.episodes.bounds import bounds_of

    origin = f'{episode.episode_id or "nameless"} ({episode.path})'
    pose = episode.streams.get('pose')
    if pose is None or not len(pose):
        raise BagError(f'{episode.path}: no poses of the TCP, so it is no reference')
    begin, end = bounds_of(episode)
    stamps, positions, orientations = _usable(pose, end)
    at = _taken(stamps, episode.streams.get('action'), begin, end)
    if not len(at):
        raise BagError(
            f'{episode.path}: no pose of the TCP from the START to the END of '
            f'{episode.episode_id}, so it is no reference'
        )
    times = (stamps[at] - begin) / SECOND
    found = Reference.from_arrays(times, positions[at], origin, pose.frame_id)
    if not np.isfinite(orientations[at]).all():
        return found
    return replace(found, orientations=tuple(map(tuple, orientations[at].tolist())))


def _usable(
    pose: Stream, end: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Returns usable stamps (n,), ns, positions (n, 3) and orientations (n, 4)."""
    positions = pose.values['position']
    is_usable = np.isfinite(positions).all(axis=1) & (pose.stamps > 0) & (pose.stamps < end)
    stamps, at = np.unique(pose.stamps[is_usable], return_index=True)
    orientations = np.asarray(pose.values['orientation'], np.float64)
    return stamps, positions[is_usable][at], orientations[is_usable][at]


def _taken(
    stamps: NDArray[np.int64], action: Stream | None, begin: int, end: int
) -> NDArray[np.intp]:
    """Returns the indices of the poses at the control steps: the newest at each, each once."""
    if action is not None:
        steps = action.stamps[(action.stamps >= begin) & (action.stamps < end)]
        newest = np.searchsorted(stamps, np.sort(steps), side='right') - 1
        taken = np.unique(newest[newest >= 0])
        # The pose taken at the first step may be a little older than START, no more.
        taken = taken[stamps[taken] >= begin - SECOND // 10]
        if len(taken):
            return taken
    return np.flatnonzero(stamps >= begin)
