# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of joints that turn without end, brought to the turn nearest another, or counted on."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.turns import TURN, Unwrapper, continuous_among, nearest_turn
from frame_ros.core.turns import unwrapped as batch

STEPS = st.lists(st.tuples(*[st.floats(-3.0, 3.0, allow_nan=False)] * 3), min_size=1, max_size=40)
NAMES = ('pan', 'lift', 'roll')
TURNING = continuous_among(NAMES, {'pan', 'roll', 'of another arm'})


def wrapped(values):
    """Positions as a driver publishes them, from -pi to pi, by the angle of a complex number."""
    return np.where(TURNING, np.angle(np.exp(1j * values)), values)


@given(STEPS)
def test_what_a_driver_wraps_is_counted_on_as_it_was_and_as_numpy_does_it(steps):
    true = np.cumsum(np.array(steps), axis=0)
    published, turns = wrapped(true), Unwrapper(NAMES, ('pan', 'roll'))
    counted = np.array([turns.update(row.tolist()) for row in published])
    np.testing.assert_allclose(np.diff(counted, axis=0), np.diff(true, axis=0), atol=1e-9)
    assert (counted[:, 1] == true[:, 1]).all()
    np.testing.assert_allclose(batch(published, TURNING), counted, atol=1e-9)
    if np.abs(np.abs(published[0]) - math.pi).min() > 1e-6:  # else its first turn is either
        np.testing.assert_allclose(batch(true, TURNING), counted, atol=1e-9)
    again = Unwrapper(NAMES, ('pan', 'roll'))
    smooth = np.clip(true, -1.0, 1.0)
    for row in smooth.tolist():
        assert again.update(row) is row


def test_other_joints_stay_as_they_are_to_the_bit():
    turns = Unwrapper(NAMES, ())
    for row in ([0.1, 4.0, 6.0], [3.5, -4.0, -6.0]):
        assert turns.update(row) is row
    values = np.array([[0.1, 9.0, 0.0], [6.0, -9.0, 3.0]])
    assert nearest_turn(values, np.zeros(3), np.zeros(3, bool)) is values
    assert batch(values, np.zeros(3, bool)) is values and batch(values[:1], TURNING) is not None
    found = nearest_turn(values, 0.0, TURNING)
    assert found[:, 1].tolist() == [9.0, -9.0] and found[0, 0] == 0.1 and found[1, 2] == 3.0
    assert found[1, 0] == 6.0 - TURN


@given(st.floats(-50.0, 50.0), st.floats(-50.0, 50.0))
def test_the_nearest_turn_is_the_same_place_at_most_half_a_turn_away(value, reference):
    found = nearest_turn(np.array([value]), np.array([reference]), np.array([True]))[0]
    assert abs(found - reference) <= math.pi + 1e-9
    assert abs(math.remainder(found - value, TURN)) < 1e-9


def test_what_is_not_finite_stays_and_brings_nothing_nearer():
    values, every = np.array([math.nan, 7.0, math.inf, 7.0]), np.ones(4, bool)
    reference = np.array([0.0, math.nan, 0.0, 0.0])
    found = nearest_turn(values, reference, every)
    np.testing.assert_array_equal(found, [math.nan, 7.0, math.inf, 7.0 - TURN])


def test_after_a_reset_the_next_sample_stays_as_it_is():
    turns = Unwrapper(('a',), ('a',))
    turns.update([3.1])
    assert turns.update([-3.1]) == [-3.1 + TURN]
    turns.reset()
    assert turns.update([-3.1]) == [-3.1]
