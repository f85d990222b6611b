# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity sensing of a robot in a depth world: as the proximity node runs it, with its
default settings, on pictures with noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.worlds.depth_world import CAMERAS, FRONT, WRIST, DepthWorld
from frame_ros.evaluation.trials.worlds.drawn_world import DrawnWorld
from frame_ros.evaluation.trials.worlds.measured_noise import MeasuredNoise, blobs
from frame_ros.evaluation.trials.worlds.obstacles import Obstacle
from frame_ros.evaluation.trials.worlds.robots import world_robot
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.robots.shapes.placed_meshes import COLLISION, VISUAL
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.meshes.mesh_filter import MeshFilter
from frame_ros.sensing.proximity.depth.meshes.options import MeshOptions
from frame_ros.sensing.proximity.depth.meshes.placing import PlacedSurfaces, PlacingSurfaces
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.link_distances import DistanceReading, fuse

Array = NDArray[np.float64]
PERIOD = 0.1  # s between two pictures
CHECK_PERIOD = 1.0  # s between two checks of the alignment
WORKSPACE = ((-0.6, -0.9, -0.05), (1.2, 0.9, 1.5))  # m
SURFACE = 0.0  # m, height of the table's top
SHAPES = 'shapes'
MESHES = {'meshes': VISUAL, 'collision_meshes': COLLISION}  # self-filters; geometry of the URDF
HOLE_SIZE = 6  # pixels of a patch without depth
MISSED = 0.3  # share of a transparent thing's pixels that show nothing at all
# The default; and what the robot's profile says of a wrist camera with 18 mm of baseline.
DEPTH_NOISE = {FRONT: DepthOptions().depth_noise, WRIST: 0.021}  # of each kind of camera


