# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Displacements as seen from the pose they begin at: the translation of a relative pose, which evo
compares, and orientations between stamps.
"""

from __future__ import annotations

from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, array_api_compat, difference, inner, like
from frame_ros.metrics.orientations import as_orientations, vector_product

RTE_VARIANTS = ('paper', 'evo')
# Below this sine of the angle between two quaternions their arc is a straight line, to 1e-16.
_STRAIGHT = 1e-8


def local_displacements(points: Array, orientations: Any, span: int, name: str) -> Array:
    """Displacements over `span` samples in the frame of the pose that each begins at.

    Args:
        points: (..., T, 3), m.
        orientations: (..., T, 4), xyzw, of any length but 0. name: theirs, for errors.

    Returns:
        (..., T - span, 3) m.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a value is not finite, or a zero quaternion.
    """
    if points.shape[-1] != 3:
        raise ShapeError(
            f'positions have {points.shape[-1]} components; with {name} 3 are expected'
        )
    if orientations is None:
        raise ShapeError(f"{name} are missing; variant 'evo' compares poses")
    quaternions = as_orientations(points, orientations, name)
    return turned_back(quaternions[..., :-span, :], difference(points, span=span))


def turned_back(quaternions: Array, vectors: Array) -> Array:
    """Vectors (..., 3) in the frames whose orientations are unit quaternions (..., 4), xyzw."""
    xp = array_api_compat.array_namespace(vectors)
    axis, real = -quaternions[..., :3], quaternions[..., 3:]
    twice = 2.0 * vector_product(xp, axis, vectors)
    return vectors + real * twice + vector_product(xp, axis, twice)


def interpolated_orientations(orientations: Any, places: Array, wanted: Array) -> Array:
    """Unit quaternions (T, 4) at increasing places (T,) -> (S, 4) at the wanted (S,), along the
    shorter arc at constant speed; those at the ends beyond.
    """
    xp = array_api_compat.array_namespace(places)
    turns = like(places, orientations, 'orientations')
    if turns.shape[0] == 1:
        return turns[xp.zeros_like(wanted, dtype=xp.int64), :]
    after = xp.clip(xp.searchsorted(places, wanted), 1, places.shape[0] - 1)
    share = (wanted - places[after - 1]) / (places[after] - places[after - 1])
    share = xp.clip(share, 0.0, 1.0)
    first, second = turns[after - 1, :], turns[after, :]
    cosine = inner(xp, first, second)
    second = xp.where((cosine < 0)[:, None], -second, second)
    angle = xp.acos(xp.clip(xp.abs(cosine), 0.0, 1.0))
    sine = xp.sin(angle)
    is_straight = sine < _STRAIGHT
    divisor = xp.where(is_straight, 1.0, sine)
    weights = (
        xp.where(is_straight, 1.0 - share, xp.sin((1.0 - share) * angle) / divisor),
        xp.where(is_straight, share, xp.sin(share * angle) / divisor),
    )
    return weights[0][:, None] * first + weights[1][:, None] * second


def check_orientations_are_used(variant: str, *orientations: Any) -> None:
    """Raises ValueRangeError: orientations are given to a variant that leaves them out."""
    if variant != 'evo' and any(each is not None for each in orientations):
        raise ValueRangeError(
            f"orientations are given, but variant {variant!r} compares positions; 'evo' uses them"
        )
