# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node's options."""

from __future__ import annotations

import math
from pathlib import PurePosixPath

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_pairs
from frame_ros.core.options import flatten, group, option, options, rule
from frame_ros.gate.limits.workspace import UNBOUNDED
from frame_ros.nodes.runtime.options import BEST_EFFORT, RELIABILITIES
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.options import FrameOptions, RobotOptions
from frame_ros.robots.profiles import find_profile
from frame_ros.robots.shapes.filter_shapes import OF_SHAPES, filter_shapes
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.depth.meshes.options import MeshOptions
from frame_ros.sensing.proximity.depth.meshes.placing import PlacingSurfaces
from frame_ros.sensing.proximity.depth.options import DepthOptions, DepthParameters, Plane
from frame_ros.sensing.proximity.mount import Mount, parse_mount
from frame_ros.sensing.proximity.robot_at import HeldObject, WatchedRobot
from frame_ros.sensing.stream_health.options import StreamHealthOptions

MOST_RATE = 100.0  # Hz
BOX = (-UNBOUNDED,) * 3 + (UNBOUNDED,) * 3


@options
class DepthImageOptions(DepthParameters):
    """Criteria of an obstacle in a depth image."""

    noises: tuple[str, ...] = option((), 'depth_noise of single cameras, camera=number', live=True)
    surface_height: float = option(
        -UNBOUNDED,
        'height in the base frame of the table or floor that the robot stands on; -10: none',
        unit='m',
        live=True,
    )
    workspace: tuple[float, ...] = option(
        BOX,
        'box in the base frame, x, y, z from, then to; points outside are no obstacle; 10: '
        'no bound',
        unit='m',
        lengths=(6,),
        live=True,
    )
    planes: tuple[str, ...] = option(
        (),
        "further limits, each 'nx ny nz offset' in the base frame: only points with n . p >"
        ' offset (m) are obstacles',
        live=True,
    )


@options
class AlignmentCheckOptions(AlignmentOptions):
    """Check that the robot is seen where it is."""

    rate: float = option(
        0.5,
        'rate of checks of a camera; 0: none',
        unit='Hz',
        at_least=0.0,
        at_most=MOST_RATE,
        live=True,
    )


@options
class HeldOptions:
    """Object that the gripper holds, which is no obstacle."""

    link: str = option('', "link that it moves with; '': the tip")
    size: tuple[float, ...] = option(
        (0.08, 0.08, 0.08), 'edges of a box around it', unit='m', lengths=(3,), above=0.0
    )
    offset: tuple[float, ...] = option(
        (0.0, 0.0, 0.0), "centre of the box, in the link's axes", unit='m', lengths=(3,)
    )


@options
class ObstacleOptions:
    """Obstacles whose place is known."""

    file: str = option('', "YAML file of obstacles whose shape and place are known; '': none")
    planning_scene_topics: tuple[str, ...] = option(
        (), 'moveit_msgs/PlanningScene, for instance monitored_planning_scene'
    )
    collision_object_topics: tuple[str, ...] = option(
        (), 'moveit_msgs/CollisionObject, for instance collision_object'
    )
    ignored: tuple[str, ...] = option((), 'names of obstacles that are left out')
    rate: float = option(
        30.0,
        'largest rate of distances to them, where no camera sets the pace',
        unit='Hz',
        above=0.0,
        at_most=MOST_RATE,
        live=True,
    )


@options
class CloudOptions:
    """Point cloud of the obstacles, proximity/points."""

    rate: float = option(
        5.0,
        'largest rate, while somebody listens; 0: none',
        unit='Hz',
        at_least=0.0,
        at_most=MOST_RATE,
        live=True,
    )
    points: int = option(8000, 'number of points, about', at_least=1, live=True)


