# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of all links of a robot and its description, while nobody else publishes them."""

import math
import time
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from frame_ros.errors import MissingExtraError, SetupError
from frame_ros.robots import Robot
from frame_ros.robots.frame_names import FrameNames

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
CHOICES = ('auto', 'true', 'false')
GRACE = 3.0  # s to look for another publisher of the description before this one begins


class LinkTransforms:
    """What robot_state_publisher publishes: /tf, /tf_static (latched) and robot_description
    (latched).

    With 'auto' exactly one of the two does: this one begins where nobody else publishes
    robot_description, and ends when somebody does. Without tf2_msgs it publishes the description
    alone.
    """

    def __init__(self, node: Node, robot: Robot, choice: str, frames: FrameNames) -> None:
        """Raises SetupError for an unknown choice, MissingExtraError where it is 'true' and the
        message package tf2_msgs is not installed.
        """
        if choice not in CHOICES:
            raise SetupError(f'publish_tf is {choice!r}; it must be one of {", ".join(CHOICES)}')
        self._node, self._robot, self._choice, self._frames = node, robot, choice, frames
        self._message_type = None if choice == 'false' else _message_type(choice == 'true')
        self._parents = {link: robot.parent_of(link) for link in robot.links}
        self._driven_by = robot.joint_of_link
        self._positions: dict[str, float] = {}
        self._description: Publisher | None = None
        self._moving: Publisher | None = None
        self._fixed: Publisher | None = None
        self._topic = node.resolve_topic_name('robot_description')
        self._begins = time.monotonic() + (GRACE if choice == 'auto' else 0.0)
        self.look()

    @property
    def is_active(self) -> bool:
        """Whether transforms are published."""
        return self._moving is not None

    def look(self) -> None:
        """Looks whether somebody else publishes the description; call it now and then."""
        if self._choice == 'false' or time.monotonic() < self._begins:
            return
        own = self._description is not None
        is_other = self._choice == 'auto' and self._node.count_publishers(self._topic) > own
        if own and is_other:
            self._end()
        elif not own and not is_other:
            self._begin()

    def _begin(self) -> None:
        self._description = self._node.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=self._robot.urdf))
        said = f'publishes {self._topic}'
        if self._message_type is not None:
            self._moving = self._node.create_publisher(self._message_type, '/tf', 100)
            self._fixed = self._node.create_publisher(self._message_type, '/tf_static', LATCHED)
            links = [link for link in self._parents if self._is_fixed(link)]
            self._send(self._fixed, links, self._node.get_clock().now().to_msg())
            said += ', /tf and /tf_static'
        else:
            said += ', but no transforms: tf2_msgs is not installed'
        self._node.get_logger().info(said)

    def _end(self) -> None:
        for publisher in (self._description, self._moving, self._fixed):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        self._description = self._moving = self._fixed = None
        self._node.get_logger().info(
            f'another node publishes {self._topic}: the transforms of the links are left to it'
        )

    def observe(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Takes joint positions, of arm, gripper or both; those that are not finite are left
        out.
        """
        if len(names) == len(positions):
            finite = {n: p for n, p in zip(names, positions, strict=True) if math.isfinite(p)}
            self._positions.update(finite)

    def publish(self, stamp: Any) -> None:
        """Publishes every link whose joint moves and was seen, with this stamp."""
        links = [link for link in self._driven_by if self._is_known(link)]
        self._send(self._moving, links, stamp)

    def _send(self, publisher: Publisher | None, links: Sequence[str], stamp: Any) -> None:
        if publisher is None or not links:
            return
        poses = self._robot.link_poses(self._positions)
        transforms = []
        for link in links:
            translation, rotation = poses[link]
            transform = TransformStamped()
            transform.header.stamp = stamp
            transform.header.frame_id = self._frames.of(self._parents[link] or '')
            transform.child_frame_id = self._frames.of(link)
            place, turn = transform.transform.translation, transform.transform.rotation
            place.x, place.y, place.z = translation.tolist()
            turn.x, turn.y, turn.z, turn.w = rotation.tolist()
            transforms.append(transform)
        assert self._message_type is not None
        publisher.publish(self._message_type(transforms=transforms))

    def _is_fixed(self, link: str) -> bool:
        return self._parents[link] is not None and link not in self._driven_by

    def _is_known(self, link: str) -> bool:
        joint = self._driven_by[link]
        followed = self._robot.mimics[joint][0] if joint in self._robot.mimics else joint
        return joint in self._positions or followed in self._positions


def _message_type(is_needed: bool) -> Any:
    """tf2_msgs/TFMessage; None where it is not installed.

    Raises:
        MissingExtraError: it is not installed, and needed.
    """
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        if not is_needed:
            return None
        raise MissingExtraError(
            'publish_tf needs the ROS package tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); '
            'without it set publish_tf to auto or false'
        ) from error
    return TFMessage
