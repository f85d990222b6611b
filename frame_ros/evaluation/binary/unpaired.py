# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Successes of two policies in episodes that are not paired: Boschloo's exact test, Newcombe's
score interval.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, hypot, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
# Tails that differ by less, relatively, are compared as fractions.
CLOSE = 1e-9
# Points of the search for the supremum per standard deviation of a success rate's arc sine.
POINTS_PER_DEVIATION = 16
# Success rates of which binomial probabilities are held at once.
ROWS = 64
GOLDEN = (sqrt(5.0) - 1.0) / 2.0


def boschloo(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> float:
    """Two-sided p-value of Boschloo's exact test, that two policies succeed equally often.

    One-sided: the largest probability, over the common success rate, of outcomes of which Fisher's
    one-sided p-value is at most that of the observed one. Two-sided: twice the smaller one, at most
    1, as SciPy defines it. Boschloo 1970. Never above Fisher's p-value doubled. The supremum is
    searched everywhere, and outcomes that are tied with the observed one are found exactly.

    Args:
        successes_a, trials_a, successes_b, trials_b: counts; at least one trial each.

    Raises:
        ValueRangeError: no trials, or more successes than trials.
    """
    check_counts(successes_a, trials_a)
    check_counts(successes_b, trials_b)
    counts = int(successes_a), int(trials_a), int(successes_b), int(trials_b)
    lower = _one_sided(*counts)
    upper = _one_sided(*counts[2:], *counts[:2])
    return min(1.0, 2.0 * min(lower, upper))


def newcombe_interval(
    successes_a: float,
    trials_a: float,
    successes_b: float,
    trials_b: float,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Newcombe's hybrid score interval of the difference of success rates, a minus b: the distances
    to the ends of both Wilson intervals, added as squares. Newcombe 1998, method 10.

    Args:
        successes_a, trials_a, successes_b, trials_b: counts; at least one trial each.
        confidence: two-sided coverage, in (0, 1).

    Returns:
        Lower and upper end, in [-1, 1].

    Raises:
        ValueRangeError: no trials, more successes than trials, confidence outside (0, 1).
    """
    a, b = successes_a / max(trials_a, 1), successes_b / max(trials_b, 1)
    low_a, high_a = wilson_interval(successes_a, trials_a, confidence)
    low_b, high_b = wilson_interval(successes_b, trials_b, confidence)
    return (
        max(-1.0, a - b - hypot(a - low_a, high_b - b)),
        min(1.0, a - b + hypot(high_a - a, b - low_b)),
    )


def check_counts(successes: int, trials: int) -> None:
    """Raises ValueRangeError: no trials, or successes that are no count of them."""
    if not (trials >= 1 and 0 <= successes <= trials) or successes % 1 or trials % 1:
        raise ValueRangeError(
            f'{counted(successes, "success")} in {counted(trials, "trial")}; '
            '0 <= successes <= trials and trials >= 1 is expected'
        )


@lru_cache(maxsize=4096)
def _one_sided(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> float:
    """The p-value against that a succeeds less often."""
    tails = _largest_tails(successes_a, trials_a, successes_b, trials_b)
    return float(min(1.0, _supremum(tails)))


def _largest_tails(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> Array:
    """For each number s of successes of both, from 0: the largest of Fisher's p-values that is at
    most the observed one, 0 if there is none. Given s, that is the probability of all outcomes that
    count as extreme.
    """
    from scipy.special import gammaln

    total = trials_a + trials_b
    logs = gammaln(np.arange(total + 1) + 1.0)
    ways_a = logs[trials_a] - logs[: trials_a + 1] - logs[trials_a::-1]
    ways_b = logs[trials_b] - logs[: trials_b + 1] - logs[trials_b::-1]
    ways = logs[total] - logs - logs[::-1]

    def tails_of(s: int, highest: int) -> tuple[int, Array]:
        """A number of successes of a, and Fisher's p-values from it to the highest; further below
        nothing adds to them.
        """
        mode = min(highest, s * trials_a // total)
        least = max(0, s - trials_b, mode - _reach(s * trials_a / total))
        of_a = np.arange(least, highest + 1)
        return least, np.cumsum(np.exp(ways_a[of_a] + ways_b[s - of_a] - ways[s]))

    observed = tails_of(successes_a + successes_b, successes_a)[1][-1]
    found = np.zeros(total + 1)
    critical = -1  # the most successes of a that are extreme; with s it grows by at most 1
    for s in range(total + 1):
        least, tails = tails_of(s, min(critical + 1, s, trials_a))
        place = int(np.searchsorted(tails, observed * (1.0 + CLOSE), 'right')) - 1
        while place >= 0 and tails[place] > observed * (1.0 - CLOSE):
            exact = _fisher(least + place, trials_a, s, trials_b)
            if exact <= _fisher(successes_a, trials_a, successes_a + successes_b, trials_b):
                break
            place -= 1
        critical = least + place
        found[s] = tails[place] if place >= 0 else 0.0
    return found


def _reach(mean: float) -> int:
    """Distance from the mean of a count beyond which its chances, at most Poisson's, are below
    1e-20 of those nearer.
    """
    return ceil(12.0 * sqrt(mean)) + 40


@lru_cache(maxsize=64)
def _fisher(successes_a: int, trials_a: int, s: int, trials_b: int) -> Fraction:
    """P(at most so many of the s successes are a's), exactly."""
    least = max(0, s - trials_b)
    term = ways = comb(trials_a, least) * comb(trials_b, s - least)
    for i in range(least, successes_a):
        term = term * (trials_a - i) * (s - i) // ((i + 1) * (trials_b - s + i + 1))
        ways += term
    return Fraction(ways, comb(trials_a + trials_b, s))


def _supremum(tails: Array) -> float:
    """The largest mean of the tails over binomial numbers of successes, over all success rates.

    On the arc sine's scale every binomial distribution is about equally wide: a grid of it that is
    much finer meets every maximum, each of which is then enclosed by golden sections.
    """
    count = ceil(0.5 * pi * 2.0 * sqrt(len(tails) - 1.0) * POINTS_PER_DEVIATION)
    angles = np.linspace(0.0, 0.5 * pi, count + 1)
    values = _means(tails, angles)
    inner = values[1:-1]
    peaks = 1 + np.flatnonzero((inner >= values[:-2]) & (inner >= values[2:]))
    # One that is far below the highest cannot pass it within one step of the grid.
    peaks = peaks[values[peaks] >= 0.9 * values.max()]
    if not len(peaks):
        return float(values.max())
    low, high = angles[peaks - 1], angles[peaks + 1]
    for _ in range(40):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        is_left = _means(tails, left) > _means(tails, right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return float(max(values.max(), _means(tails, 0.5 * (low + high)).max()))


def _means(tails: Array, angles: NDArray[Any]) -> Array:
    """The mean of the tails under the binomial distribution with rate sin(angle)^2, per angle."""
    from scipy.special import gammaln, xlogy

    total = len(tails) - 1
    ways = gammaln(total + 1.0) - (logs := gammaln(np.arange(total + 1) + 1.0)) - logs[::-1]
    found = np.empty(len(angles))
    for begin in range(0, len(angles), ROWS):
        part = angles[begin : begin + ROWS, None]
        least, most = (total * float(np.sin(each) ** 2) for each in (part.min(), part.max()))
        low = max(0, int(least) - _reach(min(least, total - least)))
        s = np.arange(low, min(total, int(most) + _reach(min(most, total - most))) + 1)
        success, failure = 2.0 * xlogy(s, np.sin(part)), 2.0 * xlogy(total - s, np.cos(part))
        found[begin : begin + ROWS] = np.exp(ways[s] + success + failure) @ tails[s]
    return found
