# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rank statistics: Spearman's correlation, Mann-Whitney test, Vargha-Delaney effect size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu

Array = NDArray[np.float64]
NAN = float('nan')
AUTO, ASYMPTOTIC, EXACT = 'auto', 'asymptotic', 'exact'
METHODS = (AUTO, ASYMPTOTIC, EXACT)
# Up to this size of the smaller group AUTO is exact, if no values are equal.
SMALL = 8
# Most arrangements of labels that an exact test of a correlation goes through.
MOST_ARRANGEMENTS = 50_000
# Most numbers in their table.
MOST_ARRANGED = 1_000_000
# Most additions of an exact rank sum: two groups of about 100 values, or 8 and 2,490.
MOST_ADDITIONS = 900_000_000


class Correlation(NamedTuple):
    """Spearman's rho and its two-sided p-value; NaN where they are not defined."""

    rho: float
    p: float


class RankSum(NamedTuple):
    """The Mann-Whitney statistic of the first group, and the two-sided p-value."""

    u: float
    p: float


def average_ranks(values: Any) -> Array:
    """Returns the ranks from 1 of (..., N) values along the last axis; equal ones share the mean.

    Raises:
        ShapeError: no axis.
        ValueRangeError: a value is not finite.
    """
    array = np.asarray(on_cpu(as_floats(values, 'values')[1]), dtype=np.float64)
    if not array.ndim:
        raise ShapeError('values are a scalar; (..., N) is expected')
    order = np.argsort(array, axis=-1, kind='stable')
    ordered = np.take_along_axis(array, order, axis=-1)
    begins = np.ones(array.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    # Of each value in order: where its run of equal values begins, and where it ends.
    places = np.broadcast_to(np.arange(array.shape[-1]), array.shape)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    ends = np.ones(array.shape, dtype=bool)
    ends[..., :-1] = begins[..., 1:]
    last = np.where(ends, places, array.shape[-1])
    last = np.flip(np.minimum.accumulate(np.flip(last, axis=-1), axis=-1), axis=-1)
    ranks = np.empty(array.shape)
    np.put_along_axis(ranks, order, (first + last) / 2.0 + 1.0, axis=-1)
    return ranks


def spearman(metric: Any, label: Any, method: str = ASYMPTOTIC) -> Correlation:
    """Spearman's rank correlation with its two-sided p-value. VLA-UQ, section V-G.

    Args:
        metric: (N,) values.
        label: (N,) values, such as 1 (high quality), 2 and 3 (low quality).
        method: of the p-value. 'asymptotic': by Student's t distribution with N - 2 degrees of
            freedom, as SciPy; 'exact': over all arrangements of the labels; 'auto': exact where
            they are at most 50,000, of 1,000,000 labels in all.

    Returns:
        NaN both with fewer than 3 pairs, or where all values of either are equal.

    Raises:
        ShapeError: another shape, or different lengths.
        ValueRangeError: a value is not finite, an unknown method, or too many arrangements.
    """
    _check_method(method)
    ranks, of_label = average_ranks(metric), average_ranks(label)
    if ranks.ndim != 1 or ranks.shape != of_label.shape:
        raise ShapeError(
            f'metric has shape {ranks.shape} and label {of_label.shape}; (N,) each is expected'
        )
    count = len(ranks)
    if count < 3 or np.ptp(ranks) == 0 or np.ptp(of_label) == 0:
        return Correlation(NAN, NAN)
    rho = rank_correlation(ranks, of_label)
    arrangements = MOST_ARRANGEMENTS + 1 if method == ASYMPTOTIC else _arrangement_count(of_label)
    is_possible = arrangements <= MOST_ARRANGEMENTS and arrangements * count <= MOST_ARRANGED
    if method == EXACT and not is_possible:
        raise ValueRangeError(
            f'{count} labels have too many arrangements for an exact test (at most '
            f'{MOST_ARRANGEMENTS:,}, and {MOST_ARRANGED:,} labels in all of them): use the '
            'asymptotic one'
        )
    if is_possible:
        return Correlation(float(rho), _exact_correlation_p(ranks, of_label))
    return Correlation(float(rho), _student_p(float(rho), count - 2))


def rank_correlation(first: Array, second: Array) -> Array:
    """Returns the correlation of (..., N) ranks along the last axis; NaN where one is constant."""
    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid='ignore', divide='ignore'):
        found = np.where(scale > 0.0, (a * b).sum(axis=-1) / scale, NAN)
    return np.clip(found, -1.0, 1.0)


def _student_p(rho: float, freedom: int) -> float:
    from scipy.special import betainc

    # P(|t| > t0) = I_{f / (f + t0^2)}(f / 2, 1/2), and f / (f + t0^2) = 1 - rho^2.
    return float(betainc(freedom / 2.0, 0.5, (1.0 - rho) * (1.0 + rho)))


def _arrangement_count(labels: Array) -> int:
    """Of distinct orders; as soon as it is beyond MOST_ARRANGEMENTS, a lower bound."""
    found, placed = 1, 0
    for count in np.unique(labels, return_counts=True)[1].tolist():
        placed += count
        # C(n, k) >= 2^k up to k = n / 2: no large binomial is computed.
        fewer = min(count, placed - count)
        found *= comb(placed, count) if fewer < MOST_ARRANGEMENTS.bit_length() else 2**fewer
        if found > MOST_ARRANGEMENTS:
            return MOST_ARRANGEMENTS + 1
    return found


