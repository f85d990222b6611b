# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From received bytes to a bag: a ring of the last second, a queue, a writing thread."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from frame_ros.bags.definitions import MessageDefinition
from frame_ros.bags.recording.options import RecordingLimits
from frame_ros.bags.writer import BagWriter, TopicQos
from frame_ros.core.errors import BagError
from frame_ros.core.stamps import SET_BACK
from frame_ros.core.time import SECOND

IDLE = 0.02
SPACE_PERIOD = 0.5


@dataclass(eq=False)
class RecordedTopic:
    """A topic's properties for the bag; latched: its last messages, if kept by publishers."""

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
        self._span, self._max_bytes = int(seconds * SECOND), max_bytes
        self._messages: deque[ReceivedMessage] = deque()
        self._size = 0

    def append(self, message: ReceivedMessage) -> None:
        """Adds a message and forgets what is too old or too much."""
        messages = self._messages
        if messages and message.received < messages[-1].received - max(self._span, SET_BACK):
            self.clear()
        messages.append(message)
        self._size += len(message.data)
        oldest = message.received - self._span
        while messages and (messages[0].received < oldest or self._size > self._max_bytes):
            self._size -= len(messages.popleft().data)

    def take(self, now: int) -> list[ReceivedMessage]:
        """Returns what is not older than the span before `now` (ns), and empties the ring."""
        taken = [message for message in self._messages if message.received >= now - self._span]
        self.clear()
        return taken

    def clear(self) -> None:
        """Forgets everything."""
        self._messages.clear()
        self._size = 0


