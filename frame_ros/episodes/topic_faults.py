# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults in the stamps of any recorded topic, cameras and sensors too: bad stamps, gaps, a topic
that stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.events import EVENT_TYPE
from frame_ros.bags.streams.table import FED_ROLES
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import GATE_TYPE
from frame_ros.episodes.sensed_contacts import EVENT_TYPE as CONTACT_EVENT_TYPE
from frame_ros.episodes.topic_statistics import TopicStatistics, stamp_statistics, topic_statistics

# Receive times further than this from the stamps are of another clock, s: a simulation's.
OTHER_CLOCK = 1.0
# What is sent when something happens: no rhythm, and two at one moment are no repetition.
EVENT_TYPES = frozenset({EVENT_TYPE, CONTACT_EVENT_TYPE, GATE_TYPE})


@dataclass(frozen=True)
class TopicFaults:
    """Of the topics within an episode.

    counts: '<topic>.<what>' -> how many, what: gap, backward, duplicate, zero; only those above
    zero. stopped: topic -> s from its last message to the episode's end, of the topics that stopped
    before it. Topics without the leading slash.
    """

    counts: dict[str, int] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)


def topic_faults(episode: Episode, bag: Bag | None) -> TopicFaults:
    """Returns the faults of all topics of the bag; without a bag of the streams of the episode.

    What the metric pipeline has counted of a stream already is left out.
    """
    start, end = bounds_of(episode)
    statistics = _statistics(episode, bag, start, end)
    roles = {stream.topic: role for role, stream in episode.streams.items() if role in FED_ROLES}
    has_own_clock = _has_other_clock(episode)
    counts: dict[str, int] = {}
    stopped: dict[str, float] = {}
    for topic, found in statistics.items():
        if not found.has_header and has_own_clock:
            continue
        name, role = topic.lstrip('/'), roles.get(topic, '')
        is_events = bag is not None and bag.topics[topic].message_type in EVENT_TYPES
        for what, count in fault_counts(found, role, is_events).items():
            if count and not episode.data_quality.get(f'{role}.{what}'):
                counts[f'{name}.{what}'] = count
        if found.is_stopped and not is_events:
            stopped[name] = found.silence
    return TopicFaults(counts, stopped)


def _statistics(
    episode: Episode, bag: Bag | None, start: int, end: int
) -> dict[str, TopicStatistics]:
    if bag is not None:
        return topic_statistics(bag, start, end)
    streams = [*episode.streams.values(), *episode.live.values()]
    return {
        s.topic: stamp_statistics(s.stamps, s.received, begin=start, end=end)
        for s in streams
        if len(s)
    }


def fault_counts(found: TopicStatistics, role: str, is_events: bool) -> dict[str, int]:
    """Gaps are counted of regular topics only; inferences and events come when they come, and
    events may share a stamp.
    """
    is_regular = found.is_regular and role != 'inference' and not is_events
    gaps = found.gaps if is_regular else 0
    if not found.has_header:
        return {'gap': gaps}
    duplicates = 0 if is_events else found.duplicate
    return {
        'gap': gaps,
        'backward': found.backward,
        'duplicate': duplicates,
        'zero': found.zero,
    }


def _has_other_clock(episode: Episode) -> bool:
    """Returns whether receive times cannot be compared with the stamps."""
    delays = [
        float(np.median((s.received - s.stamps)[s.stamps > 0])) / SECOND
        for s in episode.streams.values()
        if (s.stamps > 0).any()
    ]
    return bool(delays) and abs(float(np.median(delays))) > OTHER_CLOCK
