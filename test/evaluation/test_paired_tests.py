# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests and intervals of binary outcomes against SciPy, exact fractions and worked examples."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import boschloo, mcnemar_exact, newcombe_interval, tango_interval
from frame_ros.evaluation.binary.paired import PairCounts, pair_counts, tango_ends

Z = stats.norm.ppf(0.975)
counts = st.integers(0, 40)


def outcomes(both: int, only_a: int, only_b: int, neither: int):
    a = [1] * (both + only_a) + [0] * (only_b + neither)
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return np.array(a, bool), np.array(b, bool)


@given(counts, counts, counts, counts)
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(both, only_a, only_b, neither):
    if both + only_a + only_b + neither == 0:
        return
    a, b = outcomes(both, only_a, only_b, neither)
    assert pair_counts(a, b) == PairCounts(both, only_a, only_b, neither)
    discordant = only_a + only_b
    expected = stats.binomtest(only_a, discordant).pvalue if discordant else 1.0
    assert mcnemar_exact(a, b) == pytest.approx(expected, abs=1e-12)
    assert mcnemar_exact(a, b) == mcnemar_exact(b, a)


def test_mcnemar_by_hand():
    # 5 pairs for a, 1 for b: 2 (1 + 6) / 2^6.
    assert mcnemar_exact(*outcomes(3, 5, 1, 0)) == pytest.approx(14 / 64, abs=1e-15)
    assert mcnemar_exact(*outcomes(3, 10, 0, 0)) == pytest.approx(2 / 1024, abs=1e-15)
    assert mcnemar_exact(*outcomes(4, 0, 0, 2)) == 1.0
    assert mcnemar_exact([1], [0]) == 1.0


def test_a_stratified_mcnemar_is_that_of_the_discordant_pairs_of_all_objects():
    first, second = outcomes(3, 4, 1, 2), outcomes(8, 5, 0, 1)
    whole = [np.concatenate(each) for each in zip(first, second)]
    # Given the number of discordant pairs of each object, their sum is binomial again.
    expected = np.convolve(stats.binom.pmf(range(6), 5, 0.5), stats.binom.pmf(range(6), 5, 0.5))
    assert mcnemar_exact(*whole) == pytest.approx(2 * expected[9:].sum(), abs=1e-15)


def score(difference: float, only_a: int, only_b: int, pairs: int) -> float:
    """Tango's statistic by maximising the likelihood of the discordant pairs numerically."""

    def likelihood(q):  # the share of pairs that only b succeeds in
        cells = (only_a, q + difference), (only_b, q)
        cells += ((pairs - only_a - only_b, 1.0 - 2.0 * q - difference),)
        return sum(k * np.log(np.maximum(p, 1e-300)) for k, p in cells if k)

    low, high = max(0.0, -difference), (1.0 - difference) / 2.0
    for _ in range(6):
        grid = np.linspace(low, high, 2001)
        best = int(np.argmax(likelihood(grid)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 2000)]
    q = grid[best]
    variance = pairs * (2.0 * q + difference - difference**2)
    return (only_a - only_b - pairs * difference) / sqrt(variance)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 15))
def test_the_ends_of_tangos_interval_have_the_critical_score(only_a, only_b, agreeing):
    pairs = only_a + only_b + agreeing
    if pairs == 0:
        return
    low, high = tango_interval(*outcomes(agreeing, only_a, only_b, 0))
    assert -1.0 <= low <= (only_a - only_b) / pairs <= high <= 1.0 and low < high
    if low > -1.0:
        assert score(low, only_a, only_b, pairs) == pytest.approx(Z, abs=1e-4)
    if high < 1.0:
        assert score(high, only_a, only_b, pairs) == pytest.approx(-Z, abs=1e-4)
    # Swapped policies, and which of the agreeing pairs succeeded, change nothing else.
    assert tango_interval(*outcomes(0, only_b, only_a, agreeing)) == (-high, -low)


@pytest.mark.parametrize('pairs', [1, 2, 7, 40, 10_000])
@pytest.mark.parametrize('confidence', [0.5, 0.9, 0.95, 0.9999])
def test_tangos_interval_at_its_edges(pairs: int, confidence: float):
    square = stats.norm.ppf(0.5 + 0.5 * confidence) ** 2
    # Without discordant pairs n d^2 = z^2 |d| (1 - |d|) + ... has the root z^2 / (n + z^2).
    end = square / (pairs + square)
    expected = pytest.approx((-end, end), abs=1e-12)
    assert tango_ends(0, 0, pairs, confidence) == expected
    # All pairs for a: q = (1 - d) / 2, so n (1 - d) = z^2 (1 + d).
    low, high = tango_ends(pairs, 0, pairs, confidence)
    assert high == 1.0 and low == pytest.approx((pairs - square) / (pairs + square), abs=1e-12)
    assert tango_ends(0, pairs, pairs, confidence) == (-1.0, -low)


def test_tangos_interval_of_his_example():
    # Tango 1998, table II: 44 pairs of disinfections of lenses, one discordant.
    assert tango_ends(0, 1, 44, 0.9) == pytest.approx((-0.096, 0.037), abs=5e-4)


