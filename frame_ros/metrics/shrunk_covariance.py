# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Covariance of few samples, shrunk towards a multiple of the identity (Ledoit and Wolf, 2004)."""

from __future__ import annotations

from typing import Any, NamedTuple

from frame_ros.metrics.arrays import Array, array_api_compat, as_sequences


class ShrunkCovariance(NamedTuple):
    """mean (..., D), covariance (..., D, D), and the share of the identity in it, (...,)."""

    mean: Array
    covariance: Array
    shrinkage: Array


def ledoit_wolf(samples: Any) -> ShrunkCovariance:
    """Mean and covariance of N samples, shrunk as far as the samples themselves say.

    covariance = (1 - s) S + s trace(S)/D I, with S the covariance with divisor N and s the estimate
    that minimises the expected squared Frobenius distance to the true covariance.

    Args:
        samples: (..., N, D), N >= 2.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.

    Source: Ledoit and Wolf, A well-conditioned estimator for large-dimensional covariance matrices,
    2004, section 3.
    """
    xp, array = as_sequences(samples, 2, 'samples')
    count, dimension = array.shape[-2:]
    mean = xp.mean(array, axis=-2)
    centred = array - mean[..., None, :]
    covariance = xp.matrix_transpose(centred) @ centred / count
    squares = xp.sum(centred * centred, axis=-1)
    scale = xp.mean(squares, axis=-1) / dimension
    norm = xp.sum(covariance * covariance, axis=(-2, -1))
    # Squared Frobenius distance of S to the scaled identity, and the error of S itself.
    distance = xp.maximum(norm - dimension * scale * scale, xp.zeros_like(scale))
    error = (xp.mean(squares * squares, axis=-1) - norm) / count
    error = xp.maximum(error, xp.zeros_like(scale))
    is_zero = distance == 0
    shrinkage = xp.where(is_zero, 0.0, error / xp.where(is_zero, 1.0, distance))
    shrinkage = xp.minimum(shrinkage, xp.ones_like(scale))
    identity = xp.eye(dimension, dtype=array.dtype, device=array_api_compat.device(array))
    share = shrinkage[..., None, None]
    shrunk = (1.0 - share) * covariance + share * scale[..., None, None] * identity
    return ShrunkCovariance(mean, shrunk, shrinkage)
