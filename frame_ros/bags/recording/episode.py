# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From messages to one bag per episode: what came shortly before it, what comes during it, and what
it lacks in the end.
"""

from __future__ import annotations

import glob
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from frame_ros.bags.recording.expected_streams import EpisodeStreams
from frame_ros.bags.recording.images import image_conversion
from frame_ros.bags.recording.options import RecordingOptions
from frame_ros.bags.recording.session import (
    BagSession,
    MessageRing,
    ReceivedMessage,
    RecordedTopic,
)
from frame_ros.bags.writer import BagWriter

LOOK_PERIOD = 0.02  # s between two looks at streams that are late


class EpisodeNames:
    """Names of episodes that no folder has yet: parts, date, time and a number that counts on."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, directory: Path, parts: Iterable[str]) -> tuple[str, Path]:
        """Returns the next name, and its folder in a directory."""
        stem = '_'.join([*parts, time.strftime('%Y%m%d_%H%M%S')])
        while True:
            name = f'{stem}_{self._count:03d}'
            self._count += 1
            if not any(directory.glob(f'{glob.escape(name)}*')):
                return name, directory / name


class RecordedTopics(Protocol):
    """Origin of the messages.

    Attributes:
        skipped: topic -> why it is not recorded.
    """

    skipped: dict[str, str]

    @property
    def topics(self) -> list[RecordedTopic]:
        """Those that are recorded now."""

    def lost(self) -> dict[str, int]:
        """Topic -> messages lost on the way so far."""

    def why_silent(self, name: str) -> str:
        """Reason that a topic sent nothing."""


class EpisodeRecording:
    """Takes messages in one thread, and is begun and ended in another.

    Attributes:
        streams: what sent in the episode.
        options: of the next episode.
    """

    def __init__(
        self,
        recorded: RecordedTopics,
        options: RecordingOptions,
        own: RecordedTopic,
        expected: Iterable[str],
        say: Callable[[str], object],
    ) -> None:
        """own: the topic that every bag has. expected: absolute names of topics that must send in
        every episode. say: takes reports of trouble.
        """
        self._recorded, self.options, self._own, self._say = recorded, options, own, say
        self.streams = EpisodeStreams(expected)
        self._lock = threading.Lock()
        self._ring = MessageRing(options.pre_roll, options.limits.pre_roll)
        self._session: BagSession | None = None
        self._lost_before: dict[str, int] = {}

    def accept(self, message: ReceivedMessage) -> None:
        """Writes a message, or keeps it for the episode that may begin soon."""
        self.streams.hear(message)
        with self._lock:
            if self._session is not None:
                self._session.put(message)
            else:
                self._ring.append(message)

    def put(self, message: ReceivedMessage) -> None:
        """Writes a message, whatever the limits say, if there is a bag."""
        with self._lock:
            if self._session is not None:
                self._session.put(message, keep=True)

    def fail(self, text: str) -> bool:
        """Notes that the bag has a fault; returns whether there is a bag."""
        session = self._session
        if session is not None:
            session.fail(text)
        return session is not None

    def open(self, folder: Path, metadata: dict[str, str], now: int) -> None:
        """Begins a bag at a time, ns, with what was received shortly before.

        Raises:
            FrameRosError: it cannot be written.
        """
        options = self.options
        convert = image_conversion(options.camera_images)
        writer = BagWriter(folder, metadata, compression_level=options.compression_level)
        session = BagSession(writer, options.limits, [self._own], self._say, convert)
        self._lost_before = self._recorded.lost()
        with self._lock:
            recent = self._ring.take(now)
            begin = recent[0].received if recent else now
            for topic in self._recorded.topics:
                # Sent once, for all to come: every bag begins with it.
                for message in tuple(topic.latched or ()):
                    if message not in recent:
                        session.put(message._replace(received=begin))
            for message in recent:
                session.put(message)
            self._session = session

    def wait_for_late(self, patience: float) -> list[str]:
        """Blocks until the streams that are computed of others have come up to the end of the
        episode, for `patience` s at most; returns the names of those that have not.
        """
        give_up = time.monotonic() + patience
        while (late := self.streams.behind()) and time.monotonic() < give_up:
            time.sleep(LOOK_PERIOD)
        return late

    def close(self) -> BagSession | None:
        """Ends to write; returns the bag, which `finish` completes, if there is one."""
        with self._lock:
            session, self._session = self._session, None
        return session

    def finish(
        self, session: BagSession, facts: dict[str, str], outcome: int
    ) -> tuple[Path, list[str]]:
        """Completes a bag; returns its folder, and what it lacks, in words.

        Raises:
            BagError: something failed; what was saved stays in the partial bag.
        """
        lost = self._recorded.lost()
        lost = {name: n - self._lost_before.get(name, 0) for name, n in lost.items()}
        lost = {name: n for name, n in lost.items() if n}
        silent = self.streams.silent(self._recorded.why_silent)
        skipped = dict(self._recorded.skipped)
        bag = session.finish(facts, lost=lost, skipped=skipped, silent=silent, outcome=outcome)
        lacks = []
        if session.dropped or lost:
            lacks += _lacking(session.dropped, session.reasons, lost)
        lacks += [f'{name} sent nothing in the episode: {why}' for name, why in silent.items()]
        return bag, lacks


def _lacking(
    dropped: Mapping[str, int], reasons: Mapping[str, str], lost: Mapping[str, int]
) -> list[str]:
    """Returns in words how many messages of which topics a bag lacks. dropped: by the recorder, for
    these reasons; lost: before they reached it.
    """
    texts = []
    for reason in dict.fromkeys(reasons.get(name, '') for name in dropped):
        counts = {name: n for name, n in dropped.items() if reasons.get(name, '') == reason}
        why = f', because {reason}' if reason else ''
        texts.append(f'messages were dropped{why}: {_counted(counts)}')
    if lost:
        texts.append(f'messages never reached the recorder: {_counted(lost)}')
    return texts


def _counted(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{count} of {name}' for name, count in counts.items())
