# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Search for a link's nearest obstacle among pairs of shapes, by coal, nearest bound first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import ROUNDED_BOX, ROUNDED_CYLINDER, PlacedShapes
from frame_ros.sensing.proximity.obstacles.shapes import Obstacle, coal_geometry

Array = NDArray[np.float64]


class RobotSide:
    """The S shapes of a robot's links for coal, and their pairs with O obstacles.

    Attributes:
        halves: (S, 3) m, of the box around each in its own frame.
        radii: (S,) m, of the sphere.
        rows_of_link: for each link, its shapes.
        is_ignored: (S, O).
    """

    def __init__(self, coal: Any, placed: PlacedShapes, obstacles: Sequence[Obstacle]) -> None:
        self._owners, self._half_sizes = placed.owners, placed.half_sizes
        half_sizes, radii = placed.half_sizes, placed.radii
        flat = radii[:, None] * (1.0, 1.0, 0.0)
        is_cylinder = placed.is_cylinder
        self.halves = half_sizes + np.where(is_cylinder[:, None], flat, radii[:, None])
        reach = np.linalg.norm(half_sizes, axis=1)
        self.radii = np.where(is_cylinder, np.hypot(reach, radii), reach + radii)
        self.rows_of_link = [
            np.flatnonzero(placed.owners == row) for row in range(len(placed.links))
        ]
        self.is_ignored = np.zeros((len(placed), len(obstacles)), bool)
        for column, obstacle in enumerate(obstacles):
            for row, link in enumerate(placed.links):
                if link in obstacle.ignored_links:
                    self.is_ignored[placed.owners == row, column] = True
        self.geometries = [
            shape_geometry(coal, kind, half, radius)
            for kind, half, radius in zip(placed.kinds, half_sizes.tolist(), radii.tolist())
        ]

    def fits(self, placed: PlacedShapes) -> bool:
        """Returns whether these are the same shapes, only elsewhere."""
        is_same = placed.owners is self._owners and placed.half_sizes is self._half_sizes
        return is_same and len(placed.links) == len(self.rows_of_link)


def shape_geometry(coal: Any, kind: str, half_sizes: Sequence[float], radius: float) -> Any:
    """Returns a shape as in PlacedShapes for coal."""
    core = {ROUNDED_BOX: 'box', ROUNDED_CYLINDER: 'cylinder'}.get(kind)
    if core is None:
        return coal_geometry(coal, kind, coal_size(kind, half_sizes, radius))
    if not hasattr(coal.Box, 'setSweptSphereRadius'):  # hppfcl: the sharp shape around it
        half_sizes, radius = [half + radius for half in half_sizes], 0.0
    found = coal_geometry(coal, core, coal_size(core, half_sizes, half_sizes[0]))
    if radius:
        found.setSweptSphereRadius(radius)
    return found


def coal_size(kind: str, half_sizes: Sequence[float], radius: float) -> tuple[float, ...]:
    """Returns the size, as in SIZES, of a shape as in PlacedShapes that is not rounded."""
    if kind == 'box':
        return 2 * half_sizes[0], 2 * half_sizes[1], 2 * half_sizes[2]
    return (radius,) if kind == 'sphere' else (radius, 2 * half_sizes[2])


class ObstacleSide:
    """The O obstacles for coal, and the boxes around them.

    Attributes:
        middles: (O, 3) m in the base frame, of the boxes.
        rotations: (O, 3, 3).
        halves, upper: (O, 3) m, how far a box reaches from its middle, down and up its axes.
        radii: (O,) m, of the sphere about the middle; infinite for a half space.
        columns: (3, 3 O), all rotations next to each other.
        own_middles: (O, 3) m, the middles in the obstacles' own axes.
    """

    def __init__(self, coal: Any, obstacles: Sequence[Obstacle], geometries: Sequence[Any]) -> None:
        self.obstacles, self.geometries = tuple(obstacles), tuple(geometries)
        self.rotations = np.array([o.rotation for o in obstacles]).reshape(-1, 3, 3)
        self.halves = np.array([o.half_extents for o in obstacles]).reshape(-1, 3)
        middles = np.array([o.middle for o in obstacles]).reshape(-1, 3)
        shifts = np.array([o.translation for o in obstacles]).reshape(-1, 3)
        self.middles = shifts + np.einsum('okl,ol->ok', self.rotations, middles)
        self.columns = self.rotations.transpose(1, 0, 2).reshape(3, -1)
        self.own_middles = np.einsum('ok,okl->ol', self.middles, self.rotations)
        # A half space is solid below its plane: its box reaches from there infinitely far down.
        is_half = np.array([o.kind == 'half_space' for o in obstacles], bool)
        self.upper = np.where(is_half[:, None], (np.inf, np.inf, 0.0), self.halves)
        self.radii = np.linalg.norm(self.halves, axis=1)
        self.transforms = [coal.Transform3s(o.rotation, o.translation) for o in obstacles]