def _exact_correlation_p(ranks: Array, labels: Array) -> float:
    """Over all arrangements: twice the smaller tail of the correlation, at most 1. Ranks doubled
    are whole numbers, so sums of their products are exact.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    own = np.rint(2 * labels).astype(np.int64)
    sums = _arrangement_table(tuple(sorted(own.tolist()))) @ doubled
    observed = int(own @ doubled)
    return min(2.0 * float(min(np.mean(sums <= observed), np.mean(sums >= observed))), 1.0)


@lru_cache(maxsize=4)
def _arrangement_table(labels: tuple[int, ...]) -> NDArray[np.int64]:
    """All distinct orders of the labels, (arrangements, N): many metrics share their labels."""
    return np.array(list(_arrangements(list(labels))))


def _arrangements(labels: list[int]) -> Iterator[list[int]]:
    """Yields every distinct order of the labels, by the next in lexicographic order."""
    current = sorted(labels)
    while True:
        yield list(current)
        pivot = len(current) - 2
        while pivot >= 0 and current[pivot] >= current[pivot + 1]:
            pivot -= 1
        if pivot < 0:
            return
        other = len(current) - 1
        while current[other] <= current[pivot]:
            other -= 1
        current[pivot], current[other] = current[other], current[pivot]
        current[pivot + 1 :] = reversed(current[pivot + 1 :])


def mann_whitney(a: Any, b: Any, method: str = AUTO) -> RankSum:
    """Two-sided Mann-Whitney test of two groups. VLA-UQ, section V-G.

    Args:
        a, b: (N,) and (M,) values.
        method: 'auto': exact if the smaller group has at most 8 values, as SciPy, the larger one
            not thousands, and none are equal; 'asymptotic': normal, with the corrections for ties
            and continuity; 'exact': over all divisions of the values that were found, equal ones
            included.

    Returns:
        U of a (the pairs in which a is larger, equal ones half), p; p is 1 if all values are equal.

    Raises:
        ShapeError: another shape, or an empty group.
        ValueRangeError: a value is not finite, an unknown method, or groups that are too large for
            an exact test.
    """
    _check_method(method)
    ranks, count = _joint_ranks(a, b)
    rest = len(ranks) - count
    u = float(ranks[:count].sum()) - count * (count + 1) / 2.0
    has_ties = len(np.unique(ranks)) < len(ranks)
    is_possible = exact_is_possible(count, rest)
    if method == EXACT and not is_possible:
        raise ValueRangeError(
            f'groups of {count} and {rest} values are too large for an exact test: use the '
            'asymptotic one'
        )
    is_small = min(count, rest) <= SMALL and is_possible and not has_ties
    if method == EXACT or (method == AUTO and is_small):
        return RankSum(u, _exact_rank_sum_p(ranks, count))
    return RankSum(u, _normal_rank_sum_p(ranks, count, u))


def exact_is_possible(first: int, second: int) -> bool:
    """Returns whether two groups of these sizes are small enough for an exact rank sum."""
    fewer, total = min(first, second), first + second
    return 2 * fewer * (fewer + 1) * total**2 <= MOST_ADDITIONS


def _joint_ranks(a: Any, b: Any) -> tuple[Array, int]:
    """Returns the ranks of both groups, a first, and the size of a."""
    groups = [np.asarray(on_cpu(as_floats(each, name)[1])) for each, name in ((a, 'a'), (b, 'b'))]
    for name, group in zip('ab', groups):
        if group.ndim != 1 or not len(group):
            raise ShapeError(f'{name} has shape {group.shape}; (N,) with N >= 1 is expected')
    return average_ranks(np.concatenate(groups)), len(groups[0])


def _normal_rank_sum_p(ranks: Array, count: int, u: float) -> float:
    total, rest = len(ranks), len(ranks) - count
    ties = np.unique(ranks, return_counts=True)[1].astype(np.float64)
    correction = float((ties**3 - ties).sum()) / (total * (total - 1.0))
    variance = count * rest / 12.0 * (total + 1.0 - correction)
    if variance <= 0.0:
        return 1.0
    excess = max(abs(u - count * rest / 2.0) - 0.5, 0.0)
    return min(2.0 * NormalDist().cdf(-excess / sqrt(variance)), 1.0)


def _exact_rank_sum_p(ranks: Array, count: int) -> float:
    """Over all choices of `count` of the ranks: twice the smaller tail of their sum, at most 1."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    chosen = min(count, len(ranks) - count)
    # The sums of the smaller group determine those of the other.
    observed = int(doubled[:count].sum() if chosen == count else doubled[count:].sum())
    ways = np.zeros((chosen + 1, int(np.sort(doubled)[-chosen:].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in doubled.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    sums = ways[chosen] / comb(len(ranks), chosen)
    tail = min(sums[: observed + 1].sum(), sums[observed:].sum())
    return float(min(2.0 * tail, 1.0))


def vargha_delaney_a12(a: Any, b: Any) -> float:
    """P(a > b) + P(a = b) / 2 of values drawn from two groups. Vargha and Delaney 2000.

    Args:
        a, b: (N,) and (M,) values.

    Raises:
        ShapeError: another shape, or an empty group.
        ValueRangeError: a value is not finite.
    """
    ranks, count = _joint_ranks(a, b)
    larger = float(ranks[:count].sum()) - count * (count + 1) / 2.0
    return larger / (count * (len(ranks) - count))


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueRangeError(f'method is {method!r}; expected: {", ".join(METHODS)}')
