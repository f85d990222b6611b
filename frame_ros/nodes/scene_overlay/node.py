# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node that draws the objects of a scene as ghosts into a camera's images, live."""

from __future__ import annotations

import sys
import threading
from typing import Any

import cv2
import numpy as np
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, Image
from std_srvs.srv import Trigger

from frame_ros.bags.images.decoding import decode_image
from frame_ros.core.errors import FrameRosError, SetupError, UnsetError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.nodes.runtime.endpoints import endpoint, published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.message_parts import image_message
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import poll_with_services, run_node
from frame_ros.nodes.runtime.topics import IMAGE_INFO, IMAGES
from frame_ros.nodes.scene_overlay import topics
from frame_ros.nodes.scene_overlay.camera_pose import CameraPose
from frame_ros.nodes.scene_overlay.options import SceneOverlayOptions
from frame_ros.robots import load_robot
from frame_ros.scenes.cards.camera import Lens, PlacedCamera, lens_of_info
from frame_ros.scenes.cards.choice import find_scene
from frame_ros.scenes.cards.ghosts import Ghost, draw_ghosts, ghosts_of
from frame_ros.scenes.description.files import read_scenes
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.running_scene import RunningScene

Picture = NDArray[np.uint8]
IMAGE_WAIT = 0.05  # s
POSE_AGE = 1.0  # s, largest difference of the pose of the target from the image
NEWEST = 2  # images: only the newest is drawn into


