# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts, outages and camera checks of an episode, from its bag; and as the report shows them."""

import json
import math

import numpy as np
import pytest
from bag_making import T0, message, stamp
from robot_bags import robot_bag

from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.sensed_contacts import sensed_contacts
from frame_ros.reports import build_report, report_json
from frame_ros.sensing.contact.source import ContactSource

CORRECTED = {'translation__x': 0.001, 'translation__z': 0.002, 'rotation__y': 0.01}
MISALIGNED = {'translation__x': 0.03, 'translation__y': 0.04, 'rotation__z': math.radians(5.0)}


def contact_event(at, kind, number, **values):
    content = message('frame_ros/msg/ContactEvent', header__stamp=stamp(T0 + int(at * SECOND)))
    given = {'type': kind, 'id': number, 'source': 2, 'position__x': math.nan, **values}
    for name, value in given.items():
        owner = content
        *parents, last = name.split('__')
        for parent in parents:
            owner = getattr(owner, parent)
        object.__setattr__(owner, last, value)
    return '/contact_events', T0 + int(at * SECOND), content


def contact_state(at, reason):
    when = T0 + int(at * SECOND)
    content = message(
        'frame_ros/msg/ContactState', header__stamp=stamp(when), unavailable=reason, force=math.nan
    )
    return '/contact', when, content


def alignment(at, **values):
    when = T0 + int(at * SECOND)
    content = message('frame_ros/msg/CameraAlignment', header__stamp=stamp(when), **values)
    return '/camera_alignment', when, content


@pytest.fixture(scope='module')
def episode(tmp_path_factory):
    hit = {'link': '<b>hand</b>', 'reason': 'the gripper is open', 'force': 4.0}
    extra = [
        contact_event(0.5, 0, 1, **hit),
        contact_event(
            0.9, 1, 1, peak_force=9.5, impulse=1.25, duration=0.4, is_expected=False, **hit
        ),
        contact_event(0.7, 0, 2, link='finger', is_expected=True, reason='finger on an object'),
        *(contact_state(0.1 * i, 'the wrench is stale' if 3 <= i < 6 else '') for i in range(20)),
        alignment(0.4, camera='front', is_aligned=False, **MISALIGNED),
        alignment(0.6, camera='front', is_aligned=True, **CORRECTED),
        alignment(0.6, camera='wrist', unavailable='the arm is not in view'),
    ]
    path = robot_bag(tmp_path_factory.mktemp('bags') / 'bag', extra)
    return next(read_episodes(path))


def test_begin_and_end_make_one_contact(episode):
    found = sensed_contacts(episode, episode.open_bag())
    first, second = found.contacts
    assert first.begin - T0 == SECOND // 2
    assert first.duration == pytest.approx(0.4)
    assert (first.peak_force, first.impulse, first.source) == (9.5, 1.25, ContactSource.WRENCH)
    assert (first.is_expected, first.is_open) == (False, False)
    assert second.is_open
    assert second.end == found.end
    assert found.unexpected == 1


def test_the_id_identifies_a_contact_whatever_its_source_becomes(tmp_path):
    wrench, fused, robot = ContactSource.WRENCH, ContactSource.FUSED, ContactSource.ROBOT
    extra = [
        contact_event(0.3, 0, 1, source=int(wrench)),
        contact_event(0.45, 1, 1, source=int(fused), duration=0.15),
        contact_event(0.6, 0, 2, source=int(fused)),
        contact_event(0.7, 1, 2, source=int(robot), duration=0.1),
    ]
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', extra)))
    found = sensed_contacts(episode, episode.open_bag()).contacts
    assert [contact.duration for contact in found] == pytest.approx([0.15, 0.1])
    assert [contact.source for contact in found] == [fused, robot]
    assert not any(contact.is_open for contact in found)


def test_a_sensor_that_was_started_again_counts_its_contacts_from_1(tmp_path):
    extra = [
        contact_event(0.3, 0, 1, link='hand'),
        contact_event(0.6, 0, 1, link='finger'),
        contact_event(0.7, 1, 1, link='finger', duration=0.1),
    ]
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', extra)))
    hand, finger = sensed_contacts(episode, episode.open_bag()).contacts
    assert (hand.link, hand.is_open) == ('hand', True)
    assert hand.duration == pytest.approx(0.3)
    assert (finger.link, finger.is_open) == ('finger', False)
    assert finger.duration == pytest.approx(0.1)


def test_a_reason_that_goes_on_is_one_outage(episode):
    (outage,) = sensed_contacts(episode, episode.open_bag()).outages
    assert (outage.sensor, outage.reason) == ('contact', 'the wrench is stale')
    assert outage.duration == pytest.approx(0.2)


def test_cameras_are_told_apart(episode):
    front, wrist = sensed_contacts(episode, episode.open_bag()).cameras
    assert (front.checked, front.misaligned) == (2, 1)
    assert front.largest_translation == pytest.approx(0.05)
    assert front.translation == (0.001, 0.0, 0.002) and front.rotation == (0.0, 0.01, 0.0)
    assert wrist.checked == 0
    assert wrist.unavailable == 'the arm is not in view'
    assert wrist.translation is None and wrist.rotation is None


@pytest.mark.parametrize(
    ('sensed', 'touched', 'contacts'), [(True, False, ()), (True, True, None), (False, False, None)]
)
def test_a_bag_without_events_of_a_robot_that_touched_nothing(tmp_path, sensed, touched, contacts):
    """The topic is not in the bag, as nothing was published on it."""
    state = {'unavailable': '' if sensed else 'no wrench came', 'in_contact': touched}
    extra = [
        (
            '/contact',
            T0 + step * SECOND // 50,
            message(
                'frame_ros/msg/ContactState',
                header__stamp=stamp(T0 + step * SECOND // 50),
                **state,
            ),
        )
        for step in range(50)
    ]
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', extra)))
    assert sensed_contacts(episode, episode.open_bag()).contacts == contacts


def test_without_a_bag_nothing_is_known(episode):
    assert sensed_contacts(episode, None).contacts is None


def test_the_metrics_take_the_outage_as_unknown(episode):
    sensed = np.asarray(episode.metrics['safety']['is_contact_sensed'], bool)
    times = (episode.metrics['safety']['stamp'] - T0) / SECOND
    assert not sensed[(times > 0.31) & (times < 0.59)].any()
    assert sensed[(times > 0.11) & (times < 0.29)].all()


def test_page_and_json_show_them_and_text_stays_text(episode):
    page = build_report([episode])
    assert 'What the robot touched' in page
    assert '2 contacts, 1 unexpected.' in page
    assert '&lt;b&gt;hand&lt;/b&gt;' in page
    assert 'Camera front was misaligned in 1 of 2 checks: by up to 50 mm and 5 degrees.' in page
    assert 'Camera wrist: its calibration could not be checked (the arm is not in view).' in page
    data = json.loads(report_json([episode]))['episodes'][0]['sensing']
    assert data['contacts'][0]['peak_force'] == 9.5
    assert data['contacts'][0]['position'] is None
    assert data['outages'][0]['reason'] == 'the wrench is stale'
    assert data['cameras'][0]['misaligned'] == 1
