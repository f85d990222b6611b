# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Successes of two policies in pairs of episodes: McNemar's exact test, Tango's score interval."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu


class PairCounts(NamedTuple):
    """Pairs of episodes by who succeeded; their sum is n. Counts of strata are simply added."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def pairs(self) -> int:
        """n."""
        return sum(self)

    @property
    def discordant(self) -> int:
        """Pairs in which one of the two succeeded."""
        return self.only_a + self.only_b

    @property
    def difference(self) -> float:
        """Success rate of a minus that of b."""
        return (self.only_a - self.only_b) / self.pairs


def pair_counts(a: Any, b: Any) -> PairCounts:
    """Counts paired outcomes.

    Args:
        a, b: (n,) bool, or 0 and 1; element i of both is pair i.

    Raises:
        ShapeError: another shape, different lengths, or no pair.
        ValueRangeError: a value is neither 0 nor 1.
    """
    first, second = _outcomes(a, 'a'), _outcomes(b, 'b')
    if first.shape != second.shape or not len(first):
        raise ShapeError(
            f'a has {len(first)} outcomes and b {len(second)}; pairs are expected, at least one'
        )
    both, either = int(np.sum(first & second)), int(np.sum(first | second))
    only_a = int(np.sum(first & ~second))
    return PairCounts(both, only_a, either - both - only_a, len(first) - either)


def _outcomes(values: Any, name: str) -> NDArray[np.bool_]:
    array = np.asarray(on_cpu(as_floats(values, name)[1]))
    if array.ndim != 1:
        raise ShapeError(f'{name} has shape {array.shape}; (n,) is expected')
    wrong = array[(array != 0.0) & (array != 1.0)]
    if len(wrong):
        raise ValueRangeError(f'{name} holds {wrong[0]:g}; 0 or 1 is expected, False or True')
    return array == 1.0


def mcnemar_exact(a: Any, b: Any) -> float:
    """Two-sided p-value of McNemar's exact test, that two policies succeed equally often.

    Discordant pairs are as often in favour of one as of the other: twice the smaller tail of the
    binomial distribution of their number with 1/2, at most 1. McNemar 1947; Fagerland, Lydersen and
    Laake 2013, section 2. Pairs of several objects are given together: a test that is stratified by
    object has the same discordant pairs, added over the objects.

    Args:
        a, b: (n,) bool, or 0 and 1; element i of both is pair i.

    Returns:
        1 without discordant pairs.

    Raises:
        ShapeError: another shape, different lengths, or no pair.
        ValueRangeError: a value is neither 0 nor 1.
    """
    counts = pair_counts(a, b)
    return mcnemar_p(counts.only_a, counts.only_b)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Returns McNemar's exact p-value of counted discordant pairs.

    Raises:
        ValueRangeError: a count is negative.
    """
    from scipy.special import bdtr

    if min(only_a, only_b) < 0:
        raise ValueRangeError(f'discordant pairs are {only_a} and {only_b}; counts are expected')
    discordant = only_a + only_b
    return min(1.0, 2.0 * float(bdtr(min(only_a, only_b), discordant, 0.5)))


def tango_interval(a: Any, b: Any, confidence: float = 0.95) -> tuple[float, float]:
    """Score interval of the paired difference of success rates, a minus b.

    All differences that the score test does not refuse at this level. Tango 1998, equations 5 to 8.
    It is never empty or a point, also where all pairs agree: then it is +-z^2 / (n + z^2).

    Args:
        a, b: (n,) bool, or 0 and 1; element i of both is pair i.
        confidence: two-sided coverage, in (0, 1).

    Returns:
        Lower and upper end, in [-1, 1].

    Raises:
        ShapeError: another shape, different lengths, or no pair.
        ValueRangeError: a value is neither 0 nor 1, or confidence is outside (0, 1).
    """
    counts = pair_counts(a, b)
    return tango_ends(counts.only_a, counts.only_b, counts.pairs, confidence)


def tango_ends(
    only_a: int, only_b: int, pairs: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Returns Tango's interval of counted pairs.

    Raises:
        ValueRangeError: counts that do not fit, or confidence outside (0, 1).
    """
    if min(only_a, only_b) < 0 or pairs < max(1, only_a + only_b):
        raise ValueRangeError(
            f'{only_a} and {only_b} discordant of {pairs} pairs; counts within at least one pair '
            'are expected'
        )
    z = critical_value(confidence)
    return -_upper_end(only_b, only_a, pairs, z), _upper_end(only_a, only_b, pairs, z)


def critical_value(confidence: float) -> float:
    """Returns z of the two-sided normal interval.

    Raises:
        ValueRangeError: confidence is outside (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a value between 0 and 1 is expected')
    return NormalDist().inv_cdf(0.5 + 0.5 * confidence)


def _upper_end(only_a: int, only_b: int, pairs: int, z: float) -> float:
    """The largest difference that is not refused, by bisection to the last digit: the score falls
    with the difference, and is 0 at the one observed.
    """
    low, high = (only_a - only_b) / pairs, 1.0
    while low < (middle := low + 0.5 * (high - low)) < high:
        excess = pairs * middle - (only_a - only_b)
        if excess <= z * sqrt(pairs * _variance(middle, only_a, only_b, pairs)):
            low = middle
        else:
            high = middle
    return high if only_a == pairs else low


def _variance(difference: float, only_a: int, only_b: int, pairs: int) -> float:
    """Variance of one pair's difference, at the likeliest share q of pairs in which only the worse
    policy succeeds: the positive root of 2 n q^2 + s q - t = 0. Tango 1998, equation 6.
    """
    if difference < 0.0:  # s and t as of the better policy: so t is not negative, nothing cancels
        return _variance(-difference, only_b, only_a, pairs)
    s = (2 * pairs - only_a + only_b) * difference - (only_a + only_b)
    t = only_b * difference * (1.0 - difference)
    root = sqrt(s * s + 8.0 * pairs * t)
    share = 2.0 * t / (s + root) if s > 0.0 else (root - s) / (4.0 * pairs)
    return 2.0 * share + difference * (1.0 - difference)
