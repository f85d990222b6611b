# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Covariance of few samples, shrunk towards a multiple of the identity (Ledoit and Wolf, 2004)."""

from __future__ import annotations

from typing import Any, NamedTuple

from frame_ros.metrics.arrays import Array, array_api_compat, as_sequences, inner


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
    return shrink(*as_sequences(samples, 2, 'samples', axis='N'))


def shrink(xp: Any, samples: Array) -> ShrunkCovariance:
    """`ledoit_wolf` of samples that are known to be usable, of the library `xp`."""
    count, dimension = samples.shape[-2:]
    mean = xp.sum(samples, axis=-2) / count
    centred = samples - mean[..., None, :]
    covariance = xp.matrix_transpose(centred) @ centred / count
    squares = inner(xp, centred, centred)
    scale = xp.sum(squares, axis=-1) / (count * dimension)
    flat = xp.reshape(covariance, (*covariance.shape[:-2], dimension**2))
    norm = inner(xp, flat, flat)
    # Squared Frobenius distance of S to the scaled identity, and the error of S itself.
    distance = norm - dimension * scale * scale
    error = xp.abs(inner(xp, squares, squares) / count - norm) / count  # negative by rounding
    is_apart = distance > error
    share = xp.where(is_apart, error / xp.where(is_apart, distance, 1.0), 1.0)
    identity = xp.eye(dimension, dtype=samples.dtype, device=array_api_compat.device(samples))
    centre = (share * scale)[..., None, None] * identity
    return ShrunkCovariance(mean, (1.0 - share)[..., None, None] * covariance + centre, share)
