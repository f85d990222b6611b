# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Features of an observation: their reduction, and those that cannot be used."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from frame_ros.policies.execution.inference_check import with_usable_extras
from frame_ros.policies.features import (
    MOST_FEATURES,
    WIDEST,
    reduced_features,
    with_reduced_features,
)
from frame_ros.policies.protocol import Inference, Observation

WHOLE = Inference(np.zeros((4, 2)), 0.1, ('x', 'gripper'), ('m', '1'), 'ee_delta')
SEEN = Observation(1, 1, (), np.zeros(0))
PROJECTION = '77571de829ea3c20368aaf101189932ab8e2fde7a2b00adf97403056f89053d2'


def with_features(features, source='an encoder') -> Inference:
    return replace(WHOLE, features=features, feature_source=source)


@pytest.mark.parametrize('width', [1, 12, MOST_FEATURES])
def test_few_features_stay_as_they_are(width):
    values = np.random.default_rng(width).normal(size=width)
    np.testing.assert_array_equal(reduced_features(values), values)
    inference = with_features(values)
    assert with_reduced_features(inference) is inference


def test_the_projection_is_the_same_on_every_machine():
    """A calibration file may come from another one."""
    signs = np.sign([reduced_features(row) for row in np.eye(100)]).astype(np.int8)
    assert hashlib.sha256(signs.tobytes()).hexdigest() == PROJECTION


def test_the_projection_of_an_element_does_not_depend_on_how_many_there_are():
    values = np.random.default_rng(0).normal(size=300)
    padded = np.concatenate([values, np.zeros(200)])
    np.testing.assert_allclose(reduced_features(padded), reduced_features(values), atol=1e-12)


def test_distances_of_embeddings_are_kept():
    random = np.random.default_rng(0)
    points = random.normal(size=(40, 2000)) * random.lognormal(size=2000)
    reduced = np.array([reduced_features(point) for point in points])
    pairs = np.triu_indices(len(points), 1)
    far, near = (
        np.linalg.norm(each[pairs[0]] - each[pairs[1]], axis=1) for each in (points, reduced)
    )
    ratio = near / far
    assert abs(ratio.mean() - 1.0) < 0.05 and ratio.std() < 2.0 / np.sqrt(MOST_FEATURES)


def test_the_source_says_what_was_done():
    found = with_reduced_features(with_features(np.arange(100.0)))
    assert found.features.shape == (MOST_FEATURES,)
    assert found.feature_source == 'an encoder, 100 numbers projected to 64'
    assert with_reduced_features(found) is found
    bare = with_reduced_features(with_features(np.arange(100.0), ''))
    assert bare.feature_source == '100 numbers projected to 64'


def test_a_tensor_that_needs_a_gradient_costs_its_features_and_no_action():
    torch = pytest.importorskip('torch')
    found = with_usable_extras(with_features(torch.ones(5, requires_grad=True)), SEEN)
    assert found.features is None and found.actions is WHOLE.actions
    assert 'no array of numbers' in found.unavailable['features']


@pytest.mark.parametrize(
    ('features', 'reason'),
    [
        (np.zeros((2, 3)), r'they have shape (2, 3)'),
        (np.zeros(0), 'they have shape (0,)'),
        (np.zeros(WIDEST + 1), f'1 to {WIDEST} numbers'),
        (np.array([1.0, np.nan]), 'not finite'),
        (np.full(100, np.inf), 'not finite'),
        (['a', 'b'], 'no array of numbers'),
        ([10**400], 'no array of numbers'),
    ],
)
def test_unusable_features_are_left_out_and_said(features, reason):
    found = with_usable_extras(with_features(features), SEEN)
    assert found.features is None and found.feature_source == ''
    assert reason in found.unavailable['features']
    assert found.actions is WHOLE.actions


def test_a_list_of_numbers_will_do():
    found = with_usable_extras(with_features([1, 2, 3]), SEEN)
    np.testing.assert_array_equal(found.features, [1.0, 2.0, 3.0])
