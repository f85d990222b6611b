# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The planning scene's objects (moveit_msgs) as known obstacles."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.sensing.proximity.obstacles.known import KnownObstacles

Array = NDArray[np.float64]
Pose = tuple[Array, Array]  # rotation (3, 3), translation (3,) m
# moveit_msgs/CollisionObject.operation and shape_msgs/SolidPrimitive.type.
ADD, REMOVE, APPEND, MOVE = range(4)
BOX, SPHERE, CYLINDER, CONE = 1, 2, 3, 4
CONE_SIDES = 32


@dataclass(frozen=True)
class Part:
    """One shape of an object, and its pose in the object."""

    pose: Pose
    kind: str
    size: tuple[float, ...] = ()
    vertices: Array = field(default_factory=lambda: np.empty((0, 3)))
    triangles: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 3), np.int64))


@dataclass(frozen=True)
class SceneObject:
    """parts: its shapes. pose: of the object in `frame`, as given."""

    frame: str
    pose: Pose
    parts: tuple[Part, ...]


class SceneObstacles:
    """Keeps known obstacles up to date with the messages of a planning scene. A message is taken
    whole or, if it cannot be understood, noted in `problems`: object -> why it is missing from the
    obstacles.
    """

    def __init__(
        self,
        obstacles: KnownObstacles,
        place: Callable[[str], Pose | str],
        ignored: Collection[str] = (),
    ) -> None:
        """place: returns the present pose of a frame in the base frame, or why it is unknown.
        ignored: objects that are left out.
        """
        self._obstacles, self._place, self._ignored = obstacles, place, frozenset(ignored)
        self._objects: dict[str, SceneObject] = {}
        self._waiting: set[str] = set()  # objects whose frame was not known yet
        self._attached: set[str] = set()
        self._parts: dict[str, list[str]] = {}  # object -> its obstacles
        self._object_of: dict[str, str] = {}
        self.problems: dict[str, str] = {}

    def object_of(self, obstacle: str) -> str:
        """Returns the object that an obstacle is a part of; for others, the obstacle itself."""
        return self._object_of.get(obstacle, obstacle)

    def take_scene(self, message: Any) -> None:
        """Takes a moveit_msgs/PlanningScene; its octomap is the depth camera's part."""
        if not message.is_diff:
            for name in {*self._objects, *self.problems}:
                self._forget(name)
            self._attached.clear()
        for attached in message.robot_state.attached_collision_objects:
            self._take_attached(attached.object)
        for world_object in message.world.collision_objects:
            self.take_object(world_object)

    def _take_attached(self, message: Any) -> None:
        """Takes attached objects, which are no obstacles until the robot releases them."""
        if _operation(message) == REMOVE:
            self._attached.clear() if not message.id else self._attached.discard(message.id)
            if not message.id:
                names = list(self._objects)
            else:
                names = [message.id]
            for name in names:
                self._show(name)
            return
        self._attached.add(message.id)
        self._hide(message.id)

    def take_object(self, message: Any) -> None:
        """Takes a moveit_msgs/CollisionObject."""
        name, operation = message.id, _operation(message)
        if operation == REMOVE:
            for known in [name] if name else list({*self._objects, *self.problems}):
                self._forget(known)
            return
        if name in self._ignored:
            return
        try:
            found = self._changed(message, operation)
        except ValueRangeError as error:
            self._hide(name)
            self._objects.pop(name, None)
            self.problems[name] = f'object {name!r}: {error}'
            return
        self._objects[name] = found
        self._attached.discard(name)  # the world has it
        self._show(name)

    def _changed(self, message: Any, operation: int) -> SceneObject:
        """Returns the object after a message.

        Raises:
            ValueRangeError: a shape or operation is unknown, or the object does not exist.
        """
        before = self._objects.get(message.id)
        if operation == MOVE:
            return _moved(message, before)
        if operation not in (ADD, APPEND):
            raise ValueRangeError(f'its operation is {operation}; it is one of 0 to 3')
        parts = _parts(message)
        pose, frame = pose_of(message.pose), message.header.frame_id
        if operation == APPEND and before is not None:
            if before.frame != frame:
                raise ValueRangeError(
                    f'shapes in the frame {frame!r} cannot be appended to those in {before.frame!r}'
                )
            moved = tuple(_in_object(part, pose, before.pose) for part in parts)
            return replace(before, parts=(*before.parts, *moved))
        return SceneObject(frame, pose, parts)

    def retry(self) -> None:
        """Looks again for frames that were unknown."""
        for name in list(self._waiting):
            self._show(name)

    def _show(self, name: str) -> None:
        """Makes an object's parts obstacles, at the present pose of its frame."""
        self._hide(name)
        found = self._objects.get(name)
        if found is None or name in self._attached:
            return
        frame = self._place(found.frame)
        if isinstance(frame, str):
            self._waiting.add(name)
            self.problems[name] = f'object {name!r}: {frame}'
            return
        outer = _product(frame, found.pose)
        try:
            for index, part in enumerate(found.parts):
                obstacle = self._free_name(f'{name} ({index + 1})' if index else name)
                self._set(name, obstacle, part, outer)
        except ValueRangeError as error:
            self._hide(name)
            self.problems[name] = f'object {name!r}: {error}'

    def _free_name(self, wanted: str) -> str:
        """Returns a name that no other obstacle has, so that this one replaces none."""
        taken = {obstacle.name for obstacle in self._obstacles.obstacles}
        while wanted in taken:
            wanted += ' (scene)'
        return wanted

    def _set(self, name: str, obstacle: str, part: Part, outer: Pose) -> None:
        rotation, translation = _product(outer, part.pose)
        obstacles = self._obstacles
        if part.kind in ('box', 'sphere', 'cylinder'):
            obstacles.set_shape(obstacle, part.kind, part.size, rotation, translation)
        else:
            is_convex = part.kind == 'hull'
            obstacles.set_mesh(
                obstacle, part.vertices, part.triangles, rotation, translation, is_convex
            )
        self._parts.setdefault(name, []).append(obstacle)
        self._object_of[obstacle] = name

    def _hide(self, name: str) -> None:
        self._waiting.discard(name)
        self.problems.pop(name, None)
        for obstacle in self._parts.pop(name, ()):
            del self._object_of[obstacle]
            self._obstacles.remove(obstacle)

    def _forget(self, name: str) -> None:
        self._hide(name)
        self._objects.pop(name, None)
        self._attached.discard(name)