@options
class ProximityOptions(FrameOptions, RobotOptions):
    """Proximity node: depth images and known obstacles -> least distance of each link, obstacles'
    points, alignment of the cameras. Monitoring, not a certified safety function.
    """

    shapes: str = option('', OF_SHAPES)
    links: tuple[str, ...] = option(
        (), 'links whose distance is measured; none: all with shapes, but ignored_links'
    )
    ignored_links: tuple[str, ...] = option(
        (), 'links whose distance is not of interest; none: the base link'
    )
    realtime_priority: int = option(
        40,
        "priority of the node's thread, where the system permits it; 0: none",
        at_least=0,
        at_most=99,
    )
    cameras: tuple[str, ...] = option(('front',), 'depth cameras; none: known obstacles only')
    image_topics: tuple[str, ...] = option(
        (), 'camera=topic where it is not <camera>/depth/image_raw'
    )
    info_topics: tuple[str, ...] = option(
        (), 'camera=topic where it is not camera_info next to the image'
    )
    image_reliability: str = option(
        BEST_EFFORT,
        'best_effort: keeps no publisher waiting; fitting: reliable where all publishers are',
        choices=RELIABILITIES,
    )
    rate: float = option(
        0.0,
        "largest rate of each camera's images; 0: all",
        unit='Hz',
        at_least=0.0,
        at_most=MOST_RATE,
    )
    extrinsics: tuple[str, ...] = option(
        (),
        'camera=link x y z roll pitch yaw (or quaternion x y z w), m and rad, of its '
        'optical frame; else from tf',
    )
    scene_topic: str = option(
        '',
        'topic of the scene that a simulator runs, std_msgs/String: cameras stand where it says; '
        "'': none",
    )
    transform_age: float = option(
        0.05,
        'difference in time of a moving transform above a camera from the image',
        unit='s',
        at_least=0.0,
        at_most=1.0,
    )
    camera_age: float = option(
        0.1,
        "age of a camera's newest image, relative to another's, with which it still counts",
        unit='s',
        above=0.0,
        live=True,
    )
    needs_all_cameras: bool = option(
        False, 'measure nothing while one of the cameras measures nothing', live=True
    )
    silence: float = option(
        0.5,
        'time without anything to publish, after which the reason is published',
        unit='s',
        above=0.0,
        live=True,
    )
    joint_wait: float = option(
        0.02,
        'time for which an image waits for a joint state at or after its stamp',
        unit='s',
        at_least=0.0,
        at_most=1.0,
        live=True,
    )
    joint_age: float = option(
        0.02, 'age that the newest joint state may then have', unit='s', at_least=0.0, at_most=1.0
    )
    joint_gap: float = option(
        0.1,
        'time between two joint states beyond which nothing is interpolated',
        unit='s',
        above=0.0,
    )
    assumed_joints: tuple[str, ...] = option(
        (), 'joint=position (rad, m) of joints that joint_states lack'
    )
    gripper_topic: str = option(
        '', 'sensor_msgs/JointState of the gripper, where joint_states do not have it'
    )
    depth: DepthImageOptions = group(DepthImageOptions)
    meshes: MeshOptions = group(MeshOptions)
    held: HeldOptions = group(HeldOptions)
    obstacles: ObstacleOptions = group(ObstacleOptions)
    alignment: AlignmentCheckOptions = group(AlignmentCheckOptions)
    cloud: CloudOptions = group(CloudOptions)
    streams: StreamHealthOptions = group(StreamHealthOptions)

    @rule('cameras', 'each at most once')
    def _are_different(self) -> bool:
        return len(set(self.cameras)) == len(self.cameras)

    def check(self) -> None:
        """Raises SetupError for options that contradict each other."""
        if not self.cameras and not self.has_model:
            raise SetupError(
                'there is neither a camera nor a known obstacle: set cameras, obstacles.file, '
                'obstacles.planning_scene_topics or obstacles.collision_object_topics'
            )
        for name, texts in (
            ('image_topics', self.image_topics),
            ('info_topics', self.info_topics),
            ('extrinsics', self.extrinsics),
            ('depth.noises', self.depth.noises),
        ):
            self._of_cameras(name, texts)
        for camera in ('', *self.cameras):
            self.depth_options(camera)
        self.alignment.tolerance_within(self.depth.padding)
        self.alignment.check_postures()
        self._check_surface()

    def _check_surface(self) -> None:
        """Raises SetupError for a table above all that the arm can reach: nothing would be seen."""
        reach = self.load_robot().description.farthest
        if self.depth.surface_height > reach:
            raise SetupError(
                f'depth.surface_height is {self.depth.surface_height:g} m, above all that '
                f'{self.robot} can reach ({reach:.2f} m): no obstacle would be left; it is the z, '
                'in the base frame and in m, of the table or floor that the robot stands on'
            )

    @property
    def has_model(self) -> bool:
        """True if obstacles are known."""
        known = self.obstacles
        return bool(known.file or known.planning_scene_topics or known.collision_object_topics)

    def _of_cameras(self, name: str, texts: tuple[str, ...]) -> dict[str, str]:
        """camera=text of a parameter.

        Raises:
            SetupError: it is not of that form, or there is no such camera.
        """
        pairs = parse_pairs(name, texts)
        for camera in pairs:
            if camera not in self.cameras:
                raise SetupError(
                    f'{name} names the camera {camera!r}; cameras has '
                    f'{", ".join(self.cameras) or "none"}'
                )
        return pairs

    def topics(self, camera: str) -> tuple[str, str]:
        """Of a camera's depth images and camera_info."""
        image = self._of_cameras('image_topics', self.image_topics).get(
            camera, f'{camera}/depth/image_raw'
        )
        info = str(PurePosixPath(image).parent / 'camera_info')
        return image, self._of_cameras('info_topics', self.info_topics).get(camera, info)

    @staticmethod
    def is_rectified(image_topic: str) -> bool:
        """Returns whether the topic is of rectified images by its last name (image_rect, ...)."""
        return 'rect' in image_topic.rsplit('/', 1)[-1]

    def mounts(self, robot: Robot) -> dict[str, Mount]:
        """The extrinsics that are given.

        Raises:
            SetupError: they are not of the form, or the robot has no such link.
        """
        return {
            camera: parse_mount(camera, text, robot.links)
            for camera, text in self._of_cameras('extrinsics', self.extrinsics).items()
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
        text = self._of_cameras('depth.noises', self.depth.noises).get(camera)
        try:
            return self.depth.depth_noise if text is None else float(text)
        except ValueError as error:
            raise SetupError(f'depth.noises must be camera=number, in m: {error}') from error

    def depth_options(self, camera: str = '') -> DepthOptions:
        """The criteria in a camera's depth images.

        Raises:
            SetupError, ValueRangeError: a value is impossible.
        """
        given, bounds = self.depth, self.depth.workspace
        shared = {name: getattr(given, name) for name in flatten(DepthParameters())}
        is_bounded = any(abs(value) < UNBOUNDED for value in bounds)
        return DepthOptions(
            **shared | {'depth_noise': self.noise_of(camera)},
            surface_height=given.surface_height if given.surface_height > -UNBOUNDED else None,
            workspace=(bounds[:3], bounds[3:]) if is_bounded else None,
            planes=tuple(map(_plane, given.planes)),
        )

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
        ignored = self.ignored_links or (robot.base_link,)
        wanted = self.links or None
        shapes = filter_shapes(robot, self.shapes, wanted, ignored)
        row = frames.index(self.held.link or robot.tip_link)
        held = HeldObject(row, self.held.size, self.held.offset)
        found = self.meshes.load(robot)
        surfaces = None if found is None else PlacingSurfaces(found, shapes)
        return WatchedRobot(frames, shapes, held, surfaces)


def _plane(text: str) -> Plane:
    words = text.replace(',', ' ').split()
    try:
        x, y, z, offset = (float(word) for word in words)
    except ValueError as error:
        raise SetupError(f'depth.planes holds {text!r}; it must be nx ny nz offset') from error
    length = math.sqrt(x * x + y * y + z * z)
    if not (math.isfinite(length + offset) and length > 0):
        raise SetupError(f'depth.planes holds {text!r}, whose normal has no direction')
    return Plane((x / length, y / length, z / length), offset / length)
