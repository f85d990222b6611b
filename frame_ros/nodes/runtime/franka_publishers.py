# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publications of franka_ros2's franka_robot_state_broadcaster, with its own names, types and
quality of service, for whoever has a Franka arm's estimates.

Where franka_msgs is installed, FrankaRobotState too; and in any case its flags as a ContactState.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from frame_ros.core.time import SECOND
from frame_ros.core.topics import Topic
from frame_ros.hardware.franka_estimates import FrankaEstimates
from frame_ros.msg import ContactState
from frame_ros.nodes.runtime import topics
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_bytes import (
    Writer,
    joint_state_writer,
    pose_writer,
    wrench_writer,
    writer_of,
)
from frame_ros.nodes.runtime.message_parts import fill_vector, fill_wrench, header_message

Array = NDArray[np.float64]
LOOK_PERIOD = SECOND // 2  # ns between two looks for listeners


class FrankaSample(Protocol):
    """A state of the arm: positions in rad, velocities in rad/s and measured torques in N m, (7,)
    each; pose: (7,) of the tip in the base, m and quaternion xyzw.
    """

    @property
    def positions(self) -> Array: ...
    @property
    def velocities(self) -> Array: ...
    @property
    def torques(self) -> Array: ...
    @property
    def estimates(self) -> FrankaEstimates: ...
    @property
    def pose(self) -> Array: ...


Maker = Callable[[int, FrankaSample, int], Any]


