# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Means over the tokens of an inference, of probabilities or of their statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_numbers,
    check_finite,
    check_variant,
    weighted_sum,
)
from frame_ros.metrics.constants import SUM_TOLERANCE, WINDOW
from frame_ros.metrics.engine.samples import StepValue

TOKEN_VARIANTS = ('paper', 'authors')


# Probabilities that are looked at together: 512 KB in double precision.
_BLOCK = 65536


def mean_over_tokens(
    p: Any, formula: Callable[[Any, Array], Array], validate: bool
) -> tuple[Array, int]:
    """Mean over the tokens of what `formula` makes of each, and V.

    Args:
        p: (..., TN, V) probabilities of the V classes of each of TN tokens.
        formula: namespace and tokens (N, V) -> (N,).
        validate: whether p are checked to be probabilities.

    Returns:
        (...,) in the unit of the formula, and V.

    Raises:
        ShapeError: another shape, no token, fewer than 2 classes.
        ValueRangeError: p are no probabilities that add up to 1.
    """
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
    if bool(xp.all(off <= SUM_TOLERANCE)) and not _has_negative(xp, tokens):
        return
    check_finite(xp, array, 'p')
    raise ValueRangeError(
        f'p are no probabilities: they must be 0 or more and add up to 1 over the last axis '
        f'(furthest sum: off by {float(xp.max(off)):.3g}); apply softmax to logits first'
    )


def _has_negative(xp: Any, tokens: Array) -> bool:
    return tokens.shape[0] > 0 and bool(xp.min(tokens) < 0)


def token_statistic(values: Any, name: str) -> tuple[Any, Array]:
    """A statistic of PolicyInference.msg as an array, with its namespace.

    Args:
        values: (..., TN), one of each of TN tokens; dimensionless, an entropy in nats.
        name: of the statistic, for errors.

    Raises:
        ShapeError: no token.
        ValueRangeError: a value is not finite.
    """
    xp, array = as_floats(values, name)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'{name} has shape {tuple(array.shape)}; (..., TN) with at least 1 token is expected'
        )
    return xp, array


def uncertainties(means: Sequence[Array]) -> dict[str, Array]:
    """TB-TP, TB-PCS, TB-D and TB-E from the means over tokens (4, ...) of largest and second
    largest probability, sum of squares and entropy (nats). VLA-UQ eq. 8, 10, 12, 14.
    """
    return {
        'tb_tp': 1.0 - means[0],
        'tb_pcs': 1.0 - (means[0] - means[1]),
        'tb_d': 1.0 - means[2],
        'tb_e': means[3],
    }


def largest_gini(classes: int, normalised: bool) -> float:
    """The divisor of TB-TP and TB-D over V classes: their largest value, 1 - 1/V; 1 if not
    normalised. VLA-UQ eq. 8, 12.
    """
    return 1.0 - 1.0 / classes if normalised else 1.0


class StreamingTokenUncertainty(StepValue):
    """`step`: the newest inference; `value`: mean over the last 8; `mean`: over all so far."""

    _batch: Callable[..., Array]

    def __init__(
        self, normalised: bool = False, variant: str = 'paper', window: int = WINDOW
    ) -> None:
        """`normalised`, `variant`: as of the batch form. Raises ValueRangeError: an unknown one."""
        check_variant(variant, ('paper', 'authors'))
        self._normalised = normalised or variant == 'authors'
        super().__init__(0, window)

    def update(self, p: Any) -> None:
        """Takes the probabilities (TN, V) of one inference.

        Raises:
            ShapeError: another shape, no token, fewer than 2 classes.
            ValueRangeError: p are no probabilities. Nothing has changed in either case.
        """
        value = type(self)._batch(p, normalised=self._normalised)
        if value.ndim:
            raise ShapeError(f'p hold {tuple(value.shape)} inferences; one, (TN, V), is expected')
        self.add(float(value))
