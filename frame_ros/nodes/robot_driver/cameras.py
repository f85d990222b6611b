# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver's cameras: each in a thread of its own, so that a slow one delays nothing."""

from __future__ import annotations

import threading
import time

from rclpy.node import Node
from rclpy.publisher import Publisher

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.driver_state import CameraState
from frame_ros.hardware.lerobot.cameras import Frame, LeRobotCamera
from frame_ros.nodes.robot_driver.topics import IMAGES
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import header_message, image_message, optical_frame
from frame_ros.robots.frame_names import FrameNames

IMAGE_DEPTH = 5  # of the publishers, reliable, so that subscribers of both kinds match
RECONNECT_PERIOD = 1.0  # s


class CameraPublisher(threading.Thread):
    """Publishes the images of one camera on <name>/image_raw until `stop`, connecting again for as
    long as it takes.

    timeout: s without an image after which the camera counts as gone. frames: names in tf.
    """

    def __init__(
        self, node: Node, camera: LeRobotCamera, timeout: float, frames: FrameNames
    ) -> None:
        super().__init__(name=f'camera {camera.name}', daemon=True)
        self._node, self._camera, self._timeout = node, camera, timeout
        self._publisher: Publisher = node.create_publisher(
            *published(IMAGES.of(camera=camera.name))
        )
        self._frame = frames.of(optical_frame(camera.name))
        self._ending = threading.Event()
        self._last_stamp = 0
        self.frames = 0
        self.problem = 'not opened yet'

    @property
    def state(self) -> CameraState:
        """The camera's state, from any thread."""
        return CameraState(self.frames, self.problem)

    @property
    def camera_name(self) -> str:
        """The camera's name."""
        return self._camera.name

    def stop(self) -> None:
        """Ends the thread, closes the camera, and takes the publisher away."""
        self._ending.set()
        if self.is_alive():
            self.join()
        self._camera.close()
        self._node.destroy_publisher(self._publisher)

    def run(self) -> None:
        """The thread."""
        while not self._ending.is_set():
            try:
                self._camera.connect()
                self._say_opened()
                while not self._ending.is_set():
                    self._publish(self._camera.read(self._timeout))
            except DeviceError as error:
                self._say_gone(str(error))
                self._ending.wait(RECONNECT_PERIOD)

    def _publish(self, frame: Frame) -> None:
        age = time.monotonic_ns() - frame.captured
        stamp = self._node.get_clock().now().nanoseconds - age
        if stamp <= self._last_stamp:
            return
        self._last_stamp = stamp
        header = header_message(stamp, self._frame)
        self._publisher.publish(image_message(header, frame.pixels, self._camera.encoding))
        self.frames += 1

    def _say_opened(self) -> None:
        self.problem = ''
        self._node.get_logger().info(f'camera {self._camera.name} is open')

    def _say_gone(self, problem: str) -> None:
        if problem != self.problem:
            self._node.get_logger().error(f'{problem}; tried again every {RECONNECT_PERIOD:g} s')
        self.problem = problem
