# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Token metrics and execution variability: by hand, scipy, and from per-token statistics."""

import numpy as np
import pytest
from scipy import special, stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    deepgini,
    execution_variability,
    prediction_confidence_uncertainty,
    token_entropy,
    token_metrics,
    token_probability_uncertainty,
)

TOKEN_METRICS = (
    token_probability_uncertainty,
    prediction_confidence_uncertainty,
    deepgini,
    token_entropy,
)
TWO_TOKENS = np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0]])


def test_by_hand():
    assert token_probability_uncertainty(TWO_TOKENS) == pytest.approx(1 - 0.6)
    assert prediction_confidence_uncertainty(TWO_TOKENS) == pytest.approx(1 - (0.5 + 0.0) / 2)
    assert deepgini(TWO_TOKENS) == pytest.approx(((1 - 0.54) + (1 - 0.5)) / 2)
    wanted = stats.entropy(TWO_TOKENS, axis=-1).mean()
    assert token_entropy(TWO_TOKENS) == pytest.approx(wanted)


@pytest.mark.parametrize('metric', TOKEN_METRICS)
def test_certainty_is_0_and_the_uniform_distribution_1_when_normalised(metric):
    certain, uniform = np.eye(5)[:2], np.full((3, 5), 0.2)
    assert metric(certain) == pytest.approx(0.0, abs=1e-15)
    assert metric(uniform, normalised=True) == pytest.approx(1.0)
    assert metric(uniform, variant='authors') == pytest.approx(1.0)


def test_maxima_of_the_raw_forms():
    uniform = np.full((3, 5), 0.2)
    raw = [metric(uniform) for metric in TOKEN_METRICS]
    np.testing.assert_allclose(raw, [0.8, 1.0, 0.8, np.log(5.0)])


def test_statistics_of_a_message_give_the_same_as_the_probabilities():
    p = special.softmax(np.random.default_rng(0).normal(size=(4, 6, 9)), axis=-1)
    ordered = np.sort(p, axis=-1)
    statistics = (
        ordered[..., -1],
        ordered[..., -2],
        (p**2).sum(axis=-1),
        stats.entropy(p, axis=-1),
    )
    for size, normalised in ((None, False), (9, True)):
        found = token_metrics(*statistics, vocabulary_size=size)
        for key, metric in zip(('tb_tp', 'tb_pcs', 'tb_d', 'tb_e'), TOKEN_METRICS, strict=True):
            np.testing.assert_allclose(found[key], metric(p, normalised=normalised), rtol=1e-12)


@pytest.mark.parametrize('metric', TOKEN_METRICS)
def test_what_is_no_probability_is_refused(metric):
    with pytest.raises(ValueRangeError, match='softmax'):
        metric(np.array([[2.0, -1.0]]))
    with pytest.raises(ShapeError, match='TN, V'):
        metric(np.array([0.5, 0.5]))
    with pytest.raises(ShapeError, match='at least 1 token'):
        metric(np.zeros((0, 4)))


def test_execution_variability_is_the_population_deviation():
    samples = np.random.default_rng(1).normal(size=(3, 5, 7))
    np.testing.assert_allclose(execution_variability(samples), samples.std(axis=1).mean(axis=-1))
    assert execution_variability([[0.0, 0.0], [2.0, 0.0]]) == 0.5
    with pytest.raises(ShapeError, match='at least 2 samples'):
        execution_variability([[1.0, 2.0]])
