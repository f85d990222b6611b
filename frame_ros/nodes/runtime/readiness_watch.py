# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lack of readiness in the nodes of a run, for those who begin an episode."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rclpy.node import Node

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.node_readiness import state_of
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.publisher_identity import node_of
from frame_ros.nodes.runtime.qos import latched
from frame_ros.nodes.runtime.topics import READINESS
from frame_ros.sensing.stream_health.readiness import ReadinessBoard

DEPTH = 100  # the last message of every node, and what came since the last look


class ReadinessWatch:
    """Looks, when asked, at the readiness that every node of the namespace reports.

    expected: names of the nodes that must be there, relative to the node's namespace or absolute.
    """

    def __init__(self, node: Node, expected: Iterable[str] = ()) -> None:
        namespace = node.get_namespace().rstrip('/')
        names = [n if n.startswith('/') else f'{namespace}/{n}' for n in expected if n]
        self._node = node
        self._board = ReadinessBoard(names)
        self._subscription = PolledSubscription(node, *endpoint(READINESS), latched(DEPTH))

    def missing(self) -> list[str]:
        """Reasons to wait, each with node and topic; empty: everything is ready."""
        now = time.time()
        for message, info in self._subscription.take(10 * DEPTH):
            received = info['received_timestamp'] / SECOND  # 0 where ROS does not know it
            self._board.take(state_of(message), received or now)
        topic = self._subscription.topic_name
        self._board.set_present(
            node_of(info) for info in self._node.get_publishers_info_by_topic(topic)
        )
        return self._board.missing(now)

    def destroy(self) -> None:
        """Ends the subscription."""
        self._subscription.destroy()
