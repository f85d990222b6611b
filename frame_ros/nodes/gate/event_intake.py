# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episode events as the gate hears them: those of others, and of a STOP whether it is news."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from rclpy.node import Node

from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.publisher_identity import UNKNOWN
from frame_ros.nodes.runtime.qos import EVENTS
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS

REMEMBERED = 1000  # stops


class HeardEvent(NamedTuple):
    """is_history: published, by the publisher's clock, before the node listened, and latched."""

    event: EpisodeEvent
    is_history: bool


class EventIntake:
    """Takes from episode_events with two subscriptions. For one thread.

    The one hears what was latched, for an episode may have begun before. The other hears only what
    is published from now on: a STOP that comes by it is news whatever its stamp, and whatever
    clock its publisher has. A publisher that is not reliable is heard by the first alone, which
    then hears nothing that was latched.

    own: the GID of the node's own publisher, whose events are left out.
    """

    def __init__(self, node: Node, own: bytes) -> None:
        self._own = own
        self._since = time.time_ns()
        self._stops: deque[tuple[bytes, int, int]] = deque(maxlen=REMEMBERED)
        self._latched = FittingSubscription(
            node, EPISODE_EVENTS, depth=EVENTS.depth, is_identified=True
        )
        self._live = PolledSubscription(
            node, *endpoint(EPISODE_EVENTS), EVENTS.depth, is_identified=True
        )
        self.subscriptions = (self._live, self._latched)

    def take(self, most: int) -> Iterator[HeardEvent]:
        """Events of others, STOP first; no STOP twice."""
        for event, info in self._live.take(most):
            if event.type == EpisodeEvent.STOP and self._is_new(info):
                yield HeardEvent(event, False)
        for event, info in self._latched.take(most):
            is_stop = event.type == EpisodeEvent.STOP
            is_history = self._latched.is_latched and info['source_timestamp'] < self._since
            if is_history and is_stop and not self._is_own(info):
                yield HeardEvent(event, True)  # the other subscription may have it as news
            elif self._is_new(info) if is_stop else not self._is_own(info):
                yield HeardEvent(event, is_history)

    def _is_own(self, info: dict[str, Any]) -> bool:
        publisher = info.get('publisher', UNKNOWN)
        return publisher != UNKNOWN and publisher == self._own

    def _is_new(self, info: dict[str, Any]) -> bool:
        publisher = info.get('publisher', UNKNOWN)
        number = info.get('publication_sequence_number') or 0
        key = publisher, number, info['source_timestamp']
        if self._is_own(info) or key in self._stops:
            return False
        self._stops.append(key)
        return True

    def close(self) -> None:
        """Ends the subscriptions."""
        for subscription in self.subscriptions:
            subscription.destroy()
