# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node: wrench, joint efforts or the robot's own flags -> contact, contact_events,
external_wrench.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, cast

from rclpy.node import Node

from frame_ros.bags.message_readers import JointStateReader, WrenchReader
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.topics import Topic
from frame_ros.nodes.contact import messages, topics
from frame_ros.nodes.contact.frames import FixedTransforms
from frame_ros.nodes.contact.franka import flag_input
from frame_ros.nodes.contact.inputs import Pause, subscribed
from frame_ros.nodes.contact.options import ContactOptions
from frame_ros.nodes.contact.phases import PhaseInput
from frame_ros.nodes.contact.tare import TareService
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.grasp_input import GraspInput
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import SERVICE_PERIOD, poll_with_services, run_node
from frame_ros.sensing.contact.composition.contact_sensing import (
    COMMANDS,
    FLAGS,
    JOINTS,
    ROBOT_WRENCH,
    WRENCH,
    ContactSensing,
)
from frame_ros.sensing.contact.composition.inputs import SensorStream
from frame_ros.sensing.contact.composition.state import ContactRecord
from frame_ros.sensing.contact.grasp import CONTACT
from frame_ros.sensing.contact.tracker import ContactEventRecord

LOOK_PERIOD = 1.0  # s between two looks for warnings, while a service waits


class ContactNode(Node):
    """Detects whether the robot touches something, and whether that was meant.

    Subscribes joint_states, joint_commands, grasp, and what its sources need: a wrench, and of
    Franka arms external_wrench_in_base_frame with robot_state or contact. Publishes contact at a
    rate, and at once when a contact begins, ends or is no longer expected; contact_events;
    external_wrench; diagnostics. The service ~/tare tares the force-torque sensor,
    ~/confirm_weight confirms a weight that it found on the hand.

    sensing: what detects.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a robot, a sensor or a parameter that cannot be used."""
        super().__init__('contact')
        self.stop = threading.Event()  # set when the node is to end
        self._settings = settings = declare_options(self, ContactOptions, self._change)
        self.poll_period = settings.inputs.poll_period
        self._grasp = GraspInput(self, ignored=CONTACT)
        self._warnings = RepeatedWarnings(self.get_logger())
        self.sensing = sensing = ContactSensing(
            settings, self, self._warnings, self._grasp.history,
            now=lambda: self.get_clock().now().nanoseconds,
        )  # fmt: skip
        self._phase = PhaseInput(self, sensing.keeper) if sensing.is_phased else None
        sensing.connect({name: self._subscribe(name) for name in sensing.stream_names})
        wrench = sensing.wrench
        self._fixed = FixedTransforms(self, wrench.frames) if wrench is not None else None
        self._state_publisher = self.create_publisher(*published(topics.STATE))
        self._event_publisher = self.create_publisher(*published(topics.EVENTS))
        self._wrench_publisher = self.create_publisher(*published(topics.EXTERNAL_WRENCH))
        self._tare = TareService(
            self, wrench, settings.tare.timeout, lambda: sensing.silence('wrench'), self._go_on
        )
        is_led = sensing.sensors == [sensing.efforts]
        self._pause = Pause(sensing.streams, JOINTS, self.poll_period, is_led)
        self._next_look = 0.0
        self._readiness = Readiness(
            self, sensing.robot.name, lambda: sensing.unavailable, sensing.statuses
        )
        self.get_logger().info(
            f'{sensing.robot.name}: contact by {", ".join(settings.chosen_sources)}, reported at '
            f'{sensing.robot.tip_link} in {sensing.robot.base_link}'
        )

    def _change(self, options: ContactOptions) -> None:
        self._settings = options
        self.sensing.change(options)

    def _subscribe(self, name: str) -> SensorStream:
        settings = self._settings
        topic, read = self._form(name)
        return subscribed(
            self, name, topic.of(broadcaster=settings.robot_contact.topics), read, settings.inputs,
            is_measured=name != COMMANDS, trusted=self.sensing.trusted_of(name),
        )  # fmt: skip

    def _form(self, name: str) -> tuple[Topic, Callable[[bytes], Any]]:
        """Topic of a stream, and what reads its messages."""
        if name == FLAGS:
            return flag_input()
        if name == WRENCH:
            return topics.WRENCH.at(self._settings.wrench.topic), WrenchReader().wrench
        if name == ROBOT_WRENCH:
            return topics.FRANKA_WRENCH, WrenchReader().wrench
        topic = topics.JOINT_COMMANDS if name == COMMANDS else topics.JOINT_STATES
        return topic, JointStateReader().full

    def poll(self) -> int:
        """Handles what has arrived; how many messages that was."""
        wrench = self.sensing.wrench
        if self._fixed is not None and self._fixed.poll() and wrench is not None:
            wrench.look_again()
        if self._phase is not None:
            self._phase.poll()
        self._grasp.poll()
        return self.sensing.take()

    def state(self, record: ContactRecord) -> None:
        """Publishes a state."""
        frame = self.sensing.base_frame
        self._state_publisher.publish(messages.state_message(record, frame))
        if record.is_known:
            wrench = messages.wrench_message(record.stamp, frame, record.wrench)
            self._wrench_publisher.publish(wrench)

    def event(self, record: ContactEventRecord) -> None:
        """Publishes an event."""
        self._event_publisher.publish(messages.event_message(record, self.sensing.base_frame))

    def _go_on(self) -> bool:
        """The node's work, once, while a service waits; whether it is to go on."""
        if self.stop.wait(self.poll_period):
            return False
        self.poll()
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_PERIOD
            self.look()
            self._readiness.look()
        return True

    def look(self) -> None:
        """Warnings that need not be at once."""
        if text := self.sensing.look():
            self.get_logger().info(text)

    def wait(self) -> None:
        """Until the next look at the inputs."""
        period = 1.0 / min(self._settings.publish_rate, 50.0)
        self._pause.wait(min(period, SERVICE_PERIOD))

    def destroy_node(self) -> None:
        """Judges what still waits, ends the contacts that last, logs the counts, then closes."""
        self.sensing.end('the node has ended')
        self.get_logger().info(self.sensing.report())
        for stream in self.sensing.streams.values():
            cast(FittingSubscription, stream.subscription).destroy()
        super().destroy_node()


def poll_until_stopped(node: ContactNode, stop: threading.Event) -> None:
    """The node's loop: take the inputs often, look at services seldom."""
    node.stop = stop
    poll_with_services(node, stop, node.poll, node.wait, node.look)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ContactNode, spin=poll_until_stopped))
