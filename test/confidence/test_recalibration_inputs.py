# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inferences as recalibrators of every kind take them."""

import numpy as np
import pytest

from frame_ros.confidence import (
    ActionWisePlattScaling,
    ActionWiseTemperatureScaling,
    PlattScaling,
    TemperatureScaling,
)
from frame_ros.confidence.recalibration.inputs import RecalibrationInputs
from frame_ros.confidence.recalibration.recalibrator import kinds
from frame_ros.core.errors import CalibrationError

GRID = np.array([0.5, 1.0, 2.0])


def drawn(count: int = 60, seed: int = 0) -> tuple[RecalibrationInputs, np.ndarray]:
    random = np.random.default_rng(seed)
    logits = random.normal(1.0, 1.0, (count, 3))
    at_temperature = 1.0 / (1.0 + np.exp(-logits[:, :, None] / GRID))
    dimensions = at_temperature[:, :, 1]
    inputs = RecalibrationInputs(
        dimensions.mean(axis=1), dimensions, GRID, at_temperature.mean(axis=1), at_temperature
    )
    return inputs, random.random(count) < inputs.confidence


@pytest.mark.parametrize('kind', kinds(), ids=lambda kind: kind.kind)
def test_every_kind_is_given_what_it_takes(kind):
    inputs, outcomes = drawn()
    found = inputs.predict(inputs.fit(kind, outcomes))
    assert found.shape == (60,) and ((found >= 0.0) & (found <= 1.0)).all()


def test_they_are_the_arguments_of_the_recalibrators():
    inputs, outcomes = drawn()
    for kind, fitted in (
        (PlattScaling, PlattScaling().fit(inputs.confidence, outcomes)),
        (ActionWisePlattScaling, ActionWisePlattScaling().fit(inputs.dimensions, outcomes)),
        (
            TemperatureScaling,
            TemperatureScaling().fit(inputs.dimensions_at_temperature, outcomes, GRID),
        ),
        (
            ActionWiseTemperatureScaling,
            ActionWiseTemperatureScaling().fit(inputs.dimensions_at_temperature, outcomes, GRID),
        ),
    ):
        found = inputs.fit(kind, outcomes).to_dict()
        for name, value in fitted.to_dict().items():
            assert found[name] == (pytest.approx(value) if name == 'temperature' else value)


def test_an_inference_without_what_a_kind_takes_has_no_probability_and_no_part_in_the_fit():
    inputs, outcomes = drawn()
    chosen = np.arange(60) >= 10
    inputs.confidence[:10], inputs.dimensions[5:10, 1] = np.nan, np.nan
    fitted = inputs.fit(PlattScaling, outcomes)
    assert fitted.to_dict() == inputs.select(chosen).fit(PlattScaling, outcomes[chosen]).to_dict()
    np.testing.assert_array_equal(np.isfinite(inputs.predict(fitted)), chosen)
    by_action = inputs.fit(ActionWisePlattScaling, outcomes)
    assert np.isnan(inputs.predict(by_action)).sum() == 5


@pytest.mark.parametrize('kind', kinds(), ids=lambda kind: kind.kind)
def test_what_a_policy_does_not_yield_is_named(kind):
    inputs = RecalibrationInputs(np.full(4, np.nan))
    with pytest.raises(CalibrationError, match='the policy yields no'):
        inputs.fit(kind, [True, False, True, False])
