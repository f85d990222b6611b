# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensed contacts beside the true ones."""

import math

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.episodes.contact_sensitivity import RecordedSensitivity
from frame_ros.episodes.sensed_contacts import RecordedContact
from frame_ros.episodes.true_contacts import TrueContacts
from frame_ros.evaluation.contact_comparison import Verdict, compare_contacts
from frame_ros.evaluation.missed_contacts import WhyMissed
from frame_ros.sensing.contact.source import ContactSource


def contact(begin, end, link='hand', peak=10.0, is_expected=False):
    return RecordedContact(
        round(begin * SECOND), round(end * SECOND), 1, ContactSource.UNKNOWN, link, '', is_expected,
        '', peak, math.nan, (math.nan,) * 3, 'base',
    )  # fmt: skip


def truth(contacts, force=10.0):
    """The net force acts at all samples of the contacts."""
    stamps = np.arange(0, 10 * SECOND, SECOND // 50)
    is_touched = np.zeros(len(stamps), bool)
    for each in contacts:
        is_touched |= (stamps >= each.begin) & (stamps <= each.end)
    return TrueContacts(0, 10 * SECOND, tuple(contacts), stamps, force * is_touched)


def test_a_contact_that_truth_knows():
    found = compare_contacts([contact(1.06, 1.3)], truth([contact(1.0, 1.2)]))
    (match,) = found.matches
    assert match.is_known and not match.is_overlong
    assert match.excess == pytest.approx(0.04)
    assert found.false == found.overlong == found.unsensed == ()


def test_a_contact_in_free_motion_is_false_and_the_true_one_missed():
    true = contact(1.0, 1.2)
    found = compare_contacts([contact(3.0, 3.2)], truth([true]))
    assert len(found.false) == 1
    assert math.isnan(found.false[0].excess)
    assert [each.true for each in found.missed] == [true]
    assert not found.overlong


def test_a_contact_longer_than_truth():
    found = compare_contacts([contact(1.0, 1.5)], truth([contact(1.0, 1.3)]))
    assert found.overlong[0].excess == pytest.approx(0.2)


def test_a_grasp_does_not_excuse_a_collision():
    grasp = contact(0.5, 5.0, 'gripper', 12.0, is_expected=True)
    light = truth([grasp], force=0.3)
    assert len(compare_contacts([contact(2.0, 2.2, 'upper_arm')], light).false) == 1
    pressing = truth([grasp], force=6.0)
    found = compare_contacts([contact(2.0, 2.2, 'upper_arm')], pressing)
    (match,) = found.false_collisions
    assert match.is_known and not match.is_collision
    assert not found.false and match.verdict == 'false collision'


HAND = ('gripper', 'jaw')


@pytest.mark.parametrize(
    ('link', 'is_expected', 'true', 'verdict'),
    [
        ('gripper', True, ('jaw', True), Verdict.KNOWN),
        ('', False, ('jaw', True), Verdict.FALSE_COLLISION),
        ('', False, ('jaw', False), Verdict.KNOWN),
        ('gripper', False, ('jaw', True), Verdict.FALSE_COLLISION),
        ('upper_arm', False, ('jaw', True), Verdict.FALSE_COLLISION),
        ('upper_arm', False, ('forearm', False), Verdict.KNOWN),
        ('upper_arm', False, ('jaw', False), Verdict.OTHER_SIDE),
        ('gripper', True, ('forearm', False), Verdict.OTHER_SIDE),
    ],
)
def test_the_side_and_whether_it_was_expected_are_compared(link, is_expected, true, verdict):
    sensed = contact(1.0, 1.2, link, is_expected=is_expected)
    known = truth([contact(1.0, 1.2, true[0], is_expected=true[1])])
    (match,) = compare_contacts([sensed], known, hand=HAND).matches
    assert match.verdict is verdict


def test_a_collision_that_was_sensed_as_expected_is_excused():
    push = contact(1.0, 1.5, 'gripper')
    sensed = contact(1.05, 1.5, 'gripper', is_expected=True)
    found = compare_contacts([sensed], truth([push]), felt_from(2.0), HAND)
    assert [each.true for each in found.excused] == [push]
    assert not found.unsensed and not found.false_collisions
    weak = compare_contacts([sensed], truth([push], force=1.0), felt_from(2.0), HAND)
    told = compare_contacts([sensed, contact(1.1, 1.5, '')], truth([push]), felt_from(2.0), HAND)
    assert weak.excused == told.excused == ()


def test_several_true_contacts_of_its_time_count_together_those_on_its_link_first():
    others = [contact(1.0, 1.1), contact(1.2, 1.4), contact(0.9, 2.0, 'finger')]
    (match,) = compare_contacts([contact(1.0, 1.45)], truth(others)).matches
    assert [true.link for true in match.true] == ['hand', 'hand']
    assert match.excess == pytest.approx(0.05)


def test_a_contact_that_lasts_from_one_true_contact_to_the_next_is_too_long():
    pushes = [contact(1.0, 1.2), contact(8.0, 8.2)]
    (match,) = compare_contacts([contact(1.0, 8.2)], truth(pushes)).matches
    assert match.is_overlong and match.excess == pytest.approx(6.8)


def test_a_force_that_was_not_measured_needs_a_true_contact_of_its_time_alone():
    grasp = contact(0.5, 5.0, is_expected=True)
    found = compare_contacts([contact(2.0, 2.2, peak=math.nan)], truth([grasp], force=0.0))
    assert found.matches[0].is_known


def felt_from(force, seconds=0.1):
    """A sensor that feels this force from 0 s on, if it lasts so long."""
    return RecordedSensitivity(np.array([0]), np.array([force]), np.array([seconds]))


@pytest.mark.parametrize(
    ('force', 'duration', 'threshold', 'why'),
    [
        (3.0, 0.5, 2.0, WhyMissed.MISSED),
        (3.0, 0.06, 2.0, WhyMissed.TOO_SHORT),
        (1.0, 0.5, 2.0, WhyMissed.TOO_WEAK),
        (2.0, 0.5, 2.0, WhyMissed.TOO_WEAK),  # felt to 95 % of it
        (3.0, 0.5, math.nan, WhyMissed.UNKNOWN),
    ],
)
def test_why_a_true_contact_was_not_sensed(force, duration, threshold, why):
    true = truth([contact(1.0, 1.0 + duration, peak=25.0)], force)
    found = compare_contacts([], true, felt_from(threshold))
    (unsensed,) = found.unsensed
    assert unsensed.why is why
    assert unsensed.net_force == force
    assert found.missed == ((unsensed,) if why in ('missed', 'not sensed') else ())


def test_a_force_that_comes_again_and_again_does_not_last():
    true = truth([contact(1.0, 2.0)], 3.0)
    true.forces[::3] = 0.0
    (unsensed,) = compare_contacts([], true, felt_from(2.0)).unsensed
    assert (unsensed.why, unsensed.lasting_force) == (WhyMissed.TOO_SHORT, 0.0)
    (felt,) = compare_contacts([], true, felt_from(2.0, seconds=0.03)).unsensed
    assert (felt.why, felt.lasting_force) == (WhyMissed.MISSED, 3.0)


def test_what_the_sensor_felt_is_that_of_the_moment():
    """It feels 5 N until 1.5 s, and 2 N from then on."""
    stamps = np.array([0, round(1.5 * SECOND)])
    bound = RecordedSensitivity(stamps, np.array([5.0, 2.0]), np.array([0.1, 0.1]))
    before, after = contact(1.0, 1.3), contact(2.0, 2.3)
    found = compare_contacts([], truth([before, after], 3.0), bound)
    assert [each.why for each in found.unsensed] == [WhyMissed.TOO_WEAK, WhyMissed.MISSED]
    assert [each.threshold for each in found.unsensed] == [5.0, 2.0]
