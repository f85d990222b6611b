# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Visibility of an object to a camera: in the picture, not behind others, by straight lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.motion import rotation_of
from frame_ros.scenes.description.convex_hull import span_inside
from frame_ros.scenes.description.scene import SceneCamera, SceneObject
from frame_ros.scenes.description.shapes import MESH, Shape, mesh_of, surface_points

Array = NDArray[np.float64]
_BEFORE = 1e-6  # share of a line by which something must be nearer than its end


def visible_share(
    each: SceneObject, others: Sequence[SceneObject], capsules: Array, camera: SceneCamera
) -> float:
    """Returns the share, 0 to 1, of the points of an object's near side that a camera sees.

    Counted are points of the surface that is turned towards the camera; seen are those in the
    picture whose straight line to the camera meets neither another object nor a capsule. A tray
    counts as full, so that nothing is seen through it, and a mesh as its convex hull.

    Args:
        others: the other objects; the heights and shapes of all must be known.
        capsules: (K, 7) start, end, radius, m, of the robot; K may be 0.
        camera: at the robot's base, whose pose and intrinsics must be known.
    """
    assert camera.position and camera.orientation and camera.focal and camera.centre
    assert camera.width and camera.height and each.shape is not None
    eye, turn = np.array(camera.position), rotation_of(np.array(camera.orientation))
    points, normals = surface_points(each.shape)
    points = points @ each.rotation.T + middle_of(each)
    is_near = np.einsum('ij,ij->i', normals @ each.rotation.T, eye - points) > 0
    points = points[is_near]
    if not len(points):
        return 0.0
    x, y, z = ((points - eye) @ turn).T
    with np.errstate(divide='ignore', invalid='ignore'):
        u = camera.focal[0] * x / z + camera.centre[0]
        v = camera.focal[1] * y / z + camera.centre[1]
    half = 0.5  # the middle of the first pixel is 0
    is_seen = (z > 0) & (u >= -half) & (u < camera.width - half)
    is_seen &= (v >= -half) & (v < camera.height - half)
    for other in others:
        if other.name != each.name:
            is_seen &= ~crosses(other.shape, middle_of(other), other.rotation, eye, points)
    is_seen[is_seen] = ~_crosses_balls(capsules, eye, points[is_seen])
    return float(is_seen.mean())


def middle_of(each: SceneObject) -> Array:
    """(3,) m, the middle of an object whose height is known."""
    assert each.height is not None
    return np.array((*each.position, each.height))


def crosses(
    shape: Shape | None, middle: Array, rotation: Array, eye: Array, points: Array
) -> NDArray[np.bool_]:
    """Returns (N,) whether the lines from an eye (3,) to points (N, 3) meet a shape on the way."""
    assert shape is not None
    start = (eye - middle) @ rotation
    lines = (points - middle) @ rotation - start
    if shape.kind == 'sphere':
        entry, leaving = _round_part(start, lines, shape.size[0])
    elif shape.kind == 'cylinder':
        entry, leaving = _round_part(start[:2], lines[:, :2], shape.size[0])
        low, high = _slab(start[2:], lines[:, 2:], shape.half_edges[2:])
        entry, leaving = np.maximum(entry, low), np.minimum(leaving, high)
    elif shape.kind == MESH:
        entry, leaving = span_inside(mesh_of(shape).hull, start, lines)
    else:
        entry, leaving = _slab(start, lines, shape.half_edges)
    return np.asarray((entry < leaving) & (entry < 1 - _BEFORE) & (leaving > 0))


def _round_part(start: Array, lines: Array, radius: float) -> tuple[Array, Array]:
    """Shares of lines at which they enter and leave what is nearer than a radius to the origin."""
    square = np.maximum(np.einsum('ij,ij->i', lines, lines), 1e-18)
    half = lines @ start / square
    rest = half**2 - (float(start @ start) - radius**2) / square
    root = np.sqrt(np.maximum(rest, 0.0))
    return np.where(rest > 0, -half - root, np.inf), np.where(rest > 0, -half + root, -np.inf)


def _crosses_balls(capsules: Array, eye: Array, points: Array) -> NDArray[np.bool_]:
    """(N,) whether the lines from an eye (3,) to points (N, 3) meet a capsule, as `crosses`."""
    found = list(_balls(capsules))
    if not found or not len(points):
        return np.zeros(len(points), bool)
    starts = eye - np.array([centre for centre, _ in found])
    squares = np.array([radius for _, radius in found]) ** 2
    lines = points - eye
    lengths = np.maximum((lines * lines).sum(axis=1), 1e-18)
    half = starts @ lines.T / lengths
    rest = half**2 - ((starts * starts).sum(axis=1) - squares)[:, None] / lengths
    root = np.sqrt(np.maximum(rest, 0.0))
    meets = (rest > 0) & (-half - root < 1 - _BEFORE) & (-half + root > 0)
    return np.asarray(meets.any(axis=0))


def _slab(start: Array, lines: Array, half: Array) -> tuple[Array, Array]:
    """Shares of lines at which they enter and leave a box about the origin."""
    slope = np.where(np.abs(lines) < 1e-12, 1e-12, lines)
    first, second = (-half - start) / slope, (half - start) / slope
    return np.minimum(first, second).max(axis=1), np.maximum(first, second).min(axis=1)


def _balls(capsules: Array) -> Iterator[tuple[Array, float]]:
    """Yields balls along each capsule, half a radius apart."""
    for row in capsules:
        start, end, radius = row[:3], row[3:6], float(row[6])
        count = max(1, math.ceil(float(np.linalg.norm(end - start)) / (radius / 2)))
        for share in np.linspace(0.0, 1.0, count + 1):
            yield start + share * (end - start), radius
