# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A run's newest metrics and finished episodes for a terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from frame_ros.core.events import Outcome
from frame_ros.msg import (
    EpisodeEvent,
    EpisodeSummary,
)
from frame_ros.nodes.metrics.topics import METRICS
from frame_ros.nodes.monitor.topics import STATE as MONITOR_STATE
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_inputs import inputs_of
from frame_ros.nodes.runtime.qos import EVENTS
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS

NAN = math.nan


@dataclass
class Snapshot:
    """The newest values of the running episode, in s, m/s, m/s^3, m, Hz; NaN where nothing came or
    it is unavailable.

    episode_id: '' between episodes. number: of the episode, from 1, as its START came; between
    episodes that of the newest, 0 before the first. latency: of the newest call. control_rate: over
    the last second. monitor: level of its newest verdict; -1: none has come. waits_for: why the
    first episode has not begun, one reason for each node.
    """

    episode_id: str = ''
    number: int = 0
    time: float = NAN
    speed: float = NAN
    jerk: float = NAN
    distance: float = NAN
    collisions: int = 0
    latency: float = NAN
    control_rate: float = NAN
    monitor: int = -1
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class EpisodeResult:
    """One finished episode, from its summary.

    number: of the episode, from 1, in the order of the STARTs. duration, time_to_success: s. path,
    distance: m. jerk: m/s^3, RMS. latency: s, mean over the calls. control_rate: Hz, mean.
    """

    episode_id: str
    number: int
    outcome: Outcome
    duration: float
    time_to_success: float
    path: float
    jerk: float
    distance: float
    collisions: int
    latency: float
    control_rate: float
    attributes: dict[str, str] = field(default_factory=dict)


class ConsoleNode(Node):
    """Looks, when asked, at the metric topics, episode_summary and episode_events."""

    def __init__(self, namespace: str = '') -> None:
        super().__init__('console', namespace=namespace)
        # Of running metrics only the newest is shown.
        self._quality, self._safety, self._efficiency = (
            FittingSubscription(self, METRICS[kind], depth=1)
            for kind in ('quality', 'safety', 'efficiency')
        )
        self._monitor = FittingSubscription(self, MONITOR_STATE, depth=1)
        self._summaries = FittingSubscription(self, METRICS['summary'], depth=EVENTS.depth)
        self._events = FittingSubscription(self, EPISODE_EVENTS, depth=EVENTS.depth)
        self._attributes: dict[str, dict[str, str]] = {}
        self._new: list[EpisodeSummary] = []  # those whose START has not come yet stay
        self._ready = ReadinessWatch(self)
        self.snapshot = Snapshot()

    def look(self) -> list[EpisodeResult]:
        """Renews `snapshot` and returns the episodes that finished since the last look, also
        before this node was there.
        """
        for each in inputs_of(self):
            each.look()
        for message, _ in self._events.take():
            self._on_event(message)
        if not self._attributes:  # no episode has begun
            self.snapshot.waits_for = tuple(self._ready.missing())
        for message in self._of_episode(self._quality):
            self.snapshot.time = message.time
            self.snapshot.speed, self.snapshot.jerk = message.tcp_speed, message.ti
        for message in self._of_episode(self._safety):
            self.snapshot.distance = message.distance
            self.snapshot.collisions = message.collisions
        for message in self._of_episode(self._efficiency):
            self.snapshot.latency = message.il_last
            self.snapshot.control_rate = message.control_rate_now
        for message in self._of_episode(self._monitor):
            self.snapshot.monitor = message.level
        new = [*self._new, *(message for message, _ in self._summaries.take())]
        self._new = [each for each in new if each.episode_id not in self._attributes]
        return [self._result(each) for each in new if each.episode_id in self._attributes]

    def _on_event(self, event: EpisodeEvent) -> None:
        """START clears what was shown of the episode before, END what was shown of this one."""
        if event.type == EpisodeEvent.START:
            pairs = {pair.key: pair.value for pair in event.attributes}
            self._attributes[event.episode_id] = pairs
            self.snapshot = Snapshot(event.episode_id, len(self._attributes))
        elif event.type == EpisodeEvent.END and event.episode_id == self.snapshot.episode_id:
            self.snapshot = Snapshot(number=self.snapshot.number)

    def _of_episode(self, subscription: FittingSubscription) -> list[Any]:
        """Messages of the episode that runs; others came before its START, or after its END."""
        running = self.snapshot.episode_id
        return [m for m, _ in subscription.take() if running and m.episode_id == running]

    def _result(self, summary: EpisodeSummary) -> EpisodeResult:
        known = list(self._attributes)
        return EpisodeResult(
            episode_id=summary.episode_id,
            number=known.index(summary.episode_id) + 1,
            outcome=Outcome(summary.outcome),
            duration=summary.duration,
            time_to_success=summary.time_to_success,
            path=summary.quality.pl,
            jerk=summary.quality.ti,
            distance=summary.safety.op,
            collisions=summary.safety.collisions,
            latency=summary.efficiency.il,
            control_rate=summary.efficiency.control_rate,
            attributes=self._attributes[summary.episode_id],
        )


def open_console(domain_id: int, namespace: str = '') -> ConsoleNode:
    """A console in this process; signals stay the caller's. End it with `close_console`."""
    rclpy.init(args=[], domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
    return ConsoleNode(namespace)


def close_console(console: ConsoleNode) -> None:
    """Takes the console off the network."""
    console.destroy_node()
    rclpy.try_shutdown()
