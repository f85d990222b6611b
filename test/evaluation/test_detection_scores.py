# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores of detectors and distances: hand-worked, against loops, and against scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.detection_scores import (
    detection_score,
    distance_score,
    match_detections,
    poisson_rate_interval,
)


def test_each_true_interval_is_detected_once_and_the_rest_are_false_alarms():
    truth = [(1.0, 2.0), (4.0, 5.0), (8.0, 9.0)]
    found = match_detections(truth, [0.5, 1.02, 1.5, 5.05, 8.5], late=0.1)
    np.testing.assert_allclose(found.latencies, [0.02, 1.05, 0.5])
    assert found.false_alarms.tolist() == [0.5]
    assert (found.fragments, found.detections) == (1, 3)


def test_a_detector_that_is_on_already_detects_nothing():
    found = match_detections([(1.0, 2.0)], [(0.2, 3.0)])
    assert np.isnan(found.latencies).all()
    assert found.false_alarms.tolist() == [0.2]


@given(st.integers(0, 2**32 - 1))
def test_it_equals_a_loop(seed):
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.uniform(0, 100, 2 * rng.integers(0, 8)))
    truth, begins = edges.reshape(-1, 2), np.sort(rng.uniform(0, 100, rng.integers(0, 20)))
    late = rng.uniform(0, 3)
    found = match_detections(truth, begins, late=late)
    latencies, alarms, fragments = [math.nan] * len(truth), [], 0
    for begin in begins:
        rows = [i for i, (a, b) in enumerate(truth) if a <= begin <= b + late]
        newest = [i for i, (a, _) in enumerate(truth) if a <= begin][-1:]
        if not rows or newest != rows[-1:]:
            alarms.append(begin)
        elif math.isnan(latencies[rows[-1]]):
            latencies[rows[-1]] = begin - truth[rows[-1]][0]
        else:
            fragments += 1
    np.testing.assert_allclose(found.latencies, latencies)
    assert found.false_alarms.tolist() == alarms
    assert found.fragments == fragments


def test_a_score_puts_trials_together():
    trials = [
        match_detections([(1.0, 2.0)], [1.1]),
        match_detections([(1.0, 2.0)], []),
        match_detections([], [3.0]),
    ]
    score = detection_score(trials, 7200.0)
    assert (score.trials, score.detections, score.recall) == (2, 1, 0.5)
    assert (score.precision, score.latency) == (0.5, pytest.approx(0.1))
    assert (score.false_alarms, score.per_hour) == (1, 0.5)
    assert math.isnan(detection_score([], 0.0).per_hour)


@pytest.mark.parametrize('count', [0, 1, 7])
def test_the_interval_of_a_rate_is_where_the_tails_are_equal(count):
    low, high = poisson_rate_interval(count, 5.0)
    assert poisson.cdf(count, high * 5.0) == pytest.approx(0.025)
    if count:
        assert poisson.sf(count - 1, low * 5.0) == pytest.approx(0.025)
    else:
        assert low == 0.0


def test_distances_that_are_too_far_are_told_from_those_too_near():
    truth = np.full(100, 0.2)
    measured = truth + np.linspace(-0.03, 0.0, 100)
    measured[0], measured[1] = 0.215, math.nan
    score = distance_score(measured, truth)
    assert (score.frames, score.unavailable) == (99, 1)
    assert score.too_far == pytest.approx(1 / 99)
    assert score.worst_too_far == pytest.approx(0.015)
    errors = np.abs(measured - truth)
    assert score.median == pytest.approx(np.nanmedian(errors))
    assert score.percentile_99 == pytest.approx(np.nanquantile(errors, 0.99))


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueRangeError, match='do not overlap'):
        match_detections([(0.0, 2.0), (1.0, 3.0)], [])
    with pytest.raises(ShapeError):
        match_detections([1.0, 2.0, 3.0], [])
    with pytest.raises(ValueRangeError, match='tolerances'):
        match_detections([], [], late=-1.0)
    with pytest.raises(ShapeError):
        distance_score([0.1], [0.1, 0.2])
    with pytest.raises(ValueRangeError, match='left?|finite'):
        distance_score([0.1], [math.inf])
