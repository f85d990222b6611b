# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of all links of a robot and its description, while nobody else publishes them."""

import math
import random
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String

from frame_ros.core.errors import MissingExtraError, SetupError
from frame_ros.nodes.kinematics.other_transforms import OtherTransforms
from frame_ros.nodes.kinematics.topics import DESCRIPTION
from frame_ros.nodes.runtime.endpoints import interface, published
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.topics import TF, TF_STATIC
from frame_ros.robots import Robot
from frame_ros.robots.frame_names import FrameNames

Array = NDArray[np.float64]
CHOICES = ('auto', 'true', 'false')
MOST_HEARD = 16  # lists of names
LOOK_PERIOD = 0.5  # s between two looks at who publishes


class LinkTransforms:
    """Publisher of what robot_state_publisher has: /tf, /tf_static and robot_description, these two
    latched.

    With 'auto' exactly one node publishes each. Transforms are left to whoever else publishes those
    of the same frames, wherever its namespace is; the description to whoever else publishes that
    topic. When the other ends, this one begins. Without tf2_msgs it publishes the description
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
        # The newest message of each list of names, since transforms were published.
        self._heard: dict[tuple[str, ...], Array] = {}
        self._moving: Publisher | None = None
        self._fixed: Publisher | None = None
        self._sent_fixed = ''  # the first frame of what is latched
        children = [frames.of(link) for link, parent in self._parents.items() if parent is not None]
        self._others = OtherTransforms(node, self._message_type, children)
        self._rivals: dict[bytes, str] = {}
        self._is_left = False
        self._begins = time.monotonic() + grace(self._choice)
        self._next_look = 0.0
        self._description = LatchedDescription(node, robot.urdf, choice)
        self.look()

    @property
    def is_active(self) -> bool:
        """True if transforms are published."""
        return self._moving is not None

    def look(self) -> None:
        """Looks at what others publish; call it several times a second."""
        if self._choice == 'false':
            return
        now = time.monotonic()
        is_due = now >= self._next_look
        if is_due:
            self._next_look = now + LOOK_PERIOD
            self._description.look(now)
        if self._message_type is None:
            return
        if self._choice == 'true':
            if not self.is_active:
                self._begin()
        elif self._is_left:
            if is_due:
                self._look_at_rivals(now)
        else:
            self._look_at_transforms(now, is_due)

    def _look_at_transforms(self, now: float, is_due: bool) -> None:
        """Leaves the transforms to another one that is heard, begins when there is none."""
        others = self._others
        if is_due:
            own = 2 if self.is_active else 0
            if not self.is_active or others.count() > own:
                others.listen(latched=self._sent_fixed)
            else:
                others.ignore()
        others.look()
        if others.found:
            self._leave()
        elif not self.is_active and now >= self._begins:
            self._begin()

    def _look_at_rivals(self, now: float) -> None:
        """Listens again when one of those ends who may have published the transforms."""
        if not self._rivals or self._rivals.keys() - self._others.publishers().keys():
            self._is_left, self._begins = False, now + grace(self._choice)
            self._others.listen()

    def _begin(self) -> None:
        node = self._node
        self._moving = node.create_publisher(*published(TF))
        self._fixed = node.create_publisher(*published(TF_STATIC))
        links = [link for link in self._parents if self._is_fixed(link)]
        self._sent_fixed = self._send(self._fixed, links, node.get_clock().now().to_msg())
        if self._sent_fixed:
            self._others.note_sent(TF_STATIC.name, self._sent_fixed)
        why = '' if self._choice == 'true' else ': nobody else publishes those of its links'
        node.get_logger().info(f'publishes transforms on {TF.name} and {TF_STATIC.name}{why}')

    def _leave(self) -> None:
        found = self._others.found
        for publisher in (self._moving, self._fixed):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        self._moving = self._fixed = None
        self._sent_fixed = ''
        self._others.ignore()
        self._is_left, self._rivals = True, self._others.publishers()
        names = ', '.join(sorted(set(self._rivals.values()))) or 'one that has ended'
        self._node.get_logger().info(
            f'another node publishes the transform of {found} (publishers there: {names}): the '
            'transforms are left to it; if it is another robot, give each a frame_prefix'
        )

    def observe(self, names: tuple[str, ...], positions: Array) -> None:
        """Takes joint positions, of arm, gripper or both; those that are not finite are left
        out.
        """
        heard = self._heard
        heard.pop(names, None)  # the newest is the last
        heard[names] = positions
        if len(heard) > MOST_HEARD:
            self._settle()

    def _settle(self) -> None:
        for names, positions in self._heard.items():
            if len(names) == len(positions):
                values = zip(names, positions.tolist(), strict=True)
                self._positions.update({n: p for n, p in values if math.isfinite(p)})
        self._heard.clear()

    def publish(self, stamp: int) -> None:
        """Publishes every link whose joint moves and was seen, with this stamp (ns)."""
        self._settle()
        links = [link for link in self._driven_by if self._is_known(link)]
        if first := self._send(self._moving, links, time_message(stamp)):
            self._others.note_sent(TF.name, first)

    def _send(self, publisher: Publisher | None, links: Sequence[str], stamp: Any) -> str:
        """Returns the first frame sent; '' if there was nothing to send."""
        if publisher is None or not links:
            return ''
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
        return str(transforms[0].child_frame_id)

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
        return interface(TF.type)
    except ImportError as error:
        if not is_needed:
            return None
        raise MissingExtraError(
            'publish_tf needs the ROS package tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); '
            'without it set publish_tf to auto or false'
        ) from error


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
        self._topic = node.resolve_topic_name(DESCRIPTION.name)
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
            self._publisher = self._node.create_publisher(*published(DESCRIPTION))
            self._publisher.publish(String(data=self._urdf))
            self._node.get_logger().info(f'publishes {self._topic}')

    def _end(self) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None
            self._node.get_logger().info(f'another node publishes {self._topic}: left to it')
