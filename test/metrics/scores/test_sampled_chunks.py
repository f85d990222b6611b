# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sampled chunks: spread, entropy and consistency against scipy, scikit-learn and plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from scipy.stats import multivariate_normal

from frame_ros import metrics
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.shrunk_covariance import ledoit_wolf

RNG = np.random.default_rng(0)


def draws(count=8, horizon=6, dimension=3, seed=0, scale=1.0):
    return np.random.default_rng(seed).normal(scale=scale, size=(count, horizon, dimension))


def plain_ledoit_wolf(samples):
    """Lemmas 3.2 to 3.4 of the paper as they stand, with its norm ||A||^2 = trace(A A') / D."""
    count, dimension = samples.shape
    centred = samples - samples.mean(axis=0)
    covariance = centred.T @ centred / count
    scale = np.trace(covariance) / dimension
    d2 = np.sum((covariance - scale * np.eye(dimension)) ** 2) / dimension
    b2 = sum(np.sum((np.outer(x, x) - covariance) ** 2) for x in centred) / dimension / count**2
    b2 = min(b2, d2)
    if not d2:
        return covariance, 0.0
    return b2 / d2 * scale * np.eye(dimension) + (1 - b2 / d2) * covariance, b2 / d2


@pytest.mark.parametrize('shape', [(2, 3), (5, 4), (40, 4), (400, 3), (10, 30), (6, 1)])
def test_shrinkage_is_that_of_the_paper_and_of_scikit_learn(shape):
    samples = RNG.normal(size=shape) * np.linspace(1, 4, shape[1]) + 5.0
    found = ledoit_wolf(samples)
    covariance, shrinkage = plain_ledoit_wolf(samples)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.mean, samples.mean(axis=0), rtol=1e-12)
    if shape[1] > 1:  # one dimension is a multiple of the identity, however much it shrinks
        assert found.shrinkage == pytest.approx(shrinkage, rel=1e-8, abs=1e-12)
    theirs = pytest.importorskip('sklearn.covariance').ledoit_wolf(samples)
    if shape[1] > 1:
        assert found.shrinkage == pytest.approx(theirs[1], rel=1e-8)
    np.testing.assert_allclose(found.covariance, theirs[0], rtol=1e-9, atol=1e-12)


def test_equal_samples_have_no_covariance():
    assert not ledoit_wolf(np.ones((4, 3))).covariance.any()


def test_batches_are_independent():
    samples = draws(7, 5, 4)
    found = ledoit_wolf(samples)
    for index, each in enumerate(samples):
        np.testing.assert_allclose(found.covariance[index], ledoit_wolf(each).covariance)


def test_spread_is_the_deviation_along_the_horizon_and_ev_its_mean():
    samples = draws(5, 9, 4)
    found = metrics.sample_spread(samples)
    np.testing.assert_allclose(found, samples.std(axis=0).mean(axis=1), rtol=1e-12)
    ev = metrics.ExecutionVariability()
    ev.update(samples)
    assert found.mean() == pytest.approx(ev.step, rel=1e-12)


def test_entropy_is_that_of_scipys_gaussian_at_each_step():
    samples = draws(12, 7, 4, scale=0.1)
    wanted = [
        multivariate_normal(cov=plain_ledoit_wolf(samples[:, step])[0]).entropy()
        for step in range(7)
    ]
    assert float(metrics.chunk_entropy(samples)) == pytest.approx(np.mean(wanted), rel=1e-9)


def test_entropy_of_many_samples_is_the_true_one():
    chol = np.array([[1.0, 0, 0], [0.5, 0.2, 0], [-0.3, 0.1, 2.0]])
    samples = draws(200_000, 1, 3) @ chol.T
    wanted = multivariate_normal(cov=chol @ chol.T).entropy()
    assert float(metrics.chunk_entropy(samples)) == pytest.approx(wanted, abs=0.01)


def test_entropy_moves_with_the_scale_and_not_with_the_place():
    samples = draws(6, 4, 3)
    entropy = float(metrics.chunk_entropy(samples))
    moved = float(metrics.chunk_entropy(10.0 * samples + np.arange(3)))
    assert moved == pytest.approx(entropy + 3 * math.log(10.0), rel=1e-9)


def test_a_dimension_that_stands_still_leaves_an_entropy_and_equal_samples_none():
    samples = draws(6, 4, 3)
    samples[..., 1] = 0.5
    assert math.isfinite(float(metrics.chunk_entropy(samples)))
    assert float(metrics.chunk_entropy(np.ones((6, 4, 3)))) == -math.inf