def lower_bounds(robot: RobotSide, placed: PlacedShapes, others: ObstacleSide) -> Array:
    """Returns (S, O) m, never above the distance between a link's shape and an obstacle. Infinite
    for ignored pairs. It is the larger of two: from the one's bounding sphere to the other's
    oriented box, and vice versa.
    """
    centres, turns = placed.translations, placed.rotations
    count = len(centres)
    # Each shape's middle in each obstacle's axes, and the other way round: one product each.
    in_obstacle = (centres @ others.columns).reshape(count, -1, 3) - others.own_middles
    outside = np.maximum(in_obstacle - others.upper, -others.halves - in_obstacle)
    columns = turns.transpose(1, 0, 2).reshape(3, -1)
    own = np.einsum('sk,skl->sl', centres, turns)
    in_shape = np.abs((others.middles @ columns).reshape(-1, count, 3) - own) - robot.halves
    from_sphere = _length(outside) - robot.radii[:, None]
    bounds = np.maximum(from_sphere, _length(in_shape).T - others.radii)
    bounds[robot.is_ignored] = np.inf
    return bounds


def _length(outside: Array) -> Array:
    """Returns (A, B), the length of the positive part of (A, B, 3)."""
    positive = np.maximum(outside, 0.0)
    return np.sqrt(np.einsum('abk,abk->ab', positive, positive))


class Nearest(NamedTuple):
    """The nearest obstacle of one link."""

    distance: float  # m, 0 on overlap
    obstacle: int  # its row. Points: (3,) m, base frame.
    on_robot: Array
    on_obstacle: Array


class PairSearch:
    """Least distances at one placement of the robot's links."""

    def __init__(
        self, coal: Any, robot: RobotSide, placed: PlacedShapes, others: ObstacleSide
    ) -> None:
        self._coal, self._robot, self._placed, self._others = coal, robot, placed, others
        # Nearest points are requested explicitly before version 3, which always has them.
        self._request = coal.DistanceRequest(True)
        self._results = coal.DistanceResult(), coal.DistanceResult()
        self._request.enable_signed_distance = False
        self._transforms: dict[int, Any] = {}

    def least(self, rows: NDArray[np.int64], bounds: Array) -> Nearest | None:
        """Returns the nearest of the pairs of the shapes `rows` with all obstacles; bounds: (R, O)
        m. None if all pairs are ignored.
        """
        flat = bounds.ravel()
        order = flat.argsort()
        count = bounds.shape[1]
        best, least, nearest = np.inf, (-1, -1), self._results[0]
        for bound, index in zip(flat[order].tolist(), order.tolist()):
            if bound >= best:
                break
            row, column = int(rows[index // count]), index % count
            result = self._results[nearest is self._results[0]]
            distance = self._distance(row, column, result)
            if distance < best:
                best, least, nearest = distance, (row, column), result
        if least[0] < 0:
            return None
        return Nearest(best, least[1], *self._points(*least, best, nearest))

    def _distance(self, row: int, column: int, result: Any) -> float:
        if self._others.obstacles[column].mesh is not None and self._is_inside(row, column):
            return 0.0
        result.clear()
        distance = self._coal.distance(*self._pair(row, column), self._request, result)
        return distance if distance > 0.0 else 0.0

    def _pair(self, row: int, column: int) -> tuple[Any, Any, Any, Any]:
        own = self._transforms.get(row)
        if own is None:
            placed = self._placed
            own = self._coal.Transform3s(placed.rotations[row], placed.translations[row])
            self._transforms[row] = own
        shape, others = self._robot.geometries[row], self._others
        return shape, own, others.geometries[column], others.transforms[column]

    def _is_inside(self, row: int, column: int) -> bool:
        """Returns whether a shape lies wholly inside a closed mesh, far from its surface."""
        mesh = self._others.obstacles[column].mesh
        if mesh is None or mesh.is_convex:
            return False
        return self._others.obstacles[column].encloses(self._placed.translations[row])

    def _points(self, row: int, column: int, distance: float, result: Any) -> tuple[Array, Array]:
        """Returns the points on the shape and on the obstacle. Where they overlap, a point of both,
        twice; NaN if unknown.
        """
        if distance > 0.0:
            return result.getNearestPoint1(), result.getNearestPoint2()
        if self._is_inside(row, column):
            middle = np.array(self._placed.translations[row])
            return middle, middle
        request = self._coal.CollisionRequest(self._coal.CollisionRequestFlag.CONTACT, 1)
        found = self._coal.CollisionResult()
        self._coal.collide(*self._pair(row, column), request, found)
        shared = np.array(found.getContact(0).pos) if found.numContacts() else np.full(3, np.nan)
        return shared, shared
