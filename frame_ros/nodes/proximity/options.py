# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the proximity node."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_pairs
from frame_ros.nodes.runtime.options import RELIABILITIES
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.profiles import find_profile
from frame_ros.robots.shapes.link_shapes import link_shapes, load_shapes
from frame_ros.sensing.contact.grasp import GraspOptions
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.depth.options import DepthOptions, Plane
from frame_ros.sensing.proximity.mount import Mount, parse_mount
from frame_ros.sensing.proximity.robot_at import HeldObject, WatchedRobot

NONE = 'none'
FAR = 10.0  # m; a bound that is none
MOST_RATE = 100.0  # Hz


@dataclass(frozen=True)
class ProximityOptions:
    """The parameters; config/proximity.yaml says what each means."""

    robot: str = 'so101'
    shapes: str = ''
    links: tuple[str, ...] = ('',)
    ignored_links: tuple[str, ...] = ('',)
    realtime_priority: int = 40
    cameras: tuple[str, ...] = ('front',)
    image_topics: tuple[str, ...] = ('',)
    info_topics: tuple[str, ...] = ('',)
    reliability: str = 'best_effort'
    rate: float = 0.0
    extrinsics: tuple[str, ...] = ('',)
    frame_prefix: str = ''
    transform_age: float = 0.05
    camera_age: float = 0.1
    needs_all_cameras: bool = False
    silence: float = 0.5
    joint_wait: float = 0.02
    joint_age: float = 0.02
    joint_gap: float = 0.1
    assumed_joints: tuple[str, ...] = ('',)
    gripper_topic: str = ''
    padding: float = 0.01
    depth_noise: float = 0.01
    depth_noises: tuple[str, ...] = ('',)
    min_range: float = 0.1
    max_range: float = 3.0
    surface_height: float = -FAR
    surface_margin: float = 0.01
    workspace: tuple[float, ...] = (-FAR, -FAR, -FAR, FAR, FAR, FAR)
    planes: tuple[str, ...] = ('',)
    smoothing: int = 3
    min_support: int = 7
    tolerance: float = 0.004
    relative_tolerance: float = 0.008
    min_valid_fraction: float = 0.1
    surroundings: float = 0.05
    needs_links_in_view: bool = True
    grasp_source: str = 'position'
    gripper_joint: str = ''
    gripper_closed: float = 0.0
    gripper_open: float = 0.0
    gripper_smaller_is_closed: bool = True
    gripper_empty: float = 0.0
    gripper_margin: float = 0.0
    effort_on: float = 0.5
    effort_off: float = 0.25
    grasp_debounce: float = 0.1
    held_link: str = ''
    held_size: tuple[float, ...] = (0.08, 0.08, 0.08)
    held_offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    obstacles_file: str = ''
    planning_scene_topics: tuple[str, ...] = ('',)
    collision_object_topics: tuple[str, ...] = ('',)
    ignored_obstacles: tuple[str, ...] = ('',)
    model_rate: float = 30.0
    alignment_rate: float = 0.5
    alignment_translation: float = 0.02
    alignment_rotation: float = 0.035
    withhold_misaligned: bool = True
    cloud_rate: float = 5.0
    cloud_points: int = 8000

    @classmethod
    def declare(cls, node: Node) -> ProximityOptions:
        """Declares the parameters on `node` and reads them.

        Raises:
            SetupError: a value is of the wrong type or out of its range.
        """
        values: dict[str, Any] = {}
        for setting in fields(cls):
            default: Any = setting.default
            value = list(default) if isinstance(default, tuple) else default
            given = declare(node, setting.name, value, is_word=setting.name == 'grasp_source')
            values[setting.name] = tuple(given) if isinstance(given, (list, array)) else given
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises SetupError if a value is out of its range."""
        for name, (is_met, text) in _rules(self).items():
            if not is_met:
                raise SetupError(f'{name} is {getattr(self, name)!r}; it must be {text}')
        names = self.camera_names
        if len(set(names)) != len(names):
            raise SetupError(f'cameras names one twice: {", ".join(names)}')
        if not names and not self.has_model:
            raise SetupError(
                'there is neither a camera nor a known obstacle: set cameras, obstacles_file, '
                'planning_scene_topics or collision_object_topics'
            )
        for parameter in ('image_topics', 'info_topics', 'extrinsics', 'depth_noises'):
            self._of_cameras(parameter)

    @property
    def camera_names(self) -> tuple[str, ...]:
        """The cameras."""
        return tuple(filter(None, self.cameras))

    @property
    def has_model(self) -> bool:
        """Whether obstacles are known."""
        topics = (*self.planning_scene_topics, *self.collision_object_topics)
        return bool(self.obstacles_file or any(topics))

    def _of_cameras(self, parameter: str) -> dict[str, str]:
        """camera=text of a parameter.

        Raises:
            SetupError: it is not of that form, or there is no such camera.
        """
        pairs = parse_pairs(parameter, getattr(self, parameter))
        for name in pairs:
            if name not in self.camera_names:
                raise SetupError(
                    f'{parameter} names the camera {name!r}; cameras has '
                    f'{", ".join(self.camera_names) or "none"}'
                )
        return pairs

    def topics(self, camera: str) -> tuple[str, str]:
        """Of a camera's depth images and camera_info."""
        image = self._of_cameras('image_topics').get(camera, f'{camera}/depth/image_raw')
        beside = str(PurePosixPath(image).parent / 'camera_info')
        return image, self._of_cameras('info_topics').get(camera, beside)

    @staticmethod
    def is_rectified(image_topic: str) -> bool:
        """Whether the topic's last name says that its pictures are rectified (image_rect, ...)."""
        return 'rect' in image_topic.rsplit('/', 1)[-1]

    def mounts(self, robot: Robot) -> dict[str, Mount]:
        """The extrinsics that are given.

        Raises:
            SetupError: they are not of the form, or the robot has no such link.
        """
        return {
            camera: parse_mount(camera, text, robot.links)
            for camera, text in self._of_cameras('extrinsics').items()
        }

    @property
    def assumed(self) -> dict[str, float]:
        """Joint -> position until joint_states have it.

        Raises:
            SetupError: a position is no number.
        """
        try:
            return {
                n: float(text)
                for n, text in parse_pairs('assumed_joints', self.assumed_joints).items()
            }
        except ValueError as error:
            raise SetupError(f'assumed_joints must be joint=number: {error}') from error

    def noise_of(self, camera: str) -> float:
        """m at 1 m of depth that a camera's depths may be wrong by.

        Raises:
            SetupError: it is no number.
        """
        text = self._of_cameras('depth_noises').get(camera)
        try:
            return self.depth_noise if text is None else float(text)
        except ValueError as error:
            raise SetupError(f'depth_noises must be camera=number, in m: {error}') from error

    def depth_settings(self, camera: str = '') -> DepthOptions:
        """What of a camera's depth images counts.

        Raises:
            SetupError, ValueRangeError: a value that cannot be meant.
        """
        of_core = {field.name for field in fields(DepthOptions)}
        same = {name: getattr(self, name) for name in of_core if hasattr(self, name)}
        bounds = self.workspace
        is_bounded = any(abs(value) < FAR for value in bounds)
        same['workspace'] = (tuple(bounds[:3]), tuple(bounds[3:])) if is_bounded else None
        same['surface_height'] = self.surface_height if self.surface_height > -FAR else None
        same['depth_noise'] = self.noise_of(camera)
        same['planes'] = tuple(_plane(text) for text in filter(None, self.planes))
        return DepthOptions(**same)

    def alignment_settings(self) -> AlignmentOptions:
        """From where on a camera counts as misaligned."""
        return AlignmentOptions(self.alignment_translation, self.alignment_rotation)

    def load_robot(self) -> Robot:
        """The robot, with its TCP as the tip.

        Raises:
            RobotError: there is no such robot.
        """
        return load_robot(self.robot, 'tcp' if 'tcp' in find_profile(self.robot).tips else None)

    def watched(self, robot: Robot) -> WatchedRobot:
        """The robot's links and shapes, and what it may hold.

        Raises:
            FrameRosError: a link or joint that the robot lacks, or shapes that cannot be read.
        """
        frames = LinkFrames(robot)
        ignored = tuple(filter(None, self.ignored_links)) or (robot.base_link,)
        wanted = tuple(filter(None, self.links)) or None
        if self.shapes:
            shapes = load_shapes(self.shapes, robot, wanted, ignored)
        else:
            shapes = link_shapes(robot, wanted, ignored)
        return WatchedRobot(frames, shapes, self._held(robot, frames))

    def _held(self, robot: Robot, frames: LinkFrames) -> HeldObject | None:
        if self.grasp_source == NONE:
            return None
        preset = find_profile(self.robot).gripper
        joint = self.gripper_joint or (preset.joint if preset else '')
        is_set = not (self.gripper_closed == self.gripper_open == 0.0)
        if not joint or not (is_set or preset):
            raise SetupError(
                f'the gripper of {self.robot!r} is not known: set gripper_joint, '
                'gripper_closed and gripper_open, or grasp_source to none'
            )
        settings = GraspOptions(
            source=self.grasp_source,
            closed=self.gripper_closed if is_set or not preset else preset.closed,
            opened=self.gripper_open if is_set or not preset else preset.opened,
            smaller_is_closed=self.gripper_smaller_is_closed
            and (is_set or preset is None or preset.smaller_is_closed),
            empty=self.gripper_empty,
            margin=self.gripper_margin,
            effort_on=self.effort_on,
            effort_off=self.effort_off,
            debounce=self.grasp_debounce,
        )
        row = frames.index(self.held_link or robot.tip_link)
        return HeldObject(settings, joint, row, self.held_size, self.held_offset)


