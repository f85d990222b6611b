# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The collision shapes of a robot's links: exact primitives, placed anywhere at once.

A shape is a core of half sizes h about its centre, and a radius r around it:

| kind | half sizes | radius |
|---|---|---|
| sphere | 0, 0, 0 | of the sphere |
| capsule | 0, 0, half of the segment between the ends' centres | of the capsule |
| box | half edges | 0 |
| cylinder | 0, 0, half length | of the cylinder, whose ends are flat |
| rounded box | half edges of the core, a box | of the rounding |
| rounded cylinder | radius, radius, half length of the core, a cylinder | of the rounding |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError, ShapeError
from frame_ros.robots.description import Capsule, Primitive
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.capsule_fit import fit_capsule
from frame_ros.robots.shapes.shape_distance import signed_distances

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SPHERE, CAPSULE, BOX, CYLINDER = 'sphere', 'capsule', 'box', 'cylinder'
ROUNDED_BOX, ROUNDED_CYLINDER = 'rounded box', 'rounded cylinder'
UNWATCHED = -1
_SAME = 1e-6  # m, by which two radii or places may differ and be the same


@dataclass(frozen=True)
class Shape:
    """One shape in its link's frame."""

    kind: str
    half_sizes: Array  # (3,) m, see above
    radius: float  # m, see above
    translation: Array  # (3,) m, of its centre
    rotation: Array  # (3, 3)

    def balls(self) -> tuple[Array, Array]:
        """Returns centres (K, 3) and radii (K,), m, of balls whose convex hull has the shape
        inside.
        """
        if self.kind in (CYLINDER, ROUNDED_CYLINDER):
            # A polygon of 16 sides around the circle.
            is_flat = self.kind == CYLINDER
            angles = np.arange(16) * np.pi / 8
            reach = (self.radius if is_flat else self.half_sizes[0]) / np.cos(np.pi / 16)
            rim = np.stack((np.cos(angles) * reach, np.sin(angles) * reach, np.zeros(16)), axis=1)
            end = np.array([0.0, 0.0, self.half_sizes[2]])
            local, radius = np.concatenate((rim - end, rim + end)), 0.0 if is_flat else self.radius
        else:
            signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
            local, radius = np.unique(signs * self.half_sizes + 0.0, axis=0), self.radius
        return local @ self.rotation.T + self.translation, np.full(len(local), radius)


