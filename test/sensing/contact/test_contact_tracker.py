# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts over time: begin, end, peak, impulse, expected or not, several sources."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.expectation import (
    AllowedRegion,
    ContactContext,
    ContactExpectations,
)
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.tracker import ContactEventType, ContactTracker

NAN = np.nan
FLOOR = AllowedRegion('floor', (-1, -1, -1), (1, 1, 1), max_force=5.0)


def sample(stamp, state, force=NAN, source=ContactSource.WRENCH, link='', why=''):
    return Detection(
        stamp * MILLISECOND, int(source), state, force, link=link, unavailable=why,
        normal=np.array([0.0, 0.0, 1.0]),
    )  # fmt: skip


def test_what_a_gripper_explained_is_asked_again_while_it_lasts():
    expectations = ContactExpectations(finger_links=('left',), doubt=0.03)

    def feed(tracker, stamp, wrench, source=ContactSource.WRENCH, gripper=0.04):
        force = float(np.linalg.norm(wrench))
        found = Detection(
            stamp * MILLISECOND, int(source), True, force, np.append(wrench, np.zeros(3))
        )
        context = ContactContext(stamp * MILLISECOND, gripper, is_grasped=True)
        return tracker.update([found], context)[0][0]

    tracker = ContactTracker(expectations)
    assert feed(tracker, 0, [0, 0, -4.0]).is_expected
    assert feed(tracker, 10, [5.0, 0, -4.0]).is_expected
    assert feed(tracker, 35, [5.0, 0, -4.0]).is_expected
    assert feed(tracker, 39, [0, 0, -4.0]).is_expected  # in time
    assert feed(tracker, 50, [5.0, 0, -4.0]).is_expected
    # Only the source whose force counts is asked.
    assert feed(tracker, 81, [5.0, 0, -4.0], ContactSource.ROBOT).is_expected
    found = feed(tracker, 82, [5.0, 0, -4.0])
    assert not found.is_expected and tracker.collisions == 1 and tracker.in_collision
    assert not feed(tracker, 90, [0, 0, -4.0]).is_expected  # it was one
    assert tracker.collisions == 1


def test_where_no_grasp_is_sensed_the_gripper_goes_on_explaining_what_it_began():
    tracker = ContactTracker(ContactExpectations(finger_links=('left',), doubt=0.03))
    for ms in range(0, 2000, 10):
        context = ContactContext(ms * MILLISECOND, gripper_position=max(0.02, 0.04 - ms * 1e-4))
        found = replace(sample(ms, ms >= 150, 5.0), wrench=np.array([3.0, 0, 4.0, 0, 0, 0]))
        contacts, _ = tracker.update([found], context)
    assert [each.is_expected for each in contacts] == [True] and tracker.collisions == 0


def test_a_link_named_later_makes_no_collision_of_what_a_gripper_explains():
    tracker = ContactTracker(ContactExpectations(finger_links=('left',), doubt=0.03))
    wrench = np.array([0.0, 0.0, -4.0, 0.0, 0.0, 0.0])
    for stamp, link in ((0, ''), (20, 'elbow'), (60, 'elbow'), (100, 'elbow')):
        found = Detection(
            stamp * MILLISECOND, int(ContactSource.JOINT_EFFORT), True, 4.0, wrench, link
        )
        contacts, _ = tracker.update(
            [found], ContactContext(stamp * MILLISECOND, 0.04, is_grasped=True)
        )
    assert [(each.link, each.is_expected) for each in contacts] == [('elbow', True)]
    assert tracker.collisions == 0


def run(tracker, *samples):
    """All events of samples given one by one, each with a context of its stamp."""
    events = []
    for detection in samples:
        context = ContactContext(detection.stamp, tip_position=np.zeros(3))
        events += tracker.update([detection], context)[1]
    return events


def test_a_contact_with_all_that_is_told_of_it():
    tracker = ContactTracker(ContactExpectations())
    samples = [(0, False, 0.1), (10, True, 2.0), (20, True, 4.0), (40, True, 3.0), (50, False, 0.2)]
    begin, end = run(tracker, *(sample(*values) for values in samples))
    assert begin.type is ContactEventType.BEGIN and end.type is ContactEventType.END
    assert (begin.stamp, begin.force, begin.impulse, begin.duration) == (
        10 * MILLISECOND,
        2.0,
        0.0,
        0.0,
    )
    assert end.id == begin.id == 1 and end.stamp == 50 * MILLISECOND
    assert end.peak_force == 4.0 and end.duration == pytest.approx(0.03)
    assert end.impulse == pytest.approx(0.01 * 3.0 + 0.02 * 3.5)
    assert not end.is_expected and end.reason and end.source == ContactSource.WRENCH
    np.testing.assert_array_equal(end.normal, [0, 0, 1])
    assert not tracker.contacts and tracker.collisions == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 50)), min_size=2, max_size=40))
def test_peak_and_impulse_are_those_of_the_samples(values):
    steps, forces = zip(*values)
    stamps = np.cumsum(steps)
    tracker = ContactTracker(ContactExpectations())
    run(tracker, *(sample(int(s), True, f) for s, f in zip(stamps, forces)))
    contact = tracker.contacts[0]
    impulse = np.trapezoid(forces, stamps * 1e-3) if hasattr(np, 'trapezoid') else np.trapz(
        forces, stamps * 1e-3
    )  # fmt: skip
    assert contact.impulse == pytest.approx(impulse, abs=1e-9)
    assert contact.peak_force == max(forces)
    assert contact.duration == pytest.approx((stamps[-1] - stamps[0]) * 1e-3)


