# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logits of a large vocabulary to the few numbers per token that uncertainty and confidence need.

A vocabulary can have 257,152 classes: the probabilities themselves never leave this module, and are
never held at once. Blocks that stay in the processor's cache are exponentiated and summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import ShapeError, ValueRangeError

# Two blocks of this size and a row of the largest vocabularies fit a core's own cache.
_BLOCK_BYTES = 256 * 1024
# Softmax outputs in half precision still add up to this.
_SUM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class ReducedTokens:
    """Statistics of TN tokens, each of a distribution over `vocabulary_size` classes.

    Names and meanings are those of PolicyInference.msg: what is missing there are only the step and
    the action dimension of each token, which the policy knows.

    max_probability, second_probability, sum_of_squares, entropy (nats), chosen_probability: (TN,);
    chosen_probability is NaN where the token that was taken is not known. temperatures: (K,).
    max_at_temperature: (TN, K), the largest probability of softmax(logits / temperature).
    """

    vocabulary_size: int
    max_probability: NDArray[np.float64]
    second_probability: NDArray[np.float64]
    sum_of_squares: NDArray[np.float64]
    entropy: NDArray[np.float64]
    chosen_probability: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    max_at_temperature: NDArray[np.float64]


def token_statistics(
    logits_or_probabilities: Any,
    chosen: Any = None,
    temperatures: Sequence[float] = (),
    is_probability: bool = False,
) -> ReducedTokens:
    """Reduces the distributions of TN tokens over V classes; VLA-UQ eq. 7-14 need no more.

    Sums are of the input's precision within a block of 64 Ki classes, and of float64 beyond.

    Args:
        logits_or_probabilities: (TN, V) logits, V at least 2; -inf is a class that cannot be.
        chosen: (TN,) index of the class that was taken; None: not known.
        temperatures: K temperatures above 0 at which the largest probability is wanted too; each
            costs another exponential over the logits.
        is_probability: the values are probabilities, (TN, V); they are divided by their sum, so
            that rounding in half precision does no harm.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is NaN or +inf, a token has no class that can be, probabilities
            are negative or do not add up to 1, a temperature is not positive, an index is none of
            0 to V - 1.
    """
    rows = _rows(logits_or_probabilities)
    count, classes = rows.shape
    indices = _chosen_indices(chosen, count, classes)
    grid = np.asarray(temperatures, dtype=np.float64)
    if grid.ndim != 1 or not np.all(np.isfinite(grid) & (grid > 0)):
        raise ValueRangeError(f'temperatures are {temperatures}; numbers above 0 are expected')
    reduction = _Reduction(count, classes, grid, np.result_type(rows.dtype, np.float32))
    at_once = max(1, reduction.block // classes)
    for first in range(0, count, at_once):
        part = slice(first, min(first + at_once, count))
        block = _as_logits(rows[part], first) if is_probability else rows[part]
        reduction.reduce(part, block, None if indices is None else indices[part])
    return reduction.result(classes, grid)


def _rows(values: Any) -> NDArray[Any]:
    rows = np.asarray(values)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ShapeError(
            f'logits have shape {rows.shape}; (TN, V) with at least 2 classes V is expected'
        )
    if rows.dtype.kind != 'f':
        raise ValueRangeError(f'logits have type {rows.dtype}; floating numbers are expected')
    return rows


def _chosen_indices(chosen: Any, count: int, classes: int) -> NDArray[np.int64] | None:
    if chosen is None:
        return None
    indices = np.asarray(chosen)
    if indices.shape != (count,):
        raise ShapeError(
            f'chosen has shape {indices.shape}; ({count},), one per token, is expected'
        )
    if count and (indices.dtype.kind not in 'iu' or indices.min() < 0 or indices.max() >= classes):
        raise ValueRangeError(f'chosen must hold class indices, 0 to {classes - 1}')
    return indices.astype(np.int64)


def _as_logits(rows: NDArray[Any], first: int) -> NDArray[Any]:
    """Logarithms of some tokens' probabilities; -inf for a class of probability 0."""
    sums = rows.sum(axis=1, dtype=np.float64)
    bad = ~(np.abs(sums - 1.0) <= _SUM_TOLERANCE) | (rows.min(axis=1) < 0)
    if bad.any():
        token = int(bad.argmax())
        raise ValueRangeError(
            f'token {first + token} has no probabilities: they must be 0 or more and add up to 1 '
            f'(sum {sums[token]:.6g}, smallest {rows[token].min():.3g})'
        )
    with np.errstate(divide='ignore'):
        return np.log(rows, dtype=np.result_type(rows.dtype, np.float32))


class _Reduction:
    """Sums over the classes, of some tokens after the other."""

    def __init__(
        self, count: int, classes: int, temperatures: NDArray[np.float64], dtype: np.dtype
    ) -> None:
        self.block = _BLOCK_BYTES // dtype.itemsize
        size = min(self.block, count * classes) if count else 1
        self._shifted, self._scaled = np.empty(size, dtype), np.empty(size, dtype)
        self._ones = np.ones(min(classes, self.block), dtype)
        self._inverse = [dtype.type(1.0 / temperature) for temperature in temperatures]
        self._second, self._chosen = np.empty(count), np.full(count, np.nan)
        self._sums = np.zeros((3, count))  # of e, e^2 and e z, with z = logit - largest, e = exp z
        self._at_temperature = np.zeros((count, len(temperatures)))

    def reduce(self, part: slice, logits: NDArray[Any], chosen: NDArray[np.int64] | None) -> None:
        """Adds the tokens `part`, with logits (R, V): R is 1, or R times V a block at most."""
        largest, second = self._two_largest(logits)
        if not np.isfinite(largest).all():
            token = part.start + int((~np.isfinite(largest)).argmax())
            raise ValueRangeError(
                f'the largest logit of token {token} is {largest[token - part.start]}; '
                'finite numbers are expected, or -inf for some of the classes'
            )
        self._second[part] = np.exp(np.subtract(second, largest, dtype=np.float64))
        if chosen is not None:
            taken = np.take_along_axis(logits, chosen[:, None], axis=1)[:, 0]
            self._chosen[part] = np.exp(np.subtract(taken, largest, dtype=np.float64))
        width = min(logits.shape[1], self.block)
        with np.errstate(invalid='ignore'):  # 0 times -inf, which is mended
            for first in range(0, logits.shape[1], width):
                self._add(part, logits[:, first : first + width], largest)

    def _add(self, part: slice, logits: NDArray[Any], largest: NDArray[Any]) -> None:
        shape = logits.shape
        z = self._shifted[: logits.size].reshape(shape)
        e = self._scaled[: logits.size].reshape(shape)
        np.subtract(logits, largest[:, None], out=z, dtype=z.dtype)
        for column, inverse in enumerate(self._inverse):
            np.multiply(z, inverse, out=e)
            self._at_temperature[part, column] += np.exp(e, out=e).sum(axis=1)
        np.exp(z, out=e)
        products = _row_dot(e, z)
        if not np.isfinite(products).all():
            products = _row_dot(e, np.maximum(z, -1e4, out=z))
        self._sums[0, part] += e.sum(axis=1) if len(e) > 1 else np.dot(e[0], self._ones[: shape[1]])
        self._sums[1, part] += _row_dot(e, e)
        self._sums[2, part] += products

    def _two_largest(self, logits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        if logits.size > self.block:
            first, second = _two_largest_of_long(logits[0], self.block)
            return np.array([first]), np.array([second])
        tokens, places = np.arange(len(logits)), logits.argmax(axis=1)
        others = self._shifted[: logits.size].reshape(logits.shape)
        np.copyto(others, logits)
        others[tokens, places] = -np.inf
        return logits[tokens, places], others.max(axis=1)

    def result(self, classes: int, temperatures: NDArray[np.float64]) -> ReducedTokens:
        """The statistics of all tokens."""
        total, squares, products = self._sums
        return ReducedTokens(
            vocabulary_size=classes,
            max_probability=1.0 / total,
            second_probability=self._second / total,
            sum_of_squares=squares / (total * total),
            entropy=np.maximum(np.log(total) - products / total, 0.0),
            chosen_probability=self._chosen / total,
            temperatures=temperatures,
            max_at_temperature=1.0 / self._at_temperature,
        )


def _row_dot(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Scalar products of the rows."""
    return np.dot(a[0], b[0]) if len(a) == 1 else np.einsum('ij,ij->i', a, b)


def _two_largest_of_long(row: NDArray[Any], block: int) -> tuple[Any, Any]:
    """The two largest values of a long row, NaN if it holds one: all of it is passed once."""
    starts = np.arange(0, len(row), block)
    maxima = np.maximum.reduceat(row, starts)
    where = int(maxima.argmax())
    holding = row[starts[where] : starts[where] + block]
    place = int(holding.argmax())
    lowest = -np.inf
    others = (maxima[:where], maxima[where + 1 :], holding[:place], holding[place + 1 :])
    return holding[place], max(part.max(initial=lowest) for part in others)
