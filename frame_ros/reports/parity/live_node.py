# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The part of an episode that the live metrics node computed: it may have been started again in it,
or have begun with it late.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import Note
from frame_ros.bags.received_counts import has_restart
from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of, start_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.live_inputs import live_of_episode
from frame_ros.reports.parity.bag_losses import Loss


def quality_column(live: Mapping[str, Stream], name: str) -> NDArray[Any]:
    """A column of the live quality topic; zeros where it is not there."""
    if 'quality' not in live:
        return np.zeros(0, np.int64)
    stream = live['quality']
    return np.asarray(stream.values.get(name, np.zeros(len(stream), np.int64)))


def live_namespace(episode: Episode) -> str:
    """The namespace of the node that published the live topics, '' for the root."""
    topic = next(live.topic for live in episode.live.values())
    return topic.rpartition('/')[0]


def restart_of(episode: Episode) -> int | None:
    """Returns the stamp of the last live step before the node was started again in the episode, ns;
    None if it was not.

    It counts its steps from 0 again. Where the clock alone was set back, stamps of before and after
    mix, and no number comes twice. Nor does one where the node had made few steps, and as many of
    the next were not recorded: there it counts fewer than the bag has, and its messages, too.
    """
    live = live_of_episode(episode)
    steps = quality_column(live, 'step').astype(np.int64)
    if len(np.unique(steps)) < len(steps):
        places = np.flatnonzero(np.diff(steps) < 0)
        return int(live['quality'].stamps[places[0]]) if len(places) else None
    stamps, missed = _missed_steps(live, episode.metrics)
    jumps = np.flatnonzero(np.diff(missed) > 0)
    if not len(jumps):
        return None
    bag = episode.open_bag()
    bounds = bounds_of(episode)
    is_known = bag is not None and has_restart(bag, live_namespace(episode), *bounds)
    return int(stamps[jumps[0]]) if is_known else None


def restart_problems(episode: Episode) -> list[str]:
    """Says that the live node was started again in the episode, if it was."""
    restart = restart_of(episode)
    if restart is None:
        return []
    return [
        Note(
            'the live metrics node was started again: its values behind '
            f'{_time(episode, restart):.1f} s miss what was before, and are not compared'
        )
    ]


def _missed_steps(
    live: Mapping[str, Stream], metrics: Mapping[str, Mapping[str, NDArray]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Stamps (N,) of the live steps that are recomputed too, and how many steps fewer the live node
    had counted at each (N,).
    """
    shown = metrics.get('quality', {})
    if 'quality' not in live or not len(shown.get('stamp', ())):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    stamps, i, j = np.intersect1d(live['quality'].stamps, shown['stamp'], return_indices=True)
    return stamps, shown['step'][j] - quality_column(live, 'step')[i].astype(np.int64)


def missed_beginning(
    episode: Episode, live: Mapping[str, Stream], as_live: Mapping[str, Mapping[str, NDArray]]
) -> list[Loss]:
    """Returns what the live node left out of the beginning of the episode because it was started,
    or its START came, after that: it counts from 0 at a later step than what it had received.

    live: the live samples of the episode. as_live: kind -> metrics of what the node had received.
    """
    _, missed = _missed_steps(live, as_live)
    if not len(missed) or missed[0] <= 0:
        return []
    taken = as_live['quality']['stamp'][as_live['quality']['step'] >= missed[0]]
    begin, end = start_of(episode) or 0, int(taken.min())
    found = []
    for role in ('action', 'inference'):
        stream = episode.streams.get(role)
        if stream is not None:
            left_out = int(np.count_nonzero((stream.stamps >= begin) & (stream.stamps < end)))
            ends = np.array([end], np.int64)
            begins = np.array([begin], np.int64)
            loss = Loss(role, stream.topic, left_out, len(stream), begins, ends, is_live=True)
            found.append(loss)
    return found


def beginning_texts(episode: Episode, losses: list[Loss]) -> list[str]:
    """Says from when on the live node took part in the episode. losses: see `missed_beginning`."""
    times = [_time(episode, int(loss.ends[0])) for loss in losses[:1]]
    return [
        f'the live metrics node took part in the episode from {time:.1f} s on: it was started, or '
        'heard of the START, after that; its values miss what was before'
        for time in times
    ]


def _time(episode: Episode, stamp: int) -> float:
    """Time since the START, s; 0 without one."""
    begin = start_of(episode)
    return (stamp - begin) / SECOND if begin else 0.0
