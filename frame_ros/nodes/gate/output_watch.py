# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detects other publishers on a gate's output: two would move one arm in turns."""

from __future__ import annotations

from rclpy.node import Node

from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.publisher_identity import CAN_IDENTIFY
from frame_ros.nodes.runtime.qos import best_effort
from frame_ros.nodes.runtime.topics import JOINT_COMMANDS

DEPTH = 5


class OutputWatch:
    """Hears what is published on `topic`. For one thread.

    own: the GID of the node's own publisher. Where publishers cannot be distinguished, nothing
    is heard.
    """

    def __init__(self, node: Node, own: bytes) -> None:
        self._own = own
        self._subscription = (
            PolledSubscription(
                node, *endpoint(JOINT_COMMANDS), best_effort(DEPTH), raw=True, is_identified=True
            )
            if CAN_IDENTIFY and own
            else None
        )

    def other(self) -> bytes | None:
        """The GID of another publisher of which a message has come since the last call."""
        if self._subscription is None:
            return None
        publishers = (info['publisher'] for _, info in self._subscription.take(DEPTH))
        return next((publisher for publisher in publishers if publisher != self._own), None)

    def close(self) -> None:
        """Ends the subscription."""
        if self._subscription is not None:
            self._subscription.destroy()
