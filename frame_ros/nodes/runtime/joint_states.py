# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of joint states."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from frame_ros.bags.message_readers import JointStateReader
from frame_ros.core.topics import Topic
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.topics import JOINT_STATES


class JointStateInput(FittingSubscription):
    """Joint states, which come all the time and which the node needs, read from their bytes.

    It hands over `FullJointState`, or `ReadJointState` where positions do.

    Attributes:
        reader: what reads the messages.
    """

    def __init__(
        self,
        node: Node,
        topic: Topic = JOINT_STATES,
        *args: Any,
        has_positions_only: bool = False,
        **options: Any,
    ) -> None:
        """args, options: of FittingSubscription."""
        self.reader = JointStateReader()
        read = self.reader.positions if has_positions_only else self.reader.full
        super().__init__(node, topic, *args, read=read, is_required=True, is_steady=True, **options)
