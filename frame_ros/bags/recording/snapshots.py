# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of the seconds around something that happened, from messages that are kept in memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from frame_ros.bags.find_bags import SNAPSHOTS
from frame_ros.bags.recording.episode import EpisodeNames, EpisodeRecording, RecordedTopics
from frame_ros.bags.recording.options import RecordingLimits, RecordingOptions
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic, refuse_full_disk
from frame_ros.core.errors import FrameRosError
from frame_ros.core.events import Outcome
from frame_ros.core.options import option, options
from frame_ros.core.stamps import SET_BACK
from frame_ros.core.time import SECOND
from frame_ros.core.version import package_version

EVENTS = 50  # messages of the episode's events that are kept


@options
class SnapshotOptions:
    """Bags of the seconds around a halt, one each."""

    before: float = option(
        10.0, 'time before a halt that its bag holds; 0: no bags', unit='s', at_least=0.0
    )
    after: float = option(2.0, 'time behind a halt that its bag holds', unit='s', at_least=0.0)
    images: bool = option(
        False, 'camera images and point clouds too; they need hundreds of MB of memory'
    )
    memory: int = option(
        64 << 20,
        'memory for the time before; beyond it the oldest messages are forgotten',
        unit='B',
        at_least=0,
    )
    most: int = option(20, 'number of bags that are written; later halts have none', at_least=0)
    free: int = option(
        512 << 20, 'space left on the disk below which no bag is written', unit='B', at_least=0
    )


class Snapshots:
    """Writes bags of what was received shortly before a moment, and shortly behind it.

    `ask` may be called in any thread; one thread calls all others. A moment within another's time
    behind has no bag of its own; a bag that follows another soon begins where that one ended.

    Attributes:
        written: folders of the bags that are complete.
    """

    def __init__(
        self,
        folder: Path,
        recorded: RecordedTopics,
        chosen: SnapshotOptions,
        events: RecordedTopic,
        episode_of: Callable[[bytes], str],
        report: Callable[[str], object],
    ) -> None:
        """folder: of the run; the bags lie in its folder SNAPSHOTS. events: the topic of which
        every bag has the messages of its episode, however old. episode_of: the episode in such a
        message. report: takes reports of trouble.
        """
        events.latched = deque(maxlen=EVENTS)
        self._events, self._episode_of = events, episode_of
        self._folder, self._options, self._report = folder / SNAPSHOTS, chosen, report
        limits = RecordingLimits(pre_roll=chosen.memory, free=chosen.free)
        of_bags = RecordingOptions(pre_roll=chosen.before, limits=limits)
        self._recording = EpisodeRecording(recorded, of_bags, events, (), report)
        self._names = EpisodeNames()
        self._asked: deque[tuple[int, str, dict[str, str]]] = deque()
        self._lock = threading.Lock()
        self._end = 0  # ns, of the bag that is being written; 0: none is
        self._looked = 0  # ns, at the last look
        self._begun = 0
        self.written: list[Path] = []

    def accept(self, message: ReceivedMessage) -> None:
        """Takes a message."""
        self._recording.accept(message)

    def ask(self, stamp: int, episode_id: str, facts: Mapping[str, str]) -> None:
        """Asks for a bag of a moment, ns, in an episode. facts: for its metadata."""
        with self._lock:
            self._asked.append((stamp, episode_id, dict(facts)))

    def look(self, now: int) -> None:
        """Completes the bag whose time is over at `now`, ns, or if the clock was set back, and
        begins one that was asked for.
        """
        if self._end and (now >= self._end or now < self._looked - SET_BACK):
            self._complete()
        self._looked = now
        with self._lock:
            asked = list(self._asked)
            self._asked.clear()
        for stamp, episode_id, facts in asked:
            if not self._end:
                self._begin(stamp, episode_id, facts, now)

    def close(self) -> None:
        """Completes a bag that is being written, with what it has."""
        if self._end:
            self._complete()

    def _begin(self, stamp: int, episode_id: str, facts: dict[str, str], now: int) -> None:
        if self._begun >= self._options.most:
            self._report(f'no further snapshot: {self._begun} were written, as many as `most`')
            return
        self._keep_events_of(episode_id)
        facts |= {
            'episode_id': episode_id,
            'snapshot_of': str(stamp),
            'frame_ros_version': package_version(),
        }
        try:
            refuse_full_disk(self._folder, self._options.free, 'free')
            _, folder = self._names.new(self._folder, filter(None, (episode_id, 'halt')))
            self._recording.open(folder, facts, now)
        except FrameRosError as error:
            self._report(f'no snapshot: {error}')
            return
        self._begun += 1
        self._end = max(now, min(stamp, now) + int(self._options.after * SECOND), 1)

    def _keep_events_of(self, episode_id: str) -> None:
        kept = self._events.latched
        assert kept is not None
        own = [message for message in kept if self._episode_of(message.data) == episode_id]
        kept.clear()
        kept.extend(own)

    def _complete(self) -> None:
        self._end = 0
        session = self._recording.close()
        if session is None:
            return
        try:
            bag, lacks = self._recording.finish(session, {}, int(Outcome.UNKNOWN))
        except FrameRosError as error:
            self._report(f'a snapshot is not complete: {error}')
            return
        self.written.append(bag)
        for lack in lacks:
            self._report(f'{bag.name}: {lack}')
