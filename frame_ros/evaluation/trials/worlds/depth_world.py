# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A robot of others' meshes, obstacles, and depth cameras that see both.

Nothing of the geometry is simplified: what is drawn, and what true distances are measured from, are
the triangles that the robot's maker or its community publishes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.trials.worlds.obstacles import BOX, CAPSULE, CYLINDER, SPHERE, Obstacle
from frame_ros.evaluation.trials.worlds.robots import WorldRobot, world_robot
from frame_ros.evaluation.trials.worlds.true_distances import SurfaceDistances, Triangles
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.filter_shapes import filter_shapes
from frame_ros.robots.shapes.link_shapes import LinkShapes
from frame_ros.scenes.simulation.rendering import Intrinsics, SceneRenderer, intrinsics
from frame_ros.scenes.simulation.state import SceneState
from frame_ros.sensing.proximity.link_distances import DistanceReading

Array = NDArray[np.float64]
Depth = NDArray[np.float32]
WIDTH, HEIGHT = 640, 480
FRONT, LEFT, RIGHT, WRIST = 'front', 'left', 'right', 'wrist'
CAMERAS = (FRONT, WRIST)
AROUND = (FRONT, LEFT, RIGHT, WRIST)  # the same and two more, a third of a turn on from the first
FRONT_FOVY = 2 * math.degrees(math.atan(240.0 / 385.0))  # a D435's at 640 x 480
MOST_OBSTACLES = 8
TABLE = (1.5, 1.5, 0.02)  # m, half edges; its top is the plane z = 0 of the robot's base
ROOM = (2.5, 1.8)  # m, half of its width and length, and of its height; its floor is below z = 0
WALL = 0.05  # m, half thickness
_BELOW = -50.0  # m, where obstacles are that there are none
_NEAREST, _FURTHEST = 0.01, 10.0  # m, planes of the renderer


