# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Events that the recorder itself publishes, and as a bag holds them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from diagnostic_msgs.msg import KeyValue
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from frame_ros.bags.cdr import trace
from frame_ros.bags.definitions import find_definition, parse_fields
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.streams.events import EVENT_TEXT_FIELDS, EVENT_TYPE
from frame_ros.bags.writer import TopicQos
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.episode_recorder.topics import EPISODE_EVENTS
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.srv import StartEpisode

MOST_AHEAD = SECOND // 2  # ns that the clock of whoever marks may differ; it then is now


class RecorderEvents:
    """Publishes episode_events.

    topic: as a bag has it.
    """

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(*published(EPISODE_EVENTS))
        self.topic = RecordedTopic(
            self._publisher.topic_name,
            find_definition(EPISODE_EVENTS.type),
            [TopicQos(durability='transient_local', depth=50)],
        )
        self._published: set[tuple[str, int, int]] = set()

    def check(self) -> None:
        """Raises FrameRosError if the messages cannot be written."""
        self._fields = parse_fields(EVENT_TYPE, self.topic.definition.text)

    def publish(self, event: EpisodeEvent, now: int) -> ReceivedMessage:
        """Publishes an event at a time, ns; returns it as a bag holds it."""
        self._published.add(_key(event))
        self._publisher.publish(event)
        data = serialize_message(event)
        # rclpy hands out up to 7 bytes behind the message; strict readers refuse them.
        data = data[: trace(self._fields, EVENT_TYPE, np.frombuffer(data, np.uint8)).size]
        return ReceivedMessage(self.topic, now, now, data)

    def is_own(self, message: ReceivedMessage) -> bool:
        """Returns whether a message is an event that this node published and wrote itself."""
        if message.topic.name != self.topic.name:
            return False
        return _key(deserialize_message(message.data, EpisodeEvent)) in self._published


def outside(stamp: int, start: int, now: int) -> str:
    """Returns why what is marked at a stamp is not of the episode that began at `start` and runs
    now; ''. All ns.
    """
    if stamp < start:
        return f'it is stamped {(start - stamp) / SECOND:.3f} s before the episode begins'
    if stamp > now + MOST_AHEAD:
        return f'it is stamped {(stamp - now) / SECOND:.3f} s ahead of now'
    return ''


def make_event(
    kind: EventType, stamp: int, episode_id: str, source: str = 'recorder', text: str = ''
) -> EpisodeEvent:
    """Returns an event at a stamp, ns."""
    event = EpisodeEvent(type=int(kind), episode_id=episode_id, source=source, text=text)
    event.header.stamp = time_message(stamp)
    return event


def start_event(
    request: StartEpisode.Request, stamp: int, episode_id: str, facts: Mapping[str, str]
) -> EpisodeEvent:
    """Returns the event with which an episode begins, as it was asked for."""
    event = make_event(EventType.START, stamp, episode_id, text=request.notes)
    for name in EVENT_TEXT_FIELDS:
        setattr(event, name, getattr(request, name))
    event.attributes = [KeyValue(key=key, value=value) for key, value in facts.items()]
    return event


def texts_of(request: StartEpisode.Request, stamp: int, episode_id: str) -> dict[str, str]:
    """Returns a bag's texts on its episode, in addition to the facts."""
    texts = {name: getattr(request, name) for name in EVENT_TEXT_FIELDS}
    return {'episode_id': episode_id, **texts, 'notes': request.notes, 'start': str(stamp)}


def _key(event: EpisodeEvent) -> tuple[str, int, int]:
    return event.episode_id, event.type, stamp_ns(event.header.stamp)
