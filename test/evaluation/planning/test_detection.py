# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection rates by subsampling, and the smallest number that reaches one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.null_calibration.generated import GeneratedOptions, generated_cells
from frame_ros.evaluation.planning.detection import (
    DetectionCurve,
    detection_curves,
    isotonic,
    usual_numbers,
    usual_thresholds,
)
from frame_ros.evaluation.planning.pooled_tests import KS, RMST, trial_p_values
from frame_ros.evaluation.survival.macro_ks import macro_ks, pooled_null, resampled_p
from frame_ros.evaluation.survival.pool import pool_of

OPTIONS = GeneratedOptions(objects=2, episodes=12, operations=4)


def cells(slower=1.0, seed=0):
    return generated_cells(OPTIONS, np.random.default_rng(seed), slower)


def test_the_rate_between_equal_episodes_is_at_most_alpha():
    """Both policies are the same recorded episodes: the subsamples differ by chance only. Equal
    permutations count against a difference, so the exact test stays below the level.
    """
    curves = detection_curves(cells(), cells(), [10], trials=300, resamples=99, alpha=0.1)
    for curve in curves.values():
        low, high = curve.intervals[0]
        assert low <= 0.1 and high >= 0.05, (curve.test, curve.rates)


def test_rates_are_of_the_test_that_compare_decides_by():
    """Three episodes against three have 20 permutations, and p of at least 2/20: no difference can
    be found at 0.05. Resamples with replacement call one certain here.
    """
    a, b = (
        {'cube': (np.full(6, time) + 0.01 * np.arange(6), np.ones(6, np.bool_))}
        for time in (1.0, 50.0)
    )
    curve = detection_curves(a, b, [3, 4], trials=40, resamples=400)[KS]
    assert curve.rates.tolist() == [0.0, 1.0]
    assert curve.smallest(0.8).episodes == 4


def test_rates_rise_with_episodes_and_with_the_difference():
    numbers = [3, 8, 16]
    found = {
        slower: detection_curves(cells(), cells(slower, 1), numbers, trials=100, resamples=60)
        for slower in (1.5, 3.0)
    }
    for test in (KS, RMST):
        small, large = found[1.5][test].rates, found[3.0][test].rates
        assert (np.diff(small) > -0.1).all() and (np.diff(large) > -0.1).all()
        assert (large >= small - 0.05).all() and large[-1] > large[0] + 0.05


def test_the_same_seed_gives_the_same_rates_with_any_number_of_threads():
    first, second = (
        detection_curves(cells(), cells(1.3, 1), [5], trials=20, resamples=30, workers=workers)
        for workers in (1, 3)
    )
    assert list(first) == list(second)
    assert all((first[test].rates == second[test].rates).all() for test in first)


def test_p_values_are_those_of_the_macro_ks_test():
    a, b = cells(), cells(1.3, 1)
    pools = {name: pool_of(a[name], b[name]) for name in a}
    arms = [
        {name: np.arange(12, dtype=np.int32)[None] + begin for name in pools} for begin in (0, 12)
    ]
    p = trial_p_values(pools, *arms, 100.0, (10.0,), 2000, np.random.default_rng(1))
    assert p[KS][0] == pytest.approx(macro_ks(a, b, 100.0, 2000).p, abs=0.04)
    null = np.mean([pooled_null(a[n], b[n], 100.0, 2000, 3).rmst_difference for n in a], axis=0)
    observed = np.mean(
        [pool_difference(pools[name], arms[0][name], arms[1][name]) for name in pools]
    )
    assert p[RMST][0] == pytest.approx(resampled_p(abs(observed), abs(null)), abs=0.1)
    assert list(p) == [KS, RMST, 'success at 10 s']
    settings = 100.0, (10.0,), 2000, np.random.default_rng(1)
    exact = trial_p_values(pools, *arms, *settings, has_replacement=False)
    expected = macro_ks(a, b, 100.0, 2000, has_replacement=False).p
    assert exact[KS][0] == pytest.approx(expected, abs=0.04)


def test_thresholds_that_are_near_each_other_are_tests_of_their_own():
    times = 12.31, 12.34, 1000.0, 1001.0
    curves = detection_curves(cells(), cells(2.0), [4], thresholds=times, trials=10, resamples=30)
    assert [name for name in curves if name.startswith('success')] == [
        f'success at {time:g} s' for time in times
    ]


def pool_difference(pool, first, second):
    from frame_ros.evaluation.survival.pool import arm_statistics

    return arm_statistics(pool, first, second, 100.0).rmst_difference[0]


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_rising_values_are_the_nearest(values):
    found = isotonic(values)
    assert (np.diff(found) >= -1e-12).all()
    assert found.mean() == pytest.approx(np.mean(values))
    # The min-max formula of the least-squares fit.
    for i in range(len(values)):
        expected = max(
            min(np.mean(values[s : e + 1]) for e in range(i, len(values))) for s in range(i + 1)
        )
        assert found[i] == pytest.approx(expected)


def test_the_smallest_number_lies_between_those_tried():
    curve = DetectionCurve('t', (10, 20, 40), np.array([0.4, 0.6, 1.0]), 300)
    found = curve.smallest(0.8)
    assert found.episodes == 30 and found.low < 30 < found.high <= 40
    assert curve.smallest(0.4).episodes == 10


def test_a_number_that_no_rate_reaches_is_none():
    curve = DetectionCurve('t', (10, 20), np.array([0.3, 0.78]), 50)
    found = curve.smallest(0.8)
    assert found.episodes is None and found.high is None and found.low <= 20


def test_usual_numbers_and_thresholds_are_of_what_there_is():
    pairs = {name: (cell, cell) for name, cell in cells().items()}
    assert usual_numbers(pairs) == (3, 6, 12, 18, 24)
    low, high = usual_thresholds(pairs, 240.0)
    assert 0.0 < low < high < 240.0
    assert max(usual_thresholds(pairs, 5.0)) <= 5.0


def test_policies_without_a_common_object_are_refused():
    with pytest.raises(ShapeError, match='share no object'):
        detection_curves({'a': cells()['object 1']}, {'b': cells()['object 1']})
