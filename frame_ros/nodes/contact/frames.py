# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The place of a force-torque sensor on the robot: its messages' frame, fixed to a link."""

from __future__ import annotations

from rclpy.node import Node

from frame_ros.nodes.contact.topics import TF_STATIC
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.sensing.contact.sensor_mount import SensorFrames

DEPTH = 500


class FixedTransforms:
    """Feeds tf_static to SensorFrames, where tf2_msgs is installed."""

    def __init__(self, node: Node, frames: SensorFrames) -> None:
        self._frames = frames
        self._subscription = _subscribe(node)

    def poll(self) -> bool:
        """Takes what has arrived; whether anything has."""
        if self._subscription is None:
            return False
        is_new = False
        for message, _ in self._subscription.take():
            for transform in message.transforms:
                place, turn = transform.transform.translation, transform.transform.rotation
                is_new |= self._frames.add(
                    transform.header.frame_id,
                    transform.child_frame_id,
                    (place.x, place.y, place.z),
                    (turn.x, turn.y, turn.z, turn.w),
                )
        return is_new


def _subscribe(node: Node) -> FittingSubscription | None:
    try:
        return FittingSubscription(node, TF_STATIC, depth=DEPTH)
    except ImportError:  # without tf2_msgs
        return None
