# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A markers node with all its inputs, for its tests."""

import time

import pytest
from geometry_msgs.msg import PoseStamped
from patience import PATIENCE
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import PointCloud2
from visualization_msgs.msg import MarkerArray

from frame_ros.msg import (
    ContactState,
)
from frame_ros.nodes.markers.node import MarkersNode
from frame_ros.nodes.markers.topics import POINTS, TOPICS
from frame_ros.nodes.runtime.endpoints import interface, published


def rgb(shade):
    return pytest.approx((shade.r, shade.g, shade.b))


class Bench:
    """A markers node and a peer that feeds it, in one process over the real middleware."""

    def __init__(self, rclpy, *parameters):
        arguments = ['--ros-args'] + [word for each in parameters for word in ('-p', each)]
        self.node = self.made(rclpy, arguments)
        self.peer = rclpy.create_node('peer')
        self.seen = []
        qos = QoSProfile(depth=50)
        self.peer.create_subscription(MarkerArray, 'metric_markers', self.seen.append, qos)
        self.out = {
            interface(topic.type): self.peer.create_publisher(*published(topic))
            for topic in (*TOPICS.subscribes, POINTS.at('cloud'))
        }
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.peer)
        self.until(
            lambda: all(
                p.get_subscription_count()
                for kind, p in self.out.items()
                if kind is not PointCloud2
            )
        )

    @staticmethod
    def made(rclpy, arguments):
        """The node with parameters name:=value, which it takes from the context."""
        if len(arguments) > 1:
            rclpy.shutdown()
            rclpy.init(args=arguments)
        return MarkersNode()

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            self.executor.spin_once(timeout_sec=0.02)

    def draw(self, *messages):
        """The markers of these messages by (namespace, id)."""
        drawn = {}
        for message in messages:
            self.out[type(message)].publish(message)
        wanted = len({type(message) for message in messages})

        def all_taken():
            self.node.take()
            drawn.update({(marker.ns, marker.id): marker for marker in self.node.draw()})
            taken.update(self.node._fresh)
            return len(taken) == wanted

        taken = set()
        self.until(all_taken)
        return drawn

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.peer.destroy_node()


def pose(x=0.0):
    message = PoseStamped()
    message.header.frame_id = 'base_link'
    message.pose.position.x = x
    return message


def contact(**values):
    message = ContactState(**values)
    message.header.frame_id = 'base_link'
    return message
