# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sample sizes against published figures, brute force and simulated studies."""

from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation import mcnemar_sample_size, wilson_sample_size
from frame_ros.evaluation.binary.paired import mcnemar_p
from frame_ros.evaluation.planning.sample_sizes import mcnemar_exact_sample_size, mcnemar_power
from frame_ros.metrics import wilson_interval


@pytest.mark.parametrize(('discordance', 'pairs'), [(0.10, 312), (0.25, 783)])
def test_five_points_need_as_many_pairs_as_connor_says(discordance, pairs):
    assert mcnemar_sample_size(0.05, discordance) == pairs
    assert mcnemar_sample_size(-0.05, discordance) == pairs


@given(st.floats(0.01, 0.9), st.floats(0.0, 1.0), st.floats(0.5, 0.99), st.floats(0.001, 0.2))
def test_the_formula_holds(difference, place, power, alpha):
    discordance = difference + place * (1.0 - difference)
    root = norm.isf(alpha / 2) * discordance**0.5
    root += norm.ppf(power) * (discordance - difference**2) ** 0.5
    exact = (root / difference) ** 2
    found = mcnemar_sample_size(difference, discordance, power, alpha)
    assert ceil(exact * (1 - 1e-9)) <= found <= ceil(exact * (1 + 1e-9))


def test_mcnemars_test_has_the_power():
    """Of 40,000 simulated studies of that many pairs."""
    difference, discordance = 0.1, 0.3
    pairs = mcnemar_sample_size(difference, discordance)
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    better, worse, _ = np.random.default_rng(1).multinomial(pairs, shares, 40_000).T
    found = (better - worse) ** 2 / np.maximum(better + worse, 1) > chi2.isf(0.05, 1)
    assert found.mean() == pytest.approx(0.8, abs=0.015)


def exact_power(pairs, better, worse, alpha):
    """The sum over all studies."""
    found = 0.0
    for a in range(pairs + 1):
        for b in range(min(a, pairs - a + 1)):
            if mcnemar_p(a, b) < alpha:
                ways = comb(pairs, a) * comb(pairs - a, b)
                found += ways * better**a * worse**b * (1 - better - worse) ** (pairs - a - b)
    return found


@pytest.mark.parametrize(
    ('pairs', 'difference', 'discordance', 'alpha'),
    [(1, 0.5, 1.0, 0.05), (12, 0.4, 0.6, 0.05), (25, 0.3, 0.3, 0.01), (30, -0.1, 0.5, 0.2)],
)
def test_the_exact_power_is_the_sum_over_all_studies(pairs, difference, discordance, alpha):
    better, worse = ((discordance + sign * abs(difference)) / 2 for sign in (1, -1))
    found = mcnemar_power(pairs, difference, discordance, alpha)
    assert found == pytest.approx(exact_power(pairs, better, worse, alpha), abs=1e-12)


@pytest.mark.parametrize(
    ('difference', 'discordance', 'pairs'),
    [(0.05, 0.10, 337), (0.05, 0.25, 817), (0.5, 0.5, 15), (1.0, 1.0, 6)],
)
def test_the_exact_test_needs_more_pairs_than_connor_says(difference, discordance, pairs):
    assert mcnemar_exact_sample_size(difference, discordance) == pairs
    assert pairs > mcnemar_sample_size(difference, discordance)
    assert mcnemar_power(pairs, difference, discordance) >= 0.8
    assert mcnemar_power(pairs - 1, difference, discordance) < 0.8


@pytest.mark.parametrize('rate', [0.0, 0.07, 0.5, 0.7, 1.0])
@pytest.mark.parametrize('half_width', [0.02, 0.05, 0.1, 0.31])
@pytest.mark.parametrize('confidence', [0.8, 0.95])
def test_the_wilson_size_is_the_first_of_all(rate, half_width, confidence):
    def half(n):
        low, high = wilson_interval(rate * n, n, confidence)
        return (high - low) / 2

    first = next(n for n in range(1, 5000) if half(n) <= half_width)
    assert wilson_sample_size(half_width, rate, confidence) == first


def test_five_points_of_one_rate():
    assert wilson_sample_size(0.05) == 381
    assert wilson_sample_size(0.05, 0.7) == wilson_sample_size(0.05, 0.3) == 320


@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        ((0.0, 0.1), 'difference is 0.0'),
        ((float('nan'), 0.1), 'difference is nan'),
        ((0.2, 0.1), 'discordance is 0.1; 0.2 to 1'),
        ((0.05, 0.1, 1.0), 'power is 1.0'),
        ((0.05, 0.1, 0.8, 0.0), 'alpha is 0.0'),
        ((0.05, 0.1, 0.001), 'power is 0.001'),
        ((1e-9, 0.1), 'more than 1e'),
    ],
)
def test_what_no_pairs_can_find_is_refused(arguments, expected):
    with pytest.raises(ValueRangeError, match=expected):
        mcnemar_sample_size(*arguments)


@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        ((0.0,), 'half_width is 0.0'),
        ((0.5,), 'half_width is 0.5'),
        ((float('nan'),), 'half_width is nan'),
        ((0.1, 1.2), 'rate is 1.2'),
        ((0.1, 0.5, 1.0), 'confidence is 1.0'),
        ((1e-8,), 'more than 1e'),
    ],
)
def test_a_width_that_cannot_be_is_refused(arguments, expected):
    with pytest.raises(ValueRangeError, match=expected):
        wilson_sample_size(*arguments)
