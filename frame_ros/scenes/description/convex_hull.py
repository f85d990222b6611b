# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls of objects: their faces, points of their surface, and how they can stand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]
# Points that are no further above the lowest, as a share of the size, bear an object: meshes of
# scans are uneven. The centre of mass must be inside of what bears it by STEADY of the size.
BEARING, STEADY = 0.004, 0.02
_APART = math.cos(math.radians(5.0))  # postures nearer to each other count as one
FILLED = 0.04  # share of the size, as slim boxes around a can leave their hull unfilled
# Of more corners only those are kept that are furthest in some of as many directions, and along the
# axes: of a ball of 0.1 m they leave out less than 0.1 mm.
MOST_CORNERS = 1200


@attrs.frozen(eq=False)
class Hull:
    """A convex hull.

    Attributes:
        corners: (N, 3) m.
        faces: (F, 3) indices of corners, counter-clockwise from outside.
        normals: (F, 3) outwards.
        offsets: (F,) m, normal times point of a face's plane.
        volume: m3.
        centre: (3,) m, of its volume.
    """

    corners: Array
    faces: NDArray[np.int64]
    normals: Array
    offsets: Array
    volume: float
    centre: Array

    def moved(self, by: Array) -> Hull:
        """Returns the hull shifted by (3,) m."""
        offsets = self.offsets + self.normals @ by
        return attrs.evolve(
            self, corners=self.corners + by, offsets=offsets, centre=self.centre + by
        )

    @property
    def size(self) -> float:
        """m, the longest edge of the box about it."""
        return float(np.ptp(self.corners, axis=0).max())


def hull_of(points: Array) -> Hull:
    """Returns the convex hull of points (N, 3) m, of at most MOST_CORNERS corners.

    Raises:
        ValueRangeError: they lie in a plane.
    """
    middle = points.mean(axis=0)
    try:
        found = ConvexHull(points - middle)
        if len(found.vertices) > MOST_CORNERS:
            found = ConvexHull(_furthest(found.points[found.vertices]))
    except (QhullError, ValueError) as error:
        raise ValueRangeError('it is flat: its corners lie in a plane') from error
    normals, offsets = found.equations[:, :3], -found.equations[:, 3]
    used, faces = np.unique(found.simplices, return_inverse=True)
    corners, faces = found.points[used], faces.reshape(-1, 3)
    a, b, c = (corners[faces[:, i]] for i in range(3))
    inward = np.einsum('ij,ij->i', np.cross(b - a, c - a), normals) < 0
    faces[inward] = faces[inward][:, ::-1]
    # Tetrahedra from the middle, which is inside.
    volumes = np.einsum('ij,ij->i', corners[faces[:, 0]], np.cross(
        corners[faces[:, 1]], corners[faces[:, 2]])) / 6  # fmt: skip
    volume = float(volumes.sum())
    centre = (volumes @ corners[faces].sum(axis=1)) / (4 * volume) if volume > 0 else np.zeros(3)
    return Hull(corners, faces, normals, offsets, volume, centre).moved(middle)


def _furthest(points: Array) -> Array:
    heights = 1 - 2 * (np.arange(MOST_CORNERS - 6) + 0.5) / (MOST_CORNERS - 6)
    turns = np.arange(len(heights)) * math.pi * (3 - math.sqrt(5))  # the golden angle
    rims = np.sqrt(1 - heights**2)
    directions = np.column_stack((rims * np.cos(turns), rims * np.sin(turns), heights))
    directions = np.concatenate((directions, np.eye(3), -np.eye(3)))
    return np.asarray(points[np.unique((directions @ points.T).argmax(axis=1))])


def spread_points(hull: Hull, count: int) -> tuple[Array, Array]:
    """Returns points (count, 3) m spread evenly over a hull's surface, and their normals."""
    a, b, c = (hull.corners[hull.faces[:, i]] for i in range(3))
    ends = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
    chosen = np.searchsorted(ends, ends[-1] * (np.arange(count) + 0.5) / count)
    # Within the faces by the additive sequence of the plastic number (R2, M. Roberts).
    s, t = np.modf(np.outer((0.7548776662466927, 0.5698402909980532), np.arange(count)))[0]
    is_out = s + t > 1
    s, t = np.where(is_out, 1 - s, s)[:, None], np.where(is_out, 1 - t, t)[:, None]
    points = a[chosen] + s * (b - a)[chosen] + t * (c - a)[chosen]
    return points, hull.normals[chosen]