def test_an_expected_contact_becomes_a_collision_once():
    tracker = ContactTracker(ContactExpectations(regions=(FLOOR,)))
    run(tracker, sample(0, True, 2.0), sample(10, True, 5.0))
    assert tracker.contacts[0].is_expected and not tracker.in_collision
    assert tracker.contacts[0].other == 'floor'
    run(tracker, sample(20, True, 5.1), sample(30, True, 1.0), sample(40, True, 9.0))
    contact = tracker.contacts[0]
    assert not contact.is_expected and 'more than the 5 N allowed' in contact.reason
    assert tracker.in_collision and tracker.collisions == 1
    (end,) = run(tracker, sample(50, False))
    assert not end.is_expected


def test_an_unavailable_source_ends_its_contact_with_what_is_known():
    tracker = ContactTracker(ContactExpectations())
    samples = [sample(0, True, 2.0), sample(10, True, 2.0), sample(30, None, why='no wrench')]
    _, end = run(tracker, *samples)
    assert end.duration == pytest.approx(0.01) and end.impulse == pytest.approx(0.02)
    assert 'not seen to end: no wrench' in end.reason and end.stamp == 30 * MILLISECOND


def test_a_silent_source_ends_its_contact():
    tracker = ContactTracker(ContactExpectations(), patience=0.1)
    run(tracker, sample(0, True, 2.0))
    assert not tracker.update([], ContactContext(100 * MILLISECOND))[1]
    contacts, (end,) = tracker.update([], ContactContext(101 * MILLISECOND))
    assert not contacts and 'no sample for 0.10 s' in end.reason and end.duration == 0.0


def test_sources_that_overlap_are_one_contact():
    tracker = ContactTracker(ContactExpectations())
    joint, robot = ContactSource.JOINT_EFFORT, ContactSource.ROBOT
    events = run(
        tracker,
        sample(0, True, 7.0, joint, 'elbow'),
        sample(10, True, 3.0),
        sample(20, True, 9.0, joint, 'elbow'),
        sample(20, True, source=robot),
    )
    assert [event.type for event in events] == [ContactEventType.BEGIN]
    (contact,) = tracker.contacts
    assert contact.source == ContactSource.FUSED and contact.link == 'elbow'
    assert contact.sources == (2, 3, 4)
    assert contact.force == 3.0  # the wrench measures it best
    assert run(tracker, sample(30, False), sample(30, False, source=robot)) == []
    assert tracker.contacts[0].source == joint
    (end,) = run(tracker, sample(40, False, 0.1, joint))
    assert end.id == 1 and tracker.collisions == 1


def test_different_links_are_different_contacts():
    tracker = ContactTracker(ContactExpectations())
    joint, simulator = ContactSource.JOINT_EFFORT, ContactSource.SIMULATOR
    run(tracker, sample(0, True, 1.0, joint, 'elbow'), sample(1, True, 1.0, simulator, 'hand'))
    assert [contact.link for contact in tracker.contacts] == ['elbow', 'hand']
    events = run(tracker, sample(2, True, 1.0, joint, 'wrist'))
    assert [event.type.name for event in events] == ['END', 'BEGIN']
    assert events[1].link == 'wrist' and events[1].id == 3 and tracker.collisions == 3


def test_a_link_that_becomes_known_is_kept():
    tracker = ContactTracker(ContactExpectations())
    joint = ContactSource.JOINT_EFFORT
    events = run(
        tracker, sample(0, True, 1.0, joint), sample(1, True, 1.0, joint, 'elbow'),
        sample(2, True, 1.0, joint), sample(3, False, 0.0, joint),
    )  # fmt: skip
    assert [event.link for event in events] == ['', 'elbow']


def test_without_force_peak_and_impulse_are_not_known():
    tracker = ContactTracker(ContactExpectations())
    robot = ContactSource.ROBOT
    _, end = run(
        tracker, sample(0, True, source=robot), sample(9, True, source=robot),
        sample(10, False, source=robot),
    )  # fmt: skip
    assert np.isnan([end.force, end.peak_force, end.impulse]).all()
    assert end.duration == pytest.approx(0.009)


def test_what_was_not_measured_is_no_part_of_the_impulse():
    tracker = ContactTracker(ContactExpectations())
    robot = ContactSource.ROBOT
    forces = [(0, NAN), (300, 5.0), (310, 7.0), (400, NAN), (500, 1.0), (510, 1.0)]
    run(tracker, *(sample(stamp, True, force, robot) for stamp, force in forces))
    (contact,) = tracker.contacts
    assert contact.impulse == pytest.approx(0.01 * 6.0 + 0.01 * 1.0)
    assert contact.peak_force == 7.0 and contact.duration == pytest.approx(0.51)


def test_a_contact_does_not_end_before_it_was_last_seen():
    tracker = ContactTracker(ContactExpectations())
    joint = ContactSource.JOINT_EFFORT
    run(tracker, sample(100, True, 2.0), sample(80, True, 2.0, joint), sample(101, False))
    (end,) = run(tracker, sample(95, False, 0.0, joint))
    assert end.stamp == 100 * MILLISECOND and end.duration == 0.0


def test_late_detections_are_left_out():
    tracker = ContactTracker(ContactExpectations())
    run(tracker, sample(10, True, 2.0))
    assert run(tracker, sample(10, False), sample(5, False)) == []
    assert len(tracker.contacts) == 1


def test_close_and_reset():
    tracker = ContactTracker(ContactExpectations())
    run(tracker, sample(0, True, 2.0))
    (end,) = tracker.close(50 * MILLISECOND, 'the node stops')
    assert 'the node stops' in end.reason and not tracker.contacts
    run(tracker, sample(60, True, 2.0))
    tracker.reset()
    assert not tracker.contacts and tracker.collisions == 0
    assert run(tracker, sample(0, True, 2.0))[0].id == 3  # none is given twice