def exact_boschloo(x: int, n: int, y: int, m: int) -> float:
    """By the definition: exact ties, a fine grid of the success rate."""

    def fisher(i, j):
        ways = sum(comb(n, k) * comb(m, i + j - k) for k in range(i + 1) if i + j - k <= m)
        return Fraction(ways, comb(n + m, i + j))

    observed = fisher(x, y)
    rates = np.linspace(0.0, 1.0, 20_001)[:, None]
    extreme = [(i, j) for i in range(n + 1) for j in range(m + 1) if fisher(i, j) <= observed]
    i, j = np.array(extreme).T
    return float((stats.binom.pmf(i, n, rates) * stats.binom.pmf(j, m, rates)).sum(1).max())


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_boschloo_is_the_supremum_of_its_definition(n, m, data):
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    expected = min(1.0, 2 * min(exact_boschloo(x, n, y, m), exact_boschloo(y, m, x, n)))
    found = boschloo(x, n, y, m)
    assert expected - 1e-12 <= found <= expected + 1e-6


@pytest.mark.parametrize('seed', range(30))
def test_boschloo_equals_scipy(seed: int):
    rng = np.random.default_rng(seed)
    n, m = (int(each) for each in rng.integers(1, 60, 2))
    x, y = int(rng.integers(0, n + 1)), int(rng.integers(0, m + 1))
    found = boschloo(x, n, y, m)
    expected = stats.boschloo_exact([[x, y], [n - x, m - y]]).pvalue
    assert found == pytest.approx(expected, abs=1e-9)
    # The same by exchanging policies, or successes and failures.
    assert found == pytest.approx(boschloo(y, m, x, n), abs=1e-12)
    assert found == pytest.approx(boschloo(n - x, n, m - y, m), abs=1e-12)


def test_boschloo_by_hand():
    # 2 of 2 against 0 of 2: only this outcome is as extreme, with probability p^2 (1 - p)^2.
    assert boschloo(2, 2, 0, 2) == pytest.approx(2 / 16, abs=1e-12)
    assert boschloo(1, 1, 0, 1) == pytest.approx(2 / 4, abs=1e-12)
    assert boschloo(5, 5, 7, 7) == boschloo(0, 5, 0, 7) == 1.0


def test_boschloo_finds_the_supremum_where_a_search_from_few_rates_does_not():
    # SciPy's from 512 rates, and the sum over all 1,669 extreme outcomes at 0.70225; its own search
    # from 32 rates ends at 5.4281e-07.
    assert boschloo(110, 110, 54, 68) == pytest.approx(5.4334821199e-07, rel=1e-10)


def test_boschloo_of_many_episodes_is_that_of_fishers_tails():
    found = boschloo(600, 1000, 635, 1000)
    # z = 0.035 / sqrt(0.6175 * 0.3825 / 500).
    assert found == pytest.approx(2 * stats.norm.sf(1.6103), rel=0.05)
    assert found == pytest.approx(boschloo(400, 1000, 365, 1000), rel=1e-9)


def test_boschloo_is_at_most_fishers_tails_doubled():
    for x, n, y, m in [(3, 20, 11, 20), (40, 200, 60, 200), (1, 5, 30, 40), (500, 900, 540, 900)]:
        tails = [
            stats.fisher_exact([[x, y], [n - x, m - y]], side).pvalue
            for side in ('less', 'greater')
        ]
        assert boschloo(x, n, y, m) <= 2 * min(tails) + 1e-12


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_newcombes_interval(x, failures_a, y, failures_b):
    n, m = x + failures_a, y + failures_b
    if not (n and m):
        return
    low, high = newcombe_interval(x, n, y, m)
    assert -1.0 <= low < high <= 1.0 and low <= x / n - y / m <= high
    swapped = newcombe_interval(y, m, x, n)
    assert (low, high) == pytest.approx((-swapped[1], -swapped[0]), abs=1e-12)
    (k, u), (v, w) = (
        stats.binomtest(count, of).proportion_ci(method='wilson') for count, of in ((x, n), (y, m))
    )
    assert low == pytest.approx(x / n - y / m - sqrt((x / n - k) ** 2 + (w - y / m) ** 2))
    assert high == pytest.approx(x / n - y / m + sqrt((u - x / n) ** 2 + (y / m - v) ** 2))


def test_newcombes_interval_of_his_examples():
    # Newcombe 1998, table II, method 10.
    assert newcombe_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe_interval(10, 10, 0, 10) == pytest.approx((0.6075, 1.0), abs=5e-5)
    assert newcombe_interval(0, 10, 0, 10) == pytest.approx((-0.2775, 0.2775), abs=5e-5)


def test_bad_outcomes_are_refused():
    for function in (mcnemar_exact, tango_interval):
        with pytest.raises(ShapeError, match='at least one'):
            function([], [])
        with pytest.raises(ShapeError, match='a has 2 outcomes and b 1'):
            function([1, 0], [1])
        with pytest.raises(ShapeError, match=r'\(1, 2\)'):
            function([[1, 0]], [[1, 0]])
        with pytest.raises(ValueRangeError, match='b holds 2'):
            function([1, 0], [1, 2])
        with pytest.raises(ValueRangeError):
            function([1, 0], [1, float('nan')])
    for function in (boschloo, newcombe_interval):
        for wrong in [(0, 0, 1, 2), (1, 2, 0, 0), (3, 2, 1, 2), (-1, 2, 1, 2)]:
            with pytest.raises(ValueRangeError, match='successes in'):
                function(*wrong)
    with pytest.raises(ValueRangeError, match='confidence is 1'):
        tango_interval([1], [0], 1.0)
    with pytest.raises(ValueRangeError, match='0.5 successes in 1'):
        boschloo(0.5, 1, 1, 1)