class SensedCell:
    """Cameras of a world, with noise, and the distances measured from their pictures."""

    def __init__(
        self,
        world: DepthWorld | DrawnWorld,
        seed: int,
        cameras: Sequence[str] = CAMERAS,
        shift: float = 0.0,
        turn: float = 0.0,
        padding: float | None = None,
        alignment: AlignmentOptions | None = None,
        own: str = SHAPES,
        zeros: float = 0.0,
    ) -> None:
        """shift: m, turn: rad, by which each camera stands elsewhere than it is said to, in a
        random direction. padding: m, of the self-filter; None: the default. alignment: of its
        check; None: the default. own: the self-filter, SHAPES or a key of MESHES. zeros: rad, by
        which the second and third joint are elsewhere than they are said to be.
        """
        self.world, self.cameras = world, tuple(cameras)
        self._seed, self._zeros = seed, zeros
        robot, self.shapes = world.sensed()
        self._frames = LinkFrames(robot, world.joint_names)
        meshes = _mesh_options(own, padding)
        self._surfaces = (
            None
            if meshes is None
            else PlacingSurfaces(robot_surfaces(world.robot.name, meshes.geometry), self.shapes)
        )
        simulation = robot.profile.simulation if robot.profile is not None else None
        self._resolution = simulation.encoder.resolution if simulation is not None else 0.0
        rng = np.random.default_rng((seed, 0xCA))
        self._errors = {name: _error(rng, shift, turn) for name in cameras}
        self._noise: dict[str, MeasuredNoise] = {}
        self._sensors: dict[str, DepthProximity] = {}
        self.trusted: dict[str, TrustedPadding] = {}
        self._stamp = 0
        self._placed: PlacedSurfaces | None = None
        for index, name in enumerate(cameras):
            lens = world.intrinsics(name)
            camera = DepthCamera(lens.width, lens.height, lens.focal, lens.focal, lens.cx, lens.cy)
            kind = WRIST if name == WRIST else FRONT
            self._noise[name] = MeasuredNoise(lens, kind, 2 * seed + index)
            settings = DepthOptions(
                padding=DepthOptions().padding if padding is None else padding,
                surface_height=SURFACE, workspace=WORKSPACE, depth_noise=DEPTH_NOISE[kind],
            )  # fmt: skip
            self._sensors[name] = DepthProximity(
                camera, settings, self._filter(camera, meshes, settings)
            )
            self.trusted[name] = TrustedPadding(camera, settings.padding, alignment)

    def _filter(
        self, camera: DepthCamera, meshes: MeshOptions | None, depth: DepthOptions
    ) -> MeshFilter | None:
        if meshes is None or self._surfaces is None:
            return None
        return MeshFilter(
            camera, self._surfaces.surfaces, meshes, depth.depth_noise, depth.min_range
        )

    def measure(self, positions: Array) -> DistanceReading:
        """Moves the robot to positions (J,), takes a picture with each camera, and returns the
        distances.
        """
        shapes = self.place(positions)
        self._stamp += round(PERIOD * SECOND)
        pictures = {name: self.picture(name) for name in self.cameras}
        return fuse([self._of_camera(name, pictures[name], shapes) for name in self.cameras])

    def look(self, positions: Array) -> None:
        """Moves the robot to positions (J,) for a check of each camera, as the node checks them
        while the arm goes about.
        """
        shapes = self.place(positions)
        self._stamp += round(CHECK_PERIOD * SECOND)
        for name in self.cameras:
            pose = self.assumed_pose(name)
            self.trusted[name].check(self._stamp, self.picture(name), shapes, *pose)

    def place(self, positions: Array) -> PlacedShapes:
        """Moves the robot to positions (J,); returns its shapes where the encoders have them."""
        self.world.pose(positions)
        return self.place_read(positions)

    def place_read(self, positions: Array) -> PlacedShapes:
        """Returns the robot's shapes where encoders have a robot at positions (J,), which does not
        move to them.
        """
        rotations, translations = self._frames.compute(self._read(positions))
        if self._surfaces is not None:
            self._placed = self._surfaces.place(rotations, translations)
        return self.shapes.place(rotations, translations)

    def knock(self, shift: float, turn: float, seed: int) -> None:
        """Displaces each camera, by `shift` m and `turn` rad in a random direction."""
        rng = np.random.default_rng((seed, 0xB0))
        for name, (rotation, place) in self._errors.items():
            more_rotation, more = _error(rng, shift, turn)
            self._errors[name] = rotation @ more_rotation, place + more

    def picture(self, camera: str) -> NDArray[np.uint16]:
        """Returns (H, W) mm, as the camera gives it."""
        obstacles = self.world.obstacles
        glass = [each for each in obstacles if each.is_transparent]
        clean = self.world.depth_without(camera, glass)
        lost = np.zeros(clean.shape, bool)
        for number, obstacle in enumerate(obstacles):
            if not obstacle.is_plain:
                lost |= self._lost(camera, obstacle, glass, number)
        return self._noise[camera](clean, lost)

    def _lost(
        self, camera: str, obstacle: Obstacle, glass: Sequence[Obstacle], number: int
    ) -> NDArray[np.bool_]:
        """Returns (H, W) where an obstacle, seen through the others of glass, gives no depth."""
        others = [each for each in glass if each is not obstacle]
        shown = self.world.depth_without(camera, others)
        is_it = shown < self.world.depth_without(camera, [*others, obstacle]) - 1e-6
        share = MISSED if obstacle.is_transparent else obstacle.holes
        return is_it & blobs(shown.shape, share, HOLE_SIZE, self._seed + number)

    def _read(self, positions: Array) -> Array:
        """Joint positions as encoders give them."""
        if self._zeros:
            positions = positions.copy()
            positions[1:3] += (self._zeros, -self._zeros)
        if not self._resolution:
            return positions
        return np.asarray(np.round(positions / self._resolution) * self._resolution)

    def _of_camera(
        self, name: str, picture: NDArray[np.uint16], shapes: PlacedShapes
    ) -> DistanceReading:
        pose, trusted = self.assumed_pose(name), self.trusted[name]
        is_due = (self._stamp - round(PERIOD * SECOND)) % round(CHECK_PERIOD * SECOND) == 0
        if is_due:
            trusted.check(self._stamp, picture, shapes, *pose)
        if trusted.refusal:
            return DistanceReading.missing(shapes.links, trusted.refusal, (name,), is_blind=True)
        turn, place = trusted.pose(*pose)
        return self._sensors[name].measure(
            picture, shapes, turn, place, padding=trusted.padding, surfaces=self._placed
        )

    def assumed_pose(self, name: str) -> tuple[Array, Array]:
        """Returns rotation (3, 3) and translation (3,) m where a camera is said to be now."""
        turn, place = self.world.camera_pose(name)
        rotation, shift = self._errors[name]
        return turn @ rotation, place + shift


def _error(rng: np.random.Generator, shift: float, turn: float) -> tuple[Array, Array]:
    """Returns a rotation (3, 3) and a translation (3,) m of these sizes."""
    axis, direction = rng.standard_normal((2, 3))
    axis, direction = axis / np.linalg.norm(axis), direction / np.linalg.norm(direction)
    return Rotation.from_rotvec(turn * axis).as_matrix(), shift * direction


@lru_cache(maxsize=4)
def robot_surfaces(name: str, geometry: str) -> RobotSurfaces:
    """Returns the surfaces of a world's robot as the node reads them from the package's URDF; one
    per process, as its meshes take seconds to read.
    """
    options = MeshOptions(file=str(world_robot(name).urdf_path()), geometry=geometry)
    surfaces = options.load(load_robot(name))
    assert surfaces is not None
    return surfaces


def _mesh_options(own: str, padding: float | None) -> MeshOptions | None:
    if own == SHAPES:
        return None
    if own not in MESHES:
        raise ValueRangeError(f'no self-filter {own!r}; there are {SHAPES}, {", ".join(MESHES)}')
    around = MeshOptions().padding if padding is None else padding
    return MeshOptions(geometry=MESHES[own], padding=around)
