# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's render thread: draws the states it is handed and publishes the images; also feeds
the viewer.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import FrameRosError
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import header_message, image_message, optical_frame
from frame_ros.nodes.simulator.messages import (
    camera_info_message,
    colour_image_message,
    millimetres,
)
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.nodes.simulator.topics import DEPTH_IMAGES, DEPTH_INFO, IMAGE_INFO, IMAGES
from frame_ros.scenes import PickPlaceSimulation, SceneRenderer, SceneState
from frame_ros.scenes.simulation.noise.robot_sensors import depth_noise
from frame_ros.scenes.simulation.rendering import Intrinsics, intrinsics
from frame_ros.scenes.simulation.viewer import Viewer

_QUEUE_LENGTH = 3  # pictures waiting; more would only be late


@dataclass(frozen=True)
class Picture:
    """A picture to take. stamp: ns, when the state was so. camera: empty for the viewer. has_image,
    has_depth: what is published of it. size: pixels; None: as of the node's options.
    """

    stamp: int
    state: SceneState
    camera: str
    has_image: bool = True
    has_depth: bool = False
    model: Any = None  # of the state; None: the first
    size: tuple[int, int] | None = None


class CameraThread(threading.Thread):
    """Takes pictures one after the other; when it cannot keep up, the oldest that waits is left out
    and counted.

    The OpenGL context belongs to this thread, so it is made and freed in it.
    """

    def __init__(
        self,
        node: Node,
        simulation: PickPlaceSimulation,
        options: SimulatorOptions,
        viewer: bool,
    ):
        """viewer: whether to open MuJoCo's window."""
        super().__init__(name='cameras', daemon=True)
        self._names = options.frames
        self._node, self._model = node, simulation.model
        self._size, self._wants_viewer = (options.images.width, options.images.height), viewer
        self._waiting: deque[Picture] = deque()
        self._wake = threading.Condition()
        self._is_stopping = False
        self.ready = threading.Event()  # the context is made: a slow moment is over
        topics = topics_of(options)
        self.names = tuple(dict.fromkeys(camera for camera, _ in topics))
        self._robot, self._noise_options = simulation.robot, options.noise
        self._renderers: dict[tuple[int, int], SceneRenderer | None] = {}
        self._noise: dict[str, tuple[Intrinsics, Any]] = {}
        self._images = {
            (camera, is_depth): node.create_publisher(
                *published((DEPTH_IMAGES if is_depth else IMAGES).of(camera=camera))
            )
            for camera, is_depth in topics
        }
        self._infos = {
            (camera, is_depth): node.create_publisher(
                *published((DEPTH_INFO if is_depth else IMAGE_INFO).of(camera=camera))
            )
            for camera, is_depth in topics
        }
        self.published = dict.fromkeys(topics.values(), 0)
        self.skipped = 0

    def take(self, picture: Picture) -> None:
        """Asks for a picture; does not wait.

        Raises:
            RuntimeError: the thread has ended by an error: there would be no more images.
        """
        if not self.is_alive():
            raise RuntimeError('the thread of the cameras has ended')
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
        """Runs the thread; without a renderer, logs that there are no images, and ends."""
        if self.names:
            self._renderer(self._size)
        viewer = self._open_viewer()
        self.ready.set()
        try:
            while (picture := self._next()) is not None:
                if picture.model not in (None, self._model):  # another scene of a file
                    self._model = picture.model
                    self._close_renderers()
                    if viewer is not None:
                        viewer.close()
                    viewer = self._open_viewer()
                if not picture.camera:
                    if viewer is not None:
                        viewer.show(picture.state)
                elif (renderer := self._renderer(picture.size or self._size)) is not None:
                    self._publish(renderer, picture, picture.size or self._size)
        finally:
            if viewer is not None:
                viewer.close()
            self._close_renderers()

    def _renderer(self, size: tuple[int, int]) -> SceneRenderer | None:
        if size not in self._renderers:
            try:
                self._renderers[size] = SceneRenderer(self._model, *size)
            except FrameRosError as error:
                self._node.get_logger().error(f'there will be no images: {error}')
                self._renderers[size] = None
        return self._renderers[size]

    def _close_renderers(self) -> None:
        for renderer in self._renderers.values():
            if renderer is not None:
                renderer.close()
        self._renderers.clear()

    def _next(self) -> Picture | None:
        with self._wake:
            while not (self._waiting or self._is_stopping):
                self._wake.wait()
            return None if self._is_stopping else self._waiting.popleft()

    def _publish(self, renderer: SceneRenderer, picture: Picture, size: tuple[int, int]) -> None:
        frame = renderer.render(picture.state, picture.camera, picture.has_depth)
        header = header_message(picture.stamp, self._names.of(optical_frame(picture.camera)))
        camera = intrinsics(self._model, picture.camera, *size)
        info = camera_info_message(header, camera)
        messages = {}
        if picture.has_image:
            messages[picture.camera, False] = colour_image_message(header, frame.rgb)
        if frame.depth is not None:
            noise = self._noise_of(picture.camera, camera)
            depth = millimetres(frame.depth) if noise is None else noise(frame.depth, frame.rgb)
            messages[picture.camera, True] = image_message(header, depth, '16UC1')
        for key, message in messages.items():
            self._images[key].publish(message)
            self._infos[key].publish(info)
            self.published[topic_of(*key)] += 1

    def _noise_of(self, camera: str, lens: Intrinsics) -> Any:
        """The noise of a camera's depth, made again where its lens is another; None: none."""
        known = self._noise.get(camera)
        if known is None or known[0] != lens:
            made = depth_noise(self._robot, camera, lens, self._noise_options)
            known = self._noise[camera] = (lens, made)
        return known[1]

    def _open_viewer(self) -> Viewer | None:
        if not self._wants_viewer:
            return None
        try:
            return Viewer(self._model)
        except FrameRosError as error:
            self._node.get_logger().warning(f'there will be no viewer: {error}')
            return None


def topic_of(camera: str, is_depth: bool) -> str:
    """Returns what the topics of a camera's images or depth begin with."""
    return f'{camera}/depth' if is_depth else camera


def topics_of(options: SimulatorOptions) -> dict[tuple[str, bool], str]:
    """(camera, whether it is depth) -> what the topics begin with, of all that is published."""
    found = {}
    for camera in options.cameras:
        for is_depth in (False, True):
            rate = options.depth_rate_of(camera) if is_depth else options.image_rate_of(camera)
            if rate > 0:
                found[camera, is_depth] = topic_of(camera, is_depth)
    return found
