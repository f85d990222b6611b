# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Few shapes, tight around a surface: one at first, of which the most wasteful is divided in two
until they fit well enough.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.robots.shapes.free_space import FreeSpace, dense_points, surface_points
from frame_ros.robots.shapes.link_shapes import Shape, rounded_box, rounded_cylinder
from frame_ros.robots.shapes.shape_union import (
    BOX,
    CENTRE,
    HALF,
    RADIUS,
    ROUND,
    WIDTH,
    Samples,
    Union,
    improved,
)

Array = NDArray[np.float64]
_SURFACE, _SPACE = 2500, 4000  # samples
_ROUGH = 2  # of so many samples one is taken while shapes are divided
_FIRST, _PAIR, _ALL, _LAST = 15, 40, 80, 250  # steps of the minimiser
_AIM = 0.8  # of what may be left out, so much is aimed at
_WEIGHTS = (30.0, 300.0, 1000.0, 3000.0)  # of what is left out, one after the other at the end
_KINDS = ((BOX, 2), (ROUND, 0), (ROUND, 1), (ROUND, 2))  # and which axis is a round one's
_THICK = 0.5  # of the longest extent, another must have for a shape to be divided across it
_FEWEST = 10  # points of the surface that a part has
_WORST = (2000, 10)  # points that are left out most, and of how many of them one is taken


def fit_shapes(
    triangles: Array, outside: float = 0.0025, near: float = 0.005, most: int = 9, seed: int = 0
) -> list[Shape]:
    """Returns shapes around a surface.

    Args:
        triangles: (T, 3, 3) m; they may have gaps, and parts that are hidden.
        outside: m, no corner and no point of the surface is farther out.
        near: m. In 95 of 100 places of the free space within 40 mm the shapes are not nearer than
            the surface by more than this, or there are `most` of them.
        most: number of shapes.

    Raises:
        ShapeError: no triangles, or one of the limits is impossible.
    """
    corners = np.asarray(triangles, np.float64)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners):
        raise ShapeError(f'shapes are fitted to triangles (T, 3, 3), not {corners.shape}')
    if most < 1 or not (outside > 0.0 and near > 0.0):
        raise ShapeError(f'{most} shapes, {outside} m outside, {near} m near: all must be above 0')
    rng = np.random.default_rng(seed)
    points = dense_points(corners, rng)
    space = FreeSpace(points)
    samples = Samples(surface_points(corners, _SURFACE, rng), *space.draw(_SPACE, rng))
    union = _grown(samples, _AIM * outside, near, most)
    return [_shape(*each) for each in zip(*_finished(union, samples, points, outside))]


def too_near(union: Union, samples: Samples) -> Array:
    """Returns (M,) m, how much nearer than the surface the shapes are to free points."""
    distances = np.maximum(union.distances(samples.space).min(axis=0), 0.0)
    return np.asarray(np.maximum(samples.clearance - distances, 0.0))


def _grown(samples: Samples, aim: float, near: float, most: int) -> Union:
    """Returns shapes by division; aim: m, that the surface may be out of them."""
    rough = Samples(samples.surface[::_ROUGH], samples.space[::_ROUGH], samples.clearance[::_ROUGH])
    axes = np.linalg.svd(rough.surface - rough.surface.mean(axis=0), full_matrices=False)[2]
    axes[2] *= np.sign(np.linalg.det(axes))
    union = _best_single(rough.surface, rough, [axes.T, np.eye(3)], aim)
    union, _ = improved(union, rough, aim, _ALL)
    while len(union) < most and np.percentile(too_near(union, samples), 95) > near:
        larger = _divided(union, rough, aim)
        if larger is None:
            break
        union = larger
    return union


def _divided(union: Union, samples: Samples, aim: float) -> Union | None:
    """Returns the shapes with the most wasteful in two; None: it has too little surface."""
    wrong = np.maximum(samples.clearance - union.distances(samples.space), 0.0)
    k = int((wrong**2).sum(axis=1).argmax())
    rest = union.subset([i for i in range(len(union)) if i != k])
    own = samples.surface[union.distances(samples.surface).argmin(axis=0) == k]
    held = rest.distances(samples.surface).min(axis=0) if len(rest) else None
    local = (own - union.rows[k, CENTRE]) @ union.frames[k]
    found = []
    extent = np.ptp(local, axis=0)
    for axis in np.nonzero(extent >= _THICK * extent.max())[0]:
        is_low = local[:, axis] <= (local[:, axis].min() + local[:, axis].max()) / 2
        parts = [own[is_low], own[~is_low]]
        if min(map(len, parts)) < _FEWEST:
            continue
        one, other = (_best_single(part, samples, [union.frames[k]], aim) for part in parts)
        found.append(improved(one.joined(other), samples, aim, _PAIR, held))
    if not found:
        return None
    best, _ = min(found, key=lambda each: each[1])
    return improved(rest.joined(best), samples, aim, _ALL)[0]


def _best_single(points: Array, samples: Samples, frames: list[Array], aim: float) -> Union:
    """Returns the best of single shapes around points (N, 3)."""
    part = Samples(points, samples.space, samples.clearance)
    found = []
    for frame, (kind, axis) in itertools.product(frames, _KINDS):
        start = _around(points, kind, np.roll(frame, 2 - axis, axis=1))
        found.append(improved(start, part, aim, _FIRST))
    return min(found, key=lambda each: each[1])[0]


def _around(points: Array, kind: int, frame: Array) -> Union:
    """Returns one shape about points (N, 3) along the axes of a frame."""
    local = points @ frame
    low, high = local.min(axis=0), local.max(axis=0)
    half = np.maximum((high - low) / 2, 0.002)
    radius = 0.3 * float(half.min())
    row = np.zeros(WIDTH)
    row[CENTRE] = frame @ ((low + high) / 2)
    row[HALF] = half - radius
    if kind == ROUND:
        row[6] = row[7] = float(np.mean(half[:2])) - radius
    row[RADIUS] = radius
    return Union([kind], row[None], frame[None])


def _finished(
    union: Union, samples: Samples, points: Array, outside: float
) -> tuple[list[int], Array, Array]:
    """Returns kinds, rows and frames of shapes that leave nothing farther out than allowed."""
    for weight in _WEIGHTS:
        out = union.distances(points).min(axis=0)
        beyond = np.nonzero(out > outside)[0]
        worst = beyond[np.argsort(-out[beyond])[: _WORST[0]]][:: _WORST[1]]
        surface = np.concatenate((samples.surface, points[worst]))
        samples = Samples(surface, samples.space, samples.clearance, weight)
        union, _ = improved(union, samples, _AIM * outside, _LAST)
    widened = _widened(union, points, outside)
    return widened.kinds, widened.rows, widened.frames


def _widened(union: Union, points: Array, outside: float) -> Union:
    """Returns shapes of larger radii, so that no point is more than `outside` m out of them."""
    rows = union.rows.copy()
    while True:
        distances = Union(union.kinds, rows, union.frames).distances(points)
        nearest, least = distances.argmin(axis=0), distances.min(axis=0)
        if least.max() <= outside:
            return Union(union.kinds, rows, union.frames)
        k = int(nearest[least.argmax()])
        rows[k, RADIUS] += least[nearest == k].max() - outside + 1e-7


def _shape(kind: int, row: Array, frame: Array) -> Shape:
    if kind == ROUND:
        return rounded_cylinder(
            float(row[6]), float(row[8]), float(row[RADIUS]), row[CENTRE], frame
        )
    return rounded_box(row[HALF], float(row[RADIUS]), row[CENTRE], frame)
