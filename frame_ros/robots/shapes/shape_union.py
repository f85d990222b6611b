# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fit of a few shapes to a surface: how badly they hold it, and how far they reach beyond it,
with its gradient.

Every shape is a core with a radius about it, as in `link_shapes`: a box, or a disc with a length
(round). A parameter row has the centre (3), a turn (3) from a given rotation, the core's half sizes
(3) and the radius; a round core's are its radius, unused, and its half length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BOX, ROUND = 0, 1
CENTRE, TURN, HALF, RADIUS, WIDTH = slice(0, 3), slice(3, 6), slice(6, 9), 9, 10
_SMALL = 1e-9
_FAR = 0.03  # m: an error beyond counts linearly, as one wide gap must not decide everything


@dataclass
class Union:
    """K shapes.

    Attributes:
        kinds: (K,) BOX or ROUND.
        rows: (K, 10) parameters, m and rad.
        frames: (K, 3, 3) rotations that the turns start from.
    """

    kinds: list[int]
    rows: Array
    frames: Array

    def __len__(self) -> int:
        return len(self.kinds)

    def settled(self) -> Union:
        """Returns the same shapes without turns."""
        frames = np.array([frame @ turned(row[TURN]) for frame, row in zip(self.frames, self.rows)])
        rows = self.rows.copy()
        rows[:, TURN] = 0.0
        return Union(list(self.kinds), rows, frames)

    def subset(self, chosen: list[int]) -> Union:
        """Returns some of the shapes."""
        return Union([self.kinds[k] for k in chosen], self.rows[chosen], self.frames[chosen])

    def joined(self, other: Union) -> Union:
        """Returns these shapes and those."""
        return Union(
            self.kinds + other.kinds,
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.frames, other.frames)),
        )

    def distances(self, points: Array) -> Array:
        """Returns (K, N) m, signed, of points (N, 3) to each shape."""
        return np.array(
            [
                _distance(kind, row, frame, points)[0]
                for kind, row, frame in zip(self.kinds, self.rows, self.frames)
            ]
        )


def turned(turn: Array) -> Array:
    """Returns the rotation (3, 3) of a rotation vector (3,), rad."""
    angle = float(np.linalg.norm(turn))
    cross = _cross(turn)
    if angle < _SMALL:
        return np.eye(3) + cross
    return np.asarray(
        np.eye(3) + np.sin(angle) / angle * cross + (1 - np.cos(angle)) / angle**2 * cross @ cross
    )


def _cross(vector: Array) -> Array:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _right_jacobian(turn: Array) -> Array:
    """Returns (3, 3): the rotation that a change of the turn adds, in the turned axes."""
    angle = float(np.linalg.norm(turn))
    cross = _cross(turn)
    if angle < 1e-5:
        return np.eye(3) - cross / 2
    first = (1 - np.cos(angle)) / angle**2
    second = (angle - np.sin(angle)) / angle**3
    return np.asarray(np.eye(3) - first * cross + second * cross @ cross)


def _distance(kind: int, row: Array, frame: Array, points: Array) -> tuple[Array, Array, Array]:
    """Returns signed distances (N,), points in the shape's axes (3, N), and excess (3, N)."""
    turn = frame @ turned(row[TURN])
    local = turn.T @ points.T - (turn.T @ row[CENTRE])[:, None]
    excess = np.abs(local)
    if kind == ROUND:
        excess[0] = np.sqrt(local[0] * local[0] + local[1] * local[1]) - row[6]
        excess[1] = -np.inf
        excess[2] -= row[8]
    else:
        excess -= row[HALF, None]
    outside = np.maximum(excess, 0.0)
    length = np.sqrt((outside * outside).sum(axis=0))
    return length + np.minimum(excess.max(axis=0), 0.0) - row[RADIUS], local, excess


def _gradient(kind: int, row: Array, frame: Array, local: Array, excess: Array, by: Array) -> Array:
    """Returns (10,): the derivative of the sum of distances, each times `by` (N,)."""
    normal = np.maximum(excess, 0.0)
    length = np.sqrt((normal * normal).sum(axis=0))
    inside = np.nonzero(length < _SMALL)[0]
    normal[:, inside] = 0.0
    normal[excess[:, inside].argmax(axis=0), inside] = 1.0
    length[inside] = 1.0
    normal *= by / length
    result = np.empty(WIDTH)
    result[HALF] = -normal.sum(axis=1)
    result[RADIUS] = -by.sum()
    if kind == ROUND:
        across = np.maximum(np.sqrt(local[0] * local[0] + local[1] * local[1]), _SMALL)
        normal[1] = normal[0] * local[1] / across
        normal[0] *= local[0] / across
        normal[2] *= np.sign(local[2])
    else:
        normal *= np.sign(local)
    turn = frame @ turned(row[TURN])
    result[CENTRE] = -(turn @ normal.sum(axis=1))
    torque = np.array(
        [
            normal[1] @ local[2] - normal[2] @ local[1],
            normal[2] @ local[0] - normal[0] @ local[2],
            normal[0] @ local[1] - normal[1] @ local[0],
        ]
    )
    result[TURN] = _right_jacobian(row[TURN]).T @ torque
    return result


