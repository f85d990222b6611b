# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Success, completion and action error against hand-worked values and scipy."""

import numpy as np
import pytest
from scipy import stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    amse,
    mse,
    namse,
    success_rate,
    task_completion_rate,
    wilson_interval,
)


def test_success_rate_counts_successes():
    assert success_rate([True, False, True, True]) == 0.75
    np.testing.assert_array_equal(success_rate(np.array([[1, 0], [0, 0]])), [0.5, 0.0])


def test_success_rate_refuses_no_trials_and_other_values():
    with pytest.raises(ShapeError, match='at least 1 trial'):
        success_rate([])
    with pytest.raises(ValueRangeError, match='0 and 1'):
        success_rate([0, 2])


def test_task_completion_rate_divides():
    assert task_completion_rate(3, 4) == 0.75
    np.testing.assert_array_equal(
        task_completion_rate(np.array([1, 2]), np.array([2, 2])), [0.5, 1]
    )
    with pytest.raises(ValueRangeError, match='5 completed of 4'):
        task_completion_rate(5, 4)
    with pytest.raises(ValueRangeError):
        task_completion_rate(0, 0)


@pytest.mark.parametrize('trials', [1, 7, 50])
@pytest.mark.parametrize('confidence', [0.8, 0.95, 0.99])
def test_wilson_interval_equals_scipy(trials, confidence):
    for successes in range(trials + 1):
        wanted = stats.binomtest(successes, trials).proportion_ci(confidence, method='wilson')
        low, high = wilson_interval(successes, trials, confidence)
        assert low == pytest.approx(wanted.low, abs=1e-12)
        assert high == pytest.approx(wanted.high, abs=1e-12)
        assert 0.0 <= low <= successes / trials <= high <= 1.0


@pytest.mark.parametrize('arguments', [(1, 0), (-1, 3), (4, 3), (1, 2, 1.0), (float('nan'), 3)])
def test_wilson_interval_refuses_impossible_counts(arguments):
    with pytest.raises(ValueRangeError):
        wilson_interval(*arguments)


def test_mse_sums_over_dimensions_and_averages_over_steps():
    actions = np.array([[1.0, 2.0], [3.0, 4.0]])
    predicted = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert mse(actions, predicted) == (4.0 + 25.0) / 2.0


def test_amse_weighs_trajectories_alike_and_namse_divides_by_the_variance_of_all_entries():
    truths = [np.array([[0.0], [2.0]]), np.array([[4.0], [4.0], [4.0]])]
    pairs = [(truth, truth + offset) for truth, offset in zip(truths, (1.0, 3.0), strict=True)]
    assert amse(pairs) == (1.0 + 9.0) / 2.0
    assert namse(iter(pairs)) == pytest.approx(5.0 / np.var([0.0, 2.0, 4.0, 4.0, 4.0]))


def test_namse_of_constant_ground_truth_is_not_available():
    assert np.isnan(namse([(np.ones((3, 2)), np.zeros((3, 2)))]))
    # The mean of so many equal values may be another number than these.
    for value, steps in ((0.1, 7), (0.3, 30), (0.3, 1000), (1e6 + 0.1, 30)):
        truth = np.full((steps, 7), value)
        assert np.isnan(namse([(truth, truth + 1.0)]))


def test_action_errors_refuse_shapes_that_differ_and_nothing_at_all():
    with pytest.raises(ShapeError, match=r'\(2, 2\).*\(3, 2\)'):
        mse(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(ShapeError, match='at least one pair'):
        amse([])
