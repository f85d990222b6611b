# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of many configurations at once, in numpy.

Orientations are unit quaternions, one column per configuration. Each joint is first rotated so that
it moves about, or along, its z axis; everything fixed between two joints is then one constant
rotation, a 4 x 4 matrix on the quaternions, and one constant vector.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.description import Joint

Array = NDArray[np.float64]
# Columns worked on at a time, so that all intermediate arrays stay in the processor's cache.
BLOCK = 2048


class BatchForward:
    """Calls map (T, N) joint positions to positions (T, 3) and quaternions xyzw (T, 4), w >= 0."""

    def __init__(self, chain: Sequence[Joint]) -> None:
        self._steps: list[tuple[bool, Array, Array]] = []
        rotation: Array = np.eye(3)
        offset: Array = np.zeros(3)
        for joint in chain:
            offset = offset + rotation @ joint.translation
            rotation = rotation @ joint.rotation
            if not joint.is_moving:
                continue
            to_axis = _rotation_of_z_to(joint.axis)
            step = (
                joint.kind == 'prismatic',
                _right_multiplication(rotation @ to_axis),
                _rotated(offset),
            )
            self._steps.append(step)
            rotation, offset = to_axis.T, np.zeros(3)
        self._last = (_right_multiplication(rotation), _rotated(offset))

    def __call__(self, q: Array) -> tuple[Array, Array]:
        positions, quaternions = np.empty((len(q), 3)), np.empty((len(q), 4))
        for start in range(0, len(q), BLOCK):
            rows = slice(start, start + BLOCK)
            positions[rows], quaternions[rows] = self._block(q[rows])
        return positions, quaternions

    def _block(self, q: Array) -> tuple[Array, Array]:
        size = len(q)
        position = np.zeros((3, size))
        # A quaternion's rows are x, z, y, w: then a turn about z mixes the upper and lower half.
        turned: Array = np.zeros((4, size))
        turned[3] = 1.0
        for column, (slides, turn, offset) in enumerate(self._steps):
            position += offset @ _products(turned)
            turned = turn @ turned
            if slides:
                position += (_Z @ _products(turned)) * q[:, column]
                continue
            half = 0.5 * q[:, column]
            cosine, sine = np.cos(half), np.sin(half)
            upper, lower = turned[:2], turned[2:]
            turned = np.concatenate((upper * cosine + lower * sine, lower * cosine - upper * sine))
        turn, offset = self._last
        position += offset @ _products(turned)
        turned = turn @ turned
        turned *= np.where(turned[3] < 0, -1.0, 1.0)
        return position.T, turned[[0, 2, 1, 3]].T


def _products(turned: Array) -> Array:
    """Returns (10, B), the products of quaternion components in a rotation matrix."""
    x, z, y, w = turned
    return np.stack((x * x, y * y, z * z, w * w, x * y, x * z, y * z, x * w, y * w, z * w))


def _rotated(vector: Array) -> Array:
    """Returns (3, 10): times `_products` it gives the constant `vector`, rotated."""
    a, b, c = vector
    return np.array(
        [
            [a, -a, -a, a, 2 * b, 2 * c, 0, 0, 2 * c, -2 * b],
            [-b, b, -b, b, 2 * a, 0, 2 * c, -2 * c, 0, 2 * a],
            [-c, -c, c, c, 0, 2 * a, 2 * b, 2 * b, -2 * a, 0],
        ]
    )


_Z = _rotated(np.array([0.0, 0.0, 1.0]))


def _right_multiplication(rotation: Array) -> Array:
    """Returns 4 x 4: times a quaternion (x, z, y, w) it gives its product with `rotation`."""
    x, y, z, w = quaternion_from_matrix(rotation)
    return np.array([[w, -y, z, x], [y, w, -x, z], [-z, x, w, y], [-x, -z, -y, w]])


def quaternion_from_matrix(rotation: Array) -> tuple[float, float, float, float]:
    """Returns the unit quaternion x, y, z, w of a 3 x 3 rotation (Shepperd 1978)."""
    m = rotation
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    squares = (*(1.0 + 2.0 * m[i, i] - trace for i in range(3)), 1.0 + trace)
    largest = max(range(4), key=squares.__getitem__)
    root = math.sqrt(squares[largest])
    axis = (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
    if largest == 3:
        values = [*axis, squares[3]]
    else:
        values = [m[largest, j] + m[j, largest] for j in range(3)] + [axis[largest]]
        values[largest] = squares[largest]
    x, y, z, w = (float(value / (2.0 * root)) for value in values)
    return x, y, z, w


def _rotation_of_z_to(axis: Array) -> Array:
    """Returns a rotation whose third column is the unit vector `axis`."""
    if axis[2] == 1.0:
        return np.eye(3)
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.stack((x, np.cross(axis, x), axis), axis=1)
