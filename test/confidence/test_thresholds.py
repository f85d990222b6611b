# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds over the horizon, and with a false-alarm rate."""

from math import ceil

import numpy as np
import pytest

from frame_ros.confidence import (
    conformal_threshold,
    functional_band,
    horizon_thresholds,
    required_episodes,
)
from frame_ros.confidence.thresholds import at_completion, threshold_at
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
    with pytest.raises(ValueRangeError, match='quantile is 1'):
        horizon_thresholds([[0.5]], quantile=1.0)


@pytest.mark.parametrize('alpha, needed', [(0.05, 19), (0.1, 9), (0.01, 99), (0.3, 3), (0.5, 1)])
def test_the_episodes_that_a_rate_needs(alpha, needed):
    assert required_episodes(alpha) == needed
    assert conformal_threshold(np.arange(needed), alpha) == needed - 1
    if needed > 1:
        with pytest.raises(CalibrationError, match=f'needs {needed}, and {needed - 1} allow'):
            conformal_threshold(np.arange(needed - 1), alpha)


def test_the_conformal_threshold_has_its_rank():
    scores = np.random.default_rng(1).permutation(100) + 1.0
    assert conformal_threshold(scores, 0.1) == ceil(101 * 0.9)
    assert conformal_threshold(scores, 0.05) == 96
    with pytest.raises(ValueRangeError, match='alpha is 0'):
        conformal_threshold(scores, 0.0)
    with pytest.raises(ValueRangeError, match='not finite'):
        conformal_threshold([1.0, float('nan')], 0.5)


def deployments(count, episodes, points, alpha, band, seed):
    """Share of deployments, each with calibration episodes of its own, with a false alarm."""
    rng = np.random.default_rng(seed)
    alarms = 0
    for _ in range(count):
        walks = rng.normal(size=(episodes + 1, points)).cumsum(axis=1)
        new = walks[-1]
        if band:
            alarms += bool((new > functional_band(walks[:-1], alpha).upper).any())
        else:
            alarms += bool(new.max() > conformal_threshold(walks[:-1].max(axis=1), alpha))
    return alarms / count


@pytest.mark.parametrize('band', [False, True])
def test_false_alarms_come_at_the_rate_that_was_asked_for(band):
    alpha, count = 0.1, 1000
    found = deployments(count, 39 if not band else 58, 50, alpha, band, seed=7)
    # 39, and of 58 the 29 for the width, make the rate exactly 0.1. 99.9 % interval: 3.29 sigma.
    assert abs(found - alpha) < 3.29 * np.sqrt(alpha * (1 - alpha) / count)


def test_a_band_needs_episodes_for_shape_and_width():
    walks = np.random.default_rng(0).normal(size=(20, 30))
    with pytest.raises(CalibrationError, match='it needs 21: 2 for its shape and 19'):
        functional_band(walks, 0.05)
    band = functional_band(np.vstack([walks, walks[:1]]), 0.05)
    assert (band.fitted, band.calibrated) == (2, 19)
    assert band.upper == pytest.approx(band.centre + band.width * band.scale)
    with pytest.raises(ShapeError):
        functional_band(walks[0], 0.05)
    with pytest.raises(ValueRangeError, match='share_for_shape'):
        functional_band(walks, 0.2, 1.0)


def test_a_band_follows_the_horizon():
    rng = np.random.default_rng(3)
    rising = np.linspace(0.0, 5.0, 40) + rng.normal(0.0, 0.1, (60, 40))
    band = functional_band(rising, 0.1)
    assert np.corrcoef(band.upper, np.arange(40))[0, 1] > 0.99
    assert band.upper[0] < 1.0 < 4.0 < band.upper[-1]
