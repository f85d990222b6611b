# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Observations that a policy with a history is given."""

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND
from frame_ros.policies.execution.observation_history import ObservationHistory
from frame_ros.policies.protocol import Observation

PERIOD = 0.1


def at(milliseconds: int) -> Observation:
    return Observation(milliseconds * MILLISECOND, milliseconds * MILLISECOND, ('a',), np.zeros(1))


def stamps(history: ObservationHistory, newest: int) -> list[int]:
    return [entry.stamp // MILLISECOND for entry in history.before(at(newest))]


def filled(*times: int, steps: int = 3) -> ObservationHistory:
    history = ObservationHistory(steps, PERIOD)
    for time in times:
        history.add(at(time))
    return history


def test_observations_at_the_rate_of_the_data():
    assert stamps(filled(1000, 1100, 1200), 1300) == [1100, 1200, 1300]
    assert stamps(filled(1000, 1100, 1200, 1300), 1300) == [1100, 1200, 1300]


@pytest.mark.parametrize('faster', [20, 25, 50])
def test_of_more_observations_those_of_the_right_times_are_taken(faster):
    assert stamps(filled(*range(1000, 1300, faster)), 1300) == [1100, 1200, 1300]


def test_the_nearest_within_half_a_period_counts():
    assert stamps(filled(1051, 1199), 1300) == [1051, 1199, 1300]
    assert stamps(filled(1110, 1230), 1300) == [1110, 1230, 1300]


def test_at_the_start_the_first_observation_is_repeated():
    assert stamps(filled(), 1000) == [1000, 1000, 1000]
    assert stamps(filled(1000), 1100) == [1000, 1000, 1100]


def test_what_is_missing_is_never_replaced_by_something_older():
    assert stamps(filled(200, 600), 1000) == [1000, 1000, 1000]
    assert stamps(filled(800), 1000) == [800, 1000, 1000]


def test_one_observation_needs_no_history():
    assert stamps(filled(900, steps=1), 1000) == [1000]


def test_time_that_begins_anew_forgets_what_was_after_it():
    history = filled(1000, 1100, 1200)
    history.add(at(0))
    assert stamps(history, 100) == [0, 0, 100]
    assert stamps(history, 1300) == [1300, 1300, 1300]


def test_of_one_stamp_the_last_counts():
    history = filled(1000)
    newer = at(1000)
    history.add(newer)
    assert history.before(at(1100))[1] is newer


def test_clear_forgets_all_and_memory_is_bounded():
    history = filled(*range(0, 100_000, 10))
    assert len(history._observations) <= 100
    history.clear()
    assert stamps(history, 100_000) == [100_000] * 3
