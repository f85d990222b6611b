# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact distances between a robot's links and obstacles of known shape.

A lower bound of every pair's distance, for all pairs at once, shows which can hold a link's least
one; only those go to coal (GJK).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.obstacles.meshes import make_mesh
from frame_ros.sensing.proximity.obstacles.search import (
    ObstacleSide,
    PairSearch,
    RobotSide,
    lower_bounds,
)
from frame_ros.sensing.proximity.obstacles.shapes import Obstacle, checked_pose, load_coal

Array = NDArray[np.float64]
SOURCE = 'known obstacles'
UPRIGHT = np.eye(3)


class KnownObstacles:
    """Named obstacles in the robot's base frame, and the distances of links to them.

    A name given again replaces the obstacle. Not thread-safe.

    Attributes:
        frame: the frame that they are given in, if known.

    Raises:
        MissingExtraError: coal is not installed.
    """

    def __init__(self, frame: str = '') -> None:
        self.frame = frame
        self._coal = load_coal()
        self._obstacles: dict[str, Obstacle] = {}
        self._geometries: dict[str, Any] = {}
        self._arrange()

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """All obstacles, in the order of their first mention."""
        return tuple(self._obstacles.values())

    def __len__(self) -> int:
        return len(self._obstacles)

    def set_shape(
        self,
        name: str,
        kind: str,
        size: Sequence[float],
        rotation: ArrayLike = UPRIGHT,
        translation: ArrayLike = (0.0, 0.0, 0.0),
        ignored_links: Iterable[str] = (),
    ) -> None:
        """Sets an obstacle of a simple shape.

        Args:
            kind: 'box', 'sphere', 'cylinder', 'capsule' (all points within its radius of a
                segment), or 'half_space', everything below z = 0 of its pose: a floor, a table,
                turned a wall.
            size: m; edges x, y, z of a box; radius, and length along z of cylinder and capsule;
                empty for a half space.
            rotation, translation: (3, 3), (3,) m: its pose in the base frame, of its middle.
            ignored_links: links whose distance to it is not of interest.

        Raises:
            ValueRangeError: sizes or pose are impossible.
        """
        links = frozenset(ignored_links)
        turn, shift = np.asarray(rotation), np.asarray(translation)
        self.set(Obstacle(name, kind, tuple(size), turn, shift, None, links))

    def set_mesh(
        self,
        name: str,
        vertices: ArrayLike,
        triangles: ArrayLike,
        rotation: ArrayLike = UPRIGHT,
        translation: ArrayLike = (0.0, 0.0, 0.0),
        is_convex: bool = False,
        ignored_links: Iterable[str] = (),
    ) -> None:
        """Sets a mesh of (V, 3) vertices (m, in its own frame) and (T, 3) rows of them.

        A closed mesh is solid; the distance to an open one is that to its surface. is_convex: use
        its convex hull, which is several times faster.
        """
        mesh = make_mesh(vertices, triangles, is_convex)
        placed = Obstacle(
            name, 'mesh', (), np.asarray(rotation), np.asarray(translation), mesh,
            frozenset(ignored_links),
        )  # fmt: skip
        self.set(placed)

    def set(self, obstacle: Obstacle) -> None:
        """Adds an obstacle, or replaces the one of its name."""
        self._geometries[obstacle.name] = obstacle.geometry(self._coal)
        self._obstacles[obstacle.name] = obstacle
        self._arrange()

    def move(self, name: str, rotation: ArrayLike, translation: ArrayLike) -> None:
        """Moves an obstacle.

        Raises:
            ValueRangeError: there is none of this name, or the pose is invalid.
        """
        turn, shift = checked_pose(name, rotation, translation)
        self._obstacles[name] = replace(self._known(name), rotation=turn, translation=shift)
        self._arrange()

    def ignore(self, name: str, links: Iterable[str]) -> None:
        """Ignores the distances of these links, which hold the obstacle or stand on it; none:
        ignores no link.

        Raises:
            ValueRangeError: there is none of this name.
        """
        self._obstacles[name] = replace(self._known(name), ignored_links=frozenset(links))
        self._arrange()

    def remove(self, name: str) -> None:
        """Removes an obstacle.

        Raises:
            ValueRangeError: there is none of this name.
        """
        self._known(name)
        del self._obstacles[name], self._geometries[name]
        self._arrange()

    def clear(self) -> None:
        """Removes all obstacles."""
        self._obstacles.clear()
        self._geometries.clear()
        self._arrange()

    def _known(self, name: str) -> Obstacle:
        if name not in self._obstacles:
            known = ', '.join(self._obstacles) or 'none'
            raise ValueRangeError(f'there is no obstacle {name!r}; known: {known}')
        return self._obstacles[name]

    def _arrange(self) -> None:
        found = self.obstacles
        geometries = [self._geometries[obstacle.name] for obstacle in found]
        self._others = ObstacleSide(self._coal, found, geometries)
        self._robot: RobotSide | None = None

    def distances(self, shapes: PlacedShapes) -> DistanceReading:
        """Returns the least distance of every link to any obstacle, exact to 1e-6 m.

        Where link and obstacle overlap, the distance is 0 and both points are the same, one that
        lies in both (NaN if unknown). A link without shapes, or whose obstacles are all ignored,
        has NaN. Without obstacles nothing is measured, and the reading says so.
        """
        if not self._obstacles:
            return DistanceReading.missing(shapes.links, 'no obstacles are known', (SOURCE,))
        if self._robot is None or not self._robot.fits(shapes):
            self._robot = RobotSide(self._coal, shapes, self.obstacles)
        bounds = lower_bounds(self._robot, shapes, self._others)
        search = PairSearch(self._coal, self._robot, shapes, self._others)
        count = len(shapes.links)
        distances, names = np.full(count, np.nan), [''] * count
        points = np.full((2, count, 3), np.nan)
        for link, rows in enumerate(self._robot.rows_of_link):
            best = search.least(rows, bounds[rows])
            if best is not None:
                distances[link] = best.distance
                names[link] = self._others.obstacles[best.obstacle].name
                points[0, link], points[1, link] = best.on_robot, best.on_obstacle
        return DistanceReading(
            shapes.links, distances, points[0], points[1], tuple(names), sources=(SOURCE,)
        )
