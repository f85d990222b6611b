# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recalibrators against scipy's optimiser, hand-worked numbers and their own files."""

import json

import numpy as np
import pytest
from scipy import optimize

from frame_ros.confidence import (
    ActionWisePlattScaling,
    ActionWiseTemperatureScaling,
    HistogramBinning,
    IsotonicScaling,
    PlattBinning,
    PlattScaling,
    Recalibrator,
    TemperatureScaling,
    expected_calibration_error,
    horizon_thresholds,
)
from frame_ros.confidence.recalibration.recalibrator import kinds
from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError

SINGLE = [PlattScaling, HistogramBinning, PlattBinning, IsotonicScaling]


def overconfident(count=400, seed=0):
    rng = np.random.default_rng(seed)
    confidences = rng.random(count)
    return confidences, rng.random(count) < confidences**3


def largest_at(logits, temperature):
    grown = np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    return grown.max(axis=-1) / grown.sum(axis=-1)


def test_platt_scaling_is_of_largest_likelihood():
    confidences, outcomes = overconfident()

    def loss(found):
        score = found[0] * confidences + found[1]
        return np.logaddexp(0.0, score).sum() - score[outcomes].sum()

    expected = optimize.minimize(loss, [0.0, 0.0], method='BFGS', options={'gtol': 1e-7}).x
    fitted = PlattScaling().fit(confidences, outcomes)
    assert (fitted.alpha, fitted.beta) == pytest.approx(tuple(expected), rel=1e-4)
    assert not fitted.notes
    assert loss([fitted.alpha, fitted.beta]) <= loss(expected) + 1e-9


@pytest.mark.parametrize('turned', [False, True])
def test_separated_data_are_fitted_with_smoothed_targets_and_that_is_noted(turned):
    confidences = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    outcomes = (confidences > 0.5) != turned
    fitted = PlattScaling().fit(confidences, outcomes)
    assert 'no finite solution' in fitted.notes[0]
    assert 0.0 < fitted.predict([0.0])[0] < 1.0
    assert (fitted.alpha < 0.0) == turned


def test_histogram_binning_by_hand():
    fitted = HistogramBinning(2).fit([0.1, 0.2, 0.8, 0.9], [False, True, True, True])
    assert fitted.upper == pytest.approx([0.5, 1.0])
    assert list(fitted.predict([0.0, 0.5, 0.51, 1.0])) == [0.5, 0.5, 1.0, 1.0]


def test_platt_binning_gives_the_mean_of_the_scaled_values_of_each_bin():
    confidences, outcomes = overconfident(120)
    scaled = PlattScaling().fit(confidences, outcomes).predict(confidences)
    fitted = PlattBinning(4).fit(confidences, outcomes)
    order = np.argsort(confidences)
    expected = [scaled[part].mean() for part in np.array_split(order, 4)]
    assert sorted(set(np.round(fitted.predict(confidences), 12))) == pytest.approx(expected)


def test_isotonic_scaling_is_the_best_curve_that_never_falls():
    fitted = IsotonicScaling().fit([0.1, 0.2, 0.3, 0.4, 0.4], [0, 1, 0, 1, 0])
    # Pools of equal level: 0.2 and 0.3 at 1/2, 0.4 (twice) at 1/2.
    assert fitted.predict([0.1, 0.2, 0.3, 0.4]) == pytest.approx([0.0, 0.5, 0.5, 0.5])
    assert fitted.predict([0.15, 0.0, 1.0]) == pytest.approx([0.25, 0.0, 0.5])
    confidences, outcomes = overconfident()
    assert (np.diff(IsotonicScaling().fit(confidences, outcomes).values) >= 0.0).all()


def test_temperature_scaling_finds_the_temperature_of_the_outcomes():
    rng = np.random.default_rng(1)
    logits = rng.normal(0.0, 3.0, (6000, 5, 16))
    outcomes = rng.random(6000) < largest_at(logits, 2.5).mean(axis=1)
    fitted = TemperatureScaling().fit(logits, outcomes)
    assert fitted.temperature == pytest.approx(2.5, rel=0.1)
    assert fitted.predict(logits) == pytest.approx(
        largest_at(logits, fitted.temperature).mean(axis=1)
    )
    grid = np.geomspace(0.25, 8.0, 21)
    largest = np.stack([largest_at(logits, each) for each in grid], axis=-1)
    by_grid = TemperatureScaling().fit(largest, outcomes, grid)
    assert by_grid.temperature == pytest.approx(fitted.temperature, rel=0.03)
    assert by_grid.predict(largest, grid) == pytest.approx(fitted.predict(logits), abs=0.01)
    padded = np.concatenate([largest, np.full((6000, 2, 21), np.nan)], axis=1)
    assert by_grid.predict(padded, grid) == pytest.approx(by_grid.predict(largest, grid))


