# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's render thread: draws the states it is handed and publishes the images; also feeds
the viewer.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from frame_ros.errors import FrameRosError
from frame_ros.nodes.simulator_messages import (
    camera_info_message,
    colour_image_message,
    depth_image_message,
    header_message,
    optical_frame,
)
from frame_ros.nodes.simulator_viewer import Viewer
from frame_ros.scenes import PickPlaceSimulation, SceneRenderer, SceneState

DEPTH_CAMERA = 'front'
_QUEUE_LENGTH = 3  # pictures waiting; more would only be late
_IMAGE_DEPTH = 5  # of the publishers, reliable, so that subscribers of both kinds match


@dataclass(frozen=True)
class Picture:
    """A picture to take. stamp: ns, when the state was so. camera: empty for the viewer."""

    stamp: int
    state: SceneState
    camera: str
    with_depth: bool = False


class CameraThread(threading.Thread):
    """Takes pictures one after the other; when it cannot keep up, the oldest that waits is left out
    and counted.

    The OpenGL context belongs to this thread, so it is made and freed in it.
    """

    def __init__(
        self,
        node: Node,
        simulation: PickPlaceSimulation,
        cameras: tuple[str, ...],
        size: tuple[int, int],
        viewer: bool,
    ):
        """size: width and height in pixels. viewer: whether to open MuJoCo's window."""
        super().__init__(name='cameras', daemon=True)
        self._node, self._model = node, simulation.model
        self._size, self._wants_viewer = size, viewer
        self._waiting: deque[Picture] = deque()
        self._wake = threading.Condition()
        self._is_stopping = False
        self.ready = threading.Event()  # the context is made: a slow moment is over
        self._intrinsics = {camera: simulation.intrinsics(camera, *size) for camera in cameras}
        self._topics = {camera: camera for camera in cameras}
        if DEPTH_CAMERA in cameras:
            self._topics['depth'] = f'{DEPTH_CAMERA}/depth'
        self._images = {
            key: node.create_publisher(Image, f'{topic}/image_raw', _IMAGE_DEPTH)
            for key, topic in self._topics.items()
        }
        self._infos = {
            key: node.create_publisher(CameraInfo, f'{topic}/camera_info', _IMAGE_DEPTH)
            for key, topic in self._topics.items()
        }
        self.published = dict.fromkeys(self._topics, 0)
        self.skipped = 0

    def take(self, picture: Picture) -> None:
        """Asks for a picture; does not wait."""
        with self._wake:
            if len(self._waiting) >= _QUEUE_LENGTH:
                self._waiting.popleft()
                self.skipped += 1
            self._waiting.append(picture)
            self._wake.notify()

    def stop(self) -> None:
        """Ends the thread and waits for it."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """The thread: without a renderer, the simulation goes on without images, and says so."""
        renderer = self._make_renderer()
        viewer = self._open_viewer()
        self.ready.set()
        try:
            while (picture := self._next()) is not None:
                if not picture.camera:
                    if viewer is not None:
                        viewer.show(picture.state)
                elif renderer is not None:
                    self._publish(renderer, picture)
        finally:
            if viewer is not None:
                viewer.close()
            if renderer is not None:
                renderer.close()

    def _make_renderer(self) -> SceneRenderer | None:
        if not self._intrinsics:
            return None
        try:
            return SceneRenderer(self._model, *self._size)
        except FrameRosError as error:
            self._node.get_logger().error(f'there will be no images: {error}')
            return None

    def _next(self) -> Picture | None:
        with self._wake:
            while not (self._waiting or self._is_stopping):
                self._wake.wait()
            return None if self._is_stopping else self._waiting.popleft()

    def _publish(self, renderer: SceneRenderer, picture: Picture) -> None:
        frame = renderer.render(picture.state, picture.camera, picture.with_depth)
        header = header_message(picture.stamp, optical_frame(picture.camera))
        info = camera_info_message(header, self._intrinsics[picture.camera])
        messages = {picture.camera: colour_image_message(header, frame.rgb)}
        if frame.depth is not None:
            messages['depth'] = depth_image_message(header, frame.depth)
        for key, message in messages.items():
            self._images[key].publish(message)
            self._infos[key].publish(info)
            self.published[key] += 1

    def _open_viewer(self) -> Viewer | None:
        if not self._wants_viewer:
            return None
        try:
            return Viewer(self._model)
        except FrameRosError as error:
            self._node.get_logger().warning(f'there will be no viewer: {error}')
            return None