class SceneOverlayNode(Node):
    """Subscribes a camera's images and camera_info, publishes ~/image with the objects of a scene.

    An image into which they cannot be drawn is published with the reason.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a file, scene, robot or parameter that cannot be used."""
        super().__init__('scene_overlay')
        self._settings = declare_options(self, SceneOverlayOptions, self._change, self._check)
        settings = self._settings
        if not settings.scenes_file:
            raise UnsetError('the parameter scenes_file is empty; it must be a scene file')
        self._scenes = read_scenes(settings.scenes_file)
        if not self._scenes:
            raise SetupError(f'{settings.scenes_file} has no scene')
        self._place = find_scene(self._scenes, settings.scene)
        robot = load_robot(settings.robot)
        self._pose = CameraPose(self, robot, settings)
        self._images = FittingSubscription(
            self, IMAGES.at(settings.images), depth=NEWEST, reliability=BEST_EFFORT,
            is_required=True, is_steady=True,
        )  # fmt: skip
        self._infos = FittingSubscription(
            self, IMAGE_INFO.at(settings.infos), depth=5, is_required=True, is_steady=True
        )
        self._objects: FittingSubscription | None = None
        if settings.object_topic:
            self._objects = FittingSubscription(
                self, topics.OBJECT.at(settings.object_topic), depth=5
            )
        self._running: FittingSubscription | None = None
        if settings.scene_topic:
            self._running = FittingSubscription(
                self, topics.RUNNING.at(settings.scene_topic), depth=2
            )
        self._base_frame = settings.frames.of(robot.base_link)
        self._info: CameraInfo | None = None
        self._lens: Lens | str = f'no camera_info has come on {self._infos.topic_name}'
        self._object: PoseStamped | None = None
        self._limit = RateLimit(settings.rate)
        self._newest = 0  # ns, stamp of the last image
        self._drawn: tuple[tuple[int, bytes, bytes], tuple[Ghost, ...]] | None = None
        self._problem = 'no image has come yet'
        self._warnings = RepeatedWarnings(self.get_logger())
        self._publisher = self.create_publisher(*published(topics.OVERLAY))
        self.create_service(*endpoint(topics.NEXT), self._on_next)
        self._readiness = Readiness(self, robot.name, lambda: self._problem)
        self._log_scene()

    @property
    def scene(self) -> Scene:
        """The scene that is drawn."""
        return self._scenes[self._place]

    def _log_scene(self) -> None:
        self.get_logger().info(
            f'scene {self._place + 1} of {len(self._scenes)}, {self.scene.name}: '
            f'{self.scene.instruction or "no instruction"}'
        )

    # Parameters and services, in the loop's own thread.

    def _check(self, options: SceneOverlayOptions) -> None:
        find_scene(self._scenes, options.scene)

    def _change(self, options: SceneOverlayOptions) -> None:
        before, self._settings = self._settings, options
        if options.rate != before.rate:
            self._limit = RateLimit(options.rate)
        self._pose.change(options)
        if options.scene != before.scene:
            self._place = find_scene(self._scenes, options.scene)
            self._log_scene()

    def _on_next(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        result = self._show((self._place + 1) % len(self._scenes))
        response.success = result.successful
        response.message = self.scene.name if result.successful else result.reason
        return response

    def _show(self, place: int) -> Any:
        """Sets the parameter `scene` to that at a place, from 0; returns the result."""
        names = [each.name for each in self._scenes]
        # A scene may have another's number for a name, which would take precedence.
        chosen = names[place] if str(place + 1) in names else str(place + 1)
        (result,) = self.set_parameters([Parameter('scene', value=chosen)])
        return result

    def _follow(self, text: str) -> None:
        """Shows the scene that a simulator runs, if it is one of the file."""
        try:
            running = RunningScene.read(text)
        except FrameRosError as error:
            self._warnings.warn('scene', str(error))
            return
        place = running.number - 1
        if not 0 <= place < len(self._scenes) or self._scenes[place].name != running.name:
            self._warnings.warn(
                'scene',
                f'the simulator runs scene {running.number}, {running.name}, which is not in '
                f'{self._settings.scenes_file}',
            )
        elif place != self._place:
            self._show(place)

    # Images.

    def poll(self) -> None:
        """Takes what has arrived, and draws into the newest image if that is due."""
        self._pose.poll()
        for info, _ in self._infos.take(20):
            self._take_info(info)
        if self._objects is not None:
            for pose, _ in self._objects.take(20):
                self._object = pose
        for message, _ in self._running.take(10) if self._running is not None else ():
            self._follow(message.data)
        images = [image for image, _ in self._images.take(10)]
        if not images:
            return
        stamp = stamp_ns(images[-1].header.stamp)
        if stamp < self._newest:  # the clock was set back, or a bag begins again
            self._limit.reset()
        self._newest = stamp
        if self._limit.is_due(stamp):
            self._draw(images[-1])

    def _take_info(self, info: CameraInfo) -> None:
        if info == self._info:
            return
        self._info, self._drawn = info, None
        try:
            self._lens = lens_of_info(info, self._settings.is_rectified)
        except (FrameRosError, ValueError) as error:
            self._lens = f'camera_info cannot be used: {error}'

    def _draw(self, image: Image) -> None:
        try:
            picture = _rgb(image)
        except FrameRosError as error:
            self._note(str(error))
            return
        try:
            camera = self._camera(image)
            ghosts = camera if isinstance(camera, str) else self._ghosts_at(camera)
        except FrameRosError as error:
            ghosts = str(error)
        if isinstance(ghosts, str):
            self._note(ghosts)
            picture = draw_ghosts(picture, (), text=(f'no ghosts: {ghosts}',))
        else:
            self._note('')
            lines = [self.scene.instruction or 'no instruction', self._title()]
            picture = draw_ghosts(
                picture, ghosts, self._settings.opacity, [line for line in lines if line],
                self._labels(ghosts, stamp_ns(image.header.stamp)),
            )  # fmt: skip
        self._publisher.publish(image_message(image.header, picture, 'rgb8'))

    def _title(self) -> str:
        return f'scene {self._place + 1} of {len(self._scenes)}: {self.scene.name}'

    def _note(self, problem: str) -> None:
        self._problem = problem
        if problem:
            self._warnings.warn_once_started('image', problem)

    def _camera(self, image: Image) -> PlacedCamera | str:
        """The camera of an image, or why it is not known."""
        lens, info = self._lens, self._info
        if isinstance(lens, str) or info is None:
            return str(lens)
        if (lens.width, lens.height) != (image.width, image.height):
            return (
                f'camera_info is of {lens.width}x{lens.height} pixels, the image has '
                f'{image.width}x{image.height}'
            )
        frame, of_info = (header.frame_id.lstrip('/') for header in (image.header, info.header))
        if frame and of_info and frame != of_info:
            return f'camera_info is of the frame {of_info!r}, the image of {frame!r}'
        pose = self._pose.at(frame, stamp_ns(image.header.stamp), self.scene)
        if isinstance(pose, str):
            return pose
        return PlacedCamera(lens=lens, position=pose[0], rotation=pose[1])

    def _ghosts_at(self, camera: PlacedCamera) -> tuple[Ghost, ...] | str:
        """The ghosts, made again where scene, lens or pose have changed; or why there are none."""
        key = self._place, camera.position.tobytes(), camera.rotation.tobytes()
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, ghosts_of(self.scene, camera)
        return self._drawn[1] or f'no object of the scene {self.scene.name} has a known shape'

    def _labels(self, ghosts: tuple[Ghost, ...], stamp: int) -> dict[str, str]:
        """Texts at the objects: the type, and of the target how far off it is, at a stamp, ns."""
        scene = self.scene
        labels = {each.name: scene.object(each.name).type.replace('_', ' ') for each in ghosts}
        pose = self._object
        if pose is None:
            return labels
        frame = pose.header.frame_id.lstrip('/')
        if frame not in ('', self._base_frame):
            self._note(f'the pose of the target is in {frame!r}, not in {self._base_frame!r}')
            return labels
        if abs(stamp - stamp_ns(pose.header.stamp)) > POSE_AGE * SECOND:
            labels[scene.target.name] += ' (its pose is old)'
            return labels
        x, y = scene.target.position
        off = np.array((pose.pose.position.x - x, pose.pose.position.y - y))
        if np.isfinite(off).all():
            labels[scene.target.name] += f' {1e3 * np.hypot(*off):.0f} mm off'
        return labels

    # The loop.

    def spin(self, stop: threading.Event) -> None:
        """Polls until `stop`; an executor serves the parameters and the service now and then."""
        cv2.setNumThreads(1)
        poll_with_services(self, stop, self.poll, lambda: self._images.wait(IMAGE_WAIT))


def _rgb(image: Image) -> Picture:
    """(H, W, 3) uint8 RGB.

    Raises:
        BagError: the encoding is not known, or the data is too short.
        SetupError: it is of no colour.
    """
    data = np.frombuffer(image.data, np.uint8)
    pixels = decode_image(
        data, image.height, image.width, image.encoding, image.step, bool(image.is_bigendian)
    )
    if pixels.dtype != np.uint8:
        raise SetupError(
            f'the images have the encoding {image.encoding!r}; needed is a colour or grey'
        )
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_node(SceneOverlayNode, spin=lambda node, stop: node.spin(stop)))
