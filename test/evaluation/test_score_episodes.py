# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of bags as calibration takes them."""

import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes import Episode, read_episodes
from frame_ros.evaluation.score_episodes import score_episode

INFERENCES = 4
DURATION = 8


def inference(index: int, has_tokens: bool):
    """Two tokens, of the action dimensions 0 and 1, at two temperatures."""
    chosen = np.array([0.5 + 0.1 * index, 0.9])
    tokens = {
        'vocabulary_size': 256, 'token_max_probability': chosen, 'token_entropy': np.zeros(2),
        'token_chosen_probability': chosen, 'token_second_probability': np.zeros(2),
        'token_sum_of_squares': chosen**2, 'token_step': np.zeros(2, np.int32),
        'token_dimension': np.array([0, 1], np.int32), 'temperatures': np.array([1.0, 2.0]),
        'token_max_at_temperature': np.array([chosen[0], 0.3, chosen[1], 0.6]),
    }  # fmt: skip
    return message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(T0 + index * SECOND), sequence=index,
        latency=0.1, **(tokens if has_tokens else {}),
    )  # fmt: skip


def recorded(folder, outcome=Outcome.SUCCESS, has_tokens=True, extra=()) -> Episode:
    end = T0 + DURATION * SECOND
    rows = [
        ('/episode_events', T0, event(T0, EventType.START)),
        *(
            ('/policy_inference', T0 + i * SECOND, inference(i, has_tokens))
            for i in range(INFERENCES)
        ),
        *extra,
        ('/episode_events', end, event(end, EventType.END, outcome=int(outcome))),
    ]
    (episode,) = read_episodes(write_bag(folder / 'bag', rows))
    return episode


def test_scores_times_and_dimensions_of_a_bag(tmp_path):
    found = score_episode(recorded(tmp_path))
    assert (found.name, found.outcome, found.duration, found.begin) == ('e1', True, DURATION, T0)
    np.testing.assert_array_equal(found.times, [0.0, 1.0, 2.0, 3.0])
    first = 0.5 + 0.1 * np.arange(INFERENCES)
    np.testing.assert_allclose(found.scores['confidence'], (first + 0.9) / 2.0)
    np.testing.assert_allclose(found.scores['tb_tp_step'], 1.0 - (first + 0.9) / 2.0)
    assert np.isnan(found.scores['ev_step']).all()
    np.testing.assert_allclose(found.dimensions, np.stack([first, np.full(4, 0.9)], axis=1))
    np.testing.assert_array_equal(found.temperatures, [1.0, 2.0])
    np.testing.assert_allclose(found.at_temperature[:, 1], 0.45)
    np.testing.assert_allclose(found.dimensions_at_temperature[2], [[0.7, 0.3], [0.9, 0.6]])


def test_what_a_policy_without_tokens_lacks_is_none(tmp_path):
    found = score_episode(recorded(tmp_path, has_tokens=False))
    assert len(found) == INFERENCES and np.isnan(found.scores['confidence']).all()
    assert found.dimensions is found.temperatures is found.at_temperature is None
    assert np.isnan(found.distance).all() and not found.contact.any()


def test_distance_and_contact_are_the_newest_at_the_inference(tmp_path):
    extra = [
        (
            '/proximity', T0 + round(at * SECOND),
            message('frame_ros/msg/Proximity', header__stamp=stamp(T0 + round(at * SECOND)),
                    distance=distance),
        )
        for at, distance in ((0.5, 0.3), (1.0, 0.2), (1.9, np.inf), (2.5, 0.1))
    ] + [
        (
            '/contact', T0 + round(at * SECOND),
            message('frame_ros/msg/ContactState', header__stamp=stamp(T0 + round(at * SECOND)),
                    in_contact=touches, unavailable=reason),
        )
        for at, touches, reason in ((0.5, True, ''), (1.5, True, 'no sensor'), (2.9, True, ''))
    ]  # fmt: skip
    found = score_episode(recorded(tmp_path, extra=extra))
    np.testing.assert_array_equal(found.distance, [np.nan, 0.2, np.nan, 0.1])
    np.testing.assert_array_equal(found.contact, [False, True, False, True])


@pytest.mark.parametrize(
    ('outcome', 'expected', 'note'),
    [
        (Outcome.SUCCESS, True, ''),
        (Outcome.FAILURE, False, ''),
        (Outcome.TIMEOUT, False, ''),
        (Outcome.STOPPED, None, 'stopped'),
        (Outcome.UNKNOWN, None, 'not recorded'),
    ],
)
def test_outcome(tmp_path, outcome, expected, note):
    found = score_episode(recorded(tmp_path, outcome))
    assert found.outcome is expected and note in found.note


def test_an_episode_that_an_operator_helped_has_no_outcome_of_the_policy(tmp_path):
    at = T0 + 2 * SECOND
    extra = [('/episode_events', at, event(at, EventType.INTERVENTION_START))]
    found = score_episode(recorded(tmp_path, extra=extra))
    assert found.outcome is None and found.note == 'an operator drove 6.0 s of it'