def refuse_full_disk(folder: Path, free: int, option: str = 'limits.free') -> None:
    """Checks that a folder, made if missing, has room.

    Args:
        free: bytes that must be free.
        option: that gives them.

    Raises:
        BagError: it has less, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = shutil.disk_usage(folder).free
    except OSError as error:
        raise BagError(f'cannot record into {folder}: {error}') from error
    if found < free:
        raise BagError(
            f'{folder} has only {_mib(found)} free; {option} asks for {_mib(free)}: '
            'make room, or lower it'
        )


def _mib(size: int) -> str:
    return f'{size / (1 << 20):.1f} MiB'


class BagSession:
    """One bag being written, by a thread of its own.

    Messages it cannot take are counted per topic in `dropped`, with the first reason in `reasons`.

    Args:
        writer: a new bag; the session closes it.
        limits: may be replaced while it runs.
        always: topics that have a channel from the beginning.
        report: called, in any thread, once for each kind of trouble.
        convert: converts a message before it is written; None: no conversion.

    Raises:
        BagError: the bag cannot be written; nothing of it is left.
    """

    def __init__(
        self,
        writer: BagWriter,
        limits: RecordingLimits,
        always: Sequence[RecordedTopic] = (),
        report: Callable[[str], object] = lambda text: None,
        convert: Callable[[ReceivedMessage], ReceivedMessage] | None = None,
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self.problem = ''
        self._writer, self.limits, self._report = writer, limits, report
        self._convert = convert or (lambda message: message)
        self._channels: dict[RecordedTopic, int] = {}
        self._queue: deque[tuple[ReceivedMessage, bool]] = deque()
        self._queued = 0
        self._written = 0
        self._stop = threading.Event()
        self._counting = threading.Lock()
        self._is_full = ''
        self._has_reported = False
        self._disk_reason = ''
        self._next_check = 0.0
        try:
            for topic in always:
                self._channel(topic)
        except OSError as error:
            writer.discard()
            raise BagError(f'cannot write the bag {writer.partial}: {error}') from error
        self._thread = threading.Thread(target=self._run, name='bag_writer', daemon=True)
        self._thread.start()

    def put(self, message: ReceivedMessage, keep: bool = False) -> None:
        """Takes a message, or counts it as dropped if too much is waiting. Called from one thread
        at a time.

        keep: written whatever the limits are, and retried if the disk refuses it.
        """
        if self._queued - self._written > self.limits.queue and not keep:
            self._drop(message, 'the disk was too slow')
            return
        if not self._thread.is_alive():
            self._drop(message, self.problem)
            return
        self._queued += len(message.data)
        self._queue.append((message, keep))

    def fail(self, problem: str) -> None:
        """Notes, and reports once, a fault: the bag will not count as finished."""
        if not self.problem:
            self.problem = problem
            self._report(f'{self._writer.folder.name}: {problem}')

    def finish(self, metadata: Mapping[str, object], **facts: object) -> Path:
        """Writes what is waiting and closes the bag.

        Args:
            metadata: facts known only now. facts: further entries of the sidecar.

        Returns:
            The finished bag's folder.

        Raises:
            BagError: something failed; what was saved stays in the partial bag, marked as failed.
        """
        self._stop.set()
        self._thread.join()
        self._count_unwritten()
        count = sum(self.dropped.values())
        known = {**metadata, 'dropped_messages': count}
        facts = {'dropped': dict(self.dropped), 'dropped_because': self.reasons, **facts}
        if not self.problem:
            try:
                return self._writer.finish(known, **facts)
            except BagError as error:
                raise BagError(f'{error} ({count} messages were dropped)') from error
            except Exception as error:  # whatever it is, the recorder answers and goes on
                self.fail(f'it could not be finished: {_text(error)}')
        with contextlib.suppress(Exception):  # the problem to be reported is the first one
            self._writer.abandon(self.problem, known, **facts)
        raise BagError(f'{self._writer.partial}: {self.problem} ({count} messages were dropped)')

    def _count_unwritten(self) -> None:
        for message, _ in self._queue:
            self._drop(message, self.problem)
        try:
            self._writer.settle()
        except Exception as error:  # the writer has counted it
            self.fail(f'the last part could not be written: {_text(error)}')
        for topic, count in self._writer.dropped().items():
            self.dropped[topic] += count
            self.reasons.setdefault(topic, self._disk_reason or 'the disk could not be written')

    def _run(self) -> None:
        try:
            while not (self._stop.is_set() and not self._queue):
                if not self._queue:
                    time.sleep(IDLE)
                while self._queue:
                    self._write(*self._queue.popleft())
                self._hand_over()
        except Exception as error:  # `put` and `finish` count what is left
            self.fail(f'the writer broke off: {_text(error)}')

    def _hand_over(self) -> None:
        try:
            self._writer.flush_if_due()
        except OSError as error:
            self._note_full(error)
        except Exception as error:  # the writer has counted it; other messages may do better
            self.fail(f'a part could not be written: {_text(error)}')

    def _write(self, message: ReceivedMessage, keep: bool) -> None:
        self._written += len(message.data)
        self._check_space()
        reason, is_accepted = self._is_full, False
        try:
            if keep or not self._is_full:
                message = self._convert(message)
                channel = self._channel(message.topic)
                is_accepted = True  # the writer counts what it loses from here on
                self._writer.write(channel, message.received, message.data, message.published, keep)
                return
        except OSError as error:
            self._note_full(error)
            reason = self._is_full
        except BagError as error:
            reason, is_accepted = str(error), False
        except Exception as error:  # other messages may do better
            reason = f'a message of {message.topic.name} could not be written: {_text(error)}'
            self.fail(reason)
        if not is_accepted:
            self._drop(message, reason)

    def _channel(self, topic: RecordedTopic) -> int:
        if topic not in self._channels:
            self._channels[topic] = self._writer.add_topic(
                topic.name, topic.definition.message_type, topic.definition, topic.qos
            )
        return self._channels[topic]

    def _check_space(self) -> None:
        now = time.monotonic()
        if now < self._next_check:
            return
        self._next_check = now + SPACE_PERIOD
        try:
            free = shutil.disk_usage(self._writer.partial).free
        except OSError as error:
            self._note_full(error)
            return
        if free < self.limits.free:
            self._stop_writing(f'the disk had only {_mib(free)} left')
        elif self.limits.bag and self._writer.size > self.limits.bag:
            self._stop_writing(f'the bag reached its limit of {_mib(self.limits.bag)}')
        else:
            self._is_full = ''

    def _note_full(self, error: OSError) -> None:
        self._next_check = time.monotonic() + SPACE_PERIOD
        self._disk_reason = f'the disk cannot be written ({error.strerror or error})'
        self._stop_writing(self._disk_reason)

    def _stop_writing(self, reason: str) -> None:
        self._is_full = reason
        if not self._has_reported:
            self._has_reported = True
            self._report(f'{self._writer.folder.name}: messages are dropped: {reason}')

    def _drop(self, message: ReceivedMessage, reason: str) -> None:
        with self._counting:
            self.dropped[message.topic.name] += 1
            self.reasons.setdefault(message.topic.name, reason)


def _text(error: Exception) -> str:
    return f'{type(error).__name__}: {error}'
