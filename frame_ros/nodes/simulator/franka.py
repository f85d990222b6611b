# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publications of franka_ros2's franka_robot_state_broadcaster for the simulated FR3, with its
own names, types and quality of service.

Where franka_msgs is installed, FrankaRobotState too; and in any case its flags as a ContactState.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from frame_ros.core.time import SECOND
from frame_ros.core.topics import Topic
from frame_ros.msg import ContactState
from frame_ros.nodes.contact.franka import robot_state_type
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_bytes import JointStateBytes, WrenchBytes
from frame_ros.nodes.runtime.message_parts import fill_vector, fill_wrench, header_message
from frame_ros.nodes.runtime.topics import BROADCASTER
from frame_ros.nodes.simulator import topics
from frame_ros.nodes.simulator.messages import fill_pose
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.noise.franka_estimates import (
    CONTACT_TORQUES,
    FrankaEstimates,
    FrankaEstimator,
)
from frame_ros.scenes.simulation.timing import Schedule

Array = NDArray[np.float64]
MODE_MOVE, MODE_REFLEX = 2, 4  # of FrankaRobotState.robot_mode


class FrankaBroadcaster:
    """Publishes the estimates of a simulated Franka arm, at `rates.franka`."""

    def __init__(
        self, node: Node, simulation: PickPlaceSimulation, options: SimulatorOptions
    ) -> None:
        self._simulation, robot = simulation, simulation.robot
        self._schedule = Schedule(options.rates.franka, tick=options.tick)
        self._options = options
        self._estimator = self._make_estimator()
        self._joints, self._tip = robot.arm_joints, robot.tip_link
        self._base = options.frames.of(robot.base_link)
        if options.rates.franka:
            self._create(node)

    def _create(self, node: Node) -> None:
        def publisher(topic: Topic) -> Publisher:
            return node.create_publisher(*published(topic.of(broadcaster=BROADCASTER)))

        self._wrench = publisher(topics.FRANKA_WRENCH)
        self._tip_wrench = publisher(topics.FRANKA_TIP_WRENCH)
        self._torques = publisher(topics.FRANKA_TORQUES)
        self._measured = publisher(topics.FRANKA_JOINTS)
        self._pose = publisher(topics.FRANKA_POSE)
        self._contact = publisher(topics.FRANKA_CONTACT)
        self._state_type = robot_state_type()
        self._state = publisher(topics.FRANKA_STATE) if self._state_type else None
        self._wrench_bytes = WrenchBytes(self._base)
        self._tip_wrench_bytes = WrenchBytes(self._options.frames.of(self._tip))
        self._joint_bytes = JointStateBytes(self._joints, self._base)

    def _make_estimator(self) -> FrankaEstimator:
        options = self._options
        period = 1.0 / (options.rates.franka or 1.0)
        return FrankaEstimator(options.estimates, period, options.noise.seed)

    def clear_collision(self) -> None:
        """Clears the collision flags, as recovering from an error does."""
        self._estimator.reset()

    def reset(self) -> None:
        """The scene was put back: what the low-pass still holds of before must not raise a flag."""
        self._estimator = self._make_estimator()

    def messages(self, stamp: int) -> list[tuple[Publisher, Any]]:
        """Returns what is due at a stamp (ns)."""
        if not self._schedule.is_due(stamp):
            return []
        simulation = self._simulation
        joints, external = simulation.joint_state(), simulation.external()
        rotation = simulation.data.body(self._tip).xmat.reshape(3, 3)
        positions = joints.positions[:-1]
        # As on the arm, the wrench is what explains the joint torques best.
        is_touched = external.torques.any()
        wrench = simulation.tip_wrench(external.torques) if is_touched else np.zeros(6)
        found = self._estimator.update(positions, external.torques, wrench, rotation)
        zeros = np.zeros(len(positions))
        measured = (positions, joints.velocities[:-1], joints.efforts[:-1])
        messages: list[tuple[Publisher, Any]] = [
            (self._wrench, self._wrench_bytes.data(stamp, found.wrench)),
            (self._tip_wrench, self._tip_wrench_bytes.data(stamp, found.tip_wrench)),
            (self._torques, self._joint_bytes.data(stamp, zeros, zeros, found.torques)),
            (self._measured, self._joint_bytes.data(stamp, *measured)),
            (self._pose, self._pose_message(stamp)),
            (self._contact, self._contact_message(stamp, found)),
        ]
        if self._state is not None and self._state.get_subscription_count():
            messages.append((self._state, self._state_message(stamp, measured, found)))
        return messages

    def _pose_message(self, stamp: int) -> PoseStamped:
        body = self._simulation.data.body(self._tip)
        message = PoseStamped(header=header_message(stamp, self._base))
        fill_pose(message, np.concatenate((body.xpos, np.roll(body.xquat, -1))))
        return message

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
        message.joint_thresholds = list(CONTACT_TORQUES)
        return message

    def _state_message(self, stamp: int, measured: Sequence[Array], found: FrankaEstimates) -> Any:
        assert self._state_type is not None
        message = self._state_type(header=header_message(stamp))
        message.header.frame_id = self._base
        fill_indicators(message.collision_indicators, found)
        fill_joints(message.measured_joint_state, self._joints, *measured)
        fill_joints(message.tau_ext_hat_filtered, self._joints, effort=found.torques)
        for part, frame, wrench in (
            (message.o_f_ext_hat_k, self._base, found.wrench),
            (message.k_f_ext_hat_k, self._options.frames.of(self._tip), found.tip_wrench),
        ):
            part.header = header_message(stamp, frame)
            fill_wrench(part.wrench, wrench)
        for part in (message.measured_joint_state, message.tau_ext_hat_filtered):
            part.header = header_message(stamp, self._base)
        message.o_t_ee = self._pose_message(stamp)
        message.time = stamp / SECOND
        message.robot_mode = MODE_REFLEX if found.is_collision else MODE_MOVE
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
