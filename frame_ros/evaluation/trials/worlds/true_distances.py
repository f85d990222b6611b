# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact distances between the triangles of a robot's real surface and obstacles, by coal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.trials.worlds.obstacles import (
    BOX,
    CAPSULE,
    CYLINDER,
    SPHERE,
    Obstacle,
)
from frame_ros.sensing.proximity.link_distances import DistanceReading

Array = NDArray[np.float64]
Triangles = tuple[Array, NDArray[np.int64]]
# m, least height of a triangle: thinner ones lie on their neighbours' edges, and coal fails at
# those that are a line.
_THIN = 1e-6
_ROUNDING = 1e-6  # m, by which bounds of distances are lower


class SurfaceDistances:
    """Distances of links' surfaces to obstacles. Not thread-safe."""

    def __init__(self, surfaces: dict[str, Triangles]) -> None:
        """surfaces: link -> (V, 3) vertices, m, in the link's frame, and (T, 3) rows of them."""
        import coal

        self._coal = coal
        self.links = tuple(surfaces)
        self._trees = [_tree(coal, *surface) for surface in surfaces.values()]
        self._request = coal.DistanceRequest(True)
        # A link's lowest point is a corner of its hull.
        self._corners = [_corners(vertices) for vertices, _ in surfaces.values()]
        self._middles = np.array([(c.min(axis=0) + c.max(axis=0)) / 2 for c in self._corners])
        self._reaches = np.array(
            [np.linalg.norm(c - m, axis=1).max() for c, m in zip(self._corners, self._middles)]
        )

    def compute(
        self,
        rotations: Array,
        translations: Array,
        obstacles: Sequence[Obstacle],
        only_nearest: bool = False,
    ) -> DistanceReading:
        """Returns the least distance of each link to any obstacle; 0 or less where they touch.

        Args:
            rotations, translations: (L, 3, 3), (L, 3) m, of the links.
            obstacles: any number of them.
            only_nearest: of the nearest link alone; others, whose bounds are no nearer, are NaN.
        """
        count = len(self.links)
        distances = np.full(count, np.inf)
        on_robot, on_obstacle = np.full((2, count, 3), np.nan)
        names = [''] * count
        shapes = [_shape(self._coal, obstacle) for obstacle in obstacles]
        places = [self._coal.Transform3s(each.rotation, each.position) for each in obstacles]
        links = [self._coal.Transform3s(*pose) for pose in zip(rotations, translations)]
        bounds = self._bounds(rotations, translations, obstacles)
        for each in np.argsort(bounds, axis=None):
            number, row = divmod(int(each), count)
            if bounds[number, row] >= (distances.min() if only_nearest else distances[row]):
                continue
            result = self._coal.DistanceResult()
            distance = self._coal.distance(
                self._trees[row], links[row], shapes[number], places[number], self._request, result
            )
            if distance < distances[row]:
                distances[row], names[row] = distance, str(number)
                on_robot[row] = result.getNearestPoint1()
                on_obstacle[row] = result.getNearestPoint2()
        distances[~np.isfinite(distances)] = np.nan
        why = '' if np.isfinite(distances).any() else 'there is no obstacle'
        return DistanceReading(
            self.links, distances, on_robot, on_obstacle, tuple(names), unavailable=why
        )

    def _bounds(
        self, rotations: Array, translations: Array, obstacles: Sequence[Obstacle]
    ) -> Array:
        """(O, L) m: no distance of an obstacle to a link is less, by balls around both."""
        middles = np.einsum('lij,lj->li', rotations, self._middles) + translations
        places = np.array([obstacle.position for obstacle in obstacles]).reshape(-1, 1, 3)
        reaches = np.array([obstacle.reach for obstacle in obstacles]).reshape(-1, 1)
        away: Array = np.linalg.norm(middles - places, axis=2)
        return away - self._reaches - reaches - _ROUNDING

    def lowest(self, rotations: Array, translations: Array) -> Array:
        """Returns (L,) m, the height of each link's lowest point."""
        return np.array(
            [
                float((corners @ turn[2]).min() + place[2])
                for corners, turn, place in zip(self._corners, rotations, translations)
            ]
        )

    def touching(self, rotations: Array, translations: Array, apart: int = 2) -> bool:
        """Returns whether any two links that lie at least `apart` places from one another in
        `links` touch.
        """
        coal = self._coal
        request = coal.CollisionRequest()
        places = [coal.Transform3s(*pose) for pose in zip(rotations, translations)]
        for first in range(len(places)):
            for second in range(first + apart, len(places)):
                result = coal.CollisionResult()
                if coal.collide(
                    self._trees[first], places[first], self._trees[second], places[second],
                    request, result,
                ):  # fmt: skip
                    return True
        return False


def _corners(vertices: Array) -> Array:
    from scipy.spatial import ConvexHull

    return vertices[ConvexHull(vertices).vertices]


def _tree(coal: Any, vertices: Array, triangles: NDArray[np.int64]) -> Any:
    triangles = triangles[_heights(vertices[triangles]) >= _THIN]
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(vertices))
    faces.extend([coal.Triangle(*row) for row in triangles.tolist()])
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addSubModel(points, faces)
    model.endModel()
    return model


def _heights(corners: Array) -> Array:
    """(T,) m, the least heights of triangles (T, 3, 3)."""
    sides = np.roll(corners, -1, axis=1) - corners
    doubled = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    return np.asarray(doubled / np.maximum(longest, 1e-12))


def _shape(coal: Any, obstacle: Obstacle) -> Any:
    first, second, _ = obstacle.size
    makers = {
        SPHERE: lambda: coal.Sphere(first),
        BOX: lambda: coal.Box(*(2.0 * half for half in obstacle.size)),
        CYLINDER: lambda: coal.Cylinder(first, 2.0 * second),
        CAPSULE: lambda: coal.Capsule(first, 2.0 * second),
    }
    return makers[obstacle.kind]()
