# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Triangles that share their corners: fewer of them, within a stated residual, and of which side
each is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
EXACT = 1e-7  # m, corners nearer than this are one: files have float32


@dataclass(frozen=True)
class MergedMesh:
    """A mesh with shared corners.

    Attributes:
        vertices: (V, 3) m.
        triangles: (T, 3) indices of them.
        is_closed: (T,) whether a triangle belongs to a surface without rim whose corners all run
            counterclockwise seen from outside: it is never seen from behind.
        residual: m, the furthest that a corner was moved: no point of the surface lies further from
            where it was.
    """

    vertices: Array
    triangles: Indices
    is_closed: NDArray[np.bool_]
    residual: float


def merged_mesh(corners: Array, resolution: float = 0.0) -> MergedMesh:
    """Returns triangles (T, 3, 3) m with shared corners.

    resolution: m, edge of cubes whose corners become one, at their mean; triangles that thereby
    lose their area are left out. 0: only equal corners do.
    """
    points = np.asarray(corners, np.float64).reshape(-1, 3)
    vertices, triangles = _joined(points, np.arange(len(points)).reshape(-1, 3), EXACT)
    is_closed = closed_triangles(vertices, triangles)
    triangles, is_closed = _with_area(triangles, is_closed)
    if resolution <= EXACT:
        return MergedMesh(vertices, triangles, is_closed, 0.0)
    coarse, moved = _joined(vertices, np.arange(len(vertices)), resolution)
    residual = float(np.linalg.norm(coarse[moved] - vertices, axis=1).max(initial=0.0))
    triangles, is_closed = _with_area(moved[triangles], is_closed)
    return MergedMesh(coarse, triangles, is_closed, residual)


def _joined(points: Array, indices: Indices, size: float) -> tuple[Array, Indices]:
    """Returns the means of points (N, 3) by cubes, in the order of their first points, and indices
    of them in place of indices of points.
    """
    cells = np.floor(points / size + 0.5).astype(np.int64)
    keys = np.zeros(len(points), np.int64)
    for axis in range(3):
        _, place = np.unique(cells[:, axis], return_inverse=True)
        keys = np.unique(keys * (len(points) + 1) + place.ravel(), return_inverse=True)[1].ravel()
    _, first = np.unique(keys, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    places = rank[keys]
    number = np.bincount(places)
    means = [np.bincount(places, points[:, axis]) / number for axis in range(3)]
    return np.stack(means, axis=1), places[indices]


def _with_area(
    triangles: Indices, is_closed: NDArray[np.bool_]
) -> tuple[Indices, NDArray[np.bool_]]:
    """Returns the triangles with three different corners."""
    one, two, three = triangles.T
    is_proper = (one != two) & (two != three) & (three != one)
    return triangles[is_proper], is_closed[is_proper]


def closed_triangles(vertices: Array, triangles: Indices) -> NDArray[np.bool_]:
    """Returns (T,) whether a triangle belongs to a connected surface that is closed and encloses a
    volume above 0: each edge is of two triangles, which run along it in opposite directions.
    """
    count = len(vertices)
    one, two, three = triangles.T
    is_proper = (one != two) & (two != three) & (three != one)
    proper = triangles[is_proper]
    ends = np.concatenate([proper[:, [0, 1]], proper[:, [1, 2]], proper[:, [2, 0]]])
    along, against = ends[:, 0] * count + ends[:, 1], ends[:, 1] * count + ends[:, 0]
    known, times = np.unique(along, return_counts=True)
    is_paired = np.isin(against, known) & (times[np.searchsorted(known, along)] == 1)
    links = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    number, part = connected_components(links, directed=False)
    is_open = np.zeros(number, np.bool_)
    is_open[part[ends[~is_paired, 0]]] = True
    a, b, c = (vertices[proper[:, place]] for place in range(3))
    volumes = np.bincount(
        part[proper[:, 0]], np.einsum('ij,ij->i', a, np.cross(b, c)) / 6.0, number
    )
    return np.asarray((~is_open & (volumes > 0.0))[part[triangles[:, 0]]])
