# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rotation matrices of quaternions and rotation vectors, and the twist between two poses."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError


def twist_between(
    position: ArrayLike,
    quaternion: ArrayLike,
    later_position: ArrayLike,
    later_quaternion: ArrayLike,
    dt: float,
) -> NDArray[np.float64]:
    """The constant twist that takes one pose to the other in `dt` seconds.

    Args:
        position, later_position: (3,) m, in one frame.
        quaternion, later_quaternion: (4,) x, y, z, w, of unit length, either sign.
        dt: s, above 0.

    Returns:
        (6,): linear velocity (m/s) and angular velocity (rad/s, the shorter way round), in that
        frame's axes.

    Raises:
        ValueRangeError: dt is not above 0.
    """
    if not dt > 0:
        raise ValueRangeError(f'the time between two poses must be above 0 s, not {dt}')
    linear = (
        np.asarray(later_position, dtype=np.float64) - np.asarray(position, dtype=np.float64)
    ) / dt
    a, b = np.asarray(quaternion, dtype=np.float64), np.asarray(later_quaternion, dtype=np.float64)
    # The vector and scalar part of later * conjugate(earlier): the turn between them, in the
    # frame's axes.
    vector = a[3] * b[:3] - b[3] * a[:3] + np.cross(a[:3], b[:3])
    scalar = float(a @ b)
    if scalar < 0:
        vector, scalar = -vector, -scalar
    sine = float(np.linalg.norm(vector))
    scale = 2.0 if sine < 1e-12 else 2.0 * math.atan2(sine, scalar) / sine
    return np.concatenate((linear, scale * vector / dt))


def rotation_of(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation matrix (3, 3) of a unit quaternion xyzw."""
    x, y, z, w = quaternion.tolist()
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
    )


def rotation_about(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation matrix (3, 3) of a rotation vector (3,), rad, by Rodrigues' formula."""
    x, y, z = vector.tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    if angle > 1e-4:
        # 2 sin^2(angle / 2) is 1 - cos(angle) without the loss of digits.
        a, b = math.sin(angle) / angle, 2.0 * (math.sin(0.5 * angle) / angle) ** 2
    else:  # the same by their series, which lose no digits
        square = angle * angle
        a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    return np.array(
        (
            (1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y),
            (b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x),
            (b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)),
        )
    )
