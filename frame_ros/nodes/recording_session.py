# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From received bytes to a bag: a ring of the last second, a bounded queue, and the thread that
writes."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from frame_ros.episodes.bag_writer import BagWriter, TopicQos
from frame_ros.episodes.definitions import MessageDefinition

IDLE = 0.02
SPACE_PERIOD = 0.5


@dataclass(eq=False)
class RecordedTopic:
    """What the bag needs to know of a topic. latched: its last messages, if its publishers are
    transient local."""

    name: str
    definition: MessageDefinition
    qos: list[TopicQos] = field(default_factory=list)
    latched: deque[ReceivedMessage] | None = None


class ReceivedMessage(NamedTuple):
    """One serialised message. received, published: ns."""

    topic: RecordedTopic
    received: int
    published: int
    data: bytes


class MessageRing:
    """The newest messages, as far back as `seconds`, never more than `max_bytes`."""

    def __init__(self, seconds: float, max_bytes: int) -> None:
        self._span, self._max_bytes = int(seconds * 1e9), max_bytes
        self._messages: deque[ReceivedMessage] = deque()
        self._size = 0

    def append(self, message: ReceivedMessage) -> None:
        """Adds a message and forgets what is too old or too much."""
        messages = self._messages
        messages.append(message)
        self._size += len(message.data)
        oldest = message.received - self._span
        while messages and (messages[0].received < oldest or self._size > self._max_bytes):
            self._size -= len(messages.popleft().data)

    def take(self, now: int) -> list[ReceivedMessage]:
        """Returns what is not older than the span before `now` (ns), and empties the ring."""
        taken = [message for message in self._messages if message.received >= now - self._span]
        self._messages.clear()
        self._size = 0
        return taken


@dataclass(frozen=True)
class Limits:
    """When not to write any more, all in bytes.

    queue: waiting for the disk. bag: size of one bag, 0: no limit. free: space to leave on the
    disk.
    """

    queue: int = 512 << 20
    bag: int = 0
    free: int = 512 << 20


class BagSession:
    """One bag being written, by a thread of its own. Messages it cannot take are counted per
    topic in `dropped`."""

    def __init__(self, writer: BagWriter, limits: Limits) -> None:
        self.dropped: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self._writer, self._limits = writer, limits
        self._channels: dict[RecordedTopic, int] = {}
        self._queue: deque[ReceivedMessage] = deque()
        self._queued = 0
        self._written = 0
        self._stop = threading.Event()
        self._is_full = ''
        self._next_check = 0.0
        self._thread = threading.Thread(target=self._run, name='bag_writer', daemon=True)
        self._thread.start()

    def put(self, message: ReceivedMessage) -> None:
        """Takes a message, or counts it as dropped if too much is waiting. Called from one
        thread at a time."""
        if self._queued - self._written > self._limits.queue:
            self._drop(message, 'the disk was too slow')
            return
        self._queued += len(message.data)
        self._queue.append(message)

    def finish(self, metadata: Mapping[str, object], **facts: object) -> Path:
        """Writes what is waiting and closes the bag.

        Args:
            metadata: facts known only now. facts: further entries of the sidecar.

        Returns:
            The finished bag's folder.

        Raises:
            BagError: it cannot be written.
        """
        self._stop.set()
        self._thread.join()
        known = {**metadata, 'dropped_messages': sum(self.dropped.values())}
        return self._writer.finish(
            known, dropped=dict(self.dropped), dropped_because=self.reasons, **facts
        )

    def _run(self) -> None:
        while not (self._stop.is_set() and not self._queue):
            if not self._queue:
                time.sleep(IDLE)
            while self._queue:
                self._write(self._queue.popleft())
            try:
                self._writer.flush_if_due()
            except OSError as error:
                self._is_full = f'the disk cannot be written ({error.strerror})'

    def _write(self, message: ReceivedMessage) -> None:
        self._written += len(message.data)
        self._check_space()
        if self._is_full:
            self._drop(message, self._is_full)
            return
        topic = message.topic
        try:
            channel = self._channels.get(topic)
            if channel is None:
                channel = self._writer.add_topic(
                    topic.name, topic.definition.message_type, topic.definition, topic.qos
                )
                self._channels[topic] = channel
            self._writer.write(channel, message.received, message.data, message.published)
        except OSError as error:
            self._is_full = f'the disk cannot be written ({error.strerror})'
            self._drop(message, self._is_full)

    def _check_space(self) -> None:
        now = time.monotonic()
        if now < self._next_check or self._is_full:
            return
        self._next_check = now + SPACE_PERIOD
        free = shutil.disk_usage(self._writer.folder.parent).free
        if free < self._limits.free:
            self._is_full = f'the disk had only {free >> 20} MiB left'
        elif self._limits.bag and self._writer.size > self._limits.bag:
            self._is_full = f'the bag reached its limit of {self._limits.bag >> 20} MiB'

    def _drop(self, message: ReceivedMessage, reason: str) -> None:
        self.dropped[message.topic.name] += 1
        self.reasons.setdefault(message.topic.name, reason)
