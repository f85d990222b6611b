# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The true least distance between the robot's links and the obstacles of the simulated scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.sensing.proximity.link_distances import DistanceReading

if TYPE_CHECKING:
    import mujoco


FAR = 9.0  # m; distances beyond are not distinguished
BATCH = 256  # frames


@dataclass(frozen=True)
class LeastDistance:
    """The nearest pair of link and obstacle.

    Attributes:
        distance: m, 0 where they touch or overlap.
        point_on_robot, point_on_obstacle: (3,) m.
        link_distances: link -> m.
        link_points: link -> (6,) m, its closest point and the obstacle's.
        link_obstacles: link -> what is nearest to it.
    """

    distance: float
    link: str
    obstacle: str
    point_on_robot: NDArray[np.float64]
    point_on_obstacle: NDArray[np.float64]
    link_distances: dict[str, float]
    link_points: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    link_obstacles: dict[str, str] = field(default_factory=dict)

    def reading(self) -> DistanceReading:
        """The same, link by link."""
        points = np.array(list(self.link_points.values())).reshape(-1, 6)
        return DistanceReading(
            tuple(self.link_distances),
            np.array(list(self.link_distances.values())),
            points[:, :3],
            points[:, 3:],
            tuple(self.link_obstacles.values()),
            sources=('truth',),
        )


class DistanceTruth:
    """Exact distances between convex collision geoms (MuJoCo's), pruned by lower bounds."""

    def __init__(self, model: mujoco.MjModel, links: dict[str, int], obstacles: dict[str, int]):
        """`links` and `obstacles` map names to body ids."""
        self._mj = load_mujoco()
        self._model = model
        self._links = {name: self._collision_geoms(body) for name, body in links.items()}
        self._link_geoms = np.concatenate(list(self._links.values()))
        ends = np.cumsum([len(geoms) for geoms in self._links.values()]).tolist()
        self._rows = dict(zip(self._links, zip([0, *ends[:-1]], ends, strict=True), strict=True))
        self._obstacle_geoms = np.concatenate(
            [self._collision_geoms(body) for body in obstacles.values()]
        )
        self._obstacle_names = [
            name
            for name, body in obstacles.items()
            for _ in range(len(self._collision_geoms(body)))
        ]
        self._half_sizes = model.geom_aabb[self._obstacle_geoms, 3:]
        self._centres = model.geom_aabb[self._obstacle_geoms, :3]
        self._every = np.concatenate((self._link_geoms, self._obstacle_geoms))
        self._scratch: mujoco.MjData | None = None
        self._radii = model.geom_rbound[self._link_geoms][:, None]

    def _collision_geoms(self, body: int) -> NDArray[np.int64]:
        model = self._model
        first, count = model.body_geomadr[body], model.body_geomnum[body]
        return np.array([g for g in range(first, first + count) if model.geom_contype[g]], np.int64)

    def read(self, data: mujoco.MjData) -> LeastDistance:
        """The least distances as of `data`, which must have its kinematics computed."""
        per_link: dict[str, float] = {}
        link_points: dict[str, NDArray[np.float64]] = {}
        link_obstacles: dict[str, str] = {}
        segment, columns = np.zeros(6), len(self._obstacle_geoms)
        bounds = self._bounds(data)
        for link, geoms in self._links.items():
            best, name = np.inf, ''
            points: NDArray[np.float64] = np.full(6, np.nan)
            first, last = self._rows[link]
            own = bounds[first:last].ravel()
            for place in np.argsort(own).tolist():
                if own[place] >= best:
                    break
                row, column = divmod(place, columns)
                geom, obstacle = geoms[row], self._obstacle_geoms[column]
                found = self._mj.mj_geomDistance(
                    self._model, data, geom, obstacle, best if best < FAR else FAR, segment
                )
                if found < best:
                    best = max(float(found), 0.0)
                    points, name = segment.copy(), self._obstacle_names[column]
            per_link[link], link_points[link], link_obstacles[link] = best, points, name
        link = min(per_link, key=per_link.__getitem__)
        points = link_points[link]
        return LeastDistance(
            per_link[link], link, link_obstacles[link], points[:3], points[3:], per_link,
            link_points, link_obstacles,
        )  # fmt: skip

    def places(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Returns (G, 12) where all geoms are, for `leasts`."""
        return np.concatenate((data.geom_xpos, data.geom_xmat), axis=1)

    def leasts(self, places: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Returns (T,) m, at each of the `places` the least of the distances that `read` has; in
        much less time than one by one.
        """
        if not len(places):
            return np.zeros(0)
        poses = np.array(places)[:, self._every]
        if self._scratch is None:
            self._scratch = self._mj.MjData(self._model)
        data, every, count = self._scratch, self._every, len(self._link_geoms)
        pair, found = 0, np.empty(len(poses))
        for first in range(0, len(poses), BATCH):
            batch = poses[first : first + BATCH]
            bounds = self._lower_bounds(batch[:, :count, :3], batch[:, count:])
            bounds = bounds.reshape(len(batch), -1)
            for frame, (pose, own) in enumerate(zip(batch, bounds, strict=True)):
                data.geom_xpos[every], data.geom_xmat[every] = pose[:, :3], pose[:, 3:]
                # The nearest pair is mostly that of the frame before.
                best = self._distance(data, pair, np.inf)
                own[pair] = np.inf
                for place in np.flatnonzero(own < best).tolist():
                    if own[place] < best:
                        distance = self._distance(data, place, best)
                        if distance < best:
                            best, pair = distance, place
                found[first + frame] = best
        return found

    def _distance(self, data: mujoco.MjData, pair: int, limit: float) -> float:
        """m between a geom of a link and an obstacle's; `limit` or more: not less than that."""
        row, column = divmod(pair, len(self._obstacle_geoms))
        return max(0.0, self._mj.mj_geomDistance(
            self._model, data, self._link_geoms[row], self._obstacle_geoms[column],
            limit if limit < FAR else FAR, None,
        ))  # fmt: skip

    def _bounds(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Returns (geoms of the links, obstacles) m, lower bounds of distances."""
        places, count = self.places(data)[None, self._every], len(self._link_geoms)
        return self._lower_bounds(places[:, :count, :3], places[:, count:])[0]

    def _lower_bounds(
        self, links: NDArray[np.float64], obstacles: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Returns (T, geoms of the links, obstacles) m. A bound is the distance from the robot
        geom's centre to the obstacle's bounding box, less the geom's bounding radius.

        Args:
            links: (T, geoms, 3) m.
            obstacles: (T, obstacles, 12), places and rotations.
        """
        rotations = obstacles[..., 3:].reshape(*obstacles.shape[:2], 3, 3)
        offsets = links[:, None] - obstacles[:, :, None, :3]
        outside = np.abs(offsets @ rotations - self._centres[:, None])
        outside -= self._half_sizes[:, None]
        np.maximum(outside, 0.0, out=outside)
        distances = np.sqrt(np.einsum('...i,...i', outside, outside))
        return np.asarray(distances.swapaxes(1, 2) - self._radii)
