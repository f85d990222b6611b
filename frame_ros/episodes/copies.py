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
    once, copies = with_copies(episodes)
    return once, copy_remarks(once, copies)


def copy_remarks(once: Sequence[Episode], copies: Sequence[Sequence[Episode]]) -> list[str]:
    """Returns a remark on the copies of each of these episodes, if there are any."""
    pairs = [(copy, kept) for kept, others in zip(once, copies, strict=True) for copy in others]
    named = ', '.join(f'{copy.path} (as {kept.path})' for copy, kept in pairs)
    return [f'recorded twice, counted once: {named}'] if named else []


def with_copies(episodes: Sequence[Episode]) -> tuple[list[Episode], list[list[Episode]]]:
    """Returns the episodes without further recordings of one, and those of each."""
    copies = copies_among(map(recording_key, episodes))
    further: dict[int, list[Episode]] = {i: [] for i in range(len(episodes)) if i not in copies}
    for place, kept in copies.items():
        further[kept].append(episodes[place])
    return [episodes[place] for place in further], list(further.values())