def test_action_wise_temperatures_differ_where_dimensions_do():
    rng = np.random.default_rng(2)
    grid = np.geomspace(0.25, 8.0, 21)
    logits = rng.normal(0.0, 3.0, (4000, 2, 16))
    logits[:, 1] *= 2.0
    outcomes = rng.random(4000) < largest_at(logits[:, 0], 2.0)
    largest = np.stack([largest_at(logits, each) for each in grid], axis=-1)
    fitted = ActionWiseTemperatureScaling().fit(largest, outcomes, grid)
    assert fitted.dimensions[0] < fitted.dimensions[1]
    alone = TemperatureScaling().fit(largest[:, [0]], outcomes, grid)
    assert fitted.dimensions[0] == alone.temperature
    with pytest.raises(ShapeError, match='2 were fitted'):
        fitted.predict(largest[:, [0]], grid)


def test_a_best_temperature_at_the_end_of_the_grid_is_noted():
    rng = np.random.default_rng(4)
    logits = rng.normal(0.0, 8.0, (300, 3, 8))
    outcomes = rng.random(300) < 0.2
    grid = [0.5, 1.0, 2.0]
    largest = np.stack([largest_at(logits, each) for each in grid], axis=-1)
    assert 'end of the range' in TemperatureScaling().fit(largest, outcomes, grid).notes[0]


def opposite_bias(count, rng):
    """Confidences of two dimensions, one too sure and one too doubtful, and outcomes."""
    chance = rng.random(count)
    noise = rng.normal(0.0, 0.05, (2, count))
    columns = np.stack([chance**0.25 + noise[0], chance**4 + noise[1]], axis=1)
    return np.clip(columns, 0.0, 1.0), rng.random(count) < chance


def test_action_wise_platt_scaling_is_the_mean_of_one_curve_per_dimension():
    rng = np.random.default_rng(6)
    confidences, outcomes = opposite_bias(500, rng)
    fitted = ActionWisePlattScaling().fit(confidences, outcomes)
    each = [PlattScaling().fit(column, outcomes).predict(column) for column in confidences.T]
    assert fitted.predict(confidences) == pytest.approx(np.mean(each, axis=0))


def test_a_dimension_that_never_varies_is_left_out_and_named():
    confidences, outcomes = overconfident(100)
    both = np.stack([np.full(100, 0.7), confidences], axis=1)
    fitted = ActionWisePlattScaling().fit(both, outcomes)
    assert fitted.notes == ['dimension 0: its confidence never varied; it is left out']
    expected = PlattScaling().fit(confidences, outcomes).predict(confidences)
    assert fitted.predict(both) == pytest.approx(expected)
    copy = Recalibrator.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert copy.predict(both) == pytest.approx(expected)


@pytest.mark.parametrize('kind', SINGLE)
def test_recalibration_cuts_the_error_on_new_episodes(kind):
    fitted = kind().fit(*overconfident(seed=1))
    confidences, outcomes = overconfident(4000, seed=2)
    before = expected_calibration_error(confidences, outcomes)
    assert expected_calibration_error(fitted.predict(confidences), outcomes) < 0.4 * before


@pytest.mark.parametrize('kind', SINGLE)
def test_a_file_gives_the_same_recalibrator(kind):
    confidences, outcomes = overconfident()
    fitted = kind().fit(confidences, outcomes)
    copy = Recalibrator.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert type(copy) is kind
    assert (copy.predict(confidences) == fitted.predict(confidences)).all()


def test_every_kind_has_a_name_of_its_own():
    names = [each.kind for each in kinds()]
    assert len(set(names)) == len(names) == 7


@pytest.mark.parametrize(
    'values, text',
    [
        ({}, 'of kind None'),
        ({'kind': 'spline'}, "of kind 'spline'; expected: .*platt"),
        ({'kind': 'platt', 'alpha': 1.0}, "lacks 'beta'"),
        ({'kind': 'platt', 'alpha': 'x', 'beta': 0.0}, "'alpha' .* no list of finite numbers"),
        ({'kind': 'temperature', 'temperature': -1.0}, 'not above 0'),
        ({'kind': 'isotonic', 'points': [0.5, 0.1], 'values': [0, 1]}, 'do not increase'),
        ({'kind': 'histogram_binning', 'upper': [0.5], 'values': [0.1]}, 'up to 1'),
        ({'kind': 'histogram_binning', 'upper': [1.0], 'values': [7.0]}, 'probabilities'),
        ({'kind': 'isotonic', 'points': [0.1, 0.5], 'values': [-1, 1]}, 'probabilities'),
        ({'kind': 'action_wise_platt', 'dimensions': 3}, 'no list of curves'),
    ],
)
def test_files_that_cannot_be_are_refused(values, text):
    with pytest.raises(CalibrationError, match=text):
        Recalibrator.from_dict(values)


