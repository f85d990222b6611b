# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outlines of the objects of a scene: hull, edges, and the footprint on the table."""

from __future__ import annotations

import math
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.scene import SceneObject
from frame_ros.scenes.description.shapes import MESH, Shape, corner_points, standing_height

Array = NDArray[np.float64]
_AROUND = 48  # points of a circle
_ALONG = 8  # parts of a straight edge, which a lens bends


def hull_points(shape: Shape) -> Array:
    """Returns (N, 3) m, points of a shape in its own axes whose convex hull is its outside."""
    if shape.kind in ('box', 'tray'):
        return np.concatenate(_box_edges(shape.half_edges))
    if shape.kind == MESH:
        return corner_points(shape)
    ring = _ring()
    if shape.kind == 'sphere':
        latitudes = np.linspace(-math.pi / 2, math.pi / 2, 17)
        rings = [np.column_stack((math.cos(a) * ring, np.full(len(ring), math.sin(a))))
                 for a in latitudes]  # fmt: skip
        return shape.size[0] * np.concatenate(rings)
    return np.concatenate(_rims(shape))


def edge_lines(shape: Shape) -> list[Array]:
    """Returns lines (N, 3) m along the edges of a shape, in its own axes; none of a sphere or a
    mesh.
    """
    if shape.kind in ('sphere', MESH):
        return []
    if shape.kind == 'cylinder':
        return [np.concatenate((rim, rim[:1])) for rim in _rims(shape)]
    lines = _box_edges(shape.half_edges)
    inner = shape.inner_half_edges
    if inner is not None:
        low, high = shape.half_edges[2] - 2 * inner[2], shape.half_edges[2]
        for line in _box_edges(np.array((*inner[:2], 1.0))):
            heights = np.where(line[:, 2] > 0, high, low)
            upright = np.ptp(line[:, 2]) > 0
            z = np.linspace(heights[0], heights[-1], len(line)) if upright else heights
            lines.append(np.column_stack((line[:, :2], z)))
    return lines


def placed_points(each: SceneObject, points: Array) -> Array:
    """Returns points (N, 3) m in an object's axes as they stand in the scene's frame.

    An object whose height is not known stands on the table by its own size.
    """
    turned = points @ each.rotation.T
    height = each.height
    if height is None:
        height = standing_height(each.shape, each.rotation) if each.shape else 0.0
    return np.asarray(turned + np.array((*each.position, height)))


def footprint(each: SceneObject) -> Array:
    """Returns (N, 2) m, the outline of an object seen from straight above; (0, 2): no shape."""
    if each.shape is None:
        return np.empty((0, 2))
    points = placed_points(each, hull_points(each.shape))[:, :2]
    return convex_hull(points)


def convex_hull(points: Array) -> Array:
    """Returns (M, 2), the corners of the convex hull of points (N, 2), in order."""
    if len(points) < 3:
        return points
    # OpenCV's hull is of float32: shifted to the middle, so that nothing is lost by it.
    middle = points.mean(axis=0)
    at = cv2.convexHull((points - middle).astype(np.float32), returnPoints=False)
    return points[at.ravel()]


def _ring() -> Array:
    angles = np.arange(_AROUND) * (2 * math.pi / _AROUND)
    return np.column_stack((np.cos(angles), np.sin(angles)))


def _rims(shape: Shape) -> list[Array]:
    radius, half = shape.size[0], shape.size[1] / 2
    ring = radius * _ring()
    return [np.column_stack((ring, np.full(len(ring), z))) for z in (-half, half)]


def _box_edges(half: Array) -> list[Array]:
    lines = []
    line = np.linspace(-1.0, 1.0, _ALONG + 1)
    for axis in range(3):
        for first, second in product((-1.0, 1.0), repeat=2):
            edge = np.insert(np.tile((first, second), (len(line), 1)), axis, line, axis=1)
            lines.append(edge * half)
    return lines
