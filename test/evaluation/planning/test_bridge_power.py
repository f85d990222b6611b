# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Brownian-bridge model: Kolmogorov's distribution, power that rises, design effects."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, kstwobign

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.null_calibration.generated import GeneratedOptions, generated_cells
from frame_ros.evaluation.planning.bridge import BridgeModel, Bridges, Drift, drift_of, drifts_of
from frame_ros.evaluation.planning.design_effect import correlation_effect, fitted_effect
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.two_samples import ks_distance


def model_of(*heights, operations=1.0, **settings):
    """Differences of a triangle's shape, one object each."""
    levels = np.linspace(0.0, 1.0, 41)
    shape = 1.0 - np.abs(2.0 * levels - 1.0)
    drifts = {f'{k}': Drift(levels, h * shape, operations) for k, h in enumerate(heights)}
    return BridgeModel(drifts, **{'simulations': 2000, **settings})


@pytest.mark.parametrize('points', [12, 48])
def test_the_supremum_without_drift_has_kolmogorovs_distribution(points):
    bridges = Bridges(np.linspace(0.0, 1.0, points), 20_000, np.random.default_rng(7))
    # 1.63 / sqrt(20,000) is the 1 % limit of the distance.
    assert kstest(bridges.suprema(), kstwobign.cdf).statistic < 1.63 / math.sqrt(20_000)


def test_a_bridge_is_tied_down_and_has_its_variance():
    levels = np.array([0.0, 0.1, 0.5, 0.8, 1.0])
    values = Bridges(levels, 40_000, np.random.default_rng(3)).values
    assert np.abs(values[:, [0, -1]]).max() < 1e-12
    assert values.var(axis=0) == pytest.approx(levels * (1 - levels), abs=0.006)
    assert np.mean(values[:, 1] * values[:, 3]) == pytest.approx(0.1 * 0.2, abs=0.003)


def test_the_peak_between_levels_is_not_missed_with_drift():
    """A coarse grid gives the distribution of a fine one."""
    fine = np.linspace(0.0, 1.0, 129)
    drift = 1.5 * (1.0 - np.abs(2.0 * fine - 1.0))
    found = [
        Bridges(fine[::step], 10_000, np.random.default_rng(step)).suprema(drift[::step])
        for step in (1, 16)
    ]
    assert kstest(*found).statistic < 1.63 * math.sqrt(2.0 / 10_000)


def test_power_rises_with_episodes_and_with_the_difference():
    small, large = model_of(0.1, 0.2), model_of(0.2, 0.3)
    numbers = np.geomspace(1.0, 1000.0, 15)
    for model in (small, large):
        powers = [model.power(n) for n in numbers]
        assert (np.diff(powers) >= -0.01).all() and powers[0] < 0.2 and powers[-1] > 0.99
    assert all(large.power(n) >= small.power(n) - 0.01 for n in numbers)
    assert large.episodes() < small.episodes() < small.episodes(0.95)


def test_power_without_a_difference_is_alpha():
    model = model_of(0.0, 0.0, simulations=4000)
    for n in (1.0, 30.0, 1000.0):
        assert model.power(n) == pytest.approx(0.05, abs=0.001)
    assert model.episodes() == math.inf


def test_a_difference_of_half_the_size_needs_four_times_as_many():
    assert model_of(0.1).episodes() == pytest.approx(4.0 * model_of(0.2).episodes(), rel=0.003)


def test_independent_operations_count_as_episodes():
    assert model_of(0.2, operations=4.0).episodes() == pytest.approx(
        model_of(0.2).episodes() / 4.0, rel=0.003
    )


def test_one_bridge_with_a_large_drift_is_the_two_sample_test():
    """Power of the sup of a normal with drift at one level, from below."""
    model = model_of(0.3)
    n = model.episodes()
    # The largest difference is at level 1/2, of variance 1/4.
    least = 1.0 - 0.5 * math.erfc(-(1.358 - math.sqrt(n) * 0.3) / (0.5 * math.sqrt(2.0)))
    assert 0.81 >= least > 0.6


def test_the_drift_is_the_difference_of_the_estimates():
    random = np.random.default_rng(5)
    options = GeneratedOptions(objects=1, episodes=20)
    a, b = (generated_cells(options, random, slow)['object 1'] for slow in (1.0, 1.4))
    drift = drift_of(a, b, 60.0)
    assert np.abs(drift.differences).max() == pytest.approx(ks_distance(a, b, 60.0), abs=1e-12)
    assert drift.levels[0] == drift.differences[0] == 0.0 and (np.diff(drift.levels) >= 0).all()
    means = [len(cell.times) / 20 for cell in (a, b)]
    assert drift.operations == pytest.approx(1 / (1 / means[0] + 1 / means[1]))


def cell_of_groups(groups):
    times = np.concatenate(groups)
    sizes = [len(group) for group in groups]
    return Cell(times, np.ones(len(times), bool), np.repeat(np.arange(len(groups)), sizes))


def test_equal_operations_of_an_episode_count_as_one():
    cell = cell_of_groups([np.full(6, t) for t in np.arange(1.0, 40.0)])
    found = correlation_effect([cell])
    assert found.correlation == pytest.approx(1.0) and found.value == pytest.approx(6.0)


def test_independent_operations_have_no_design_effect():
    times = np.random.default_rng(1).exponential(10.0, (400, 6))
    assert correlation_effect([cell_of_groups(list(times))]).value == pytest.approx(1.0, abs=0.1)


def test_the_correlation_of_indicators_is_that_of_its_definition():
    """Two operations each: the intra-class correlation of sign patterns, by hand."""
    groups = [[1.0, 1.0], [1.0, 3.0], [3.0, 3.0], [3.0, 3.0]]
    # Indicators T <= 1: means 1, 1/2, 0, 0 of grand mean 3/8.
    between = 2 * sum((m - 0.375) ** 2 for m in (1.0, 0.5, 0.0, 0.0)) / 3
    within = 0.5 / 4
    expected = (between - within) / (between + within)
    found = correlation_effect([cell_of_groups([np.array(g) for g in groups])], 2.0)
    assert found.correlation == pytest.approx(expected)


def test_a_design_effect_is_found_again():
    models = [model_of(0.15, 0.2, operations=4.0), model_of(0.3, operations=4.0)]
    numbers = (5, 10, 20, 40)
    rates = [[model.power(n / 2.5) for n in numbers] for model in models]
    found = fitted_effect(models, [numbers] * 2, rates)
    assert found.value == pytest.approx(2.5, rel=0.05) and found.error < 0.02


def test_bad_values_are_refused():
    with pytest.raises(ValueRangeError, match='power is 0.01'):
        model_of(0.1).episodes(0.01)
    with pytest.raises(ValueRangeError, match='-1 episodes'):
        model_of(0.1).power(-1)
    with pytest.raises(ValueRangeError, match='not ascending'):
        Bridges([0.5, 0.2], 10, np.random.default_rng(0))
    with pytest.raises(ShapeError, match='share no object'):
        drifts_of({'a': None}, {'b': None})
    with pytest.raises(ShapeError, match='1 models, numbers and rates'):
        fitted_effect([model_of(0.1)], [[5, 10]], [[0.1]])
    with pytest.raises(ShapeError, match='no cells'):
        correlation_effect([])