class DepthWorld:
    """A robot and obstacles at one instant. Belongs to the thread that made it, as its renderer
    does.

    Attributes:
        robot: whose model it is.
        joint_names: of the profile, in the order of `pose`.
        links: of the profile, those with a surface.
        cameras: names of those that `depth` shows by default.
    """

    def __init__(self, robot: WorldRobot) -> None:
        """Raises MissingExtraError where the robot's package is not installed."""
        self.robot = robot
        self._mj = mj = load_mujoco()
        self._model = model = _model(mj, robot)
        self._data = mj.MjData(model)
        self.joint_names = tuple(robot.joints.values())
        self.links = tuple(robot.links.values())
        self.cameras = CAMERAS
        self._bodies = np.array([model.body(name).id for name in robot.links])
        self._slots = [model.geom(f'obstacle{i}').id for i in range(MOST_OBSTACLES)]
        self._triangles = {
            link: _surface(mj, model, model.body(body).id) for body, link in robot.links.items()
        }
        self._surfaces = SurfaceDistances(self._triangles)
        self._columns = np.array([model.joint(name).qposadr[0] for name in robot.joints])
        self._slaved = [
            (model.joint(slave).qposadr[0], model.joint(leader).qposadr[0])
            for slave, leader in robot.slaved.items()
        ]
        self._obstacles: tuple[Obstacle, ...] = ()
        self._renderer: SceneRenderer | None = None
        self._state = 0
        self._drawn: dict[tuple[str, tuple[int, ...]], Depth] = {}  # of the present state
        self.set_obstacles(())
        self.pose([robot.ready[name] for name in robot.joints])

    # What there is.

    @property
    def limits(self) -> Array:
        """(J, 2) of the joints, rad or m."""
        rows = [self._model.joint(name).id for name in self.robot.joints]
        return np.array(self._model.jnt_range[rows])

    @property
    def ready(self) -> Array:
        """(J,) positions about which postures are drawn."""
        return np.array([self.robot.ready[name] for name in self.robot.joints])

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The present ones."""
        return self._obstacles

    def sensed(self) -> tuple[Robot, LinkShapes]:
        """Returns the robot and its shapes, as the proximity node has them."""
        return _sensed(self.robot.name)

    def pose(self, positions: Sequence[float] | Array | Mapping[str, float]) -> None:
        """Places the robot's joints, (J,) of `joint_names`, rad or m."""
        if isinstance(positions, Mapping):
            positions = [positions[name] for name in self.joint_names]
        self._data.qpos[self._columns] = positions
        for slave, leader in self._slaved:
            self._data.qpos[slave] = self._data.qpos[leader]
        self._refresh()

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Places obstacles in place of the present ones.

        Raises:
            ValueRangeError: there are more than MOST_OBSTACLES.
        """
        if len(obstacles) > MOST_OBSTACLES:
            raise ValueRangeError(
                f'{len(obstacles)} obstacles; a world has at most {MOST_OBSTACLES}'
            )
        self._obstacles = tuple(obstacles)
        self._show(self._obstacles)

    def set_front_camera(
        self, eye: Sequence[float] | Array, target: Sequence[float] | Array
    ) -> None:
        """Places the front camera at `eye`, looking at `target`, (3,) m, level; and those on either
        side a third of a turn about the vertical through the target from it.
        """
        middle = np.asarray(target, np.float64)
        for name, turn in ((FRONT, 0.0), (LEFT, 2.0 * np.pi / 3.0), (RIGHT, -2.0 * np.pi / 3.0)):
            index = self._model.cam(name).id
            place = middle + _about_vertical(turn) @ (np.asarray(eye, np.float64) - middle)
            self._model.cam_pos[index] = place
            self._model.cam_quat[index] = _looking_at(self._mj, place, middle, (0.0, 0.0, 1.0))
        self._refresh()

    def set_room(self, is_there: bool) -> None:
        """Puts walls, floor and ceiling around the cell, or takes them away: without them a camera
        looks past the table into nothing, and has no depth there.
        """
        for number, (position, _) in enumerate(_walls()):
            place = position if is_there else (0.0, 0.0, _BELOW)
            self._model.geom_pos[self._model.geom(f'wall{number}').id] = place
        self._refresh()

    def link_poses(self) -> tuple[Array, Array]:
        """Returns (L, 3, 3), (L, 3) m of `links`, by the kinematics of the model's makers."""
        data, rows = self._data, self._bodies
        return data.xmat[rows].reshape(-1, 3, 3).copy(), data.xpos[rows].copy()

    def camera_pose(self, camera: str) -> tuple[Array, Array]:
        """Returns rotation (3, 3) and position (3,) m of a camera's optical frame in the base."""
        found = self._data.cam(camera)
        return found.xmat.reshape(3, 3) * (1.0, -1.0, -1.0), found.xpos.copy()

    def intrinsics(self, camera: str) -> Intrinsics:
        """The pinhole camera that `depth` is of."""
        return intrinsics(self._model, camera, WIDTH, HEIGHT)

    # What is true.

    def truth(self) -> DistanceReading:
        """Returns the exact distance of each link's surface to the nearest obstacle; the table is
        none. `obstacles` of it are numbers of the obstacles.
        """
        return self.distances(self._obstacles)

    def distances(self, obstacles: Sequence[Obstacle]) -> DistanceReading:
        """As `truth`, to other obstacles than those that are drawn."""
        return self._surfaces.compute(*self.link_poses(), obstacles)

    def nearest(self, obstacles: Sequence[Obstacle]) -> DistanceReading:
        """As `distances`, of the nearest link alone: others may be NaN. Takes less time."""
        return self._surfaces.compute(*self.link_poses(), obstacles, only_nearest=True)

    def surface(self, link: str) -> Triangles:
        """Returns vertices (V, 3), m, in the link's frame, and triangles (T, 3) of a link."""
        return self._triangles[link]

    def surface_point(self, rng: np.random.Generator) -> Array:
        """Returns (3,) m, a random corner of the surface of a random link but the base."""
        row = int(rng.integers(1, len(self.links)))
        vertices, _ = self._triangles[self.links[row]]
        rotations, translations = self.link_poses()
        local = vertices[int(rng.integers(len(vertices)))]
        return np.asarray(rotations[row] @ local + translations[row])

    def is_possible(self, height: float = 0.01) -> bool:
        """Returns whether no link but the base is below `height` (m) and none touches another."""
        rotations, translations = self.link_poses()
        lowest = self._surfaces.lowest(rotations, translations)
        return bool(lowest[1:].min() > height) and not self._surfaces.touching(
            rotations, translations
        )

    # What a camera sees.

    def depth(self, camera: str) -> Depth:
        """Returns (480, 640) m along the optical axis, without noise. Not to be written to: what
        stands still is drawn once.
        """
        return self.depth_without(camera, ())

    def depth_without(self, camera: str, hidden: Sequence[Obstacle]) -> Depth:
        """Returns the depth as if some of `obstacles`, the very same objects, were not there."""
        gone = {id(obstacle) for obstacle in hidden}
        shown = [obstacle for obstacle in self._obstacles if id(obstacle) not in gone]
        key = camera, tuple(map(id, shown))
        if key not in self._drawn:
            drawn = self._drawn
            self._show(shown)
            try:
                drawn[key] = self._draw(camera)
            finally:
                self._show(self._obstacles)
            self._drawn = drawn
        return self._drawn[key]

    def _draw(self, camera: str) -> Depth:
        if self._renderer is None:
            self._renderer = SceneRenderer(self._model, WIDTH, HEIGHT)
        data = self._data
        state = SceneState(
            self._state, data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()
        )
        found = self._renderer.depth(state, camera)
        found.flags.writeable = False
        return found

    def close(self) -> None:
        """Frees the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _show(self, obstacles: Sequence[Obstacle]) -> None:
        model, data = self._model, self._data
        kinds = _kinds(self._mj)
        for slot, geom in enumerate(self._slots):
            if slot >= len(obstacles):
                data.mocap_pos[slot] = (0.0, 0.0, _BELOW - slot)
                continue
            obstacle = obstacles[slot]
            model.geom_type[geom] = kinds[obstacle.kind]
            model.geom_size[geom] = obstacle.size
            model.geom_rbound[geom] = obstacle.reach
            data.mocap_pos[slot] = obstacle.position
            self._mj.mju_mat2Quat(data.mocap_quat[slot], obstacle.rotation.ravel())
        self._refresh()

    def _refresh(self) -> None:
        self._state += 1
        self._drawn = {}
        self._mj.mj_kinematics(self._model, self._data)
        self._mj.mj_camlight(self._model, self._data)


@lru_cache(maxsize=4)
def depth_world(name: str) -> DepthWorld:
    """Returns the world of a robot; one per process, as its meshes take seconds to read.

    Raises:
        ValueRangeError: there is none of that name.
        MissingExtraError: its package is not installed.
    """
    return DepthWorld(world_robot(name))


@lru_cache(maxsize=4)
def _sensed(name: str) -> tuple[Robot, LinkShapes]:
    """Returns a robot and its shapes; their file takes as long to read as some frames."""
    robot = load_robot(name)
    return robot, filter_shapes(robot, exclude=(robot.base_link,))


def _kinds(mj: Any) -> dict[str, int]:
    kinds = mj.mjtGeom
    return {
        SPHERE: int(kinds.mjGEOM_SPHERE), BOX: int(kinds.mjGEOM_BOX),
        CYLINDER: int(kinds.mjGEOM_CYLINDER), CAPSULE: int(kinds.mjGEOM_CAPSULE),
    }  # fmt: skip


def _model(mj: Any, robot: WorldRobot) -> Any:
    """Returns the package's model with only visual geometry, cameras, a table and obstacles."""
    path = robot.path()
    spec = mj.MjSpec.from_file(str(path))
    spec.meshdir = str(path.parent / robot.meshes)
    for geom in list(spec.geoms):
        if geom.group != VISUAL:
            spec.delete(geom)
    world = spec.worldbody
    world.add_geom(name='table', type=mj.mjtGeom.mjGEOM_BOX, size=TABLE, pos=(0.0, 0.0, -TABLE[2]))
    for number in range(MOST_OBSTACLES):
        body = world.add_body(name=f'obstacle{number}', mocap=True, pos=(0.0, 0.0, _BELOW))
        body.add_geom(
            name=f'obstacle{number}', type=mj.mjtGeom.mjGEOM_SPHERE, size=(0.01, 0.01, 0.01),
            contype=0, conaffinity=0,
        )  # fmt: skip
    for number, (_, size) in enumerate(_walls()):
        world.add_geom(name=f'wall{number}', type=mj.mjtGeom.mjGEOM_BOX, size=size,
                       pos=(0.0, 0.0, _BELOW))  # fmt: skip
    for name in (FRONT, LEFT, RIGHT):
        world.add_camera(name=name, fovy=FRONT_FOVY)
    spec.body(robot.wrist_link).add_camera(
        name=WRIST, pos=robot.wrist_eye, fovy=robot.wrist_fovy,
        quat=_looking_at(mj, robot.wrist_eye, robot.wrist_target, robot.wrist_up),
    )  # fmt: skip
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    # Round things as round as the drawing can make them; no mixed depths at edges.
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 96, 64
    spec.visual.quality.offsamples = 0
    spec.stat.extent = 1.0
    spec.visual.map.znear, spec.visual.map.zfar = _NEAREST, _FURTHEST
    return spec.compile()


