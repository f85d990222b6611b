# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publications of the driver of a Franka arm, in the thread that reads its states.

A state comes every millisecond, so the message of joint_states stays serialised, and numbers are
written into it.
"""

from __future__ import annotations

import math
import time
from typing import Any

from rclpy.publisher import Publisher

from frame_ros.hardware.franky.hand import HandReading
from frame_ros.hardware.franky.reading import FrankaReading
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.nodes.robot_driver.topics import JOINT_STATES
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.franka_publishers import FrankaPublishers
from frame_ros.nodes.runtime.managed import ManagedNode
from frame_ros.nodes.runtime.message_bytes import joint_state_writer, sender_of
from frame_ros.robots import Robot

# Of FrankaRobotState.robot_mode, in the order of franka::RobotMode.
MODES = {
    'other': 0, 'idle': 1, 'move': 2, 'guiding': 3, 'reflex': 4, 'user stopped': 5,
    'automatic error recovery': 6,
}  # fmt: skip
ARM_JOINTS = 7
CLOCK_PERIOD = 500  # ms between two looks at whether the node's clock is a simulated one


class FciPublishers:
    """joint_states of arm and finger, and the topics of franka_robot_state_broadcaster."""

    def __init__(self, node: ManagedNode, settings: RobotDriverOptions, robot: Robot) -> None:
        self._node = node
        self._clock: Any = node.get_clock()
        self._has_finger = settings.fci.gripper and len(robot.grippers) > 0
        names = (*robot.joint_names, *robot.grippers)[: ARM_JOINTS + self._has_finger]
        self._states: Publisher = node.create_lifecycle_publisher(*published(JOINT_STATES))
        self._writer, self._send = joint_state_writer(names), sender_of(self._states)
        self._parts = [self._writer.part(group) for group in range(3)]
        self._arm_parts = [part[:ARM_JOINTS] for part in self._parts]
        self._hand: HandReading | None = None
        self._fill_finger(None)
        self._state_pace = Pace(settings.fci.rate)
        self._estimate_pace = Pace(settings.fci.estimates_rate)
        self._estimates: FrankaPublishers | None = None
        if settings.fci.estimates_rate:
            # With a Franka Hand in its settings the arm's end effector frame is the profile's tcp.
            tip = robot.profile.tips.get('tcp', robot.tip_link)
            frames = (settings.frames.of(robot.base_link), settings.frames.of(tip))
            thresholds = settings.fci.contact_torques
            self._estimates = FrankaPublishers(node, robot.joint_names, *frames, thresholds)
        self._is_simulated, self._clock_pace = False, Pace(1000.0 / CLOCK_PERIOD)

    def publish(self, reading: FrankaReading, hand: HandReading | None) -> None:
        """Publishes what is due of a state. hand: the newest of the hand; None: it is unknown."""
        count = reading.count
        is_state_due = self._state_pace.is_due(count)
        is_estimate_due = self._estimates is not None and self._estimate_pace.is_due(count)
        if not (is_state_due or is_estimate_due):
            return
        stamp = self._stamp(reading)
        if is_state_due:
            if hand is not self._hand:
                self._fill_finger(hand)
            reading.write_joints(*self._arm_parts)
            self._send(self._writer.stamped(stamp))
        if is_estimate_due:
            assert self._estimates is not None
            mode = MODES.get(reading.mode, 0)
            for publisher, message in self._estimates.messages(stamp, reading, mode):
                publisher.publish(message)

    def _stamp(self, reading: FrankaReading) -> int:
        """The time at which the state was here, ns on the node's clock."""
        if self._clock_pace.is_due(reading.count):
            self._is_simulated = self._clock.ros_time_is_active
        # Without simulated time the node's clock is the system's, which costs a tenth to ask.
        now = self._clock.now().nanoseconds if self._is_simulated else time.time_ns()
        return now - (time.monotonic_ns() - reading.read_at)

    def _fill_finger(self, hand: HandReading | None) -> None:
        """Half the opening; what is unknown, and the effort, are NaN."""
        self._hand = hand
        if not self._has_finger:
            return
        width, speed = (hand.width, hand.speed) if hand is not None else (math.nan, math.nan)
        for part, value in zip(self._parts, (width / 2.0, speed / 2.0, math.nan), strict=True):
            part[ARM_JOINTS] = value

    def close(self) -> None:
        """Takes the publishers off the node."""
        self._node.destroy_publisher(self._states)
        if self._estimates is not None:
            self._estimates.close()
        self._estimates = None


class Pace:
    """Picks states, which come once a millisecond by the arm's own count, at a rate in Hz."""

    def __init__(self, rate: float) -> None:
        self._period = 1000.0 / rate if rate else math.inf
        self._earliest = self._next = -math.inf

    def is_due(self, count: int) -> bool:
        """Returns whether the state of this count (ms) is to be published."""
        if count < self._next and not count < self._earliest:
            return False
        is_in_step = 0.0 <= count - self._next < self._period
        self._next = (self._next if is_in_step else count) + self._period
        self._earliest = self._next - 2 * self._period  # a count before it has begun again
        return True
