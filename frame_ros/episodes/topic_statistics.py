# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Regularity and faults of the topics of a bag, by their stamps."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.events import EVENT_TYPE
from frame_ros.bags.streams.table import FED_ROLES
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import GATE_TYPE
from frame_ros.episodes.sensed_contacts import EVENT_TYPE as CONTACT_EVENT_TYPE

GAP_FACTOR = 5.0  # of the median interval: a longer one is a gap
LATE = 0.25  # s
STOPPED = 0.5  # s
LEAST_REGULAR = 5  # messages
REGULAR_FACTOR = 3.0
REGULAR_SHARE = 0.75
# Receive times further than this from the stamps are of another clock, s: a simulation's.
OTHER_CLOCK = 1.0
# What is sent when something happens: no rhythm, and two at one moment are no repetition.
EVENT_TYPES = frozenset({EVENT_TYPE, CONTACT_EVENT_TYPE, GATE_TYPE})


@dataclass(frozen=True)
class TopicStatistics:
    """Regularity of a topic.

    Attributes:
        count: messages.
        rate: Hz, by the median interval; NaN for less than two.
        gaps: intervals longer than 5 times the median.
        longest_gap: s.
        late: received more than 0.25 s later after its stamp than the median message.
        backward, duplicate, zero: stamps below, equal to the one before, or unset; by receive time
            without header.
        has_header: whether the stamps are those of headers.
        is_regular: at least 5 messages, three quarters of the intervals within a factor 3 of the
            median.
        silence: s from the last message to the requested end; NaN without one.
        is_stopped: regular, and the silence is longer than 0.5 s and 5 times the median.
    """

    count: int
    rate: float
    gaps: int
    longest_gap: float
    late: int
    backward: int
    duplicate: int
    zero: int
    has_header: bool = True
    is_regular: bool = False
    silence: float = float('nan')
    is_stopped: bool = False


def topic_statistics(
    source: Episode | Bag | str | Path, begin: int | None = None, end: int | None = None
) -> dict[str, TopicStatistics]:
    """Returns topic -> TopicStatistics for every topic of a bag, in the order of their names.

    begin, end: only messages within are counted, ns; unset stamps are placed by receive time.
    Whether a topic is regular, and its silence, are judged by all messages up to the end.
    """
    if isinstance(source, Episode):
        source = Bag(source.path, is_by_receipt=source.is_by_receipt)
    bag = source if isinstance(source, Bag) else Bag(source)
    return {
        name: stamp_statistics(*_topic_stamps(bag, name), begin, end)
        for name in sorted(bag.topics)
        if len(bag.topics[name])
    }


def stamp_statistics(
    stamps: NDArray[np.int64],
    received: NDArray[np.int64],
    has_header: bool = True,
    begin: int | None = None,
    end: int | None = None,
) -> TopicStatistics:
    """Returns the statistics of messages of one topic; stamps and received: (T,), ns, in recorded
    order; begin and end as in `topic_statistics`.
    """
    is_set = stamps > 0
    delay = int(np.median((received - stamps)[is_set])) if is_set.any() else 0
    places = np.where(is_set, stamps, received - delay)
    is_before = places <= end if end is not None else np.ones(len(stamps), bool)
    is_inside = is_before & (places >= begin) if begin is not None else is_before
    is_regular, silence, is_stopped = _ending(places[is_before & is_set], end)
    late = (received - stamps)[is_inside & is_set] > delay + LATE * SECOND
    used = stamps[is_inside]
    steps = np.diff(used[used > 0])
    forward = steps[steps > 0]
    typical = float(np.median(forward)) if len(forward) else float('nan')
    return TopicStatistics(
        count=len(used),
        rate=SECOND / typical if len(forward) else float('nan'),
        gaps=int((forward > GAP_FACTOR * typical).sum()) if len(forward) else 0,
        longest_gap=float(forward.max()) / SECOND if len(forward) else float('nan'),
        late=int(late.sum()),
        backward=int((steps < 0).sum()),
        duplicate=int((steps == 0).sum()),
        zero=int((used <= 0).sum()),
        has_header=has_header,
        is_regular=is_regular,
        silence=silence,
        is_stopped=is_stopped,
    )


def _ending(stamps: NDArray[np.int64], end: int | None) -> tuple[bool, float, bool]:
    """Returns is_regular, silence (s), is_stopped of TopicStatistics."""
    stamps = np.unique(stamps)
    intervals = np.diff(stamps)
    silence = (end - int(stamps[-1])) / SECOND if end is not None and len(stamps) else float('nan')
    if len(stamps) < LEAST_REGULAR:
        return False, silence, False
    typical = float(np.median(intervals))
    is_like = (intervals <= REGULAR_FACTOR * typical) & (intervals * REGULAR_FACTOR >= typical)
    is_regular = bool(is_like.mean() >= REGULAR_SHARE)
    longest = max(STOPPED, GAP_FACTOR * typical / SECOND)
    return is_regular, silence, is_regular and silence > longest


def _topic_stamps(bag: Bag, topic: str) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Returns stamps and receive times of a topic; receive times twice and False without header."""
    received = bag.received(topic)
    stamps = header_stamps(bag, topic)
    if stamps is None or len(stamps) != len(received):
        return received, received, False
    return stamps, received, True


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
