# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operation under way, from episode_events."""

from __future__ import annotations

from rclpy.node import Node

from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS
from frame_ros.sensing.contact.composition.context import ContextKeeper


class PhaseInput:
    """Feeds the events to a ContextKeeper."""

    def __init__(self, node: Node, keeper: ContextKeeper) -> None:
        self._subscription, self._keeper = FittingSubscription(node, EPISODE_EVENTS), keeper

    def poll(self) -> None:
        """Takes what has arrived."""
        for message, _ in self._subscription.take():
            self._keeper.on_event(message.type, message.text)
