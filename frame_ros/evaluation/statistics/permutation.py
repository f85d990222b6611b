# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact permutation tests of whole numbers: paired by flipped signs, unpaired within strata."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
# Most additions of an exact test of one stratum; a larger one makes the test asymptotic.
MOST_ADDITIONS = 300_000_000


def sign_flip_p(differences: Any) -> float:
    """Two-sided p-value that paired differences are as likely of one sign as of the other: the
    share of all choices of their signs with a sum at least as far from 0. Fisher 1935, section 21.

    Exact for any number: sums of whole numbers are few. Of differences -1, 0 and 1 it is McNemar's
    exact test.

    Args:
        differences: (n,) whole numbers, such as stages reached, first policy minus second.

    Returns:
        1 if all are 0.

    Raises:
        ShapeError: another shape, or none.
        ValueRangeError: a value is no whole number.
    """
    values = _whole(differences, 'differences')
    sizes, counts = np.unique(np.abs(values[values != 0]), return_counts=True)
    chances: Array = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist()):
        steps = np.zeros(2 * size * count + 1)
        steps[:: 2 * size] = _binomial(count, 0.5)
        chances = _convolved(chances, steps)
    most = len(chances) // 2
    tail = float(chances[: most - abs(int(values.sum())) + 1].sum())
    return min(1.0, 2.0 * tail)


def permutation_p(strata: Iterable[tuple[Any, Any]]) -> float:
    """Two-sided p-value that the values of two policies are exchangeable within each stratum.

    The statistic is the sum of the first policy's values; given the values of each stratum it is
    that of the differences of means, weighted by n m / (n + m) (Mantel and Haenszel 1959). Twice
    the smaller tail of its permutation distribution, at most 1. Of values 0 and 1 it is the exact
    conditional test of several 2 x 2 tables (Gart 1970), of one stratum of them Fisher's. Exact up
    to some hundred values per stratum, then by the normal distribution.

    Args:
        strata: (n,) and (m,) whole numbers of both policies, per stratum; one that lacks values of
            either policy adds nothing.

    Returns:
        1 if nothing can be exchanged.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is no whole number.
    """
    pairs = [(_whole(a, 'a', 0), _whole(b, 'b', 0)) for a, b in strata]
    pairs = [(a, b) for a, b in pairs if len(a) and len(b)]
    if any(_additions(*pair) > MOST_ADDITIONS for pair in pairs):
        return _normal_p(pairs)
    chances: Array = np.ones(1)
    observed = 0
    for a, b in pairs:
        lowest = min(a.min(), b.min())
        chances = _convolved(chances, _sums(a - lowest, b - lowest))
        observed += int((a - lowest).sum())
    tail = min(chances[: observed + 1].sum(), chances[observed:].sum())
    return float(min(1.0, 2.0 * tail))


def _whole(values: Any, name: str, least: int = 1) -> Whole:
    array = np.asarray(on_cpu(as_floats(values, name)[1]))
    if array.ndim != 1 or len(array) < least:
        raise ShapeError(f'{name} has shape {array.shape}; (n,) is expected, n at least {least}')
    whole = np.rint(array).astype(np.int64)
    if (whole != array).any():
        raise ValueRangeError(f'{name} holds {array[whole != array][0]:g}; whole numbers expected')
    return whole


def _convolved(a: Array, b: Array) -> Array:
    return np.asarray(np.convolve(a, b), np.float64)


def _binomial(count: int, rate: float) -> Array:
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(count + 1)
    ways = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    found: Array = np.exp(ways + xlogy(k, rate) + xlog1py(count - k, -rate))
    return found


def _additions(a: Whole, b: Whole) -> int:
    """About, of an exact test: all values but the least and the greatest take a table each."""
    values, counts = np.unique(np.concatenate([a, b]), return_counts=True)
    inner = values[1:-1] - values[0]
    return int((counts[1:-1] * (len(a) * inner + 1)).sum()) * (len(a) + 1)


def _sums(a: Whole, b: Whole) -> Array:
    """Chances of the sums, from 0, of len(a) values that are drawn from both without replacement;
    the least value is 0.

    Every value is drawn independently at first, with the same chance; of these draws only those of
    len(a) values count, each choice of which is equally likely.
    """
    drawn, rate = len(a), len(a) / (len(a) + len(b))
    values, counts = np.unique(np.concatenate([a, b]), return_counts=True)
    chances = np.zeros((drawn + 1, 1))  # of so many drawn of the values so far, by their sum
    chances[: counts[0] + 1, 0] = _binomial(int(counts[0]), rate)[: drawn + 1]
    if len(values) == 1:
        return np.ones(1)
    for value, count in zip(values[1:-1].tolist(), counts[1:-1].tolist()):
        found = np.zeros((drawn + 1, drawn * value + 1))
        for k, chance in enumerate(_binomial(count, rate)[: drawn + 1]):
            columns = min(chances.shape[1], found.shape[1] - k * value)
            found[k:, k * value : k * value + columns] += (
                chance * chances[: drawn + 1 - k, :columns]
            )
        chances = found
    last = int(values[-1])
    sums = np.zeros(drawn * last + chances.shape[1])
    for k, chance in enumerate(_binomial(int(counts[-1]), rate)[: drawn + 1]):
        sums[k * last : k * last + chances.shape[1]] += chance * chances[drawn - k]
    own: Array = sums / sums.sum()
    return own


def _normal_p(pairs: list[tuple[Whole, Whole]]) -> float:
    """By the exact mean and variance, with a correction of one half for continuity."""
    excess = variance = 0.0
    for a, b in pairs:
        both = np.concatenate([a, b]).astype(np.float64)
        excess += float(a.sum()) - len(a) * float(both.mean())
        variance += len(a) * len(b) / (len(both) - 1.0) * float(both.var())
    if variance <= 0.0:
        return 1.0
    return min(1.0, 2.0 * NormalDist().cdf(-max(abs(excess) - 0.5, 0.0) / sqrt(variance)))
