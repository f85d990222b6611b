# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver's part for a Franka arm, by its control interface.

Three kinds of threads: the loop's reads the states of the arm, publishes them and takes commands,
the hand has its own, and the executor serves the rest.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rclpy.service import Service
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.health import Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.thread_priority import lower_priority, raise_priority
from frame_ros.core.time import stamp_ns
from frame_ros.hardware.franky.arm import FrankyArm
from frame_ros.hardware.franky.hand import FrankyHand
from frame_ros.hardware.franky.options import POSE
from frame_ros.hardware.franky.pose_goals import PoseGoals
from frame_ros.hardware.franky.reading import FrankaReading
from frame_ros.hardware.franky.state import fci_statuses
from frame_ros.nodes.robot_driver.fci_loop import PRIORITY, FciLoop
from frame_ros.nodes.robot_driver.fci_publishers import ARM_JOINTS, FciPublishers
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.nodes.robot_driver.topics import (
    JOINT_COMMANDS,
    POSE_COMMANDS,
    RECOVER,
)
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.managed import ManagedNode
from frame_ros.robots import Robot

Array = NDArray[np.float64]
DEPTH = 50
MOST_COMMANDS = 1000  # taken of a topic at a time
RECOVERY_TIMEOUT = 10.0  # s
HAND_TIMEOUT = 1.0  # s to wait for the hand before the first state is published


