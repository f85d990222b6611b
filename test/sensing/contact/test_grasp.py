# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of a grasp: by position, effort and contact, with hysteresis and debounce."""

import math

import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.grasp import GraspDetector, GraspOptions

NAN = math.nan


def seen(settings, samples, period=20):
    """is_grasped after each sample (position, effort), one every `period` ms."""
    detector = GraspDetector(settings)
    states = []
    for i, (position, effort) in enumerate(samples):
        detector.update(i * period * MILLISECOND, position, effort)
        states.append(detector.is_grasped)
    return states


def at(positions):
    return [(position, NAN) for position in positions]


def test_position_has_hysteresis():
    settings = GraspOptions(closed=0.2, opened=0.3, debounce=0.0)
    states = seen(settings, at([0.5, 0.25, 0.2, 0.25, 0.29, 0.3, 0.25, 0.19]))
    assert states == [False, False, True, True, True, False, False, True]


def test_a_gripper_that_closes_on_nothing_holds_nothing():
    settings = GraspOptions(closed=0.2, opened=0.3, empty=0.02, margin=0.05, debounce=0.0)
    assert seen(settings, at([0.5, 0.15, 0.08, 0.06, 0.02])) == [False, True, True, False, False]
    unasked = GraspOptions(closed=0.2, opened=0.3, empty=0.02, debounce=0.0)
    assert seen(unasked, at([0.5, 0.02])) == [False, True]


def test_a_change_must_last():
    settings = GraspOptions(closed=0.2, opened=0.3, debounce=0.05)
    samples = at([0.5, 0.1, 0.5, 0.1, 0.1, 0.1, 0.1, 0.5, 0.1, 0.1])
    states = seen(settings, samples)
    # Closed from 60 ms on, held for 50 ms at the first sample from 110 ms on; one outlier is none.
    assert states == [False] * 6 + [True] * 4


def test_the_first_sample_counts_at_once():
    assert seen(GraspOptions(debounce=10.0), at([0.1])) == [True]
    assert seen(GraspOptions(), [(NAN, NAN)]) == [None]


@pytest.mark.parametrize('source', ['position', 'effort'])
def test_values_that_are_not_numbers_change_nothing(source):
    settings = GraspOptions(source, debounce=0.0)
    states = seen(settings, [(0.1, 1.0), (NAN, NAN), (math.inf, math.inf), (0.5, 0.0)])
    assert states == [True, True, True, False]


def test_a_gripper_may_close_upwards():
    settings = GraspOptions(
        closed=0.8, opened=0.7, smaller_is_closed=False, empty=1.0, margin=0.1, debounce=0.0
    )
    states = seen(settings, at([0.1, 0.75, 0.8, 0.75, 0.7, 0.85, 0.95]))
    assert states == [False, False, True, True, False, True, False]


def test_effort_has_hysteresis_and_any_sign():
    settings = GraspOptions('effort', effort_on=0.5, effort_off=0.3, debounce=0.0)
    efforts = [0.1, 0.4, -0.6, -0.4, -0.2, 0.4, 0.5]
    states = seen(settings, [(0.15, effort) for effort in efforts])
    assert states == [False, False, True, True, False, False, True]


def test_effort_while_opening_is_no_grasp():
    settings = GraspOptions('effort', closed=0.2, opened=0.4, debounce=0.0)
    samples = [
        (0.5, 0.1),
        (0.3, 0.2),
        (0.1, 0.8),
        (0.1, 0.8),
        (0.15, 0.8),
        (0.25, 0.8),
        (0.38, 0.8),
    ]
    # Opening is known after half the band of 0.2; then it must close as far again.
    assert seen(settings, samples) == [False, False, True, True, True, False, False]
    closing_again = [(0.3, 0.8), (0.2, 0.8)]
    assert seen(settings, samples + closing_again)[-2:] == [False, True]


def test_effort_alone_suffices_where_no_position_is_measured():
    settings = GraspOptions('effort', debounce=0.0)
    assert seen(settings, [(NAN, 0.1), (NAN, 0.7), (NAN, 0.1)]) == [False, True, False]


def test_contact_counts_links():
    two = GraspOptions('contact', debounce=0.0)
    assert seen(two, at([0.0, 1.0, 2.0, 3.0, 1.0])) == [False, False, True, True, False]
    one = GraspOptions('contact', contact_links=1, debounce=0.0)
    assert seen(one, at([0.0, 1.0])) == [False, True]


def test_reset_forgets():
    detector = GraspDetector(GraspOptions())
    detector.update(0, 0.1, NAN)
    detector.reset()
    assert detector.is_grasped is None


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'source': 'smell'}, "'smell'; it must be position, effort, contact or none"),
        ({'closed': 0.3, 'opened': 0.3}, 'closed is 0.3; it must be below opened'),
        (
            {'smaller_is_closed': False},
            'closed is 0.2; it must be below opened if smaller_is_closed, else',
        ),
        ({'effort_off': 0.6}, 'effort_off is 0.6; it must be at most effort_on'),
        ({'effort_on': 0.0, 'effort_off': 0.0}, 'effort_on is 0.0; it must be above 0'),
        ({'debounce': -1.0}, 'must be at least 0 s'),
        ({'closed': NAN}, 'closed is nan; it must be a number'),
        ({'contact_links': 0}, 'at least 1'),
    ],
)
def test_settings_that_cannot_be_are_refused(values, message):
    with pytest.raises(ValueRangeError, match=message):
        GraspOptions(**values)
