# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The kinematics node: joint_states -> ee_pose at every message; ee_twist, path, tf and grasp more
slowly.
"""

import sys
import threading
import time
from collections import deque

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from std_msgs.msg import Header

from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND
from frame_ros.nodes.kinematics.grasp import GraspOutput
from frame_ros.nodes.kinematics.link_transforms import LinkTransforms
from frame_ros.nodes.kinematics.options import KinematicsOptions
from frame_ros.nodes.kinematics.topics import EE_POSE, EE_TWIST, TIP_PATH
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.message_bytes import pose_writer
from frame_ros.nodes.runtime.message_parts import header_message
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import poll_with_services, run_node
from frame_ros.robots import AssembledState, load_robot
from frame_ros.robots.joint_state_merge import FullJointState, JointMerger
from frame_ros.robots.motion import twist_between
from frame_ros.sensing.stream_health.joint_limits import JointLimits
from frame_ros.sensing.stream_health.options import StreamHealthOptions

SILENCE = 5.0  # s without a message that is worth a warning, once one has come
FIRST_SILENCE = 20.0  # s before the first: nodes that are started together load for unequal times
IDLE_AFTER = 0.2  # s without a message, after which the node waits instead of polling


class Trace:
    """The newest poses of the tip, each at least `spacing` m from the one before, as a
    nav_msgs/Path.
    """

    def __init__(self, length: int, spacing: float) -> None:
        self._poses: deque[PoseStamped] = deque(maxlen=length)
        self._spacing = spacing
        self._last = np.full(3, np.inf)
        self.is_new = False

    def add(self, header: Header, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Keep this pose if it is far enough from the last one kept."""
        if np.linalg.norm(position - self._last) < self._spacing:
            return
        self._last = position
        pose = PoseStamped(header=header)
        place, turn = pose.pose.position, pose.pose.orientation
        place.x, place.y, place.z = position.tolist()
        turn.x, turn.y, turn.z, turn.w = quaternion.tolist()
        self._poses.append(pose)
        self.is_new = True

    def message(self) -> Path:
        """All poses kept, under the header of the newest."""
        self.is_new = False
        return Path(header=self._poses[-1].header, poses=list(self._poses))

    def clear(self) -> None:
        """Forget all."""
        self._poses.clear()
        self._last = np.full(3, np.inf)
        self.is_new = False


