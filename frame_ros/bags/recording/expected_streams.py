# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams that an episode is expected to have, and those that were silent in it."""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Iterable

from frame_ros.bags.images.decoding import COMPRESSED_TYPE, IMAGE_TYPE
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.streams.contacts import CONTACT, PROXIMITY
from frame_ros.bags.streams.joints import JOINT_STATES
from frame_ros.bags.streams.poses import POSE
from frame_ros.core.time import SECOND, stamp_of_serialised

# Streams that sensors send all the time: one that has sent once is expected from then on.
STREAM_TYPES = (
    IMAGE_TYPE,
    COMPRESSED_TYPE,
    'geometry_msgs/msg/WrenchStamped',
    CONTACT.message_type,
    PROXIMITY.message_type,
)
OCCASIONAL = 'external_wrench'  # sent only while it is known
# Streams that nodes compute of others, sample by sample: a busy computer sends them late.
COMPUTED = (POSE, CONTACT, PROXIMITY)
ALIVE = 2.0  # s; one that was not heard for longer has stopped
MOST_BEHIND = 10 * SECOND  # ns; one that is further behind has another clock
SHORTEST = SECOND  # ns; a shorter episode may well lack a message of a slow stream


class EpisodeStreams:
    """Notes senders, in one thread; queried from another one.

    expected: absolute names of topics that must send in every episode, in addition to the streams
    that have sent before.
    """

    def __init__(self, expected: Iterable[str]) -> None:
        self._expected = dict.fromkeys(expected)
        self._seen: dict[RecordedTopic, bool] = {}  # every topic that has sent -> is it a stream
        self._heard: set[str] = set()
        self._computed: set[str] = set()
        # Of those: the newest message, and time.monotonic() then.
        self._newest: dict[str, tuple[bytes, float]] = {}
        self._begin = self._end = 0

    def begin(self, stamp: int) -> None:
        """Begins an episode at a stamp, ns."""
        self._heard = set()
        self._begin, self._end = stamp, 0

    def end(self, stamp: int) -> None:
        """Ends it at a stamp, ns; later messages do not belong to it."""
        self._end = stamp

    def hear(self, message: ReceivedMessage) -> None:
        """Notes a message of a topic."""
        topic = message.topic
        if topic not in self._seen:
            self._seen[topic] = is_stream(topic)
            if is_computed(topic):
                self._computed.add(topic.name)
        if topic.name in self._computed:
            self._newest[topic.name] = message.data, time.monotonic()
        if message.received >= self._begin and not 0 < self._end < message.received:
            self._heard.add(topic.name)

    def behind(self) -> list[str]:
        """Returns the computed streams that are still sent and have not come up to the end yet."""
        now = time.monotonic()
        newest = tuple(self._newest.items())
        alive = [(name, data) for name, (data, heard) in newest if now - heard <= ALIVE]
        return [name for name, data in alive if 0 < self._end - _stamp_of(data) < MOST_BEHIND]

    def silent(self, why: Callable[[str], str]) -> dict[str, str]:
        """Returns the streams that sent nothing in the last episode, with `why` of their name; none
        for a very short episode.
        """
        if self._end - self._begin < SHORTEST:
            return {}
        streams = [topic.name for topic, is_stream in tuple(self._seen.items()) if is_stream]
        names = dict.fromkeys([*self._expected, *streams])
        return {name: why(name) for name in names if name not in self._heard}


def is_stream(topic: RecordedTopic) -> bool:
    """Returns whether a topic that has sent once goes on sending."""
    kind = topic.definition.message_type
    if kind == JOINT_STATES.message_type:
        return topic.name.endswith(JOINT_STATES.topics)  # others are commands
    return kind in STREAM_TYPES and not topic.name.endswith(OCCASIONAL)


def is_computed(topic: RecordedTopic) -> bool:
    """Returns whether a topic has a stream that a node computes of others."""
    kind = topic.definition.message_type
    return any(kind == row.message_type and topic.name.endswith(row.topics) for row in COMPUTED)


def _stamp_of(data: bytes) -> int:
    with contextlib.suppress(ValueError, struct.error, IndexError):  # a damaged one has none
        return stamp_of_serialised(data)
    return 0
