# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Hysteresis and debounce by the samples' own stamps."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import OptionError, from_values
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.threshold import Threshold


def states(threshold, samples):
    """is_over after each (stamp in ms, magnitude)."""
    return [threshold.update(stamp * MILLISECOND, value) for stamp, value in samples]


def test_hysteresis():
    threshold = Threshold(2.0, 1.0)
    values = [0.0, 1.9, 2.0, 1.5, 1.0, 0.99, 1.5, 2.5]
    expected = [False, False, True, True, True, False, False, True]
    assert states(threshold, enumerate(values)) == expected


def test_a_change_must_last_by_the_stamps():
    threshold = Threshold(2.0, 1.0, on_time=0.01, off_time=0.02)
    samples = [(0, 3.0), (9, 3.0), (10, 3.0), (12, 0.0), (31, 0.0), (32, 0.0)]
    assert states(threshold, samples) == [False, False, True, True, True, False]
    assert threshold.since == 12 * MILLISECOND


def test_one_sample_between_begins_the_wait_anew():
    threshold = Threshold(2.0, 1.0, on_time=0.01)
    samples = [(0, 3.0), (8, 1.5), (10, 3.0), (18, 3.0), (20, 3.0)]
    assert states(threshold, samples) == [False, False, False, False, True]


def test_what_is_not_a_number_or_late_changes_nothing():
    threshold = Threshold(2.0, 1.0, on_time=0.01)
    samples = [(0, 3.0), (5, math.nan), (10, 3.0), (20, 3.0), (20, 0.0), (4, 0.0)]
    assert states(threshold, samples) == [False, False, False, True, True, True]


def test_a_contact_can_be_ended_whatever_is_left_of_it():
    threshold = Threshold(2.0, 1.0, off_time=0.01)
    assert states(threshold, [(0, 3.0), (1, 1.5), (2, 0.5)]) == [True, True, True]
    threshold.end()
    assert not threshold.is_over and threshold.since == 2 * MILLISECOND
    assert states(threshold, [(3, 1.9), (4, 2.0), (5, 0.5)]) == [False, True, True]
    threshold.end()
    threshold.end()
    assert threshold.since == 5 * MILLISECOND


def test_reset():
    threshold = Threshold(2.0, 1.0)
    threshold.update(5, 3.0)
    threshold.reset()
    assert not threshold.is_over and threshold.since is None
    assert threshold.update(1, 3.0)


@pytest.mark.parametrize(
    'values',
    [(1.0, 2.0), (1.0, -1.0), (math.nan, 0.0), (1.0, 0.5, -0.1), (1.0, 0.5, 0.0, math.inf)],
)
def test_values_that_cannot_be(values):
    with pytest.raises(ValueRangeError):
        Threshold(*values)


samples_of = st.lists(
    st.tuples(st.integers(-2, 6), st.one_of(st.floats(0, 3), st.just(math.nan))), max_size=40
)


@settings(max_examples=60, deadline=None)
@given(samples_of, st.integers(1, 7), st.sampled_from([0.0, 0.004]))
def test_a_block_is_as_one_by_one(samples, size, time):
    stamps = np.cumsum([step for step, _ in samples], dtype=np.int64) * MILLISECOND
    values = np.array([value for _, value in samples])
    one, many = Threshold(2.0, 1.0, time, time), Threshold(2.0, 1.0, time, time)
    single = [one.update(int(stamp), value) for stamp, value in zip(stamps, values)]
    blocks = [
        many.update_block(stamps[row : row + size], values[row : row + size])
        for row in range(0, len(samples), size)
    ]
    assert [bool(state) for block in blocks for state in block] == single


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 3), min_size=1, max_size=60))
def test_it_only_changes_beyond_the_bounds(values):
    threshold = Threshold(2.0, 1.0)
    before = False
    for stamp, value in enumerate(values):
        now = threshold.update(stamp, value)
        assert now == before or (value >= 2.0 if now else value < 1.0)
        before = now


@pytest.mark.parametrize(
    'name', ['wrench.on_time', 'joints.off_time', 'robot_contact.on_time', 'stall.time',
             'expected.doubt'],
)  # fmt: skip
def test_a_time_longer_than_stamps_can_count_is_refused(name):
    with pytest.raises(OptionError, match=f'{name} is 1e.300; it must be .* 3600 s'):
        from_values(SensingOptions, {name: 1e300})
