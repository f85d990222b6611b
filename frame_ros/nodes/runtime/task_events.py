# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a simulated world that judges its task: their begin and end, and the outcome."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from rclpy.node import Node

from frame_ros.core.time import stamp_ns
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.qos import EVENTS
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS
from frame_ros.scenes import TaskState

BOUNDS = (EpisodeEvent.START, EpisodeEvent.END)
OUTCOMES = {
    TaskState.SUCCESS: (EpisodeEvent.SUCCESS, 'the cube lies released in the bin'),
    TaskState.FAILURE: (EpisodeEvent.FAILURE, 'the cube fell off the table'),
}


class TaskEvents:
    """Listens in the executor's thread; all else is for the thread of the physics.

    source: the world's name in the events it publishes.
    """

    def __init__(
        self, node: Node, source: str, texts: Mapping[TaskState, str] | None = None
    ) -> None:
        """texts: of success and failure; None: those of the cube and the bin."""
        self._source, self._texts = source, texts or {}
        self._events: deque[EpisodeEvent] = deque()
        self._episode: str | None = None
        self._reported = TaskState.RUNNING
        self._publisher = node.create_publisher(*published(EPISODE_EVENTS))
        called = {'depth': EVENTS.depth, 'is_called': True}
        FittingSubscription(node, EPISODE_EVENTS, self._on_event, **called)

    def _on_event(self, message: EpisodeEvent) -> None:
        if message.type in BOUNDS:
            self._events.append(message)

    def has_begun(self, stamp: int) -> bool:
        """Returns whether an episode has begun by a stamp (ns) that had not before: they begin and
        end at their events' stamps, a little after the events arrive.
        """
        found = False
        while self._events and stamp_ns(self._events[0].header.stamp) <= stamp:
            event = self._events.popleft()
            is_start = event.type == EpisodeEvent.START
            self._episode = event.episode_id if is_start else None
            found = found or is_start
        if found:
            self.forget()
        return found

    def forget(self) -> None:
        """The task is judged again from now on."""
        self._reported = TaskState.RUNNING

    def outcome(self, stamp: int, state: TaskState) -> EpisodeEvent | None:
        """Returns SUCCESS or FAILURE at a stamp (ns), once in an episode; else None."""
        if self._episode is None or state is TaskState.RUNNING or state is self._reported:
            return None
        self._reported = state
        kind, text = OUTCOMES[state]
        text = self._texts.get(state, text)
        event = EpisodeEvent(episode_id=self._episode, source=self._source, type=kind, text=text)
        event.header.stamp = time_message(stamp)
        return event

    def publish(self, event: EpisodeEvent) -> None:
        """Publishes an event."""
        self._publisher.publish(event)