class FciDriver:
    """Drives one Franka arm for a node.

    Subscribes: joint_commands (rad, m), pose_commands. Publishes: joint_states (rad, rad/s, N m),
    and the topics of franka_robot_state_broadcaster. Services: ~/recover_errors.
    """

    def __init__(self, node: ManagedNode, settings: RobotDriverOptions, robot: Robot) -> None:
        """Raises MissingExtraError without franky-control, or pink where poses are followed,
        SetupError for another kind of arm.
        """
        if len(robot.joint_names) != ARM_JOINTS or not robot.profile.has_torque_sensors:
            raise SetupError(
                f'host is {settings.host!r}, of a Franka arm; robot is {robot.name!r}, which is '
                'none: set it to fr3 or panda'
            )
        self._node, self._settings, self._robot = node, settings, robot
        self._log = node.get_logger()
        self._warnings = RepeatedWarnings(self._log)
        self._arm = FrankyArm(
            settings.host, settings.fci, robot.velocity_limits, _accelerations(robot)
        )
        is_by_pose = settings.fci.control == POSE
        self._poses = PoseGoals(robot, self._arm.share) if is_by_pose else None
        self._loop: FciLoop | None = None
        self._hand: FrankyHand | None = None
        self._inputs: list[tuple[FittingSubscription, Callable[[Any, int], None]]] = []
        self._recovery: Service | None = None
        self._raised = 0  # native id of the thread that started it, if its priority was raised
        self._fingers = len(robot.grippers) if settings.fci.gripper else 0
        self._publishers = FciPublishers(node, settings, robot)

    def start(self) -> None:
        """Connects and begins to read and to follow.

        Raises:
            FrameRosError: the arm does not answer, or refuses.
        """
        self._arm.connect()
        self._hand = FrankyHand(self._settings.host, self._settings.fci) if self._fingers else None
        self._loop = FciLoop(
            self._arm, self._robot, self._settings, self._node.get_clock(), self._poll,
            self._publish, self._set_width, self._log, self._poses,
        )  # fmt: skip
        self._create_inputs()
        if self._hand is not None:
            self._hand.start()
            self._hand.ready.wait(HAND_TIMEOUT)
        # While another thread has the interpreter's lock the loop waits for it.
        thread = threading.get_native_id()
        self._raised = thread if raise_priority(PRIORITY - 1) else 0
        self._loop.start()
        fci = self._settings.fci
        self._log.info(
            f'{self._robot.name} at {self._settings.host}: states at {fci.rate:g} Hz, estimates at '
            f'{fci.estimates_rate:g} Hz, {fci.control} with {fci.dynamics:.0%} of its limits; '
            f'it stops after {self._settings.command_timeout:g} s without a command'
        )

    def _create_inputs(self) -> None:
        node = self._node
        self._inputs = [
            (FittingSubscription(node, JOINT_COMMANDS, depth=DEPTH, is_live=True), self._on_command)
        ]
        if self._poses is not None:
            self._inputs.append(
                (FittingSubscription(node, POSE_COMMANDS, depth=DEPTH, is_live=True), self._on_pose)
            )
        self._recovery = node.create_service(*endpoint(RECOVER), self._on_recover)

    def stop(self) -> None:
        """Brings the arm to rest and disconnects."""
        recovery, self._recovery = self._recovery, None
        if recovery is not None:
            self._node.destroy_service(recovery)
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()
            counts = loop.counts
            self._log.info(
                f'stopped after {counts.states} states, {counts.states_missed} missed; commands '
                f'{counts.commands}, sent {counts.sent}, refused {counts.refused}, stale '
                f'{counts.stale}; holds {counts.holds}, aborts {counts.aborts}, losses '
                f'{counts.losses}'
            )
        for subscription, _ in self._inputs:  # the loop has taken from them
            subscription.destroy()
        self._inputs = []
        hand, self._hand = self._hand, None
        if hand is not None:
            hand.stop()
        self._arm.close()
        raised, self._raised = self._raised, 0
        if raised:
            lower_priority(raised)

    def release(self) -> None:
        """Takes the publishers off the node."""
        self._publishers.close()

    def health(self) -> list[Status]:
        """One status of the arm and one of the hand, while it is active."""
        loop, hand = self._loop, self._hand
        if loop is None:
            return []
        return fci_statuses(loop.state, hand.problem if hand is not None else None)

    # In the loop's thread.

    def _poll(self) -> None:
        for subscription, handle in self._inputs:
            try:
                for message, info in subscription.take(MOST_COMMANDS):
                    handle(message, info['received_timestamp'])
            except Exception as error:  # who stops the arm must not end
                self._warn_of(f'{type(error).__name__}: {error}')

    def _on_command(self, message: JointState, received: int) -> None:
        if self._loop is None:
            return
        positions, velocities = np.array(message.position), np.array(message.velocity)
        stamp = stamp_ns(message.header.stamp)
        commands = self._loop.commands
        self._warn_of(commands.joints(stamp, message.name, positions, velocities, received))

    def _on_pose(self, message: PoseStamped, received: int) -> None:
        if self._loop is None:
            return
        frame, base = message.header.frame_id, self._robot.base_link
        known = (self._settings.frames.of(base), base, self._robot.profile.command_frame)
        if frame not in known:
            self._warn_of(f'its frame is {frame!r}, not {base!r}')
            return
        at, turned = message.pose.position, message.pose.orientation
        pose = np.array((at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w))
        self._warn_of(self._loop.commands.pose(stamp_ns(message.header.stamp), pose, received))

    def _warn_of(self, problem: str) -> None:
        if problem:
            self._warnings.warn('command', f'command refused: {problem}')

    # In the executor's thread.

    def _on_recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            if self._loop is None:
                raise SetupError('the node is not active')
            response.message = self._loop.recover(RECOVERY_TIMEOUT)
        except FrameRosError as error:
            response.success, response.message = False, str(error)
            return response
        response.success = True
        return response

    def _set_width(self, width: float) -> None:
        if self._hand is not None:
            self._hand.set_goal(width)

    # In the loop's thread.

    def _publish(self, reading: FrankaReading) -> None:
        self._publishers.publish(reading, self._hand.reading if self._hand is not None else None)


def _accelerations(robot: Robot) -> Array:
    """Limits (7,), rad/s^2; infinite where they are not known."""
    rates = robot.profile.rates
    known = (rates[name].acceleration if name in rates else math.inf for name in robot.joint_names)
    return np.array(list(known))
