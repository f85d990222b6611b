# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Input of what the gripper holds, as the kinematics node has decided."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from frame_ros.bags.streams.grasp import GRASP as STREAM
from frame_ros.core.time import stamp_ns
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.topics import GRASP
from frame_ros.sensing.contact.grasp import NONE, GraspHistory


class GraspInput:
    """Subscribes the decisions. history: what was decided, and when."""

    def __init__(self, node: Node, ignored: str = NONE) -> None:
        """ignored: a source by which it is not to be known."""
        self._ignored = ignored
        self.history = GraspHistory()
        self._subscription = FittingSubscription(node, GRASP, self._add, is_steady=True)
        self.poll = self._subscription.poll

    def _add(self, message: Any) -> None:
        is_held, _ = STREAM.from_message(message)
        is_ignored = message.source == self._ignored
        self.history.add(stamp_ns(message.header.stamp), None if is_ignored else is_held)
