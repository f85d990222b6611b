# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds over the horizon, and with a false-alarm rate."""

from math import ceil

import numpy as np
import pytest

from frame_ros.confidence import (
    conformal_threshold,
    horizon_thresholds,
    rate_bound,
    required_episodes,
)
from frame_ros.confidence.conformal import conformal_rank
from frame_ros.confidence.thresholds import at_completion, points_at, threshold_at
from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError


def test_values_at_completion_are_the_newest_ones():
    assert list(at_completion(np.arange(4), 8)) == [0, 0, 0, 1, 1, 2, 2, 3]
    assert list(at_completion(np.arange(8), 4)) == [1, 3, 5, 7]
    assert list(at_completion(np.array([7.0]), 3)) == [7, 7, 7]
    # 0.07 * 100 is above 7 in floating point.
    assert list(at_completion(np.arange(100), 100)) == list(range(100))


def test_horizon_thresholds_are_quantiles_over_episodes():
    rng = np.random.default_rng(0)
    episodes = [rng.random(rng.integers(1, 30)) for _ in range(25)]
    found = horizon_thresholds(episodes, 0.1, points=10)
    for point in range(1, 11):
        values = [e[max(int(point * len(e) // 10) - 1, 0)] for e in episodes]
        assert found[point - 1] == pytest.approx(np.percentile(values, 10))


def test_the_threshold_of_a_completion():
    thresholds = np.arange(4) / 10.0
    completions = (-1.0, 0.0, 0.25, 0.26, 0.5, 1.0, 7.0)
    found = [threshold_at(thresholds, completion) for completion in completions]
    assert found == [0.0, 0.0, 0.0, 0.1, 0.1, 0.3, 0.3]


def test_horizon_thresholds_refuse_what_cannot_be():
    with pytest.raises(CalibrationError, match='no episodes'):
        horizon_thresholds([])
    with pytest.raises(ShapeError, match='not empty'):
        horizon_thresholds([[]])
    with pytest.raises(ValueRangeError, match='points is 1.5; a whole number of 1 or more'):
        horizon_thresholds([[0.5]], points=1.5)
    with pytest.raises(ValueRangeError, match='quantile is 1'):
        horizon_thresholds([[0.5]], quantile=1.0)


@pytest.mark.parametrize('alpha, needed', [(0.05, 19), (0.1, 9), (0.01, 99), (0.3, 3), (0.5, 1)])
def test_the_episodes_that_a_rate_needs(alpha, needed):
    assert required_episodes(alpha) == needed
    assert conformal_threshold(np.arange(needed), alpha) == needed - 1
    if needed > 1:
        with pytest.raises(CalibrationError, match=f'needs {needed}, and {needed - 1} allow'):
            conformal_threshold(np.arange(needed - 1), alpha)


def test_the_rate_of_one_set_of_episodes_is_bounded():
    # Of uniform scores the rate above a threshold is 1 less the threshold.
    rng = np.random.default_rng(0)
    rates = [1.0 - np.sort(rng.random(50))[44] for _ in range(4000)]
    assert np.mean(np.array(rates) <= rate_bound(50, 45, 0.9)) == pytest.approx(0.9, abs=0.02)
    with pytest.raises(ValueRangeError, match='rank 51 of 50'):
        rate_bound(50, 51)


@pytest.mark.parametrize('alpha, confidence, needed', [(0.05, 0.95, 59), (0.1, 0.9, 22)])
def test_a_rate_kept_with_confidence_needs_more_episodes(alpha, confidence, needed):
    assert required_episodes(alpha, confidence) == needed
    assert conformal_rank(needed, alpha, confidence) == needed
    with pytest.raises(CalibrationError, match=f'confidence {confidence}; it needs {needed}'):
        conformal_rank(needed - 1, alpha, confidence)
    for count in (needed, 100, 321):
        rank = conformal_rank(count, alpha, confidence)
        assert rate_bound(count, rank, confidence) <= alpha
        assert rate_bound(count, rank - 1, confidence) > alpha
    with pytest.raises(ValueRangeError, match='confidence is 1'):
        required_episodes(alpha, 1.0)


@pytest.mark.parametrize('confidence', [None, 0.9])
def test_no_episodes_allow_no_rate(confidence):
    with pytest.raises(CalibrationError, match='and 0 allow 1'):
        conformal_threshold([], 0.1, confidence)


@pytest.mark.parametrize('confidence', [None, 0.9])
def test_the_rate_that_is_named_as_allowed_is_allowed(confidence):
    """Of 8 episodes it is 1 / 9: 0.11, to the nearest digit, would be refused."""
    for count in range(1, 60):
        with pytest.raises(CalibrationError) as refused:
            conformal_rank(count, 1e-6, confidence)
        rate = float(str(refused.value).rpartition('allow ')[2])
        assert 1 <= conformal_rank(count, rate, confidence) <= count


def test_points_are_those_of_the_threshold_at_a_completion():
    completions = np.concatenate([np.arange(-5, 111) / 100.0, np.random.default_rng(0).random(99)])
    points = [threshold_at(range(100), float(each)) for each in completions]
    assert points_at(completions, 100).tolist() == points


def test_the_conformal_threshold_has_its_rank():
    scores = np.random.default_rng(1).permutation(100) + 1.0
    assert conformal_threshold(scores, 0.1) == ceil(101 * 0.9)
    assert conformal_threshold(scores, 0.05) == 96
    with pytest.raises(ValueRangeError, match='alpha is 0'):
        conformal_threshold(scores, 0.0)
    with pytest.raises(ValueRangeError, match='not finite'):
        conformal_threshold([1.0, float('nan')], 0.5)
