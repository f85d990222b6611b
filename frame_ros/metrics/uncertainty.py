# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of one inference: token probabilities, sampled actions (VLA-UQ eq. 7-15).

Each token metric has two doors: the full probabilities (..., TN, V), or the per-token statistics
that a PolicyInference message carries (`token_metrics`). Both end in the same few lines.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import array_api_compat
import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_numbers,
    as_sequences,
    check_finite,
    check_same_shape,
    check_variant,
    inner,
    norm,
    weighted_sum,
)

_VARIANTS = ('paper', 'authors')

# Softmax outputs in half precision still add up to this.
_SUM_TOLERANCE = 1e-2

# Probabilities that are looked at together: 512 KB in double precision.
_BLOCK = 65536


def token_probability_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-TP: 1 - mean over tokens of the largest probability. VLA-UQ eq. 8.

    Args:
        p: (..., TN, V) probabilities of the V classes of each of TN tokens.
        normalised: divide by the maximum for V classes, 1 - 1/V.
        variant: 'paper'; or 'authors': normalised, as their code reports it.
        validate: False takes it on trust that p are probabilities, as of a softmax: half of the
            time goes into the check.

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: another shape, no token, fewer than 2 classes.
        ValueRangeError: p are no probabilities that add up to 1, or an unknown variant.
    """
    check_variant(variant, _VARIANTS)
    values, classes = _mean_over_tokens(p, _unlikeliness, validate)
    return values / _gini_maximum(classes, normalised or variant == 'authors')


def _unlikeliness(xp: Any, tokens: Array) -> Array:
    return 1.0 - xp.max(tokens, axis=-1)


def prediction_confidence_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-PCS: 1 - mean over tokens of (largest - second largest probability). VLA-UQ eq. 10.

    Its maximum is 1 for any number of classes, so `normalised` and `variant` change nothing.
    Arguments, returns and errors: see `token_probability_uncertainty`.
    """
    check_variant(variant, _VARIANTS)
    return _mean_over_tokens(p, _closeness_of_two, validate)[0]


def _closeness_of_two(xp: Any, tokens: Array) -> Array:
    largest = xp.max(tokens, axis=-1)
    # Without the one chosen maximum the largest of the rest is the second largest, ties included.
    rest = xp.astype(tokens, tokens.dtype, copy=True)
    rows = xp.arange(rest.shape[0], device=array_api_compat.device(tokens))
    rest[rows, xp.argmax(tokens, axis=-1)] = -1.0
    return 1.0 - (largest - xp.max(rest, axis=-1))


def deepgini(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-D: mean over tokens of 1 - sum of squared probabilities. VLA-UQ eq. 12.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is 1 - 1/V.
    """
    check_variant(variant, _VARIANTS)
    values, classes = _mean_over_tokens(p, _impurity, validate)
    return values / _gini_maximum(classes, normalised or variant == 'authors')


def _impurity(xp: Any, tokens: Array) -> Array:
    return 1.0 - inner(xp, tokens, tokens)


def token_entropy(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-E: mean over tokens of the entropy, nats. VLA-UQ eq. 14.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is ln V.
    """
    check_variant(variant, _VARIANTS)
    values, classes = _mean_over_tokens(p, _entropies, validate)
    return values / (log(classes) if normalised or variant == 'authors' else 1.0)


def _entropies(xp: Any, tokens: Array) -> Array:
    return -inner(xp, tokens, xp.log(xp.where(tokens > 0, tokens, 1.0)))  # 0 log 0 is 0


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
        ShapeError: no token, or shapes differ.
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
    for name, other in (
        ('second_probability', second),
        ('sum_of_squares', squares),
        ('entropy', entropies),
    ):
        check_same_shape(largest, other, ('max_probability', name))
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


def _mean_over_tokens(
    p: Any, formula: Callable[[Any, Array], Array], validate: bool
) -> tuple[Array, int]:
    """Mean over the tokens of what `formula` makes of each, (N, V) -> (N,), and V."""
    xp, array = as_numbers(p, 'p')
    if array.ndim < 2 or array.shape[-1] < 2 or array.shape[-2] < 1:
        raise ShapeError(
            f'p has shape {tuple(array.shape)}; '
            f'(..., TN, V) with at least 1 token and 2 classes is expected'
        )
    if not xp.isdtype(array.dtype, 'real floating'):
        array = xp.astype(array, xp.float64)
    classes = array.shape[-1]
    tokens = xp.reshape(array, (-1, classes))
    count = max(tokens.shape[0], 1)
    # In NumPy a block that fits the cache at a time, which is read once for checks and formula.
    size = max(_BLOCK // classes, 1) if isinstance(tokens, np.ndarray) else count
    parts = []
    for begin in range(0, count, size):
        block = tokens[begin : begin + size, :]
        if validate:
            _check_probabilities(xp, block, array)
        parts.append(formula(xp, block))
    values = xp.reshape(parts[0] if len(parts) == 1 else xp.concat(parts), array.shape[:-1])
    return xp.mean(values, axis=-1), classes


def _check_probabilities(xp: Any, tokens: Array, array: Array) -> None:
    """Of tokens (N, V) of the array; what is not finite shows in the sums."""
    off = xp.abs(weighted_sum(xp, tokens) - 1.0)
    if bool(xp.all(off <= _SUM_TOLERANCE)) and not _has_negative(xp, tokens):
        return
    check_finite(xp, array, 'p')
    raise ValueRangeError(
        f'p are no probabilities: they must be 0 or more and add up to 1 over the last axis '
        f'(furthest sum: off by {float(xp.max(off)):.3g}); apply softmax to logits first'
    )


def _has_negative(xp: Any, tokens: Array) -> bool:
    return tokens.shape[0] > 0 and bool(xp.min(tokens) < 0)


def _token_statistic(values: Any, name: str) -> tuple[Any, Array]:
    xp, array = as_floats(values, name)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'{name} has shape {tuple(array.shape)}; (..., TN) with at least 1 token is expected'
        )
    return xp, array


def _gini_maximum(classes: int, normalised: bool) -> float:
    return 1.0 - 1.0 / classes if normalised else 1.0
