# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of an episode straight from its bag: only the few that are shown are decoded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.cameras import bytes_at, picture_of, topic_stamps
from frame_ros.bags.images.decoding import COMPRESSED_TYPE, IMAGE_TYPE
from frame_ros.bags.reader import Bag, Topic
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.reports.html.media import Still, still, still_times
from frame_ros.reports.model.series import (
    SECOND,
    contact_spans,
    is_contact,
)

MOST_CAMERAS = 2


def camera_stills(episode: Episode, bag: Bag) -> list[Still]:
    """Pictures of at most two cameras: six evenly spaced, at the first contact, collision, success.

    What cannot be read is left out and said in `episode.problems`.
    """
    pictures: list[Still] = []
    cameras = 0
    for topic in bag.topics.values():
        if (
            cameras < MOST_CAMERAS
            and topic.message_type in (IMAGE_TYPE, COMPRESSED_TYPE)
            and len(topic)
        ):
            taken = _of_topic(bag, topic, episode)
            cameras += bool(taken)
            pictures += taken
    return pictures


def _of_topic(bag: Bag, topic: Topic, episode: Episode) -> list[Still]:
    start, end = bounds_of(episode)
    try:
        stamps = topic_stamps(bag, topic)
        inside = np.flatnonzero((stamps >= start) & (stamps <= end))
        if not len(inside):
            return []
        return _pictures(bag, topic, episode, stamps, inside)
    except BagError as error:
        note = f'{topic.name}: pictures left out ({error})'
        if note not in episode.problems:
            episode.problems.append(note)
        return []


def _pictures(
    bag: Bag, topic: Topic, episode: Episode, stamps: NDArray[np.int64], inside: NDArray[np.intp]
) -> list[Still]:
    start = bounds_of(episode)[0]
    camera = topic.name.strip('/').removesuffix('/compressed').removesuffix('/image_raw')
    pictures: dict[int, Still] = {}
    first, last = int(stamps[inside].min()), int(stamps[inside].max())
    for wanted, why in still_times(first, last, _moments(episode)):
        index = int(inside[np.abs(stamps[inside] - wanted).argmin()])
        if index in pictures and not why:
            continue
        image = picture_of(bag.deserialize(topic, bytes_at(topic, index)))
        if image is None:
            return []
        pictures[index] = still(camera, (int(stamps[index]) - start) / SECOND, why, image)
    return sorted(pictures.values(), key=lambda picture: picture.time)


def _moments(episode: Episode) -> dict[str, list[int]]:
    """Stamps (ns) of what is worth seeing."""
    start, spans = bounds_of(episode)[0], contact_spans(episode)
    contacts = [start + int(s.begin * SECOND) for s in spans if is_contact(s)]
    collisions = [start + int(s.begin * SECOND) for s in spans if s.is_collision]
    successes = [e.stamp for e in episode.events if e.type is EventType.SUCCESS]
    return {'contact': contacts, 'collision': collisions, 'success': successes}
