# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rank tests, effect size, agreement and Holm's adjustment against SciPy and worked examples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import (
    cohens_kappa,
    holm,
    mann_whitney,
    spearman,
    vargha_delaney_a12,
)
from frame_ros.evaluation.statistics.ranks import average_ranks


@pytest.mark.parametrize('seed', range(40))
def test_ranks_and_tests_equal_scipy(seed: int):
    rng = np.random.default_rng(seed)
    metric = np.round(rng.normal(size=rng.integers(12, 80)), seed % 4)
    label = rng.integers(1, 4, len(metric))
    other = np.round(rng.normal(0.4, 1.0, rng.integers(1, 40)), seed % 4)
    np.testing.assert_array_equal(average_ranks(metric), stats.rankdata(metric))
    found, expected = spearman(metric, label), stats.spearmanr(metric, label)
    assert found.rho == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
    result, reference = mann_whitney(metric, other), stats.mannwhitneyu(metric, other)
    assert result.u == reference.statistic
    assert result.p == pytest.approx(reference.pvalue, abs=1e-12)
    wins = np.mean((metric[:, None] > other) + 0.5 * (metric[:, None] == other))
    assert vargha_delaney_a12(metric, other) == pytest.approx(wins, abs=1e-12)


@pytest.mark.parametrize('seed', range(8))
def test_the_exact_rank_sum_is_that_of_all_divisions(seed: int):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(low, low + 4, rng.integers(2, 6)) * 1.0 for low in (0, 1))

    def statistic(x, y, axis):
        return stats.mannwhitneyu(x, y, axis=axis, method='asymptotic').statistic

    expected = stats.permutation_test((a, b), statistic, vectorized=True, n_resamples=np.inf)
    assert mann_whitney(a, b, 'exact').p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize('seed', range(6))
def test_the_exact_correlation_is_that_of_all_arrangements(seed: int):
    rng = np.random.default_rng(seed)
    metric, label = rng.integers(0, 5, 6), np.array([1, 1, 2, 2, 3, 3])
    if np.ptp(metric) == 0:
        metric[0] += 1
    rhos = np.array(
        [stats.spearmanr(metric, order).statistic for order in permutations(label.tolist())]
    )
    found = spearman(metric, label, 'exact')
    tails = np.mean(rhos <= found.rho + 1e-9), np.mean(rhos >= found.rho - 1e-9)
    assert found.p == pytest.approx(min(1.0, 2.0 * min(tails)), abs=1e-12)


def test_auto_takes_what_is_possible():
    few, many = np.arange(8) + 0.5, np.arange(20_000.0)
    expected = stats.mannwhitneyu(few, many, method='asymptotic').pvalue
    assert mann_whitney(few, many).p == pytest.approx(expected, rel=1e-9)
    found = spearman(np.arange(300_000), np.arange(300_000) % 3, 'auto')
    assert found.p == pytest.approx(spearman(np.arange(300_000), np.arange(300_000) % 3).p)
    found = spearman(np.arange(40_000), np.arange(40_000) < 1, 'auto')  # 40,000 of 40,000 labels
    assert found.p == pytest.approx(spearman(np.arange(40_000), np.arange(40_000) < 1).p)
    # One label in a thousand differs: a thousand arrangements, of which two are as extreme.
    assert spearman(np.arange(1000), np.arange(1000) < 1, 'auto').p == pytest.approx(2 / 1000)


def test_a_perfect_order_of_three_is_no_certainty():
    assert spearman([1.0, 2.0, 3.0], [1, 2, 3]).p == 0.0
    assert spearman([1.0, 2.0, 3.0], [1, 2, 3], 'auto').p == pytest.approx(1 / 3)


def test_what_is_not_defined():
    assert all(np.isnan(spearman([1.0, 1.0, 1.0], [1, 2, 3])))
    assert all(np.isnan(spearman([1.0, 2.0], [1, 2])))
    assert mann_whitney([1.0] * 20, [1.0] * 20).p == 1.0
    assert np.isnan(cohens_kappa([1, 1], [1, 1]))
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ('made', 'error', 'words'),
    [
        (lambda: spearman([1.0, np.nan, 2.0], [1, 2, 3]), ValueRangeError, 'not finite'),
        (lambda: spearman([1.0, 2.0, 3.0], [1, 2]), ShapeError, r'\(3,\) and label \(2,\)'),
        (lambda: spearman(np.arange(20.0), np.arange(20), 'exact'), ValueRangeError, 'too many'),
        (lambda: spearman([1.0] * 3, [1] * 3, 'kendall'), ValueRangeError, 'kendall'),
        (lambda: mann_whitney([], [1.0]), ShapeError, 'a has shape'),
        (lambda: vargha_delaney_a12([[1.0]], [1.0]), ShapeError, 'a has shape'),
        (lambda: cohens_kappa([1, 2], [1]), ShapeError, '2 and 1 items'),
        (lambda: cohens_kappa([1], [1], 'cubic'), ValueRangeError, 'cubic'),
        (lambda: cohens_kappa(['a', None], ['a', 'b']), ValueRangeError, 'NoneType, str'),
        (lambda: cohens_kappa([1, 2], ['1', '2']), ValueRangeError, 'int, str'),
        (lambda: cohens_kappa([1, np.nan], [1, 2]), ValueRangeError, 'NaN'),
        (lambda: cohens_kappa([[1, 2]], [[1, 2]]), ShapeError, 'is an array'),
        (
            lambda: mann_whitney(np.arange(600), np.arange(600), 'exact'),
            ValueRangeError,
            'groups of 600 and 600 values are too large',
        ),
        (lambda: holm([0.5, 1.5]), ValueRangeError, 'outside'),
        (lambda: holm([[0.5]]), ShapeError, r'\(1, 1\)'),
    ],
)
def test_bad_arguments_are_named(made, error, words):
    with pytest.raises(error, match=words):
        made()


def test_kappa_of_a_worked_example():
    """20 and 15 of 50 alike: 0.7 seen, 0.5 by chance."""
    a = [1] * 20 + [1] * 5 + [2] * 10 + [2] * 15
    b = [1] * 20 + [2] * 5 + [1] * 10 + [2] * 15
    assert cohens_kappa(a, b) == pytest.approx(0.4)
    assert cohens_kappa(list('xxyy'), list('xxyy')) == 1.0
    assert cohens_kappa(list('xxyy'), list('yyxx')) == -1.0
    with pytest.raises(ShapeError, match='0 and 0 items; .*, at least 1'):
        cohens_kappa([], [])


@pytest.mark.parametrize('weights', ['linear', 'quadratic'])
def test_weighted_kappa_is_one_minus_the_ratio_of_disagreements(weights: str):
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 4, 60), rng.integers(1, 4, 60)
    power = 1 if weights == 'linear' else 2
    seen = np.mean(np.abs(a - b) ** power)
    by_chance = np.mean(np.abs(a[:, None] - b) ** power)
    assert cohens_kappa(a, b, weights) == pytest.approx(1.0 - seen / by_chance)


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    found = holm([0.2, float('nan'), 0.01, 0.9])
    assert found[[0, 2, 3]].tolist() == pytest.approx([0.4, 0.03, 0.9]) and np.isnan(found[1])
