# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of all links of a robot, for where nobody else publishes tf."""

import math
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from frame_ros.errors import MissingExtraError
from frame_ros.robots import Robot


class LinkTransforms:
    """Publishes tf, and the URDF on robot_description (latched), as robot_state_publisher does."""

    def __init__(self, node: Node, robot: Robot) -> None:
        """Raises MissingExtraError if the message package tf2_msgs is not installed."""
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError as error:
            raise MissingExtraError(
                'publish_tf needs the ROS package tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); '
                'without it set publish_tf to false'
            ) from error
        self._message_type: Any = TFMessage
        self._robot = robot
        self._parents = {link: robot.parent_of(link) for link in robot.links}
        self._driven_by = robot.joint_of_link
        self._positions: dict[str, float] = {}
        self._publisher = node.create_publisher(TFMessage, 'tf', 100)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = node.create_publisher(String, 'robot_description', latched)
        self._description.publish(String(data=robot.urdf))

    def observe(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take joint positions, of arm, gripper or both; those that are not finite are left out."""
        if len(names) == len(positions):
            finite = {n: p for n, p in zip(names, positions, strict=True) if math.isfinite(p)}
            self._positions.update(finite)

    def publish(self, stamp: Any) -> None:
        """Publish every link whose joint is fixed or was seen, with this stamp."""
        transforms = []
        for link, (translation, rotation) in self._robot.link_poses(self._positions).items():
            if not self._is_known(link):
                continue
            transform = TransformStamped()
            transform.header.stamp = stamp
            transform.header.frame_id = self._parents[link]
            transform.child_frame_id = link
            place, turn = transform.transform.translation, transform.transform.rotation
            place.x, place.y, place.z = translation.tolist()
            turn.x, turn.y, turn.z, turn.w = rotation.tolist()
            transforms.append(transform)
        self._publisher.publish(self._message_type(transforms=transforms))

    def _is_known(self, link: str) -> bool:
        joint = self._driven_by.get(link)
        followed = self._robot.mimics[joint][0] if joint in self._robot.mimics else joint
        return joint is None or joint in self._positions or followed in self._positions
