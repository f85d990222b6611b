# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Partial credit by the furthest stage that episodes reach: tests and intervals of its mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.binary.needed import Aim, needed_for_mean
from frame_ros.evaluation.statistics.permutation import permutation_p, sign_flip_p
from frame_ros.evaluation.statistics.ranks import AUTO, EXACT, exact_is_possible, mann_whitney

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
NAN = float('nan')
RESAMPLES = 10_000


@dataclass(frozen=True)
class PartialCredit:
    """Mean shares of the stages that two policies reach.

    Attributes:
        count_a, count_b: episodes; both the number of pairs if they are paired.
        mean_a, mean_b: over these episodes, in [0, 1].
        difference: first minus second; within objects, weighted, if unpaired.
        lower, upper: percentile interval of it by a bootstrap of whole pairs, or of the episodes
            of each policy and object, whose means are scaled to the variance of n - 1 (Rao and Wu
            1988). NaN where resamples say nothing: all agree, or an object has one episode of a
            policy.
        p: exact, two-sided: flipped signs of the pairs' differences, or permutation within objects.
        p_rank: Mann-Whitney's of all episodes; NaN if they are paired.
        needed: pairs, or episodes of each policy, that find a mean difference of the margin.
        remark: why there is no interval; '' if there is one.
    """

    is_paired: bool
    count_a: int
    count_b: int
    mean_a: float
    mean_b: float
    difference: float
    lower: float
    upper: float
    p: float
    p_rank: float
    needed: int
    remark: str = ''


def paired_credit(
    a: Whole, b: Whole, stages: int, aim: Aim, resamples: int = RESAMPLES, seed: int = 0
) -> PartialCredit:
    """Compares partial credit in pairs.

    Args:
        a, b: (n,) numbers of stages reached, from 0 to `stages`; element i of both is pair i.
        stages: their number.
        aim: the margin, power and level.
        resamples, seed: of the bootstrap.

    Raises:
        ShapeError: no pair, or different lengths.
        ValueRangeError: a number is outside 0 to `stages`.
    """
    for values in (a, b):
        _check(values, stages)
    if len(a) != len(b):
        raise ShapeError(f'a has {len(a)} episodes and b {len(b)}; pairs are expected')
    differences = np.asarray(a - b)
    means = _resampled_means(differences, resamples, np.random.default_rng(seed)) / stages
    lower, upper = _percentiles(means, aim) if np.ptp(differences) else (NAN, NAN)
    return PartialCredit(
        True,
        *(len(a), len(b)),
        *(float(a.mean()) / stages, float(b.mean()) / stages),
        float(differences.mean()) / stages,
        *(lower, upper),
        sign_flip_p(differences),
        NAN,
        needed_for_mean(_paired_deviation(differences / stages), aim),
        '' if np.ptp(differences) else 'all pairs have the same difference: there is no interval',
    )


def unpaired_credit(
    strata: Mapping[tuple[str, str], tuple[Whole, Whole]],
    stages: int,
    aim: Aim,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PartialCredit:
    """Compares partial credit of episodes that are not paired.

    Args:
        strata: (task, object) -> (n,) and (m,) numbers of stages reached by both policies, each
            at least one.
        stages, aim, resamples, seed: as `paired_credit`.

    Raises:
        ShapeError: no object, or one without episodes of both.
        ValueRangeError: a number is outside 0 to `stages`.
    """
    if not strata:
        raise ShapeError('there are no objects; at least one is expected')
    rows = list(strata.values())
    for values in (each for row in rows for each in row):
        _check(values, stages)
    a, b = (np.concatenate(part) for part in zip(*rows, strict=True))
    weights = np.array([len(x) * len(y) / (len(x) + len(y)) for x, y in rows])
    weights /= weights.sum() * stages
    rng = np.random.default_rng(seed)
    means = sum(
        weight * (_resampled_means(x, resamples, rng) - _resampled_means(y, resamples, rng))
        for weight, (x, y) in zip(weights, rows)
    )
    remark = ''
    if all(np.ptp(values) == 0 for row in rows for values in row):
        remark = 'no policy varies within an object: there is no interval'
    elif any(len(values) == 1 for row in rows for values in row):
        remark = 'an object has one episode of a policy: there is no interval'
    lower, upper = (NAN, NAN) if remark else _percentiles(np.asarray(means), aim)
    is_exact = min(len(a), len(b)) <= 100 and exact_is_possible(len(a), len(b))
    return PartialCredit(
        False,
        *(len(a), len(b)),
        *(float(a.mean()) / stages, float(b.mean()) / stages),
        float(sum(w * (x.mean() - y.mean()) for w, (x, y) in zip(weights, rows))),
        *(lower, upper),
        permutation_p(rows),
        mann_whitney(a, b, EXACT if is_exact else AUTO).p,
        needed_for_mean(sqrt(_variance(a / stages) + _variance(b / stages)), aim),
        remark,
    )


def _check(values: Whole, stages: int) -> None:
    if values.ndim != 1 or not len(values):
        raise ShapeError(f'numbers of stages have shape {values.shape}; (n,) with n >= 1 expected')
    if values.min() < 0 or values.max() > stages:
        raise ValueRangeError(
            f'stages reached are from {values.min()} to {values.max()}; 0 to {stages} is expected'
        )


def _resampled_means(values: Whole, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples,) means of values drawn with replacement, by how often each value is drawn; about
    their mean they vary by n - 1 in place of n, which would be too little of few.
    """
    distinct, counts = np.unique(values, return_counts=True)
    drawn = rng.multinomial(len(values), counts / len(values), resamples)
    mean = float(values.mean())
    change = drawn @ distinct.astype(np.float64) / len(values) - mean
    found: Array = mean + sqrt(len(values) / max(len(values) - 1, 1)) * change
    return found


def _percentiles(means: Array, aim: Aim) -> tuple[float, float]:
    lower, upper = np.quantile(means, (aim.level / 2.0, 1.0 - aim.level / 2.0))
    return max(float(lower), -1.0), min(float(upper), 1.0)


def _paired_deviation(differences: Array) -> float:
    """Root of the mean square, with one more pair in two that differs by all stages: a few pairs
    without a difference do not show that there is none. Of one stage it is McNemar's discordance.
    """
    return sqrt((float(np.square(differences).sum()) + 1.0) / (len(differences) + 2))


def _variance(credit: Array) -> float:
    """Of one policy's episodes, with one more that fails at once and one that reaches all."""
    return float(np.concatenate([credit, [0.0, 1.0]]).var())
