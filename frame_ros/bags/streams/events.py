# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Events of episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import MessageForm, RecordedStream
from frame_ros.core.errors import BagError, FrameRosError, ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import stamp_ns

EVENT_TYPE = 'frame_ros/msg/EpisodeEvent'
# Facts of START with a field of their own in EpisodeEvent.msg; as attributes they keep its name.
EVENT_TEXT_FIELDS = ('instruction', 'object', 'policy', 'checkpoint', 'operator_name')


def event_of(message: Any) -> Event:
    """Returns an EpisodeEvent as data.Event; the text fields of START that are not empty become
    attributes.

    Raises:
        ValueRangeError: the kind or outcome is unknown to EpisodeEvent.msg.
    """
    try:
        kind, outcome = EventType(int(message.type)), Outcome(int(message.outcome))
    except ValueError as error:
        raise ValueRangeError(
            f'EpisodeEvent with type {message.type} and outcome {message.outcome}: '
            'known are the constants of EpisodeEvent.msg'
        ) from error
    attributes = {name: getattr(message, name) for name in EVENT_TEXT_FIELDS}
    attributes = {name: str(value) for name, value in attributes.items() if value}
    attributes.update((str(pair.key), str(pair.value)) for pair in message.attributes)
    return Event(
        stamp=stamp_ns(message.header.stamp),
        type=kind,
        episode_id=str(message.episode_id),
        outcome=outcome,
        operation=int(message.operation),
        source=str(message.source),
        text=str(message.text),
        attributes=attributes,
    )


def read_events(bag: Bag, topic: str) -> list[Event]:
    """Returns the events on a topic by stamp; those that are not readable, or have no stamp, are
    left out and reported.

    Raises:
        BagError: the topic's type is another one, or is not readable.
    """
    message_type = bag.topics[topic].message_type
    if message_type != EVENT_TYPE:
        raise BagError(f'{topic} has type {message_type}; as event it should be {EVENT_TYPE}')
    events = []
    for received, message in bag.messages(topic):
        try:
            event = replace(event_of(message), received=received)
        except (FrameRosError, AttributeError) as error:
            bag.report(f'{topic}: an event was left out ({error})')
            continue
        if event.stamp > 0:
            events.append(event)
        else:
            bag.report(f'{topic}: {event.type.name} without a stamp was left out')
    return sorted(events, key=lambda event: event.stamp)


EVENT = RecordedStream('event', ('episode_events',), (MessageForm(EVENT_TYPE, {}, event_of),))
