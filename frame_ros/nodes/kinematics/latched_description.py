# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description, latched, while nobody else publishes it in the node's namespace."""

import random
import time

from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String

from frame_ros.nodes.runtime.qos import STATE

GRACE = 3.0  # s to look for another publisher before this one begins
JITTER = 2.0  # at most so many s more, by chance: of two nodes that give way one begins first


def grace(choice: str) -> float:
    """s to wait whether somebody else publishes; with 'auto' alone."""
    return GRACE + random.uniform(0.0, JITTER) if choice == 'auto' else 0.0


class LatchedDescription:
    """Publishes a URDF: with choice 'auto' where nobody else does, with 'true' in any case, with
    'false' never.
    """

    def __init__(self, node: Node, urdf: str, choice: str) -> None:
        self._node, self._urdf, self._choice = node, urdf, choice
        self._topic = node.resolve_topic_name('robot_description')
        self._publisher: Publisher | None = None
        self._begins = time.monotonic() + grace(choice)

    def look(self, now: float) -> None:
        """Looks whether somebody else publishes it; now: time.monotonic()."""
        if self._choice == 'false':
            return
        own = self._publisher is not None
        is_other = self._choice == 'auto' and self._node.count_publishers(self._topic) > own
        if is_other:
            self._begins = now + grace(self._choice)
            self._end()
        elif not own and now >= self._begins:
            self._publisher = self._node.create_publisher(String, self._topic, STATE)
            self._publisher.publish(String(data=self._urdf))
            self._node.get_logger().info(f'publishes {self._topic}')

    def _end(self) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None
            self._node.get_logger().info(f'another node publishes {self._topic}: left to it')