@pytest.mark.parametrize('kind', SINGLE)
@pytest.mark.parametrize(
    'confidences, outcomes, text',
    [
        ([0.1, 0.5], [True, True], 'all 2 outcomes are successes'),
        ([0.1, 0.5], [False, False], 'all 2 outcomes are failures'),
        ([0.4, 0.4], [True, False], 'all 2 confidences are 0.4'),
    ],
)
def test_data_that_cannot_be_fitted_are_refused(kind, confidences, outcomes, text):
    with pytest.raises(CalibrationError, match=text):
        kind().fit(confidences, outcomes)
    with pytest.raises(CalibrationError, match='has not been fitted'):
        kind().predict(confidences)


def test_a_curve_that_falls_is_noted():
    confidences, outcomes = overconfident()
    assert 'the curve falls' in PlattScaling().fit(1.0 - confidences, outcomes).notes[0]
    both = np.stack([confidences, 1.0 - confidences], axis=1)
    notes = ActionWisePlattScaling().fit(both, outcomes).notes
    assert len(notes) == 1 and notes[0].startswith('dimension 1: the curve falls')


def test_confidences_that_hardly_differ_are_fitted():
    values = [0.0, 0.0, 1e-200, 1e-200, 1e-200]
    fitted = PlattScaling().fit(values, [False, True, False, True, True])
    assert fitted.predict([0.0, 1e-200]) == pytest.approx([1 / 2, 2 / 3])


def test_logits_that_no_temperature_fits_are_refused():
    logits = np.random.default_rng(0).normal(size=(4, 2, 3))
    outcomes = [True, False, True, False]
    logits[1, 0] = np.nan
    assert TemperatureScaling().fit(logits, outcomes).temperature > 0.0
    for fit in (
        TemperatureScaling().fit,
        lambda *given: TemperatureScaling().fit(*given, [1, 2, 3]),
    ):
        none = np.clip(np.abs(logits), 0.0, 1.0)
        none[1] = np.nan
        with pytest.raises(ValueRangeError, match='inference 1 has no token'):
            fit(none, outcomes)
        none[1, 0, 0] = 0.0
        with pytest.raises(ValueRangeError, match='NaN in part'):
            fit(none, outcomes)
    with pytest.raises(CalibrationError, match='the same at every temperature'):
        TemperatureScaling().fit(np.zeros((4, 2, 3)), outcomes)


def test_torch_tensors_are_taken():
    torch = pytest.importorskip('torch')
    confidences, outcomes = overconfident(50)
    expected = PlattScaling().fit(confidences, outcomes).alpha
    assert PlattScaling().fit(torch.tensor(confidences), torch.tensor(outcomes)).alpha == expected


def of_torch(kind):
    """A fitted recalibrator, and what it predicts of."""
    confidences, outcomes = overconfident(60)
    if kind in SINGLE:
        return kind().fit(confidences, outcomes), confidences, ()
    values = np.stack([confidences, confidences**2], axis=1)
    if kind is ActionWisePlattScaling:
        return kind().fit(values, outcomes), values, ()
    at = np.stack([values**0.5, values, values**2], axis=-1)
    return kind().fit(at, outcomes, [0.5, 1.0, 2.0]), at, ([0.5, 1.0, 2.0],)


@pytest.mark.parametrize('kind', kinds(), ids=lambda kind: kind.kind)
def test_of_torch_tensors_predictions_are_torch_tensors(kind):
    torch = pytest.importorskip('torch')
    fitted, values, rest = of_torch(kind)
    expected = fitted.predict(values, *rest)
    assert type(expected) is np.ndarray and expected.dtype == np.float64
    given = torch.tensor(values, requires_grad=True)
    found = fitted.predict(given, *rest)
    assert found.dtype == torch.float64 and not found.requires_grad
    np.testing.assert_array_equal(found.numpy(), expected)
    found = fitted.predict(given.float(), *rest)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_thresholds_of_torch_tensors_are_a_torch_tensor():
    torch = pytest.importorskip('torch')
    episodes = [[0.2, 0.8], [0.5, 0.4, 0.9]]
    found = horizon_thresholds([torch.tensor(each) for each in episodes], points=4)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), horizon_thresholds(episodes, points=4), atol=1e-6)
    assert horizon_thresholds([torch.tensor([0, 1])]).dtype == torch.float64


def test_an_error_names_the_recalibrator_that_was_not_fitted():
    for kind in kinds():
        with pytest.raises(CalibrationError, match=f'recalibrator {kind.kind} has not been fitted'):
            kind().to_dict()
