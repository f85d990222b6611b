# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Decides what the gripper holds, and publishes it for all others."""

from __future__ import annotations

from math import nan
from typing import Any

from rclpy.node import Node

from frame_ros.bags.streams.contacts import GRASP_CONTACT
from frame_ros.bags.streams.grasp import state_of
from frame_ros.core.stamps import RateLimit, StampGuard, Verdict
from frame_ros.core.time import stamp_ns
from frame_ros.msg import GraspState
from frame_ros.nodes.kinematics.options import KinematicsOptions
from frame_ros.nodes.kinematics.topics import CONTACT, GRASP, GRIPPER_STATES
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.message_parts import header_message
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.robots.profile import RobotProfile
from frame_ros.sensing.contact import grasp

RATE = 50.0  # Hz; who waits for a decision at its stamp waits no longer than for contact


class GraspOutput:
    """Takes the evidence for a grasp, and publishes at the stamps of joint states."""

    def __init__(self, node: Node, options: KinematicsOptions, profile: RobotProfile) -> None:
        """Raises FrameRosError for a gripper that cannot be."""
        self._source = options.grasp.source
        self._decider = grasp.GraspDecider(options.grasp, profile)
        self._publisher = node.create_publisher(*published(GRASP))
        self._inputs: list[FittingSubscription] = []
        if self._source == grasp.CONTACT:
            self._inputs.append(FittingSubscription(node, CONTACT, self._on_contact))
        elif options.gripper_topic:
            topic = GRIPPER_STATES.at(options.gripper_topic)
            self._inputs.append(JointStateInput(node, topic, self._take))
        self._limit, self._guard = RateLimit(RATE), StampGuard()
        self._is_held: bool | None = None

    def poll(self) -> None:
        """Takes the evidence that is not in the joint states."""
        for each in self._inputs:
            each.poll()

    def on_joint_state(self, state: FullJointState) -> None:
        """Takes a joint state, and publishes at a change or when it is due."""
        self._take(state)
        verdict = self._guard.check(state.stamp)
        if verdict is Verdict.DROP:
            return
        if verdict is Verdict.RESET:
            self._limit.reset()
        decision = self._decider.at(state.stamp)
        if not self._limit.is_due(state.stamp) and decision.is_held == self._is_held:
            return
        self._is_held = decision.is_held
        message = GraspState(
            header=header_message(state.stamp), state=state_of(decision.is_held),
            source=self._source, position=decision.position, effort=decision.effort,
            reason=decision.reason,
        )  # fmt: skip
        self._publisher.publish(message)

    def _take(self, state: FullJointState) -> None:
        names, joint = state.names, self._decider.joint
        if joint not in names:
            return
        at, positions, efforts = names.index(joint), state.positions, state.efforts
        if at < len(positions):
            effort = float(efforts[at]) if at < len(efforts) else nan
            self._decider.take(state.stamp, float(positions[at]), effort)

    def _on_contact(self, message: Any) -> None:
        stamp = stamp_ns(message.header.stamp)
        self._decider.take(stamp, *GRASP_CONTACT.from_message(message))

    def destroy(self) -> None:
        """Takes its subscriptions off the node."""
        for each in self._inputs:
            each.destroy()
