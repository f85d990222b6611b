# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags to episodes of events and facts alone, without streams: a fraction of the reading."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.events import EVENT_TYPE, read_events
from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_split import BOUNDS, Part, divide
from frame_ros.episodes.reading import bag_error, read_bag

# Stamps and receive times of an episode's events may disagree by so much, ns: events are published
# a little ahead or late, a clock that jumps or is simulated differs by more.
LARGEST_DRIFT = SECOND


def read_event_episodes(path: str | Path, largest_drift: int = LARGEST_DRIFT) -> list[Episode]:
    """Returns the episodes of one bag with their events and facts.

    Streams and live metrics are there only where the events do not suffice: an episode without
    START or END, several robots, or stamps that do not pass as the receive times do. Then the
    episodes are those of `read_bag`.

    largest_drift: ns by which stamps and receive times of events may move apart.

    Raises:
        BagError: it is not a bag, or cannot be read.
    """
    try:
        bag = Bag(path, wants=lambda message_type: message_type == EVENT_TYPE)
        topic = _event_topic(bag)
        if topic is None:
            return read_bag(Bag(path))
        events = read_events(bag, topic)
        parts = divide(events, bag.metadata.get('episode_id', ''), bag.name)
        if not all(_suffices(part, largest_drift) for part in parts):
            return read_bag(Bag(path))
        return [_episode(bag, part) for part in parts]
    except Exception as error:  # whatever the contents of a foreign bag lead to
        raise bag_error(Path(path), error) from error


def _event_topic(bag: Bag) -> str | None:
    """Returns the only topic of events; None if there is none, or several."""
    found = [topic.name for topic in bag.topics.values() if topic.message_type == EVENT_TYPE]
    names = [name for name in found if len(bag.topics[name])]
    if len(names) != 1 or not names[0].endswith(tuple(f'/{n}' for n in STREAMS['event'].topics)):
        return None
    return names[0]


def _suffices(part: Part, largest_drift: int) -> bool:
    """Returns whether the events of an episode say all of its times."""
    start, finish = part.start, part.finish
    if start is None or finish is None or finish.stamp < start.stamp:
        return False
    stamps = [event.stamp for event in part.events if event.type is not EventType.NOTE]
    if min(stamps) < start.stamp or max(stamps) > finish.stamp:
        return False
    return _drift(part.events) <= largest_drift


def _drift(events: Iterable[Event]) -> int:
    """Returns the largest difference between two events in how far stamp and receipt are apart, ns.
    Notes, and what an operator marks, may be of an earlier time; START and END are not.
    """
    ahead = [(event.stamp - event.received, event) for event in events]
    prompt = [lead for lead, event in ahead if event.type in BOUNDS or not _may_be_late(event)]
    return max((lead for lead, _ in ahead), default=0) - min(prompt, default=0)


def _may_be_late(event: Event) -> bool:
    return event.type is EventType.NOTE or event.source == 'operator'


def _episode(bag: Bag, part: Part) -> Episode:
    attributes = dict(bag.metadata)
    for event in part.events:
        if event.type is EventType.START:
            attributes.update(event.attributes)
    return Episode(
        path=bag.path,
        episode_id=part.episode_id,
        attributes=attributes,
        events=part.events,
        streams={},
        live={},
        problems=[*bag.problems, *part.problems],
        is_truncated=bag.is_truncated,
    )
