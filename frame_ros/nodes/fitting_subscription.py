# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A polled subscription whose quality of service follows its publishers'.

The poses of objects and the states of grippers come from other people's nodes: latched or not,
reliable or not. One that asks for more than is offered hears nothing; one that asks for less misses
what was latched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from frame_ros.nodes.polled import PolledSubscription

DEPTH = 200
LOOK_PERIOD = 0.5  # s


class FittingSubscription:
    """Takes messages as PolledSubscription does, and subscribes anew when the publishers offer
    another quality of service: reliable, and with what was latched, if all of them are.
    """

    def __init__(
        self, node: Node, message_type: Any, topic: str, handle: Callable[[Any], None]
    ) -> None:
        self._node, self._type, self._topic, self._handle = node, message_type, topic, handle
        self._offered = (True, False)  # reliable, latched
        self._next_look = 0.0
        self._subscription = self._subscribe()
        self.look()

    def _subscribe(self) -> PolledSubscription:
        is_reliable, is_latched = self._offered
        reliability, durability = ReliabilityPolicy, DurabilityPolicy
        qos = QoSProfile(
            depth=DEPTH,
            reliability=reliability.RELIABLE if is_reliable else reliability.BEST_EFFORT,
            durability=durability.TRANSIENT_LOCAL if is_latched else durability.VOLATILE,
        )
        return PolledSubscription(self._node, self._type, self._topic, qos)

    @property
    def topic_name(self) -> str:
        """The fully resolved name of the topic."""
        return self._subscription.topic_name

    def poll(self) -> None:
        """Hands on what has arrived."""
        for message, _ in self._subscription.take(1000):
            self._handle(message)

    def look(self) -> None:
        """Looks now and then at what the publishers offer."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_PERIOD
        found = self._node.get_publishers_info_by_topic(self.topic_name)
        if not found:
            return
        profiles = [info.qos_profile for info in found]
        offered = (
            all(qos.reliability == ReliabilityPolicy.RELIABLE for qos in profiles),
            all(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL for qos in profiles),
        )
        if offered != self._offered:
            self.poll()
            self._subscription.destroy()
            self._offered = offered
            self._subscription = self._subscribe()
