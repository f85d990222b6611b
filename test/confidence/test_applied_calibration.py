# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibration applied to single inferences: the numbers of a batch, or the reason for none."""

import json

import attrs
import numpy as np
import pytest

from frame_ros.confidence import (
    ActionWisePlattScaling,
    ActionWiseTemperatureScaling,
    IsotonicScaling,
    PlattScaling,
    TemperatureScaling,
)
from frame_ros.confidence.applied_calibration import AppliedCalibration
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import ScoreStatistics
from frame_ros.confidence.dimension_confidence import recalibration_values
from frame_ros.confidence.fingerprint import Fingerprint

GRID = np.array([0.5, 1.0, 2.0])
KNOWN = Fingerprint(
    weights='ab', control_rate=30.0, cameras={'front': (640, 480)}, joints=('a', 'b'),
    instructions=('Pick.',), confidence_aggregate='mean',
)  # fmt: skip
INFERENCE = {
    'policy_fingerprint': json.dumps(
        {'weights': 'ab', 'control_rate': 30.0, 'cameras': {'front': [640, 480]}}
    ),
    'instruction': 'Pick.',
    'action_names': ('a', 'b'),
}


def _inferences(count=60, steps=4, dimensions=3):
    """Token statistics of inferences, and outcomes that go with their confidence."""
    rng = np.random.default_rng(2)
    tokens = steps * dimensions
    for _ in range(count):
        chosen = rng.random(tokens)
        table = np.sort(rng.random((tokens, len(GRID))), axis=1)[:, ::-1]
        yield (
            {
                'token_chosen_probability': chosen,
                'token_dimension': np.tile(np.arange(dimensions), steps),
                'temperatures': GRID,
                'token_max_at_temperature': table.ravel(),
            },
            bool(rng.random() < chosen.mean()),
        )


def _fitted(kind, rows, outcomes):
    confidences = np.array([tokens['token_chosen_probability'].mean() for tokens in rows])
    found = [recalibration_values(tokens) for tokens in rows]
    grids = {
        ActionWisePlattScaling: ('dimension_confidence', ()),
        ActionWiseTemperatureScaling: ('dimension_at_temperature', (GRID,)),
        TemperatureScaling: ('at_temperature', (GRID,)),
    }
    if kind not in grids:
        return kind().fit(confidences, outcomes), (confidences,)
    name, grid = grids[kind]
    values = np.stack([each[name] for each in found])
    values = values[:, None] if kind is TemperatureScaling else values
    return kind().fit(values, outcomes, *grid), (values, *grid)


@pytest.mark.parametrize(
    'kind',
    [
        PlattScaling, IsotonicScaling, ActionWisePlattScaling, TemperatureScaling,
        ActionWiseTemperatureScaling,
    ],
)  # fmt: skip
def test_single_inferences_get_the_probability_of_a_batch(kind):
    rows, outcomes = zip(*_inferences())
    made, arguments = _fitted(kind, rows, outcomes)
    applied = AppliedCalibration(CalibrationFile(recalibrator=made))
    found = [
        applied.recalibrate(
            float(tokens['token_chosen_probability'].mean()), recalibration_values(tokens)
        )
        for tokens in rows
    ]
    assert [why for _, why in found] == [''] * len(rows)
    np.testing.assert_allclose([value for value, _ in found], made.predict(*arguments), atol=1e-15)


def test_what_an_inference_lacks_is_said():
    rows, outcomes = zip(*_inferences())
    plain = AppliedCalibration(
        CalibrationFile(recalibrator=_fitted(PlattScaling, rows, outcomes)[0])
    )
    value, why = plain.recalibrate(float('nan'), {})
    # Why there is no confidence, others know.
    assert np.isnan(value) and why == ''
    by_dimension = AppliedCalibration(
        CalibrationFile(recalibrator=_fitted(ActionWisePlattScaling, rows, outcomes)[0])
    )
    assert 'per action dimension' in by_dimension.recalibrate(0.5, {})[1]
    value, why = by_dimension.recalibrate(0.5, {'dimension_confidence': np.array([0.5, 0.5])})
    assert np.isnan(value) and '2 dimensions; 3 were fitted' in why
    assert 'holds no recalibrator' in AppliedCalibration(CalibrationFile()).recalibrate(0.5, {})[1]


def test_a_score_in_standard_deviations():
    statistics = {
        'ev_step': ScoreStatistics(mean=1.0, standard_deviation=0.5),
        'stac': ScoreStatistics(mean=1.0, standard_deviation=0.0),
    }
    applied = AppliedCalibration(CalibrationFile(statistics=statistics))
    assert applied.standardise('ev_step', 0.0) == (-2.0, '')
    assert 'never varied' in applied.standardise('stac', 1.0)[1]
    assert 'no mean of reversals' in applied.standardise('reversals', 1.0)[1]


def test_a_setup_that_fits_is_applied():
    applied = AppliedCalibration(CalibrationFile(fingerprint=KNOWN), 'mean')
    assert applied.check(INFERENCE) == '' and applied.unverified == []


@pytest.mark.parametrize(
    'other, part',
    [
        ({'policy_fingerprint': '{"weights": "cd"}'}, 'weights'),
        ({'policy_fingerprint': '{"control_rate": 15.0}'}, 'control rate'),
        ({'policy_fingerprint': '{"cameras": {"front": [320, 240]}}'}, 'cameras'),
        ({'instruction': 'Push.'}, 'instruction'),
        ({'action_names': ('b', 'a')}, 'joints'),
    ],
)
def test_a_part_that_does_not_fit_is_named_as_long_as_it_does_not(other, part):
    applied = AppliedCalibration(CalibrationFile(fingerprint=KNOWN), 'mean')
    assert applied.check({**INFERENCE, **other}).startswith(
        f'the calibration file does not fit: {part}: the calibration holds for'
    )
    assert applied.check(INFERENCE) == ''


def test_another_aggregate_of_confidence_does_not_fit():
    applied = AppliedCalibration(CalibrationFile(fingerprint=KNOWN), 'min')
    assert 'confidence aggregate' in applied.check(INFERENCE)


def test_what_the_setup_does_not_show_is_unverified_but_the_robot_which_the_node_knows():
    fingerprint = attrs.evolve(KNOWN, robot='so101')
    applied = AppliedCalibration(CalibrationFile(fingerprint=fingerprint), 'mean')
    assert applied.check({}) == ''
    assert [text.partition(':')[0] for text in applied.unverified] == [
        'weights', 'control rate', 'cameras', 'joints', 'instruction',
    ]  # fmt: skip
