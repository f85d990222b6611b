# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of a grasp: by position, effort and contact, with hysteresis and debounce."""

import math
from pathlib import Path

import pytest

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.grasp import (
    GraspDecider,
    GraspDecision,
    GraspDetector,
    GraspHistory,
    GraspOptions,
)

NAN = math.nan
BAND = {'closed': 0.2, 'opened': 0.25}


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
    assert seen(GraspOptions(**BAND, debounce=10.0), at([0.1])) == [True]
    assert seen(GraspOptions(**BAND), [(NAN, NAN)]) == [None]


@pytest.mark.parametrize('source', ['position', 'effort'])
def test_values_that_are_not_numbers_change_nothing(source):
    settings = GraspOptions(source, **BAND, debounce=0.0)
    states = seen(settings, [(0.1, 1.0), (NAN, NAN), (math.inf, math.inf), (0.5, 0.0)])
    assert states == [True, True, True, False]


def test_a_gripper_may_close_upwards():
    settings = GraspOptions(
        closed=0.8, opened=0.7, smaller_is_closed=False, empty=1.0, margin=0.1, debounce=0.0
    )
    states = seen(settings, at([0.1, 0.75, 0.8, 0.75, 0.7, 0.85, 0.95]))
    assert states == [False, False, True, True, False, True, False]


def test_effort_has_hysteresis_and_any_sign():
    settings = GraspOptions('effort', **BAND, effort_on=0.5, effort_off=0.3, debounce=0.0)
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
    settings = GraspOptions('effort', **BAND, debounce=0.0)
    assert seen(settings, [(NAN, 0.1), (NAN, 0.7), (NAN, 0.1)]) == [False, True, False]


def test_contact_counts_links():
    two = GraspOptions('contact', debounce=0.0)
    assert seen(two, at([0.0, 1.0, 2.0, 3.0, 1.0])) == [False, False, True, True, False]
    one = GraspOptions('contact', contact_links=1, debounce=0.0)
    assert seen(one, at([0.0, 1.0])) == [False, True]


def test_reset_forgets():
    detector = GraspDetector(GraspOptions(**BAND))
    detector.update(0, 0.1, NAN)
    detector.reset()
    assert detector.is_grasped is None


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'source': 'smell'}, "'smell'; it must be position, effort, contact or none"),
        ({'closed': 0.3, 'opened': 0.3}, 'closed is 0.3; it must be below opened'),
        (
            {**BAND, 'smaller_is_closed': False},
            'closed is 0.2; it must be below opened if smaller_is_closed, else',
        ),
        ({'effort_off': 0.6}, 'effort_off is 0.6; it must be at most effort_on'),
        ({'effort_on': 0.0, 'effort_off': 0.0}, 'effort_on is 0.0; it must be above 0'),
        ({'debounce': -1.0}, 'must be at least 0 s'),
        ({'closed': NAN}, 'closed is nan; it must be a finite number'),
        ({'contact_links': 0}, 'at least 1'),
    ],
)
def test_settings_that_cannot_be_are_refused(values, message):
    with pytest.raises(ValueRangeError, match=message):
        GraspOptions(**values)


def test_a_robot_with_a_profile_needs_no_options():
    decider = GraspDecider(GraspOptions(debounce=0.0), find_profile('so101'))
    assert decider.joint == 'gripper'
    decider.take(SECOND, 0.1, 0.7)
    assert decider.at(SECOND) == GraspDecision(True, 0.1, 0.7)
    decider.take(SECOND + 1, 0.5, 0.0)
    assert decider.at(SECOND + 2) == GraspDecision(False, 0.5, 0.0)


def test_what_is_not_decided_says_why():
    assert (
        GraspDecider(GraspOptions('none'), find_profile('so101')).at(1).reason
        == 'grasp.source is none'
    )
    urdf = find_profile(Path(__file__).resolve().parents[3] / 'urdf' / 'so101.urdf')
    unknown = GraspDecider(GraspOptions(), urdf)
    unknown.take(1, 0.1, 0.0)
    decision = unknown.at(1)
    assert decision.is_held is None and 'is not known: set grasp.joint' in decision.reason
    known = GraspDecider(GraspOptions(joint='jaw', **BAND), urdf)
    known.take(1, 0.1, 0.0)
    assert known.joint == 'jaw' and known.at(1).is_held
    with pytest.raises(SetupError, match=r'grasp\.closed and grasp\.opened are not set'):
        GraspDecider(GraspOptions(joint='jaw'), urdf)


def test_old_evidence_counts_no_longer():
    decider = GraspDecider(GraspOptions(), find_profile('so101'))
    silent = 'the state of gripper has not been known for 0.5 s'
    assert decider.at(SECOND).reason == silent
    decider.take(SECOND, 0.1, NAN)
    decider.take(SECOND + 1, NAN, NAN)
    assert decider.at(SECOND + SECOND // 2).is_held
    later = decider.at(SECOND + SECOND // 2 + 1)
    assert later.is_held is None and later.reason == silent and math.isnan(later.position)


def test_evidence_goes_on_after_a_reset_of_the_clock_only():
    decider = GraspDecider(GraspOptions(debounce=0.0), find_profile('so101'))
    decider.take(10 * SECOND, 0.1, NAN)
    for stamp in (10 * SECOND, 9 * SECOND, 0, 900 * SECOND):  # again, earlier, unset, far ahead
        decider.take(stamp, 0.5, NAN)
    assert decider.at(10 * SECOND).is_held
    for i in range(3):
        decider.take(SECOND + i, 0.5, NAN)
    assert decider.at(SECOND + 2).is_held is False


def test_by_contact_neither_position_nor_effort_is_known():
    decider = GraspDecider(GraspOptions('contact'), find_profile('so101'))
    assert decider.joint == ''
    decider.take(SECOND, 2.0, NAN)
    decision = decider.at(SECOND)
    assert decision.is_held and math.isnan(decision.position) and not decision.reason
    assert decider.at(2 * SECOND).reason == 'contact has not been known for 0.5 s'


def test_of_decisions_the_newest_at_or_before_a_stamp_counts():
    history = GraspHistory()
    assert history.at(SECOND) is None
    for i, is_held in enumerate((False, True, True, None)):
        history.add(SECOND + i, is_held)
    found = [history.at(SECOND + i) for i in (-1, 0, 1, 2, 3)]
    assert found == [None, False, True, True, None]
    history.add(SECOND + 4, True)
    assert history.at(SECOND + SECOND // 2) and history.at(2 * SECOND) is None
    history.add(1000, False)  # another clock
    assert history.at(1000) is False and history.at(SECOND + 4) is None
