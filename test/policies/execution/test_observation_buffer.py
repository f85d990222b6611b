# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions of an observation, and the reasons when there is none."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError
from frame_ros.core.time import SECOND
from frame_ros.policies.execution.observation_buffer import (
    JOINTS,
    AwaitedInputError,
    ObservationBuffer,
)

NOW = 1000 * SECOND
IMAGE = np.zeros((2, 3, 3), np.uint8)


def filled(**stamps: int) -> ObservationBuffer:
    """A buffer whose inputs are stamped 0.1 s before NOW, or as given; None leaves one out."""
    buffer = ObservationBuffer(('a', 'b'), ('front',), ('object',), max_age=0.5)
    values = {JOINTS: np.array([1.0, 2.0]), 'front': IMAGE, 'object': np.arange(7.0)}
    for name, value in values.items():
        stamp = stamps.get(name, NOW - SECOND // 10)
        if stamp is not None:
            buffer.put(name, stamp, lambda value=value: value)
    return buffer


def test_an_observation_holds_the_newest_of_each_input():
    observation = filled(front=NOW - 4 * SECOND // 10).build(NOW, 'pick')
    assert (observation.stamp, observation.oldest_stamp) == (NOW, NOW - 4 * SECOND // 10)
    assert observation.joint_names == ('a', 'b')
    assert observation.instruction == 'pick'
    np.testing.assert_array_equal(observation.joint_positions, [1, 2])
    np.testing.assert_array_equal(observation.poses['object'], np.arange(7))
    assert observation.images['front'] is IMAGE


@pytest.mark.parametrize(
    ('stamps', 'is_awaited'),
    [({'front': None}, True), ({'front': None, 'object': 0}, False), ({'object': 0}, False)],
)
def test_inputs_that_are_merely_awaited_are_an_error_of_their_own(stamps, is_awaited):
    with pytest.raises(PolicyError) as caught:
        filled(**stamps).build(NOW)
    assert isinstance(caught.value, AwaitedInputError) is is_awaited


@pytest.mark.parametrize(
    ('stamps', 'message'),
    [
        ({'front': None}, 'front was never received'),
        (
            {'front': NOW - 3 * SECOND},
            r'front stopped: the newest is 3.00 s old \(stamp 997.000000000\), limit 0.5 s',
        ),
        ({JOINTS: 0}, 'joint_states has a zero stamp'),
        ({'object': NOW + SECOND}, 'object is stamped 1.00 s in the future'),
        ({'front': None, 'object': 0}, 'front was never received; object has a zero stamp'),
    ],
)
def test_what_is_missing_or_old_is_listed(stamps, message):
    with pytest.raises(PolicyError, match=message):
        filled(**stamps).build(NOW)


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        (JOINTS, np.array([1.0, np.nan]), 'joint_states has a value that is not finite'),
        (JOINTS, np.zeros(3), r'joint_states has \(3,\) values; it must have \(2,\)'),
        ('object', np.full(7, np.inf), 'object has a value that is not finite'),
    ],
)
def test_unusable_values_are_refused(name, value, message):
    buffer = filled()
    buffer.put(name, NOW, lambda: value)
    with pytest.raises(PolicyError, match=message):
        buffer.build(NOW)


def test_a_value_that_comes_after_a_newer_one_is_left_out_and_counted():
    buffer = filled(front=NOW)
    buffer.put('front', NOW - SECOND // 5, lambda: np.ones((2, 3, 3), np.uint8))
    assert buffer.reordered == 1
    observation = buffer.build(NOW)
    assert observation.images['front'] is IMAGE
    # A clock that was set back by more than any input may be old.
    buffer.put('front', NOW - 100 * SECOND, lambda: IMAGE)
    assert buffer.reordered == 1
    with pytest.raises(PolicyError, match='front stopped'):
        buffer.build(NOW)


def test_what_a_policy_writes_over_its_observation_is_not_in_the_next():
    buffer = filled()
    first = buffer.build(NOW)
    first.joint_positions[:] *= 57.3
    first.poses['object'][:] = 0.0
    second = buffer.build(NOW)
    np.testing.assert_array_equal(second.joint_positions, [1, 2])
    np.testing.assert_array_equal(second.poses['object'], np.arange(7))


def test_clear_forgets():
    buffer = filled()
    buffer.clear()
    with pytest.raises(PolicyError, match='joint_states was never received; front was never'):
        buffer.build(NOW)