class KinematicsNode(Node):
    """Publishes pose and velocity of the tip, in the frame of the robot's base link, and decides
    whether the gripper holds something.

    Joint states may come in any order, with joints too many, or several messages for the parts of
    the arm, as `JointMerger` brings them together. A message whose stamp is zero, repeated or
    earlier is not published from; all that is dropped is counted.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a robot, tip or parameter that cannot be used."""
        super().__init__('kinematics')
        self.options = options = declare_options(self, KinematicsOptions, self._change)
        self.robot = load_robot(options.robot_description or options.robot, options.tip or None)
        self._joints = JointMerger(
            self.robot.joint_names, options.max_joint_age, continuous=self.robot.continuous
        )
        self._limits = JointLimits(self.robot, StreamHealthOptions().beyond_limits)
        inputs = options.inputs
        self._pose_publisher = self.create_publisher(*published(EE_POSE, inputs.queue_depth))
        self._twist_publisher = self.create_publisher(*published(EE_TWIST))
        self._path_publisher = self.create_publisher(*published(TIP_PATH))
        self._transforms = LinkTransforms(self, self.robot, options.publish_tf, options.frames)
        self._grasp = GraspOutput(self, options, self.robot.profile)
        self._change(options)
        self._trace = Trace(options.path.length, options.path.spacing)
        self._base = options.frames.of(self.robot.base_link)
        self._pose = pose_writer(self._base)
        self._before: tuple[int, np.ndarray, np.ndarray] | None = None
        self._warnings = RepeatedWarnings(self.get_logger())
        self.published = 0
        self.joint_states = JointStateInput(
            self, depth=inputs.queue_depth, reliability=inputs.reliability
        )
        self._readiness = Readiness(self, self.robot.name)
        self.get_logger().info(
            f'{self.robot.name}: {self.robot.base_link} to {self.robot.tip_link}'
        )

    def _change(self, options: KinematicsOptions) -> None:
        self.options = options
        self._side_limit = RateLimit(options.side_rate)
        self._path_limit = RateLimit(options.path.rate)
        self._tf_limit = RateLimit(options.side_rate)

    def poll(self) -> int:
        """Handle what has arrived; how many messages that was."""
        self._grasp.poll()
        taken = self.joint_states.take(100)
        for state, _ in taken:
            self.on_joint_state(state)
        return len(taken)

    def on_joint_state(self, message: FullJointState) -> None:
        """Publish the pose of one message, and anything else that is due."""
        stamp, names, positions, velocities, _ = message
        joints = self._joints
        state = joints.update(stamp, names, positions, velocities)
        self._publish_transforms(stamp, names, positions)
        if len(positions) == len(names):
            why = self._limits.problem(stamp, names, positions)
            self._warnings.warn('limits', why and f'a joint state {why}')
        self._grasp.on_joint_state(message)
        if joints.is_reset:
            self._restart()
        if state is None:
            if joints.problem:
                self._warnings.warn(joints.kind, f'dropped: {joints.problem}')
            return
        stamp = joints.stamp  # that of another part, where this one completes it
        position, quaternion = self.robot.forward(state.positions)
        self._pose_publisher.publish(self._pose.data(stamp, position, quaternion))
        self.published += 1
        if self._side_limit.is_due(stamp):
            self._publish_beside(stamp, state, position, quaternion)

    def _restart(self) -> None:
        """The clock was reset: earlier messages are of another time."""
        self._warnings.warn(
            'clock', 'the stamps of the joint states jumped to another time and go on from there'
        )
        self._before = None
        self._trace.clear()
        for limit in (self._side_limit, self._path_limit, self._tf_limit):
            limit.reset()

    def _publish_beside(
        self, stamp: int, state: AssembledState, position: np.ndarray, quaternion: np.ndarray
    ) -> None:
        """The twist, and the path when it is due."""
        header = header_message(stamp, self._base)
        twist = self._velocity(stamp, state, position, quaternion)
        self._before = (stamp, position, quaternion)
        if twist is not None:
            message = TwistStamped(header=header)
            linear, angular = message.twist.linear, message.twist.angular
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist.tolist()
            self._twist_publisher.publish(message)
        self._trace.add(header, position, quaternion)
        if self._trace.is_new and self._path_limit.is_due(stamp):
            self._path_publisher.publish(self._trace.message())

    def _velocity(
        self, stamp: int, state: AssembledState, position: np.ndarray, quaternion: np.ndarray
    ) -> np.ndarray | None:
        """From the joint velocities; without them, the mean since the last call; None at the
        first.
        """
        if state.velocities is not None:
            return self.robot.jacobian(state.positions) @ state.velocities
        if self._before is None:
            return None
        before, *pose = self._before
        dt = (stamp - before) / SECOND
        return twist_between(pose[0], pose[1], position, quaternion, dt)

    def _publish_transforms(
        self, stamp: int, names: tuple[str, ...], positions: np.ndarray
    ) -> None:
        self._transforms.observe(names, positions)
        if self._transforms.is_active and stamp > 0 and self._tf_limit.is_due(stamp):
            self._transforms.publish(stamp)

    def look(self) -> None:
        """Looks now and then who publishes the transforms."""
        self._transforms.look()

    def warn_of_silence(self, is_silent: bool) -> None:
        """Say why nothing may be arriving, or which joints have not been seen yet."""
        if is_silent:
            self._warnings.warn('silence', self.joint_states.silence())
        elif self._joints.accepted and self._joints.missing:
            self._warnings.warn(
                'missing', f'no joint state has had {", ".join(self._joints.missing)} yet'
            )

    def report(self) -> str:
        """Returns what was taken, published and dropped so far, in one line."""
        counts = ', '.join(f'{name} {count}' for name, count in self._joints.counts.items())
        heard = self.joint_states
        return (
            f'joint states {heard.received}, poses {self.published}, '
            f'unreadable {heard.unreadable}, {counts}'
        )

    def destroy_node(self) -> None:
        """Log the counts, then close."""
        self.get_logger().info(self.report())
        self.joint_states.destroy()
        self._grasp.destroy()
        super().destroy_node()


def is_silent(quiet: float, received: int) -> bool:
    """True if `quiet` s without a joint state, after `received` of them, are worth a warning."""
    return quiet > (SILENCE if received else FIRST_SILENCE)


def poll_until_stopped(node: KinematicsNode, stop: threading.Event) -> None:
    """The node's loop: take joint states often, look at services seldom."""
    heard = time.monotonic()

    def poll() -> None:
        nonlocal heard
        if node.poll():
            heard = time.monotonic()

    def wait() -> None:
        if time.monotonic() - heard > IDLE_AFTER:
            node.joint_states.wait(0.05)
        else:
            time.sleep(node.options.inputs.poll_period)

    def look() -> None:
        node.look()
        node.warn_of_silence(is_silent(time.monotonic() - heard, node.joint_states.received))

    poll_with_services(node, stop, poll, wait, look)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(KinematicsNode, spin=poll_until_stopped))