@pytest.mark.parametrize('library', ['numpy', 'torch'])
@pytest.mark.parametrize('dimension', [2, 3, 7, 14])
def test_samples_on_one_line_have_no_entropy_and_not_that_of_rounding(dimension, library):
    rng = np.random.default_rng(dimension)
    for _ in range(100):
        place, apart = rng.normal(size=(2, 1, dimension))
        line = np.stack([place - 0.1 * apart, place + 0.1 * apart])
        for samples in (line, np.concatenate([line, line, line])):
            if library == 'torch':
                samples = pytest.importorskip('torch').tensor(samples).float()
            assert float(metrics.chunk_entropy(samples)) == -math.inf
    assert math.isfinite(float(metrics.chunk_entropy(draws(3, 5, dimension))))
    assert math.isfinite(float(metrics.chunk_entropy(draws(2, 5, 1))))  # a line has a length
    line = np.tile(draws(2, 1, dimension), (10, 1, 1))
    with np.errstate(all='ignore'):  # squares that overflow
        mixed = metrics.chunk_entropy(np.concatenate([line, 1e150 * line], axis=1))
    assert not math.isfinite(float(mixed))


def plain_discrepancy(first, second, bandwidth=None):
    """Squared maximum mean discrepancy of two sets of rows by scipy's distances."""
    if bandwidth is None:
        apart = pdist(np.vstack([first, second]))
        bandwidth = np.median(apart[apart > 0])

    def mean(a, b):
        return np.exp(-cdist(a, b, 'sqeuclidean') / (2 * bandwidth**2)).mean()

    return mean(first, first) + mean(second, second) - 2 * mean(first, second)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(2, 9), st.integers(2, 9), st.integers(1, 8),
    st.integers(0, 9), st.sampled_from([None, 0.3, 2.0]),
)  # fmt: skip
def test_consistency_equals_a_plain_form(seed, count, before, horizon, shift, bandwidth):
    previous, current = draws(before, 7, 2, seed), draws(count, horizon, 2, seed + 1)
    found = float(metrics.statistical_consistency(previous, current, shift, bandwidth))
    steps = min(horizon, 7 - shift)
    if steps < 1:
        assert math.isnan(found)
        return
    first = previous[:, shift : shift + steps].reshape(before, -1)
    second = current[:, :steps].reshape(count, -1)
    assert found == pytest.approx(plain_discrepancy(first, second, bandwidth), rel=1e-9, abs=1e-12)


def test_consistency_of_the_same_plans_is_zero_and_of_others_is_not():
    plans = draws(16, 10, 3)
    same = np.roll(plans, -4, axis=1)  # the plan goes on: what is left of it is what was said
    assert float(metrics.statistical_consistency(plans, same, 4)) == pytest.approx(0.0, abs=1e-12)
    shuffled = same[np.random.default_rng(1).permutation(16)]
    assert float(metrics.statistical_consistency(plans, shuffled, 4)) < 1e-12
    other = float(metrics.statistical_consistency(plans, draws(16, 10, 3, 5), 4))
    moved = float(metrics.statistical_consistency(plans, same + 3.0, 4))
    assert 0 < other < moved <= 2
    # Deterministic policies: one plan, and two.
    one = np.repeat(plans[:1], 4, axis=0)
    assert float(metrics.statistical_consistency(one, one, 0)) == 0.0
    two = float(metrics.statistical_consistency(one, one + 1.0, 0))
    assert two == pytest.approx(2 - 2 * math.exp(-0.5))


def test_the_median_distance_makes_it_free_of_scale():
    a, b = draws(6, 5, 2, 1), draws(6, 5, 2, 2)
    wanted = float(metrics.statistical_consistency(a, b, 2))
    assert float(metrics.statistical_consistency(9 * a, 9 * b, 2)) == pytest.approx(wanted)
    assert float(metrics.statistical_consistency(9 * a, 9 * b, 2, 1.0)) != pytest.approx(wanted)


def test_streaming_consistency_is_of_successive_inferences():
    metric, previous = metrics.StatisticalConsistency(), None
    for index in range(5):
        samples = draws(4, 6, 2, index)
        metric.update(samples, index)
        if previous is None:
            assert math.isnan(metric.value)
        else:
            wanted = float(metrics.statistical_consistency(previous, samples, index))
            assert metric.value == wanted
        previous = samples
    with pytest.raises(ShapeError, match='2 and 3 dimensions'):
        metric.update(draws(4, 6, 3), 1)
    metric.reset_differences()
    assert math.isnan(metric.value) and metric.gaps == 1
    metric.update(draws(4, 6, 3))
    assert math.isnan(metric.value)


def test_chunk_consistency_by_hand():
    previous = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    current = np.array([[3.0, 4.0], [6.0, 4.0], [0.0, 0.0]])
    assert float(metrics.chunk_consistency(previous, current, 1)) == (0.0 + 4.0) / 2
    assert float(metrics.chunk_consistency(previous, current, 0)) == pytest.approx(
        (5.0 + 3.0 + 10.0) / 3
    )
    assert math.isnan(float(metrics.chunk_consistency(previous, current, 3)))
    assert float(metrics.chunk_consistency([[1], [2], [3]], [[2], [3]], 1)) == 0.0


def test_samples_without_a_discrepancy_have_none_and_warn_of_nothing(recwarn):
    metric = metrics.StatisticalConsistency()
    for seed in (0, 1):
        metric.update(draws(4, 3, 2, seed, 1e200), 1)
    assert math.isnan(metric.value) and not recwarn.list
    with pytest.raises(ValueRangeError, match='not finite'):
        metric.update(np.full((4, 3, 2), math.inf))
