# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logits of a large vocabulary to the few numbers per token that uncertainty and confidence need.

A vocabulary can have 257,152 classes: the probabilities themselves never leave this module, and are
never held at once. Blocks that stay in the processor's cache are exponentiated and summed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.constants import SUM_TOLERANCE

# Two blocks of this size and a row of the largest vocabularies fit a core's own cache.
_BLOCK_BYTES = 256 * 1024
# From so many classes on, each token is passed once, see `_LongRow`.
_LONG = 4096
# Largest logits between which exponentials, and their squares, of a whole row fit the type.
_SAFE = {4: 37.0, 8: 300.0}
_memory = threading.local()


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
            0 to V - 1, or NumPy cannot read the values (a tensor of bfloat16).
    """
    rows = _rows(logits_or_probabilities)
    count, classes = rows.shape
    indices = _chosen_indices(chosen, count, classes)
    grid = np.asarray(temperatures, dtype=np.float64)
    if grid.ndim != 1 or not np.all(np.isfinite(grid) & (grid > 0)):
        raise ValueRangeError(f'temperatures are {temperatures}; numbers above 0 are expected')
    reduction = _Reduction(count, classes, grid, np.result_type(rows.dtype, np.float32))
    at_once = 1 if classes >= _LONG else max(1, reduction.block // classes)
    # What overflows, or is 0 times -inf, is mended.
    with np.errstate(over='ignore', invalid='ignore'):
        for first in range(0, count, at_once):
            part = slice(first, min(first + at_once, count))
            block = _as_logits(rows[part], first) if is_probability else rows[part]
            reduction.reduce(part, block, None if indices is None else indices[part])
    return reduction.result(classes, grid)


def _rows(values: Any) -> NDArray[Any]:
    try:
        rows = np.asarray(values)
    except (TypeError, RuntimeError) as error:  # tensors of bfloat16, with a gradient, on a device
        raise ValueRangeError(f'logits cannot be read as a NumPy array: {error}') from error
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
    bad = ~(np.abs(sums - 1.0) <= SUM_TOLERANCE) | (rows.min(axis=1) < 0)
    if bad.any():
        token = int(bad.argmax())
        raise ValueRangeError(
            f'token {first + token} has no probabilities: they must be 0 or more and add up to 1 '
            f'(sum {sums[token]:.6g}, smallest {rows[token].min():.3g})'
        )
    with np.errstate(divide='ignore'):
        return np.log(rows, dtype=np.result_type(rows.dtype, np.float32))


def _workspace(dtype: np.dtype) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Two blocks of this thread's memory, and one of ones: new memory costs as much as a row."""
    kept: dict[str, Any] = _memory.__dict__
    if dtype.name not in kept:
        size = _BLOCK_BYTES // dtype.itemsize
        kept[dtype.name] = np.empty(size, dtype), np.empty(size, dtype), np.ones(size, dtype)
    found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] = kept[dtype.name]
    return found


class _Reduction:
    """Sums over the classes, of some tokens after the other."""

    def __init__(
        self, count: int, classes: int, temperatures: NDArray[np.float64], dtype: np.dtype
    ) -> None:
        self.block = _BLOCK_BYTES // dtype.itemsize
        self._shifted, self._scaled, self._ones = _workspace(dtype)
        self._inverse = [dtype.type(1.0 / temperature) for temperature in temperatures]
        self._second, self._chosen = np.empty(count), np.full(count, np.nan)
        self._sums = np.zeros((3, count))  # of e, e^2 and e z, with z = logit - largest, e = exp z
        self._at_temperature = np.zeros((count, len(temperatures)))
        self._long = _LongRow(self._scaled, self._ones, self._inverse)

    def reduce(self, part: slice, logits: NDArray[Any], chosen: NDArray[np.int64] | None) -> None:
        """Adds the tokens `part`, with logits (R, V): R is 1, or R times V a block at most."""
        if logits.shape[1] >= _LONG:
            row = logits[0].astype(self._scaled.dtype, copy=False)
            if self._reduce_long(part.start, row, None if chosen is None else int(chosen[0])):
                return
            logits = row[None]
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
        for first in range(0, logits.shape[1], width):
            self._add(part, logits[:, first : first + width], largest)

    def _reduce_long(self, token: int, row: NDArray[Any], chosen: int | None) -> bool:
        """Adds one token with its logits (V,) in one pass; False: they need another."""
        found = self._long.reduce(row)
        if found is None:
            return False
        self._sums[:, token] = found.total, found.squares, found.products
        self._second[token] = exp(found.second - found.largest)
        self._at_temperature[token] = found.at_temperature
        if chosen is not None:
            self._chosen[token] = exp(float(row[chosen]) - found.largest)
        return True

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


