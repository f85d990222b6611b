# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The values of an inference, which are computed together, are those of the plain forms to the bit:
one aggregate, one dimension and one temperature at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.confidence.dimension_confidence import MOST_DIMENSIONS, recalibration_values
from frame_ros.confidence.inference_uncertainty import (
    CONFIDENCE_AGGREGATES,
    CONFIDENCES,
    TOKEN_FIELDS,
    chosen_confidence,
    token_uncertainty,
)
from frame_ros.metrics import token_confidence, token_groups

# With what rounding leaves beyond the bounds.
PROBABILITIES = st.floats(-1e-6, 1.0 + 1e-6) | st.sampled_from((0.0, -0.0, 1.0))


@st.composite
def inferences(draw: st.DrawFn) -> dict[str, Any]:
    """Tokens of an inference, some without step or dimension, at up to four temperatures."""
    count, size = draw(st.integers(1, 40)), draw(st.integers(0, 4))
    some = st.lists(PROBABILITIES, min_size=count, max_size=count)
    places = st.lists(st.integers(-1, 8), min_size=count, max_size=count)
    has_places = draw(st.booleans())
    table = st.lists(PROBABILITIES, min_size=count * size, max_size=count * size)
    return {
        'token_chosen_probability': np.array(draw(some)),
        'token_step': np.array(draw(places) if has_places else [], np.int32),
        'token_dimension': np.array(draw(places) if has_places else [], np.int32),
        'temperatures': np.linspace(0.5, 4.0, size),
        'token_max_at_temperature': np.array(draw(st.just([]) | table)),
    }


def plain_confidences(tokens: dict[str, Any]) -> dict[str, float]:
    """CONFIDENCES by `token_confidence`, one after the other."""
    chosen, step, dimension = (
        tokens[f'token_{name}'] for name in ('chosen_probability', 'step', 'dimension')
    )
    found = {
        name: float(token_confidence(chosen, aggregate))
        for name, aggregate in zip(CONFIDENCES, CONFIDENCE_AGGREGATES)
        if aggregate != 'dimension_mean'
    }
    of_groups = math.nan
    if (dimension >= 0).any():
        of_groups = float(token_confidence(chosen, groups=token_groups(step, dimension)))
    return found | {'confidence_dimension_mean': of_groups}


def plain_means(rows: np.ndarray, dimension: np.ndarray) -> np.ndarray:
    """Means (D, K) of rows (TN, K), added up one token after the other."""
    found = np.full((int(dimension.max()) + 1, rows.shape[1]), np.nan)
    for place in range(len(found)):
        of_one = rows[dimension == place]
        if len(of_one):
            found[place] = sum(of_one, np.zeros(rows.shape[1])) / len(of_one)
    return found


def plain_recalibration(tokens: dict[str, Any]) -> dict[str, np.ndarray]:
    """RECALIBRATION_VALUES, one after the other."""
    chosen, dimension = tokens['token_chosen_probability'], tokens['token_dimension']
    grid, table = tokens['temperatures'], tokens['token_max_at_temperature']
    has_dimensions = bool((dimension >= 0).any())
    has_table = len(grid) > 0 and len(table) > 0
    rows = table.reshape(len(chosen), len(grid)) if has_table else np.zeros((0, len(grid)))
    return {
        'dimension_confidence': plain_means(chosen[:, None], dimension)[:, 0]
        if has_dimensions
        else np.zeros(0),
        'temperatures': grid,
        'at_temperature': rows.mean(axis=0) if has_table else np.zeros(0),
        'dimension_at_temperature': plain_means(rows, dimension)
        if has_dimensions and has_table
        else np.zeros((0, len(grid))),
    }


def bits(values: dict[str, Any]) -> dict[str, tuple]:
    """Shape and bytes of each value."""
    return {
        name: (np.shape(values[name]), np.asarray(values[name], np.float64).tobytes())
        for name in sorted(values)
    }


@given(inferences())
@settings(max_examples=400)
def test_confidences_are_those_of_each_aggregate_to_the_bit(tokens):
    found = chosen_confidence(tokens, len(tokens['token_chosen_probability']))
    assert found.pop('confidence_problem') == ''
    assert bits(found) == bits(plain_confidences(tokens))


@given(inferences())
@settings(max_examples=400)
def test_means_by_dimension_and_temperature_are_those_of_each_to_the_bit(tokens):
    assert bits(recalibration_values(tokens)) == bits(plain_recalibration(tokens))


@given(st.lists(st.tuples(*[st.floats(0.0, 1.0)] * 4), min_size=1, max_size=60))
def test_token_uncertainties_are_those_of_each_statistic_to_the_bit(rows):
    tokens = dict(zip(TOKEN_FIELDS, np.array(rows).T.copy()))
    tokens['token_second_probability'] = tokens['token_max_probability'] / 2.0
    found = token_uncertainty(tokens, 256)
    assert found.pop('tokens_problem') == ''
    largest, second, squares, entropy = (np.mean(tokens[name]) for name in TOKEN_FIELDS)
    assert bits(found) == bits(
        {
            'tb_tp': 1.0 - largest,
            'tb_pcs': 1.0 - (largest - second),
            'tb_d': 1.0 - squares,
            'tb_e': entropy,
        }
    )


def test_a_dimension_that_no_robot_has_takes_no_memory():
    tokens = {
        'token_chosen_probability': np.array([0.5, 0.7]),
        'token_dimension': np.array([0, 3_000_000], np.int32),
        'temperatures': np.array([1.0]),
        'token_max_at_temperature': np.array([0.5, 0.7]),
    }
    found = recalibration_values(tokens)
    assert found['dimension_confidence'].size == 0
    assert found['dimension_at_temperature'].shape == (0, 1)
    np.testing.assert_allclose(found['at_temperature'], [0.6])
    tokens['token_dimension'][1] = MOST_DIMENSIONS - 1
    assert len(recalibration_values(tokens)['dimension_confidence']) == MOST_DIMENSIONS
