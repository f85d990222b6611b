# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Capsules of nearly least volume around points, balls and triangles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.robots.description import Capsule

Array = NDArray[np.float64]
_LARGER = 1.0 + 1e-9  # so that what touches the surface counts as inside in floating point
_ROUNDS = 30


def volume(capsule: Capsule) -> float:
    """Returns the volume, m^3."""
    length = float(np.linalg.norm(capsule.end - capsule.start))
    return math.pi * capsule.radius**2 * (length + 4.0 / 3.0 * capsule.radius)


def fit_capsule(points: ArrayLike, radii: ArrayLike = 0.0) -> Capsule:
    """Returns a capsule of nearly least volume around balls at points (N, 3) m with radii (N,) m.

    Found by Nelder-Mead descents over axis and radius, from the principal axes of the points.

    Raises:
        ShapeError: there are no points, or they are not finite.
    """
    centres = np.asarray(points, np.float64)
    if centres.ndim != 2 or centres.shape[1] != 3 or not len(centres):
        raise ShapeError(f'a capsule is fitted to points (N, 3), N above 0, not {centres.shape}')
    if not np.isfinite(centres).all():
        raise ShapeError('a capsule is fitted to points that are finite')
    balls = np.broadcast_to(np.asarray(radii, np.float64), len(centres))
    middle = (centres.min(axis=0) + centres.max(axis=0)) / 2
    scale = float(np.abs(centres - middle).max() + balls.max())
    if not scale > 0.0:
        return Capsule(middle, middle, 0.0)
    unit = (centres - middle) / scale
    axes = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=True)[2]
    candidates = [_descend(unit, balls / scale, axes[[1, 2, 0]]),
                  _descend(unit, balls / scale, axes[[2, 0, 1]]),
                  _descend(unit, balls / scale, axes)]  # fmt: skip
    best = min(candidates, key=volume)
    return Capsule(
        best.start * scale + middle, best.end * scale + middle, best.radius * scale * _LARGER
    )


def _descend(points: Array, balls: Array, frame: Array) -> Capsule:
    """Descends from the axis frame[2]. points: (N, 3), no larger than 1."""
    from scipy.optimize import minimize

    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    start = np.array([0.0, 0.0, *(frame[:2] @ middle), 0.0])

    def cost(parameters: Array) -> float:
        return volume(_around(points, balls, frame, parameters))

    simplex = start + np.concatenate((np.zeros((1, 5)), 0.15 * np.eye(5)))
    options = {'initial_simplex': simplex, 'xatol': 1e-5, 'fatol': 1e-8, 'maxfev': 700}
    found = minimize(cost, start, method='Nelder-Mead', options=options)
    return _around(points, balls, frame, found.x)


def _around(points: Array, balls: Array, frame: Array, parameters: Array) -> Capsule:
    """Returns the shortest capsule around the balls on an axis. The axis is frame[2] turned towards
    the other two by the first two parameters, through the point of the next two in their plane; its
    radius exceeds the least one by the square of the last.
    """
    axis = frame[2] + parameters[0] * frame[0] + parameters[1] * frame[1]
    axis = axis / math.sqrt(axis @ axis)
    foot = parameters[2] * frame[0] + parameters[3] * frame[1]
    relative = points - foot
    along = relative @ axis
    across = np.maximum((relative * relative).sum(axis=1) - along * along, 0.0)
    radius = float((np.sqrt(across) + balls).max()) * (1.0 + parameters[4] ** 2)
    reach = np.sqrt(np.maximum((radius - balls) ** 2 - across, 0.0))
    first, last = float((along + reach).min()), float((along - reach).max())
    if first > last:
        first = last = (first + last) / 2
    return Capsule(foot + first * axis, foot + last * axis, radius)


def fit_capsules(triangles: ArrayLike, count: int) -> list[Capsule]:
    """Returns up to `count` capsules that together contain all of triangles (T, 3, 3) m.

    Each triangle lies in one capsule as a whole. The triangles are divided by their centres, by
    Lloyd's iterations from parts of equal number along the longest principal axis.

    Raises:
        ShapeError: no triangles, or a count below 1.
    """
    corners = np.asarray(triangles, np.float64)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners):
        raise ShapeError(f'capsules are fitted to triangles (T, 3, 3), not {corners.shape}')
    if count < 1:
        raise ShapeError(f'{count} capsules cannot hold anything; 1 or more are needed')
    labels = _divided(corners.mean(axis=1), count)
    parts = [np.unique(corners[labels == label].reshape(-1, 3), axis=0) for label in set(labels)]
    return [fit_capsule(hull_points(part)) for part in parts]


def _divided(centres: Array, count: int) -> NDArray[np.intp]:
    """Returns (T,) the part, of up to `count`, that each of the centres belongs to."""
    axis = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2][0]
    labels = np.empty(len(centres), np.intp)
    for label, rows in enumerate(np.array_split(np.argsort(centres @ axis, kind='stable'), count)):
        labels[rows] = label
    for _ in range(_ROUNDS):
        means = np.array([centres[labels == label].mean(axis=0) for label in np.unique(labels)])
        squares = ((centres[:, None] - means) ** 2).sum(axis=2)
        new = squares.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
    return labels


def hull_points(points: Array) -> Array:
    """Returns the corners of the convex hull of points (N, 3); without volume, all points."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 5:
        return points
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points