def fills_hull(pieces: Sequence[Hull], whole: Hull) -> bool:
    """Returns whether pieces reach their common hull all over its surface, to FILLED of its size;
    the hull touches other things then as they do.
    """
    points = spread_points(whole, 1000)[0]
    gaps = np.full(len(points), np.inf)
    for piece in pieces:
        outside = (points @ piece.normals.T - piece.offsets).max(axis=1)
        gaps = np.minimum(gaps, outside)
    return bool(gaps.max() <= FILLED * whole.size)


def span_inside(hull: Hull, start: Array, lines: Array) -> tuple[Array, Array]:
    """Returns the shares (N,) of lines (N, 3) from a start (3,) where they enter and leave a hull.

    A line that misses it leaves before it enters.
    """
    slopes = lines @ hull.normals.T
    gaps = hull.offsets - hull.normals @ start
    with np.errstate(divide='ignore', invalid='ignore'):
        shares = gaps / slopes
    entry = np.where(slopes < 0, shares, -np.inf).max(axis=1)
    leaving = np.where(slopes > 0, shares, np.inf).min(axis=1)
    is_beside = ((slopes == 0) & (gaps < 0)).any(axis=1)
    return np.where(is_beside, np.inf, entry), leaving


@attrs.frozen(eq=False)
class Rests:
    """Postures in which an object stays on a table.

    Attributes:
        down: (K, 3) directions in its axes that may point down; K may be 0.
        is_round: whether it rolls in every one of them, as a ball does.
    """

    down: Array
    is_round: bool

    @property
    def is_upright(self) -> bool:
        """True if it stays as it was modelled, z up."""
        return bool((self.down[:, 2] < -_APART).any())


def rests_of(hull: Hull, centre: Array) -> Rests:
    """Returns the postures in which a hull with a centre of mass (3,) m stays: this is above what
    bears it, STEADY of the size or more from its edge.
    """
    bearing, size = BEARING * hull.size, hull.size
    found: list[tuple[float, Array]] = []
    for normal in np.unique(hull.normals.round(6), axis=0):
        heights = hull.corners @ normal
        feet = hull.corners[heights >= heights.max() - bearing]
        margin = _margin(feet - centre, normal)
        if margin >= STEADY * size:
            found.append((margin, normal / np.linalg.norm(normal)))
    found.sort(key=lambda each: -each[0])
    normals = np.array([normal for _, normal in found]).reshape(-1, 3)
    down: list[Array] = []
    is_apart = np.ones(len(normals), bool)  # from those that were taken
    for index, normal in enumerate(normals):
        if is_apart[index]:
            down.append(normal)
            is_apart &= normals @ normal < _APART
    # A ball bears on a cap as deep as `bearing`.
    cap = 1.2 * math.sqrt(float(np.ptp(hull.corners, axis=0).min()) * bearing)
    is_round = not found or found[0][0] < cap
    return Rests(np.array(down).reshape(-1, 3), is_round)


def _margin(points: Array, normal: Array) -> float:
    """m, by which the origin is inside of the outline of points seen along a normal."""
    across = np.linalg.svd(normal[None])[2][1:]
    flat = points @ across.T
    try:
        outline = ConvexHull(flat)
    except (QhullError, ValueError):
        return -math.inf
    return float((-outline.equations[:, 2]).min())


def stood(rests: Rests, rotation: Array) -> Array:
    """Returns a rotation (3, 3) turned as little as possible into a posture in which it stays; the
    same where there is none.
    """
    if not len(rests.down):
        return rotation
    lowest = rests.down[int((rests.down @ -rotation[2]).argmax())]
    down = rotation @ lowest
    cosine = -float(down[2])
    if cosine > 1 - 1e-12:
        return rotation
    axis = np.cross(down, (0.0, 0.0, -1.0))
    sine = float(np.linalg.norm(axis))
    axis = axis / sine if sine > 1e-9 else np.array((1.0, 0.0, 0.0))
    skew = np.cross(np.eye(3), axis)
    return np.asarray((np.eye(3) + sine * skew + (1 - cosine) * skew @ skew) @ rotation)
