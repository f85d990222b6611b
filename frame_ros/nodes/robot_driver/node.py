# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver node: any LeRobot robot, an SO-101 first, or a Franka arm, as ROS topics.

Three kinds of threads: the executor receives commands, the bus thread talks to the robot, and every
camera has its own.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.health import Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import stamp_ns
from frame_ros.hardware.driver_diagnostics import driver_statuses
from frame_ros.hardware.lerobot.cameras import LeRobotCamera, make_cameras
from frame_ros.hardware.lerobot.robot import LeRobotRobot, RobotReading
from frame_ros.nodes.robot_driver.bus import BusLoop
from frame_ros.nodes.robot_driver.cameras import CameraPublisher
from frame_ros.nodes.robot_driver.fci_driver import FciDriver
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.nodes.robot_driver.topics import JOINT_COMMANDS, JOINT_STATES, TORQUE
from frame_ros.nodes.runtime.endpoints import endpoint, published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.managed import ManagedNode, run_managed
from frame_ros.nodes.runtime.message_parts import header_message
from frame_ros.nodes.runtime.parameters import declare_options, unconfigured
from frame_ros.robots import load_robot
from frame_ros.robots.frame_names import FrameNames

DEPTH = 50
TORQUE_TIMEOUT = 2.0  # s to wait for the bus to switch the torque


class RobotDriverNode(ManagedNode):
    """Drives one robot.

    Subscribes: joint_commands (rad). Publishes: joint_states (rad, rad/s, effort: motor current in
    A times `effort_per_ampere`), <camera>/image_raw. Services: ~/torque. With `host` it is a Franka
    arm: see FciDriver.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('robot_driver', **options)
        self._warnings = RepeatedWarnings(self.get_logger())
        self.options = declare_options(self, RobotDriverOptions, self._change)
        self.fix_while_configured(unconfigured(RobotDriverOptions))
        self._robot: LeRobotRobot | None = None
        self._bus: BusLoop | None = None
        self._cameras: list[LeRobotCamera] = []
        self._publishers_of_images: list[CameraPublisher] = []
        self._publishers_of_states: list[Publisher] = []
        self._inputs: list[Callable[[], object]] = []
        self._fci: FciDriver | None = None
        self.autostart(self.options.autostart)

    def _change(self, options: RobotDriverOptions) -> None:
        self.options = options

    def _configure(self) -> None:
        settings = self.options
        robot = load_robot(settings.robot)
        if settings.host:
            self.readiness.hardware_id = settings.host
            self._fci = FciDriver(self, settings, robot)
            return
        self.readiness.hardware_id = ' '.join(filter(None, (settings.robot_id, settings.port)))
        self._robot = LeRobotRobot(settings.device(robot))
        self._cameras = make_cameras(settings.cameras)
        self._names = list(self._robot.names)
        self._effort = settings.effort_per_ampere
        self._states = self.create_lifecycle_publisher(*published(JOINT_STATES))
        self._publishers_of_states = [self._states]

    def _start(self) -> None:
        if self._fci is not None:
            self._fci.start()
            return
        assert self._robot is not None
        settings = self.options
        self._robot.connect(settings.write_calibration)
        for note in self._robot.calibration_notes():
            self.get_logger().warning(note)
        self._bus = BusLoop(
            self._robot, settings, self.get_clock(), self._publish, self.get_logger()
        )
        self._create_inputs()
        self._bus.start()
        frames = FrameNames(settings.frame_prefix)
        self._publishers_of_images = [
            CameraPublisher(self, camera, settings.camera_timeout, frames)
            for camera in self._cameras
        ]
        for camera in self._publishers_of_images:
            camera.start()
        cameras = ', '.join(camera.name for camera in self._cameras) or 'none'
        self.get_logger().info(
            f'{settings.robot_type} {settings.robot_id!r} on {settings.port or "its port"} at '
            f'{settings.rate:g} Hz; cameras: {cameras}; at the end it '
            + ('holds' if settings.torque_on_exit == 'hold' else 'lets go')
        )

    def _create_inputs(self) -> None:
        commands = FittingSubscription(
            self, JOINT_COMMANDS, self._on_command, depth=DEPTH, is_live=True, is_called=True
        )
        torque = self.create_service(*endpoint(TORQUE), self._on_torque)
        self._inputs = [commands.destroy, lambda: self.destroy_service(torque)]

    def _stop(self) -> None:
        if self._fci is not None:
            self._fci.stop()
        for destroy in self._inputs:
            destroy()
        if self._bus is not None:  # first: a camera may take its time
            self._bus.stop()
            counts = self._bus.counts
            self.get_logger().info(
                f'stopped after {counts.cycles} cycles; commands {counts.commands}, sent '
                f'{counts.sent}, refused {counts.refused}, stale {counts.stale}; holds '
                f'{counts.holds}, repeated readings {counts.retries}, losses {counts.losses}'
            )
        for camera in self._publishers_of_images:
            camera.stop()
        self._inputs, self._publishers_of_images, self._bus = [], [], None

    def _release(self) -> None:
        if self._fci is not None:
            self._fci.release()
        self._fci = None
        for publisher in self._publishers_of_states:
            self.destroy_publisher(publisher)
        self._publishers_of_states = []
        self._robot, self._cameras = None, []

    def _on_command(self, message: JointState) -> None:
        if self._bus is None:
            return
        stamp = stamp_ns(message.header.stamp)
        problem = self._bus.command(stamp, message.name, np.array(message.position))
        if problem:
            counts = self._bus.counts
            self._warnings.warn(
                'command',
                f'joint command refused ({counts.refused + counts.stale} so far): {problem}',
            )

    def _on_torque(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            if self._bus is None:
                raise SetupError('the node is not active')
            self._bus.set_torque(request.data, TORQUE_TIMEOUT)
        except FrameRosError as error:
            response.success, response.message = False, str(error)
            return response
        response.success = True
        response.message = 'the arm holds' if request.data else 'the arm is free to be moved'
        return response

    def _publish(self, stamp: int, reading: RobotReading) -> None:
        """joint_states; in the bus thread."""
        message = JointState(header=header_message(stamp), name=self._names)
        message.position = array('d', reading.positions.tobytes())
        if reading.velocities is not None:
            message.velocity = array('d', reading.velocities.tobytes())
        if reading.currents is not None:
            message.effort = array('d', (reading.currents * self._effort).tobytes())
        self._states.publish(message)

    def patience(self) -> float:
        """Returns the time, s, in which a Franka arm that is started with the node comes up."""
        return self.options.fci.connect_timeout if self.options.host else 0.0

    def health(self) -> list[Status]:
        """One status of the robot, one per camera or hand, while the node is active."""
        fci = self._fci
        if fci is not None:
            return fci.health()
        bus = self._bus  # a start that fails ends it in another thread
        if bus is None:
            return []
        cameras = {c.camera_name: c.state for c in self._publishers_of_images}
        return driver_statuses(self._names, bus.state, cameras)


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_managed(RobotDriverNode))