def _plane(text: str) -> Plane:
    words = text.replace(',', ' ').split()
    try:
        x, y, z, offset = (float(word) for word in words)
    except ValueError as error:
        raise SetupError(f'planes holds {text!r}; it must be nx ny nz offset') from error
    length = math.sqrt(x * x + y * y + z * z)
    if not (math.isfinite(length + offset) and length > 0):
        raise SetupError(f'planes holds {text!r}, whose normal has no direction')
    return Plane((x / length, y / length, z / length), offset / length)


def _rules(settings: ProximityOptions) -> dict[str, tuple[bool, str]]:
    """For each parameter that has a range: whether it is met, and what it must be."""

    def is_positive(*values: float) -> bool:
        return all(math.isfinite(value) and value > 0 for value in values)

    rates = ('rate', 'alignment_rate', 'cloud_rate')
    times = ('joint_wait', 'joint_age', 'transform_age')
    limits = ('joint_gap', 'camera_age', 'silence', 'alignment_translation', 'alignment_rotation')
    return {
        **{n: (0 <= getattr(settings, n) <= MOST_RATE, f'0 to {MOST_RATE:g} Hz') for n in rates},
        **{n: (0 <= getattr(settings, n) <= 1.0, '0 to 1 s') for n in times},
        **{n: (is_positive(getattr(settings, n)), 'above 0') for n in limits},
        'model_rate': (0 < settings.model_rate <= MOST_RATE, f'above 0, to {MOST_RATE:g} Hz'),
        'realtime_priority': (0 <= settings.realtime_priority <= 99, '0 to 99'),
        'reliability': (settings.reliability in RELIABILITIES, ' or '.join(RELIABILITIES)),
        'grasp_source': (
            settings.grasp_source in ('position', 'effort', NONE), 'position, effort or none'
        ),
        'workspace': (len(settings.workspace) == 6, 'six numbers: x, y, z from, then to'),
        'held_size': (
            len(settings.held_size) == 3 and is_positive(*settings.held_size),
            'three edges in m, above 0',
        ),
        'held_offset': (
            len(settings.held_offset) == 3 and all(map(math.isfinite, settings.held_offset)),
            'x, y, z in m',
        ),
        'cloud_points': (settings.cloud_points >= 1, '1 or more'),
    }  # fmt: skip
