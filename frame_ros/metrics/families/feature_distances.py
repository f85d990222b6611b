# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of an observation's features from those of calibration episodes."""

from __future__ import annotations

from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, as_floats, like, norm

__all__ = ['mahalanobis_distance', 'nearest_neighbour_distance']


def mahalanobis_distance(features: Any, mean: Any, inverse_covariance: Any) -> Array:
    """Distance from the mean of a cloud in units of its extent in that direction.

    Args:
        features: (..., F).
        mean: (F,) of the cloud.
        inverse_covariance: (F, F) of it, symmetric and positive.

    Returns:
        (...,), dimensionless.

    Raises:
        ShapeError: shapes that do not fit each other.
        ValueRangeError: a value is not finite.
    """
    xp, array = as_floats(features, 'features')
    centre, inverse = (
        like(array, mean, 'mean'),
        like(array, inverse_covariance, 'inverse_covariance'),
    )
    width = array.shape[-1] if array.ndim else 0
    if not width or tuple(centre.shape) != (width,) or tuple(inverse.shape) != (width, width):
        raise ShapeError(
            f'features, mean and inverse_covariance have shapes {tuple(array.shape)}, '
            f'{tuple(centre.shape)} and {tuple(inverse.shape)}; (..., F), (F,), (F, F) are expected'
        )
    centred = array - centre
    squares = xp.sum((centred @ inverse) * centred, axis=-1)
    return xp.sqrt(xp.maximum(squares, xp.zeros_like(squares)))  # rounding


def nearest_neighbour_distance(features: Any, rows: Any, neighbours: int, scale: Any) -> Array:
    """Mean distance to the k nearest of given rows, every feature divided by its scale.

    Args:
        features: (..., F).
        rows: (n, F).
        neighbours: k, from 1 to n.
        scale: (F,) positive: standard deviation of each feature.

    Returns:
        (...,), dimensionless.

    Raises:
        ShapeError: shapes that do not fit each other.
        ValueRangeError: a value is not finite, a scale is not positive, or k is out of its range.
    """
    xp, array = as_floats(features, 'features')
    known, unit = like(array, rows, 'rows'), like(array, scale, 'scale')
    width = array.shape[-1] if array.ndim else 0
    if not width or known.shape[1:] != (width,) or tuple(unit.shape) != (width,):
        raise ShapeError(
            f'features, rows and scale have shapes {tuple(array.shape)}, {tuple(known.shape)} and '
            f'{tuple(unit.shape)}; (..., F), (n, F), (F,) are expected'
        )
    if not 1 <= neighbours <= known.shape[0]:
        raise ValueRangeError(f'neighbours is {neighbours}; 1 to {known.shape[0]} is expected')
    if not bool(xp.all(unit > 0)):
        raise ValueRangeError('a scale is not positive')
    distances = norm(xp, (array[..., None, :] - known) / unit)
    return xp.mean(xp.sort(distances, axis=-1)[..., :neighbours], axis=-1)