class FrankaPublishers:
    """Publishers of one arm.

    joints: its seven. base, tip: frames of the wrenches, with the prefix. thresholds: (7,) N m, of
    the joints' contact flags.
    """

    def __init__(
        self, node: Node, joints: Sequence[str], base: str, tip: str, thresholds: Sequence[float]
    ) -> None:
        self._node, self._joints, self._base, self._tip = node, tuple(joints), base, tip
        self._thresholds = list(thresholds)
        self._wrench_bytes, self._tip_wrench_bytes = wrench_writer(base), wrench_writer(tip)
        self._joint_bytes, self._pose_bytes = joint_state_writer(joints, base), pose_writer(base)
        self._quiet_bytes = self._quiet_contact_writer()
        self._zeros = np.zeros(len(joints))
        self._state_type = robot_state_type()
        makers: dict[Topic, Maker] = {
            topics.FRANKA_WRENCH: self._wrench_data,
            topics.FRANKA_TIP_WRENCH: self._tip_wrench_data,
            topics.FRANKA_TORQUES: self._torque_data,
            topics.FRANKA_JOINTS: self._joint_data,
            topics.FRANKA_POSE: self._pose_data,
            topics.FRANKA_CONTACT: self._contact_data,
        }
        if self._state_type is not None:
            makers[topics.FRANKA_STATE] = self._state_message
        self._all = [(self._publisher(topic), make) for topic, make in makers.items()]
        self._heard: list[tuple[Publisher, Maker]] = []
        self._looked_at: int | None = None

    def _publisher(self, topic: Topic) -> Publisher:
        declared = topic.of(broadcaster=topics.BROADCASTER)
        return self._node.create_publisher(*published(declared))

    def messages(self, stamp: int, sample: FrankaSample, mode: int) -> list[tuple[Publisher, Any]]:
        """Returns what one sample is published as, for the topics to which somebody listens: who
        listens is looked at twice a second.

        stamp: ns. mode: franka's number.
        """
        if self._looked_at is None or not 0 <= stamp - self._looked_at < LOOK_PERIOD:
            self._looked_at = stamp
            self.look_for_listeners()
        return [(publisher, make(stamp, sample, mode)) for publisher, make in self._heard]

    def look_for_listeners(self) -> None:
        """Finds the topics to which somebody listens."""
        self._heard = [each for each in self._all if each[0].get_subscription_count()]

    def close(self) -> None:
        """Takes the publishers off the node."""
        for publisher, _ in self._all:
            self._node.destroy_publisher(publisher)
        self._all, self._heard = [], []

    def _wrench_data(self, stamp: int, sample: FrankaSample, _: int) -> bytes:
        return self._wrench_bytes.data(stamp, sample.estimates.wrench)

    def _tip_wrench_data(self, stamp: int, sample: FrankaSample, _: int) -> bytes:
        return self._tip_wrench_bytes.data(stamp, sample.estimates.tip_wrench)

    def _torque_data(self, stamp: int, sample: FrankaSample, _: int) -> bytes:
        zeros = self._zeros
        return self._joint_bytes.data(stamp, zeros, zeros, sample.estimates.torques)

    def _joint_data(self, stamp: int, sample: FrankaSample, _: int) -> bytes:
        return self._joint_bytes.data(stamp, sample.positions, sample.velocities, sample.torques)

    def _pose_data(self, stamp: int, sample: FrankaSample, _: int) -> bytes:
        pose = sample.pose
        return self._pose_bytes.data(stamp, pose[:3], pose[3:])

    def _contact_data(self, stamp: int, sample: FrankaSample, _: int) -> Any:
        """The flags; where none is raised, as bytes."""
        found = sample.estimates
        if found.is_contact or found.is_collision:
            return self._contact_message(stamp, found)
        force = np.array((np.linalg.norm(found.wrench[:3]),))
        return self._quiet_bytes.data(stamp, force, -found.wrench, -found.torques)

    def _contact_message(self, stamp: int, found: FrankaEstimates) -> ContactState:
        """The flags; its wrench is what acts on the robot, the other way round than Franka's."""
        message = ContactState(
            header=header_message(stamp, self._base), source=ContactState.SOURCE_ROBOT
        )
        message.in_contact = found.is_contact
        message.in_collision = found.is_collision
        message.force = float(np.linalg.norm(found.wrench[:3]))
        fill_wrench(message.wrench, -found.wrench)
        message.joint_names = list(self._joints)
        message.joint_residuals = (-found.torques).tolist()
        message.joint_thresholds = self._thresholds
        return message

    def _quiet_contact_writer(self) -> Writer:
        """Returns the writer of a ContactState without a flag: `data` takes the force (1,) in N,
        the wrench (6,) and the residuals of the joints.
        """
        paths = [f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz']
        quiet = _quiet(len(self._joints))
        return writer_of(
            'frame_ros/msg/ContactState', lambda: self._contact_message(0, quiet),
            ('force',), paths, ('joint_residuals',),
        )  # fmt: skip

    def _state_message(self, stamp: int, sample: FrankaSample, mode: int) -> Any:
        assert self._state_type is not None
        found, measured = sample.estimates, (sample.positions, sample.velocities, sample.torques)
        message = self._state_type(header=header_message(stamp))
        message.header.frame_id = self._base
        fill_indicators(message.collision_indicators, found)
        fill_joints(message.measured_joint_state, self._joints, *measured)
        fill_joints(message.tau_ext_hat_filtered, self._joints, effort=found.torques)
        for part, frame, wrench in (
            (message.o_f_ext_hat_k, self._base, found.wrench),
            (message.k_f_ext_hat_k, self._tip, found.tip_wrench),
        ):
            part.header = header_message(stamp, frame)
            fill_wrench(part.wrench, wrench)
        for part in (message.measured_joint_state, message.tau_ext_hat_filtered):
            part.header = header_message(stamp, self._base)
        message.o_t_ee = _pose_message(stamp, self._base, sample.pose)
        message.time = stamp / SECOND
        message.robot_mode = mode
        return message


def robot_state_type() -> Any | None:
    """The message class of franka_msgs; None where that package is not installed."""
    try:
        return importlib.import_module('franka_msgs.msg').FrankaRobotState
    except (ImportError, AttributeError):
        return None


def _quiet(joints: int) -> FrankaEstimates:
    flags, none = np.zeros(joints, bool), np.zeros(6, bool)
    return FrankaEstimates(np.zeros(joints), np.zeros(6), np.zeros(6), none, none, flags, flags)


def _pose_message(stamp: int, frame: str, pose: Array) -> PoseStamped:
    message = PoseStamped(header=header_message(stamp, frame))
    fill_vector(message.pose.position, pose)
    turned = message.pose.orientation
    turned.x, turned.y, turned.z, turned.w = pose[3:].tolist()
    return message


def fill_indicators(message: Any, found: FrankaEstimates) -> None:
    """Writes the flags into a franka_msgs/CollisionIndicators: 1 where one is raised."""
    for name, flags in (
        ('collision', found.cartesian_collision), ('contact', found.cartesian_contact),
    ):  # fmt: skip
        fill_vector(getattr(message, f'is_cartesian_linear_{name}'), flags[:3])
        fill_vector(getattr(message, f'is_cartesian_angular_{name}'), flags[3:])
    message.is_joint_collision = found.joint_collision.astype(float)
    message.is_joint_contact = found.joint_contact.astype(float)


def fill_joints(
    message: JointState,
    names: Sequence[str],
    position: Array | None = None,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> None:
    """Writes values (D,) into a JointState; those left out are 0."""
    zeros = np.zeros(len(names))
    message.name = list(names)
    message.position = (zeros if position is None else position).tolist()
    message.velocity = (zeros if velocity is None else velocity).tolist()
    message.effort = (zeros if effort is None else effort).tolist()