@dataclass(frozen=True)
class PlacedShapes:
    """Shapes at one instant, all in one frame; see the top of the module.

    Attributes:
        links: (L) names of the links whose distances are wanted.
        kinds: (S) of the shapes.
        owners: (S,) row in `links` of each shape's link; UNWATCHED for links whose distance is not
            wanted.
        rotations: (S, 3, 3).
        translations: (S, 3) m of their centres.
        half_sizes: (S, 3) m.
        radii: (S,) m.
    """

    links: tuple[str, ...]
    kinds: tuple[str, ...]
    owners: Indices
    rotations: Array
    translations: Array
    half_sizes: Array
    radii: Array

    @property
    def is_cylinder(self) -> NDArray[np.bool_]:
        """(S,) whether a shape has flat round ends."""
        return np.array([kind == CYLINDER for kind in self.kinds], np.bool_)

    @property
    def is_round_core(self) -> NDArray[np.bool_]:
        """(S,) whether a shape's core is a cylinder."""
        return np.array([kind == ROUNDED_CYLINDER for kind in self.kinds], np.bool_)

    @property
    def reaches(self) -> Array:
        """(S,) m, radii of balls about the middles that hold the shapes."""
        across = np.hypot(self.half_sizes[:, 0], self.half_sizes[:, 1])
        across[self.is_round_core] = self.half_sizes[self.is_round_core, 0]
        is_flat = self.is_cylinder
        across[is_flat] = self.radii[is_flat]
        rounding = np.where(is_flat, 0.0, self.radii)
        result: Array = np.hypot(across, self.half_sizes[:, 2]) + rounding
        return result

    def __len__(self) -> int:
        return len(self.kinds)

    def select(self, rows: Sequence[int] | NDArray[np.generic]) -> PlacedShapes:
        """Returns only some of the shapes: indices, or (S,) bool. The links stay."""
        chosen = np.arange(len(self))[np.asarray(rows, None if len(rows) else np.intp)]
        return PlacedShapes(
            self.links, tuple(self.kinds[row] for row in chosen), self.owners[chosen],
            self.rotations[chosen], self.translations[chosen], self.half_sizes[chosen],
            self.radii[chosen],
        )  # fmt: skip

    def joined(self, others: PlacedShapes) -> PlacedShapes:
        """Returns these shapes and others, such as a held object, that belong to no link."""
        return PlacedShapes(
            self.links, self.kinds + others.kinds,
            np.concatenate((self.owners, np.full(len(others), UNWATCHED, np.intp))),
            np.concatenate((self.rotations, others.rotations)),
            np.concatenate((self.translations, others.translations)),
            np.concatenate((self.half_sizes, others.half_sizes)),
            np.concatenate((self.radii, others.radii)),
        )  # fmt: skip

    def watched(self) -> PlacedShapes:
        """Returns only the shapes of `links`."""
        return self.select(self.owners != UNWATCHED)

    def seen_from(self, rotation: ArrayLike, translation: ArrayLike) -> PlacedShapes:
        """Returns the shapes in the axes of a frame with this pose: (3, 3), (3,) m."""
        turn = np.asarray(rotation, np.float64)
        return PlacedShapes(
            self.links, self.kinds, self.owners, turn.T @ self.rotations,
            (self.translations - np.asarray(translation, np.float64)) @ turn, self.half_sizes,
            self.radii,
        )  # fmt: skip

    def shape_distances(self, points: ArrayLike) -> Array:
        """Returns (N, S) signed distances, m, of points (N, 3) to each shape, negative inside."""
        return signed_distances(self, np.asarray(points, np.float64))

    def link_distances(self, points: ArrayLike) -> Array:
        """Returns (N, L) distances in m of points (N, 3) to each link, the least of its shapes.
        Negative inside (then no nearer to 0 than the true depth), infinite for a link without
        shapes.
        """
        per_shape = self.shape_distances(points)
        result = np.full((len(per_shape), len(self.links)), np.inf)
        for column, owner in enumerate(self.owners):
            if owner != UNWATCHED:
                np.minimum(result[:, owner], per_shape[:, column], out=result[:, owner])
        return result

    def enclosing(self) -> tuple[Array, Array, Array]:
        """Returns starts (S, 3), ends (S, 3) and radii (S,), m, of a capsule around each shape."""
        return self._enclosing_ends(-1.0), self._enclosing_ends(1.0), self._enclosing_radii()

    def _enclosing_ends(self, sign: float) -> Array:
        rows = np.arange(len(self))
        axis = np.argmax(self.half_sizes, axis=1)
        reach = self.rotations[rows, :, axis] * self.half_sizes[rows, axis][:, None]
        result: Array = self.translations + sign * reach
        return result

    def _enclosing_radii(self) -> Array:
        two = np.sort(self.half_sizes, axis=1)[:, :2]
        result: Array = np.hypot(two[:, 0], two[:, 1]) + self.radii
        return result


@dataclass(frozen=True)
class LinkShapes:
    """The shapes of a robot's links, each in its link's frame.

    Attributes:
        links: names of the L links whose distances are wanted.
        shapes: of these and of all other links, which distinguish the robot from nearby objects.
        owners: (S,) as in PlacedShapes.
        frames: (S,) row of each shape's link in `robot.links`.
    """

    links: tuple[str, ...]
    shapes: tuple[Shape, ...]
    owners: Indices
    frames: Indices

    def __post_init__(self) -> None:
        stacked = {
            '_rotations': np.array([shape.rotation for shape in self.shapes]),
            '_translations': np.array([shape.translation for shape in self.shapes]),
            '_half_sizes': np.array([shape.half_sizes for shape in self.shapes]),
            '_radii': np.array([shape.radius for shape in self.shapes]),
            '_kinds': tuple(shape.kind for shape in self.shapes),
        }
        for name, value in stacked.items():
            object.__setattr__(self, name, value)

    @cached_property
    def capsules(self) -> tuple[Capsule, ...]:
        """Returns for each of the `links` one capsule, in its frame, that contains all of it."""
        return tuple(
            enclosing_capsule([s for s, owner in zip(self.shapes, self.owners) if owner == row])
            for row in range(len(self.links))
        )

    def place(self, rotations: Array, translations: Array) -> PlacedShapes:
        """Returns the shapes with the robot's links at the poses from `LinkFrames.compute`.

        Args:
            rotations, translations: (R, 3, 3), (R, 3) m of all links of the robot.

        Raises:
            ShapeError: there are fewer poses than links of the robot.
        """
        if len(self.frames) and len(rotations) <= self.frames.max():
            raise ShapeError(
                f'{len(rotations)} link poses; the shapes need those of all links of the robot, '
                f'at least {self.frames.max() + 1}'
            )
        turns = rotations[self.frames]
        own: Array = self.__dict__['_translations']
        places = np.matmul(turns, own[:, :, None])[:, :, 0] + translations[self.frames]
        return PlacedShapes(
            self.links, self.__dict__['_kinds'], self.owners,
            np.matmul(turns, self.__dict__['_rotations']), places, self.__dict__['_half_sizes'],
            self.__dict__['_radii'],
        )  # fmt: skip