VISUAL = 2  # group of MuJoCo's convention


def _walls() -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Places and half edges, m, of the boxes around a room."""
    wide, high = ROOM
    found = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            size, place = [wide, wide, high], [0.0, 0.0, high / 2]
            size[axis] = WALL
            place[axis] += side * (high if axis == 2 else wide)
            found.append((tuple(place), tuple(size)))
    return found


def _about_vertical(angle: float) -> Array:
    """(3, 3) a turn by `angle`, rad."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _surface(mj: Any, model: Any, body: int) -> Triangles:
    """Returns all triangles of a body's geometry, in its frame."""
    vertices, triangles, count = [], [], 0
    for geom in range(model.ngeom):
        mesh = int(model.geom_dataid[geom])
        if model.geom_bodyid[geom] != body or model.geom_type[geom] != mj.mjtGeom.mjGEOM_MESH:
            continue
        first, number = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        turn = np.zeros(9)
        mj.mju_quat2Mat(turn, model.geom_quat[geom])
        local = model.mesh_vert[first : first + number].astype(np.float64)
        vertices.append(local @ turn.reshape(3, 3).T + model.geom_pos[geom])
        triangles.append(model.mesh_face[face : face + faces].astype(np.int64) + count)
        count += number
    return np.concatenate(vertices), np.concatenate(triangles)


def _looking_at(mj: Any, eye: Any, target: Any, up: Any) -> Array:
    """(4,) quaternion wxyz of a MuJoCo camera: it looks along its -z, its y is up."""
    back = np.asarray(eye, np.float64) - np.asarray(target, np.float64)
    back /= np.linalg.norm(back)
    right = np.cross(np.asarray(up, np.float64), back)
    right /= np.linalg.norm(right)
    quaternion = np.zeros(4)
    turn = np.stack((right, np.cross(back, right), back), axis=1)
    mj.mju_mat2Quat(quaternion, turn.ravel())
    return quaternion
