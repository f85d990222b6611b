# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Several recordings of one episode, such as copies of a bag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode

# What recordings of one episode share, its id and begin (ns), None if it is not known; and a key by
# which the one that counts is the largest.
RecordingKey = tuple[tuple[str, int] | None, tuple[bool, int]]


def recording_key(episode: Episode) -> RecordingKey:
    """Returns what an episode is recognised by. The recording that was not cut counts, then the one
    with most events.
    """
    begin, _ = bounds_of(episode)
    identity = (episode.episode_id, begin) if episode.episode_id and begin else None
    return identity, (not episode.is_truncated, len(episode.events))


def copies_among(keys: Iterable[RecordingKey]) -> dict[int, int]:
    """Returns place -> place of the recording that counts, of further recordings of an episode, as
    in a comparison of policies. Of equal ones the first counts.
    """
    known = list(keys)
    groups: dict[object, list[int]] = {}
    for place, (identity, _) in enumerate(known):
        groups.setdefault(place if identity is None else identity, []).append(place)
    found = dict[int, int]()
    for group in groups.values():
        kept = max(group, key=lambda place: known[place][1])
        found |= {place: kept for place in group if place != kept}
    return found


def each_once(episodes: Sequence[Episode]) -> tuple[list[Episode], list[str]]:
    """Returns the episodes without further recordings of one, and a remark on those, if any."""
    copies = copies_among(map(recording_key, episodes))
    named = ', '.join(f'{episodes[i].path} (as {episodes[k].path})' for i, k in copies.items())
    remarks = [f'recorded twice, counted once: {named}'] if copies else []
    return [episode for place, episode in enumerate(episodes) if place not in copies], remarks