def _operation(message: Any) -> int:
    """Returns the operation of the type byte, which rclpy gives as bytes."""
    operation = message.operation
    return operation[0] if isinstance(operation, (bytes, bytearray)) else int(operation)


def pose_of(message: Any) -> Pose:
    """Returns a geometry_msgs/Pose; an unset quaternion of zeros does not turn.

    Raises:
        ValueRangeError: its quaternion has another length than 1, or a number is not finite.
    """
    place, turn = message.position, message.orientation
    translation = np.array([place.x, place.y, place.z], np.float64)
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w], np.float64)
    length = float(np.linalg.norm(quaternion))
    if length == 0.0:
        quaternion, length = np.array([0.0, 0.0, 0.0, 1.0]), 1.0
    if not np.isfinite(translation).all() or not abs(length - 1.0) < 0.01:
        raise ValueRangeError(
            f'its pose is {translation.tolist()} with the quaternion {quaternion.tolist()}'
        )
    return Rotation.from_quat(quaternion).as_matrix(), translation


def _product(outer: Pose, inner: Pose) -> Pose:
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


def _in_object(part: Part, pose: Pose, wanted: Pose) -> Part:
    """Converts a part of an object at `pose` into one of an object at `wanted`."""
    back = wanted[0].T
    return replace(part, pose=_product((back, -back @ wanted[1]), _product(pose, part.pose)))


