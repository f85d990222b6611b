# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trouble in words: logged, but not at every tick, and noted in the episode it happened in."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.publisher import Publisher

from frame_ros.msg import EpisodeEvent

REPORT_PERIOD = 1.0  # s at least between two messages about the same kind of trouble
MOST_KINDS = 20  # that are noted in one episode, and that are logged within REPORT_PERIOD
MOST_EPISODES = 8  # whose kinds are remembered: a call may fail when its episode is over
VARIABLE = re.compile(r'0x[0-9a-fA-F]+|[\d.]+')
SOURCE = 'policy'


class Problems:
    """Logs trouble, each kind at most once per REPORT_PERIOD, and notes it on episode_events, each
    kind once per episode.

    Texts that differ in numbers alone are one kind. Of more kinds than MOST_KINDS the rest is
    silent: a policy whose every error reads otherwise floods neither log nor bag. It may be called
    from any thread.

    log: gets the text. events: publisher of EpisodeEvent.
    """

    def __init__(self, log: Callable[[str], object], clock: Clock, events: Publisher) -> None:
        self._log, self._clock, self._events = log, clock, events
        self._lock = threading.Lock()
        self._logged: dict[str, float] = {}
        self._noted: dict[str, set[str]] = {}

    def report(self, text: str, episode_id: str = '') -> None:
        """Logs the text. episode_id: of the episode that it is a fault of; empty: of none."""
        kind = VARIABLE.sub('#', text)
        with self._lock:
            is_due = self._is_due(kind, time.monotonic())
            is_new = bool(episode_id) and self._is_new(kind, episode_id)
        if is_due:
            self._log(text)
        if is_new:
            self._note(text, episode_id)

    def _is_due(self, kind: str, now: float) -> bool:
        recent = {k: at for k, at in self._logged.items() if now - at < REPORT_PERIOD}
        self._logged = recent
        if kind in recent or len(recent) >= MOST_KINDS:
            return False
        recent[kind] = now
        return True

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