def link_shapes(
    robot: Robot, links: Iterable[str] | None = None, exclude: Collection[str] = ()
) -> LinkShapes:
    """Returns the collision primitives of a robot's URDF.

    A cylinder with a sphere of its radius on each end, a URDF's way to write a capsule, becomes
    one.

    Args:
        links: those whose distances are wanted; None: all that have collision geometry.
        exclude: links whose distances are not wanted, such as the base that stands on the table.
            They still count as the robot, like all other links.

    Raises:
        RobotError: a link is unknown or has no collision primitives; no link is left; or the robot
            has links with collision meshes only (see `frame-ros capsules`).
    """
    description = robot.description
    unread = [link for link in description.mesh_links if not robot.collision_geometry[link]]
    if unread:
        raise RobotError(
            f'{robot.name} has only meshes as collision geometry of {", ".join(unread)}: make '
            'capsules of them with `frame-ros capsules URDF --out FILE` and give that file, by the '
            "parameter `shapes` or as `shapes` in the robot's profile"
        )
    shapes = {
        link: shapes_of(robot, link)
        for link, primitives in robot.collision_geometry.items()
        if primitives
    }
    return arranged(robot, shapes, links, exclude)


def shapes_of(robot: Robot, link: str) -> list[Shape]:
    """Returns the collision primitives of one link, merged as for `link_shapes`."""
    return merged([_shape(primitive) for primitive in robot.collision_geometry.get(link, ())])


def arranged(
    robot: Robot,
    shapes: dict[str, list[Shape]],
    links: Iterable[str] | None = None,
    exclude: Collection[str] = (),
) -> LinkShapes:
    """Returns LinkShapes of given shapes per link; `links` and `exclude` as for `link_shapes`.

    Raises:
        RobotError: a link without shapes is wanted, or no link is left.
    """
    wanted = list(shapes) if links is None else list(dict.fromkeys(links))
    missing = [link for link in (*wanted, *exclude) if link not in robot.links]
    if missing:
        raise RobotError(
            f'{robot.name} has no link {missing[0]!r}; its links are {", ".join(robot.links)}'
        )
    bare = [link for link in wanted if not shapes.get(link)]
    if bare:
        raise RobotError(
            f'{robot.name} has no collision geometry at {", ".join(bare)}; links with some: '
            f'{", ".join(shapes)}'
        )
    wanted = [link for link in wanted if link not in exclude]
    if not wanted:
        raise RobotError(f'no link of {robot.name} is left whose distance is wanted')
    rows = {link: row for row, link in enumerate(wanted)}
    places = {link: row for row, link in enumerate(robot.links)}
    others = [link for link in shapes if link not in rows]
    everything = [(link, shape) for link in (*wanted, *others) for shape in shapes[link]]
    return LinkShapes(
        tuple(wanted),
        tuple(shape for _, shape in everything),
        np.array([rows.get(link, UNWATCHED) for link, _ in everything], np.intp),
        np.array([places[link] for link, _ in everything], np.intp),
    )


def enclosing_capsule(shapes: Sequence[Shape]) -> Capsule:
    """Returns a capsule of nearly least volume around shapes of one link."""
    centres, radii = zip(*(shape.balls() for shape in shapes))
    return fit_capsule(np.concatenate(centres), np.concatenate(radii))


def placed(link: str, shapes: Sequence[Shape]) -> PlacedShapes:
    """Returns shapes already in the wanted frame, under one name: a held object, for example."""
    return PlacedShapes(
        (link,),
        tuple(shape.kind for shape in shapes),
        np.zeros(len(shapes), np.intp),
        np.array([shape.rotation for shape in shapes]).reshape(-1, 3, 3),
        np.array([shape.translation for shape in shapes]).reshape(-1, 3),
        np.array([shape.half_sizes for shape in shapes]).reshape(-1, 3),
        np.array([shape.radius for shape in shapes], np.float64),
    )