@dataclass(frozen=True)
class Samples:
    """Points that shapes are fitted to.

    Attributes:
        surface: (N, 3) m, points that they must hold.
        space: (M, 3) m, points that are free.
        clearance: (M,) m, of those from the surface.
        weight: of what is not held, against what is reached beyond.
    """

    surface: Array
    space: Array
    clearance: Array
    weight: float = 30.0


def cost_of(
    union: Union, samples: Samples, outside: float, held: Array | None = None
) -> tuple[float, Array]:
    """Returns the cost of shapes, in mm^2, and its derivative (K, 10) by their parameters.

    It is the mean square of how far points of the surface are more than `outside` (m) out of all
    shapes, times a weight; and the mean over free points of the square of how much too near a shape
    appears to them, summed over shapes.

    held: (N,) m, distances of the surface's points to shapes that are not to be changed.
    """
    shapes = list(zip(union.kinds, union.rows, union.frames))
    found = [_distance(*shape, samples.surface) for shape in shapes]
    least = np.array([distance for distance, _, _ in found])
    nearest = least.argmin(axis=0)
    least = least.min(axis=0)
    if held is not None:
        nearest = np.where(held < least, -1, nearest)
        least = np.minimum(least, held)
    missed = np.maximum(least - outside, 0.0)
    scale = samples.weight * 1e6 / max(1, len(missed))
    cost = scale * float(missed @ missed)
    gradient = np.zeros((len(union), WIDTH))
    for k, shape in enumerate(shapes):
        rows = np.nonzero((nearest == k) & (missed > 0.0))[0]
        if len(rows):
            _, local, excess = found[k]
            gradient[k] += _gradient(
                *shape, local[:, rows], excess[:, rows], 2 * scale * missed[rows]
            )
        extra, slope = _reach(shape, samples)
        cost += extra
        gradient[k] += slope
    return cost, gradient


def _reach(shape: tuple[int, Array, Array], samples: Samples) -> tuple[float, Array]:
    """Returns what one shape costs by reaching into free space, and the derivative."""
    distance, local, excess = _distance(*shape, samples.space)
    error = samples.clearance - distance
    rows = np.nonzero(error > 0.0)[0]
    if not len(rows):
        return 0.0, np.zeros(WIDTH)
    scale = 1e6 / len(error)
    some = error[rows]
    within = np.minimum(some, _FAR)
    cost = scale * float((within * (2 * some - within)).sum())
    return cost, _gradient(*shape, local[:, rows], excess[:, rows], -2 * scale * within)


def improved(
    union: Union, samples: Samples, outside: float, steps: int, held: Array | None = None
) -> tuple[Union, float]:
    """Returns shapes of lower cost, by L-BFGS-B, and the cost. held: as in `cost_of`."""
    from scipy.optimize import minimize

    union = union.settled()
    shape = union.rows.shape
    scales = np.ones(WIDTH)
    scales[TURN] = 20.0  # a turn of 1 rad moves things by centimetres

    def at(flat: Array) -> tuple[float, Array]:
        rows = flat.reshape(shape) / (scales * _UNIT)
        cost, slope = cost_of(Union(union.kinds, rows, union.frames), samples, outside, held)
        return cost, (slope / (scales * _UNIT)).ravel()

    low = np.full(shape, -np.inf)
    low[:, HALF], low[:, RADIUS] = 0.0, 0.001 * _UNIT
    bounds = np.stack((low.ravel(), np.full(low.size, np.inf)), axis=1)
    start = np.maximum(union.rows * scales * _UNIT, low).ravel()
    found = minimize(
        at, start, jac=True, method='L-BFGS-B', bounds=bounds,
        options={'maxiter': steps, 'maxcor': 20},
    )  # fmt: skip
    rows = found.x.reshape(shape) / (scales * _UNIT)
    return Union(union.kinds, rows, union.frames).settled(), float(found.fun)


_UNIT = 100.0  # the minimiser works in cm
