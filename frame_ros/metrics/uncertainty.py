# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of one inference: token probabilities, sampled actions (VLA-UQ eq. 7-15).

Each token metric has two doors: the full probabilities (..., TN, V), or the per-token statistics
that a PolicyInference message carries (`token_metrics`). Both end in the same few lines.
"""

from __future__ import annotations

from math import log
from typing import Any

import array_api_compat

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, as_floats, as_sequences, check_variant, norm

_VARIANTS = ('paper', 'authors')

# Softmax outputs in half precision still add up to this.
_SUM_TOLERANCE = 1e-2


def token_probability_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper'
) -> Array:
    """TB-TP: 1 - mean over tokens of the largest probability. VLA-UQ eq. 8.

    Args:
        p: (..., TN, V) probabilities of the V classes of each of TN tokens.
        normalised: divide by the maximum for V classes, 1 - 1/V.
        variant: 'paper'; or 'authors': normalised, as their code reports it.

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: another shape, no token, fewer than 2 classes.
        ValueRangeError: p are no probabilities that add up to 1, or an unknown variant.
    """
    check_variant(variant, _VARIANTS)
    xp, array = _probabilities(p)
    values = 1.0 - xp.mean(xp.max(array, axis=-1), axis=-1)
    return values / _gini_maximum(array.shape[-1], normalised or variant == 'authors')


def prediction_confidence_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper'
) -> Array:
    """TB-PCS: 1 - mean over tokens of (largest - second largest probability). VLA-UQ eq. 10.

    Its maximum is 1 for any number of classes, so `normalised` and `variant` change nothing.
    Arguments, returns and errors: see `token_probability_uncertainty`.
    """
    check_variant(variant, _VARIANTS)
    xp, array = _probabilities(p)
    largest = xp.max(array, axis=-1)
    # Without the one chosen maximum the largest of the rest is the second largest, ties included.
    device = array_api_compat.device(array)
    classes = xp.arange(array.shape[-1], device=device)
    chosen = xp.argmax(array, axis=-1)[..., None] == classes
    second = xp.max(xp.where(chosen, -1.0, array), axis=-1)
    return 1.0 - xp.mean(largest - second, axis=-1)


def deepgini(p: Any, normalised: bool = False, variant: str = 'paper') -> Array:
    """TB-D: mean over tokens of 1 - sum of squared probabilities. VLA-UQ eq. 12.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is 1 - 1/V.
    """
    check_variant(variant, _VARIANTS)
    xp, array = _probabilities(p)
    values = xp.mean(1.0 - xp.sum(array * array, axis=-1), axis=-1)
    return values / _gini_maximum(array.shape[-1], normalised or variant == 'authors')


def token_entropy(p: Any, normalised: bool = False, variant: str = 'paper') -> Array:
    """TB-E: mean over tokens of the entropy, nats. VLA-UQ eq. 14.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is ln V.
    """
    check_variant(variant, _VARIANTS)
    xp, array = _probabilities(p)
    logarithms = xp.log(xp.where(array > 0, array, 1.0))  # 0 log 0 is 0
    values = xp.mean(-xp.sum(array * logarithms, axis=-1), axis=-1)
    return values / (log(array.shape[-1]) if normalised or variant == 'authors' else 1.0)


def token_metrics(
    max_probability: Any,
    second_probability: Any,
    sum_of_squares: Any,
    entropy: Any,
    vocabulary_size: int | None = None,
) -> dict[str, Array]:
    """TB-TP, TB-PCS, TB-D and TB-E from per-token statistics (PolicyInference.msg).

    Args:
        max_probability: (..., TN) largest probability of each token.
        second_probability: (..., TN) second largest.
        sum_of_squares: (..., TN) sum over the classes of p squared.
        entropy: (..., TN) nats.
        vocabulary_size: V: then each is divided by its maximum for V classes. None: as in the
            paper.

    Returns:
        'tb_tp', 'tb_pcs', 'tb_d', 'tb_e', (...,) each.

    Raises:
        ShapeError: no token.
        ValueRangeError: a value is not finite, or vocabulary_size is below 2.
    """
    if vocabulary_size is not None and vocabulary_size < 2:
        raise ValueRangeError(f'vocabulary_size is {vocabulary_size}; 2 or more is expected')
    gini = 1.0 if vocabulary_size is None else _gini_maximum(vocabulary_size, True)
    nats = 1.0 if vocabulary_size is None else log(vocabulary_size)
    xp, largest = _token_statistic(max_probability, 'max_probability')
    second = _token_statistic(second_probability, 'second_probability')[1]
    squares = _token_statistic(sum_of_squares, 'sum_of_squares')[1]
    entropies = _token_statistic(entropy, 'entropy')[1]
    return {
        'tb_tp': (1.0 - xp.mean(largest, axis=-1)) / gini,
        'tb_pcs': 1.0 - xp.mean(largest - second, axis=-1),
        'tb_d': xp.mean(1.0 - squares, axis=-1) / gini,
        'tb_e': xp.mean(entropies, axis=-1) / nats,
    }


def execution_variability(samples: Any) -> Array:
    """EV: mean over dimensions of the population standard deviation over samples. VLA-UQ eq. 15.

    Args:
        samples: (..., N, D): N actions inferred from one observation, N >= 2.

    Returns:
        (...,) in the action's unit.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    xp, array = as_sequences(samples, 2, 'samples')
    centred = array - xp.mean(array, axis=-2, keepdims=True)
    spread = norm(xp, xp.matrix_transpose(centred)) / array.shape[-2] ** 0.5
    return xp.mean(spread, axis=-1)


def _probabilities(p: Any) -> tuple[Any, Array]:
    xp, array = as_floats(p, 'p')
    if array.ndim < 2 or array.shape[-1] < 2 or array.shape[-2] < 1:
        raise ShapeError(
            f'p has shape {tuple(array.shape)}; '
            f'(..., TN, V) with at least 1 token and 2 classes is expected'
        )
    off = float(xp.max(xp.abs(xp.sum(array, axis=-1) - 1.0)))
    if off > _SUM_TOLERANCE or bool(xp.any(array < 0)):
        raise ValueRangeError(
            f'p are no probabilities: they must be 0 or more and add up to 1 over the last axis '
            f'(furthest sum: off by {off:.3g}); apply softmax to logits first'
        )
    return xp, array


def _token_statistic(values: Any, name: str) -> tuple[Any, Array]:
    xp, array = as_floats(values, name)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'{name} has shape {tuple(array.shape)}; (..., TN) with at least 1 token is expected'
        )
    return xp, array


def _gini_maximum(classes: int, normalised: bool) -> float:
    return 1.0 - 1.0 / classes if normalised else 1.0
