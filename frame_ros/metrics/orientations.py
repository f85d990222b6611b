# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Angles, quaternions and vector products of arrays."""

from __future__ import annotations

from math import pi
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, array_api_compat, check_result, like, norm

# Unit quaternions no further apart than this, sqrt(2), are on the same side of the sphere.
_SAME_SIDE = 2.0**0.5


def wrapped(xp: Any, angles: Array) -> Array:
    """Angles (...,) in rad brought to (-pi, pi]; those already there stay exactly as they are."""
    return angles - 2.0 * pi * xp.ceil((angles - pi) / (2.0 * pi))


def rotation_angle(xp: Any, before: Array, after: Array) -> Array:
    """Angle between unit quaternions, (..., 4) -> (...,), rad in [0, pi]; exact when small."""
    apart = norm(xp, before - after, overwrite=True)
    # q and -q are the same rotation: the nearer one counts.
    if bool(xp.any(apart > _SAME_SIDE)):
        apart = xp.minimum(apart, norm(xp, before + after, overwrite=True))
    return 4.0 * xp.asin(0.5 * apart)


def vector_product(xp: Any, a: Array, b: Array) -> Array:
    """Vector product of (..., 3)."""
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return xp.stack(parts, axis=-1)


def as_orientations(points: Array, orientations: Any, name: str = 'orientations') -> Array:
    """Unit quaternions in the library of `points`, (..., T, 4) xyzw.

    Raises:
        ShapeError: not one quaternion a point.
        ValueRangeError: a value is not finite, or a zero quaternion.
    """
    xp = array_api_compat.array_namespace(points)
    quaternions = like(points, orientations, name, check=False)
    expected = (*points.shape[:-1], 4)
    if tuple(quaternions.shape) != expected:
        raise ShapeError(
            f'{name} have shape {tuple(quaternions.shape)}; {expected} (xyzw) is expected'
        )
    size = norm(xp, quaternions)
    check_result(xp, xp.sum(size, axis=-1), **{name: quaternions})
    if bool(xp.any(size == 0)):
        raise ValueRangeError(f'{name} hold a zero quaternion; a rotation is expected')
    return quaternions / size[..., None]
