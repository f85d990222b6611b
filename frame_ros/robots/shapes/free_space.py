# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Points on a surface of triangles, and points of the free space about it with their distances from
it. The surface may have gaps and hidden parts: free is what can be reached from far away through
openings wider than a few mm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CELL = 0.003  # m, edge of the cells of the grid that free space is found in
REACH = 0.04  # m, how far from the surface free points are taken
_SPACING = 0.001  # m, about, between points that distances are measured to
_MOST = 1_200_000  # points: on fewer, of a large surface, a cell is missed and lets free space in


def surface_points(triangles: Array, count: int, rng: np.random.Generator) -> Array:
    """Returns (count, 3) points, evenly over the area of triangles (T, 3, 3)."""
    corners = triangles[:, 1:] - triangles[:, :1]
    areas = np.linalg.norm(np.cross(corners[:, 0], corners[:, 1]), axis=1)
    rows = rng.choice(len(triangles), count, p=areas / areas.sum())
    shares = rng.random((count, 2))
    beyond = shares.sum(axis=1) > 1.0
    shares[beyond] = 1.0 - shares[beyond]
    return np.asarray(triangles[rows, 0] + np.einsum('nk,nkl->nl', shares, corners[rows]))


def dense_points(triangles: Array, rng: np.random.Generator) -> Array:
    """Returns (N, 3) points about 1 mm apart all over triangles, with every corner."""
    corners = triangles[:, 1:] - triangles[:, :1]
    area = float(np.linalg.norm(np.cross(corners[:, 0], corners[:, 1]), axis=1).sum() / 2)
    count = int(min(_MOST, max(2000, 3 * area / _SPACING**2)))
    even = surface_points(triangles, count, rng)
    return np.concatenate((even, np.unique(triangles.reshape(-1, 3), axis=0)))


class FreeSpace:
    """The free space within REACH of a surface.

    Attributes:
        cells: (C, 3) m, the middles of its cells, each CELL wide.
    """

    def __init__(self, points: Array) -> None:
        """points: (N, 3) m, close together all over the surface."""
        from scipy.ndimage import distance_transform_edt, label
        from scipy.spatial import cKDTree

        self._tree = cKDTree(points)
        low, high = points.min(axis=0) - REACH - CELL, points.max(axis=0) + REACH + CELL
        shape = np.ceil((high - low) / CELL).astype(int) + 1
        filled = np.zeros(shape, bool)
        filled[tuple(((points - low) / CELL).astype(int).T)] = True
        parts, _ = label(~filled)
        self._low, self._is_free = low, parts == parts[0, 0, 0]
        reach = distance_transform_edt(~filled, sampling=CELL)
        free = np.argwhere(self._is_free & (reach <= REACH))
        self.cells = low + (free + 0.5) * CELL

    @property
    def volume(self) -> float:
        """m^3 of a cell."""
        return CELL**3

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Returns (count, 3) points and (count,) m their distances from the surface; evenly over
        the space within REACH of it, 2 mm away from it at least.
        """
        rows = rng.integers(len(self.cells), size=2 * count)
        points = self.cells[rows] + rng.uniform(-0.5, 0.5, (2 * count, 3)) * CELL
        distances, _ = self._tree.query(points)
        kept = np.nonzero(distances >= 0.002)[0][:count]
        return points[kept], distances[kept]

    def is_free(self, points: Array) -> NDArray[np.bool_]:
        """Returns (N,) whether points (N, 3) lie in a free cell; false beyond REACH."""
        rows = np.floor((points - self._low) / CELL).astype(int)
        is_there = ((rows >= 0) & (rows < self._is_free.shape)).all(axis=1)
        result = np.zeros(len(points), bool)
        result[is_there] = self._is_free[tuple(rows[is_there].T)]
        return result

    def distances(self, points: Array) -> Array:
        """Returns (N,) m of points (N, 3) to the surface, unsigned."""
        return np.asarray(self._tree.query(points)[0])