class _RowSums(NamedTuple):
    """Of one row, relative to its largest logit as in `_Reduction`; at each temperature, (K,)."""

    largest: float
    second: float
    total: float
    squares: float
    products: float
    at_temperature: list[float]


class _LongRow:
    """One pass over the logits of a token: exponentials of the logits as they are, block by block.

    That saves the pass for the largest logit beforehand. Each block's largest class is left out of
    the sums and added in float64, so that what is left of a sure token is not lost in rounding.
    """

    def __init__(
        self, exponentials: NDArray[Any], ones: NDArray[Any], inverse: Sequence[Any]
    ) -> None:
        """exponentials: (B,) memory to use. ones: as many. inverse: of the temperatures."""
        self._e, self._ones, self._inverse = exponentials, ones, inverse
        self._safe = _SAFE.get(exponentials.dtype.itemsize, _SAFE[8])
        self._hottest = max([1.0, *(float(each) / 2.0 for each in inverse)])

    def reduce(self, row: NDArray[Any]) -> _RowSums | None:
        """None: a logit is not finite, or so far from 0 that its exponential is."""
        tops, second, at_temperature = [], -inf, [0.0] * len(self._inverse)
        total = squares = products = 0.0
        size = len(self._e)
        for first in range(0, len(row), size):
            logits = row[first : first + size]
            count = len(logits)
            e, ones = self._e[:count], self._ones[:count]
            np.exp(logits, out=e)
            place = e.argmax()
            top = float(logits[place])
            if not top <= self._safe:  # NaN neither
                return None
            e[place] = 0.0
            if top > second and count > 1:
                other = e.argmax()  # `place` again where all others are so small that none is left
                second = max(second, float(logits[1:].max() if other == place else logits[other]))
            tops.append(top)
            part = float(np.dot(e, logits))
            if part - part != 0.0:  # 0 times -inf
                part = float(np.dot(e, np.maximum(logits, -1e4)))
            products += part
            total += float(np.dot(e, ones))
            squares += float(np.dot(e, e))
            for column, inverse in enumerate(self._inverse):
                np.multiply(logits, inverse, out=e)
                at_temperature[column] += float(np.dot(np.exp(e, out=e), ones))
        largest = max(tops)
        if len(tops) > 1:
            second = max(second, sorted(tops)[-2])
        if abs(largest) * self._hottest > self._safe:
            return None
        return self._relative(tops, second, (total, squares, products), at_temperature)

    def _relative(
        self,
        tops: list[float],
        second: float,
        sums: tuple[float, float, float],
        at_temperature: list[float],
    ) -> _RowSums:
        """Everything relative to the row's largest logit. tops: the largest of each block."""
        largest = max(tops)
        total, squares, products = sums
        scale = exp(-largest)
        products = scale * (products - largest * total)
        total, squares = scale * total, scale * scale * squares
        for top in tops:
            z = top - largest
            if z > -inf:
                e = exp(z)
                total, squares, products = total + e, squares + e * e, products + e * z
        hot = [exp(-largest * float(i)) * t for i, t in zip(self._inverse, at_temperature)]
        return _RowSums(largest, second, total, squares, products, hot)


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
