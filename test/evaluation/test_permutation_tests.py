# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact permutation tests against enumeration, SciPy and the binary tests that they contain."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import mcnemar_exact
from frame_ros.evaluation.statistics import permutation
from frame_ros.evaluation.statistics.permutation import permutation_p, sign_flip_p


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_flipped_signs_are_all_choices_of_signs(differences):
    values = np.array(differences)
    sums = [abs(int(values @ signs)) for signs in product((-1, 1), repeat=len(values))]
    expected = np.mean(np.array(sums) >= abs(int(values.sum())))
    assert sign_flip_p(values) == pytest.approx(expected, abs=1e-12)
    assert sign_flip_p(-values) == sign_flip_p(values)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_flipped_signs_of_one_stage_are_mcnemars_test(pairs):
    a, b = np.array(pairs, int).T
    assert sign_flip_p(a - b) == pytest.approx(mcnemar_exact(a, b), abs=1e-12)


def test_flipped_signs_of_many_pairs_equal_the_normal_limit():
    rng = np.random.default_rng(2)
    differences = rng.integers(-3, 4, 4000) + (rng.random(4000) < 0.02)
    z = abs(differences.sum()) / np.sqrt(np.square(differences).sum())
    assert sign_flip_p(differences) == pytest.approx(2 * stats.norm.sf(z), rel=0.02)


def sums_of(a: list[int], b: list[int]) -> np.ndarray:
    both = a + b
    return np.array([sum(both[i] for i in own) for own in combinations(range(len(both)), len(a))])


few = st.lists(st.integers(0, 3), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(few, few, few, few)
def test_permutations_within_strata_are_all_of_them(a, b, c, d):
    sums = (sums_of(a, b)[:, None] + sums_of(c, d)).ravel()
    observed = sum(a) + sum(c)
    expected = min(1.0, 2 * min(np.mean(sums <= observed), np.mean(sums >= observed)))
    assert permutation_p([(a, b), (c, d)]) == pytest.approx(expected, abs=1e-12)
    # Values that are shifted in a stratum, and one without a policy, change nothing.
    shifted = [(np.array(a) + 7, np.array(b) + 7), (c, d), ([1, 2], [])]
    assert permutation_p(shifted) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_one_stratum_of_successes_is_fishers_test(x, failures_a, y, failures_b):
    a, b = [1] * x + [0] * failures_a, [1] * y + [0] * failures_b
    tails = [
        stats.fisher_exact([[x, y], [failures_a, failures_b]], side).pvalue
        for side in ('less', 'greater')
    ]
    assert permutation_p([(a, b)]) == pytest.approx(min(1.0, 2 * min(tails)), abs=1e-11)


def test_strata_undo_what_unequal_objects_feign():
    """Simpson's paradox: equal on each object, far apart when objects are not looked at."""
    easy, hard = ([1] * 36 + [0] * 4, [1] * 9 + [0]), ([1] * 2 + [0] * 8, [1] * 8 + [0] * 32)
    assert permutation_p([easy, hard]) == 1.0
    pooled = [easy[0] + hard[0], easy[1] + hard[1]]
    assert permutation_p([pooled]) < 1e-3


def test_large_strata_are_normal(monkeypatch):
    rng = np.random.default_rng(3)
    strata = [(rng.integers(0, 4, 80), rng.integers(0, 4, 60) // (1 + (rng.random(60) < 0.2)))]
    exact = permutation_p(strata)
    monkeypatch.setattr(permutation, 'MOST_ADDITIONS', 0)
    assert (
        permutation_p(strata) == pytest.approx(exact, rel=0.03) and permutation_p(strata) != exact
    )
    monkeypatch.undo()
    large = [(np.repeat([0, 1, 2, 3], 900), np.repeat([0, 1, 2, 3], 900))]
    assert permutation_p(large) == 1.0


def test_nothing_to_exchange():
    assert permutation_p([]) == permutation_p([([2, 2], [2])]) == 1.0
    assert sign_flip_p([0, 0]) == 1.0
    with pytest.raises(ShapeError):
        sign_flip_p([])
    with pytest.raises(ValueRangeError, match='0.5'):
        sign_flip_p([1, 0.5])
    with pytest.raises(ValueRangeError):
        permutation_p([([0.5], [1])])
    with pytest.raises(ShapeError):
        permutation_p([([[1]], [1])])
