# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode as calibration takes it."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.confidence.dimension_confidence import recalibration_values
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import ShapeError, ValueRangeError


def make_episode(**changes) -> ScoreEpisode:
    values = {
        'name': 'e',
        'outcome': True,
        'duration': 4.0,
        'times': np.array([0.0, 1.0, 3.0]),
        'scores': {'confidence': np.array([0.5, np.nan, 0.7])},
        'distance': np.full(3, np.nan),
        'contact': np.zeros(3, bool),
        **changes,
    }
    return ScoreEpisode(**values)


def test_completion_is_the_share_of_the_duration():
    np.testing.assert_array_equal(make_episode().completion, [0.0, 0.25, 0.75])
    np.testing.assert_array_equal(make_episode(duration=0.0).completion, [0.0, 0.0, 0.0])


def test_the_hash_follows_the_data_alone():
    episode = make_episode()
    assert make_episode(name='other', note='x').data_hash == episode.data_hash
    assert len(episode.data_hash) == 64
    for changes in (
        {'outcome': False}, {'duration': 4.1}, {'contact': np.array([True, False, False])},
        {'scores': {'ev': np.array([0.5, np.nan, 0.7])}}, {'features': np.zeros((3, 2))},
    ):  # fmt: skip
        assert replace(episode, **changes).data_hash != episode.data_hash


@pytest.mark.parametrize(
    'changes',
    [{'scores': {'ev': np.zeros(2)}}, {'distance': np.zeros(4)}, {'features': np.zeros((0, 2))}],
)
def test_arrays_are_of_all_inferences(changes):
    with pytest.raises(ShapeError, match='3 inferences'):
        make_episode(**changes)


@pytest.mark.parametrize('changes', [{'times': np.array([0.0, 2.0, 1.0])}, {'duration': np.nan}])
def test_times_increase(changes):
    with pytest.raises(ValueRangeError):
        make_episode(**changes)


def tokens(chosen, dimension, grid=(), table=()):
    return {
        'token_chosen_probability': np.array(chosen),
        'token_dimension': np.array(dimension, np.int32),
        'temperatures': np.array(grid),
        'token_max_at_temperature': np.ravel(table),
    }


def test_confidence_by_dimension_is_the_mean_over_its_tokens():
    """Two steps of a chunk with 3 dimensions, of which the middle one has no token, and one token
    of none.
    """
    found = recalibration_values(
        tokens([0.2, 0.8, 0.4, 0.6, 0.1], [0, 2, 0, 2, -1], [0.5, 2.0], np.arange(10.0) / 10.0)
    )
    np.testing.assert_allclose(found['dimension_confidence'], [0.3, np.nan, 0.7])
    np.testing.assert_allclose(found['at_temperature'], [0.4, 0.5])
    expected = [[0.2, 0.3], [np.nan, np.nan], [0.4, 0.5]]
    np.testing.assert_allclose(found['dimension_at_temperature'], expected)


@pytest.mark.parametrize(
    'given',
    [tokens([], []), tokens([0.5], [-1]), tokens([0.5, 0.6], [0], [1.0], [0.5, 0.6, 0.7])],
)
def test_what_is_not_known_is_empty(given):
    found = recalibration_values(given)
    assert not found['dimension_confidence'].size and not found['dimension_at_temperature'].size
    assert not found['at_temperature'].size
