# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes as obstacles: their volume, and tests for points inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ObstacleMesh:
    """A mesh."""

    vertices: Array  # (V, 3) m, each once
    triangles: NDArray[np.int64]  # (T, 3) rows of vertices
    is_convex: bool  # the hull of the vertices is used
    is_closed: bool  # every edge has one triangle on either side, so that there is an inside

    def encloses(self, point: Array) -> bool:
        """Returns whether a point (3,), m, lies inside; a mesh that is not closed has no inside. By
        the winding number: the solid angles of all triangles seen from the point (Van Oosterom and
        Strackee 1983, eq. 8) sum to 4 pi inside and to 0 outside.
        """
        if not self.is_closed:
            return False
        a, b, c = np.moveaxis(self.vertices[self.triangles] - point, 1, 0)
        la, lb, lc = (np.sqrt(np.einsum('ij,ij->i', v, v)) for v in (a, b, c))
        dot_ab, dot_bc, dot_ca = (np.einsum('ij,ij->i', *p) for p in ((a, b), (b, c), (c, a)))
        above = np.einsum('ij,ij->i', a, np.cross(b, c))
        below = la * lb * lc + dot_ab * lc + dot_bc * la + dot_ca * lb
        return abs(float(np.arctan2(above, below).sum())) > np.pi  # the half of 2 pi: half angles

    def geometry(self, coal: Any) -> Any:
        """Returns the mesh for coal: a convex polyhedron, or a tree of bounding volumes."""
        points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        points.extend(list(self.vertices))
        faces.extend([coal.Triangle(*map(int, row)) for row in self.triangles])
        if self.is_convex:
            return coal.Convex(points, faces)
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(self.triangles), len(self.vertices))
        model.addSubModel(points, faces)
        model.endModel()
        return model


def make_mesh(vertices: ArrayLike, triangles: ArrayLike, is_convex: bool) -> ObstacleMesh:
    """Makes a mesh of (V, 3) vertices (m) and (T, 3) rows of them; coincident vertices become one.

    Raises:
        ValueRangeError: wrong shapes, values that are not finite, rows that do not exist, or, for a
            convex one, points that span no volume.
    """
    points = np.asarray(vertices, dtype=np.float64)
    rows = np.asarray(triangles, dtype=np.int64)
    if points.ndim != 2 or points.shape[1:] != (3,) or not np.isfinite(points).all():
        raise ValueRangeError(f'vertices of shape {points.shape}; (V, 3) finite values are needed')
    if is_convex:
        return _hull(points)
    if rows.ndim != 2 or rows.shape[1:] != (3,) or not len(rows):
        raise ValueRangeError(f'triangles of shape {rows.shape}; (T, 3) rows are needed')
    if rows.min() < 0 or rows.max() >= len(points):
        raise ValueRangeError(
            f'triangles name the vertices {rows.min()} to {rows.max()}, there are {len(points)}'
        )
    points, merged = np.unique(points, axis=0, return_inverse=True)
    rows = merged.reshape(-1)[rows]
    is_face = (rows != np.roll(rows, 1, axis=1)).all(axis=1)
    rows = rows[is_face]
    if not len(rows):
        raise ValueRangeError('the mesh has no triangle with three different corners')
    return ObstacleMesh(points, rows, False, _is_closed(rows, len(points)))


def _is_closed(triangles: NDArray[np.int64], count: int) -> bool:
    """Returns whether every directed edge has exactly one partner of the other direction."""
    start, end = triangles.reshape(-1), np.roll(triangles, -1, axis=1).reshape(-1)
    there, back = np.sort(start * count + end), np.sort(end * count + start)
    return bool((there == back).all() and (np.diff(there) > 0).all())


def _hull(points: Array) -> ObstacleMesh:
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ValueRangeError(
            f'{len(points)} vertices span no volume, so they have no convex hull'
        ) from error
    kept, rows = np.unique(hull.simplices, return_inverse=True)
    rows = rows.reshape(-1, 3)
    corners = points[kept]
    # Qhull leaves the sense of rotation open; outwards is away from the middle.
    a, b, c = np.moveaxis(corners[rows], 1, 0)
    outwards = np.einsum('ij,ij->i', np.cross(b - a, c - a), a - corners.mean(axis=0))
    rows[outwards < 0] = rows[outwards < 0][:, ::-1]
    return ObstacleMesh(corners, rows, True, True)