def _parts(message: Any) -> tuple[Part, ...]:
    """Returns the shapes of a CollisionObject.

    Raises:
        ValueRangeError: a shape is unknown, or the numbers of poses and shapes differ.
    """
    if len(message.planes):
        raise ValueRangeError('it has a plane; boxes, spheres, cylinders, cones and meshes can be')
    _check_poses(message, len(message.primitives), len(message.meshes))
    parts = [
        _primitive(primitive, pose_of(pose))
        for primitive, pose in zip(message.primitives, message.primitive_poses)
    ]
    for mesh, pose in zip(message.meshes, message.mesh_poses):
        vertices = np.array([[p.x, p.y, p.z] for p in mesh.vertices], np.float64)
        triangles = np.array([list(t.vertex_indices) for t in mesh.triangles], np.int64)
        parts.append(
            Part(pose_of(pose), 'mesh', (), vertices.reshape(-1, 3), triangles.reshape(-1, 3))
        )
    if not parts:
        raise ValueRangeError('it has no shape')
    return tuple(parts)


def _check_poses(message: Any, primitives: int, meshes: int) -> None:
    found = len(message.primitive_poses), len(message.mesh_poses)
    if found != (primitives, meshes):
        raise ValueRangeError(
            f'it has {primitives} primitives and {meshes} meshes, but {found[0]} and {found[1]} '
            'poses of them'
        )


def _primitive(message: Any, pose: Pose) -> Part:
    """Returns a shape_msgs/SolidPrimitive: its dimensions are a box's x, y, z; a sphere's radius;
    height and radius of a cylinder and of a cone, which points along its z axis.
    """
    size = tuple(float(value) for value in message.dimensions)
    kind = int(message.type)
    wanted = {BOX: 3, SPHERE: 1, CYLINDER: 2, CONE: 2}.get(kind)
    if wanted is None:
        raise ValueRangeError(
            f'it has a primitive of type {kind}; boxes (1), spheres (2), cylinders (3) and cones '
            '(4) can be'
        )
    if len(size) != wanted:
        raise ValueRangeError(f'a primitive of type {kind} has dimensions {size}, not {wanted}')
    if kind == BOX:
        return Part(pose, 'box', size)
    if kind == SPHERE:
        return Part(pose, 'sphere', size)
    height, radius = size
    if kind == CYLINDER:
        return Part(pose, 'cylinder', (radius, height))
    return _cone(pose, height, radius)


def _cone(pose: Pose, height: float, radius: float) -> Part:
    """Returns a pyramid around the cone, its centre at half the height: not further away than the
    cone, and nearer by 0.5 % of the radius at most.
    """
    angles = np.arange(CONE_SIDES) * (2 * math.pi / CONE_SIDES)
    outer = radius / math.cos(math.pi / CONE_SIDES)
    rim = np.column_stack((
        outer * np.cos(angles), outer * np.sin(angles), np.full(CONE_SIDES, -height / 2)
    ))  # fmt: skip
    vertices = np.vstack((rim, (0.0, 0.0, height / 2), (0.0, 0.0, -height / 2)))
    after = (np.arange(CONE_SIDES) + 1) % CONE_SIDES
    side = [(i, int(after[i]), CONE_SIDES) for i in range(CONE_SIDES)]
    bottom = [(int(after[i]), i, CONE_SIDES + 1) for i in range(CONE_SIDES)]
    return Part(pose, 'hull', (), vertices, np.array(side + bottom))


def _moved(message: Any, before: SceneObject | None) -> SceneObject:
    """Returns an object at a new pose; its shapes may have new poses in it, too."""
    if before is None:
        raise ValueRangeError('it is to be moved, but was never added')
    if len(message.primitives) or len(message.meshes) or len(message.planes):
        raise ValueRangeError('it is to be moved, but has shapes, which need an ADD')
    poses = [*map(pose_of, message.primitive_poses), *map(pose_of, message.mesh_poses)]
    parts = before.parts
    if poses:
        _check_poses(
            message,
            sum(part.kind != 'mesh' for part in parts),
            sum(part.kind == 'mesh' for part in parts),
        )
        # Shapes were appended in any order; the message has primitives before meshes.
        order = sorted(range(len(parts)), key=lambda row: parts[row].kind == 'mesh')
        changed = list(parts)
        for row, pose in zip(order, poses):
            changed[row] = replace(parts[row], pose=pose)
        parts = tuple(changed)
    return SceneObject(message.header.frame_id or before.frame, pose_of(message.pose), parts)