def box(size: ArrayLike, translation: ArrayLike = (0, 0, 0), rotation: ArrayLike = ()) -> Shape:
    """Returns a box of edges `size` (3,) m, centred at `translation`; rotation (3, 3)."""
    half = np.asarray(size, np.float64) / 2
    return Shape(BOX, half, 0.0, np.asarray(translation, np.float64), _rotation(rotation))


def sphere(radius: float, translation: ArrayLike = (0, 0, 0)) -> Shape:
    """A sphere, m."""
    return Shape(SPHERE, np.zeros(3), radius, np.asarray(translation, np.float64), np.eye(3))


def cylinder(
    radius: float, length: float, translation: ArrayLike = (0, 0, 0), rotation: ArrayLike = ()
) -> Shape:
    """A cylinder along z, m."""
    half = np.array([0.0, 0.0, length / 2])
    return Shape(CYLINDER, half, radius, np.asarray(translation, np.float64), _rotation(rotation))


def rounded_box(
    half_sizes: ArrayLike, radius: float, translation: ArrayLike = (0, 0, 0),
    rotation: ArrayLike = (),
) -> Shape:  # fmt: skip
    """Returns all that is within `radius` m of a box of `half_sizes` (3,) m."""
    half = np.asarray(half_sizes, np.float64)
    return Shape(
        ROUNDED_BOX, half, radius, np.asarray(translation, np.float64), _rotation(rotation)
    )


def rounded_cylinder(
    core: float, half_length: float, radius: float, translation: ArrayLike = (0, 0, 0),
    rotation: ArrayLike = (),
) -> Shape:  # fmt: skip
    """Returns all that is within `radius` m of a cylinder along z of radius `core`, m."""
    half = np.array([core, core, half_length])
    return Shape(
        ROUNDED_CYLINDER, half, radius, np.asarray(translation, np.float64), _rotation(rotation)
    )


def capsule_shape(capsule: Capsule) -> Shape:
    """A capsule as a shape."""
    middle, half = (capsule.start + capsule.end) / 2, (capsule.end - capsule.start) / 2
    length = float(np.linalg.norm(half))
    if length < _SAME:
        return Shape(SPHERE, np.zeros(3), capsule.radius + length, middle, np.eye(3))
    sizes = np.array([0.0, 0.0, length])
    return Shape(CAPSULE, sizes, capsule.radius, middle, rotation_to(half / length))


def rotation_to(axis: Array) -> Array:
    """Returns a rotation (3, 3) whose third column is the unit vector `axis`."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    return np.stack((across, np.cross(axis, across), axis), axis=1)


def _rotation(rotation: ArrayLike) -> Array:
    given = np.asarray(rotation, np.float64)
    return given if given.size else np.eye(3)


def _shape(primitive: Primitive) -> Shape:
    if primitive.kind == 'box':
        return box(primitive.size, primitive.translation, primitive.rotation)
    if primitive.kind == 'sphere':
        return sphere(primitive.size[0], primitive.translation)
    radius, length = primitive.size
    return cylinder(radius, length, primitive.translation, primitive.rotation)


def merged(shapes: Sequence[Shape]) -> list[Shape]:
    """Returns the shapes, with cylinders between two spheres of their radius turned into capsules,
    and the spheres that only round such an end dropped.
    """
    spheres = [shape for shape in shapes if shape.kind == SPHERE]
    dropped: set[int] = set()
    kept: list[Shape] = []
    for shape in shapes:
        ends = _round_ends(shape, spheres)
        dropped.update(id(end) for end in ends or ())
        kind = CAPSULE if ends else shape.kind
        kept.append(Shape(kind, shape.half_sizes, shape.radius, shape.translation, shape.rotation))
    return [new for new, old in zip(kept, shapes) if id(old) not in dropped]


def _round_ends(shape: Shape, spheres: Sequence[Shape]) -> list[Shape] | None:
    """Returns the spheres that make a cylinder a capsule, if any."""
    if shape.kind != CYLINDER:
        return None
    ends = []
    for sign in (-1.0, 1.0):
        place = shape.translation + sign * shape.half_sizes[2] * shape.rotation[:, 2]
        for ball in spheres:
            is_there = float(np.linalg.norm(ball.translation - place)) < _SAME
            if is_there and abs(ball.radius - shape.radius) < _SAME:
                ends.append(ball)
                break
    return ends if len(ends) == 2 else None
