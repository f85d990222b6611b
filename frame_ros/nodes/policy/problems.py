# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trouble in words: logged, but not at every tick, and noted in the episode it happened in."""

from __future__ import annotations

import threading

from rclpy.clock import Clock
from rclpy.publisher import Publisher

from frame_ros.core.repeated_warnings import RepeatedWarnings, subject_of
from frame_ros.msg import EpisodeEvent

MOST_KINDS = 20  # that are noted in one episode
MOST_EPISODES = 8  # whose kinds are remembered: a call may fail when its episode is over
SOURCE = 'policy'


class Problems:
    """Logs trouble as `RepeatedWarnings` does, and notes it on episode_events, each kind once per
    episode.

    Texts that differ in numbers alone are one kind. Of more kinds than MOST_KINDS the rest is
    not noted: a policy whose every error reads otherwise floods neither log nor bag. It may be
    called from any thread.
    """

    def __init__(self, warnings: RepeatedWarnings, clock: Clock, events: Publisher) -> None:
        """events: publisher of EpisodeEvent."""
        self._warnings, self._clock, self._events = warnings, clock, events
        self._lock = threading.Lock()
        self._noted: dict[str, set[str]] = {}

    def report(self, text: str, episode_id: str = '') -> None:
        """Logs the text. episode_id: of the episode that it is a fault of; empty: of none."""
        with self._lock:
            self._warnings.fail('trouble', text)
            is_new = bool(episode_id) and self._is_new(subject_of(text), episode_id)
        if is_new:
            self._note(text, episode_id)

    def _is_new(self, kind: str, episode_id: str) -> bool:
        noted = self._noted.setdefault(episode_id, set())
        if len(self._noted) > MOST_EPISODES:
            del self._noted[next(iter(self._noted))]
        if kind in noted or len(noted) >= MOST_KINDS:
            return False
        noted.add(kind)
        return True

    def _note(self, text: str, episode_id: str) -> None:
        event = EpisodeEvent(
            type=EpisodeEvent.NOTE, episode_id=episode_id, source=SOURCE, text=text
        )
        event.header.stamp = self._clock.now().to_msg()
        self._events.publish(event)
