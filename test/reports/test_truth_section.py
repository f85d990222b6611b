# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's truth beside what was sensed, in page and JSON; and in no metric."""

import numpy as np
import pytest
from bag_making import T0, message, stamp
from robot_bags import robot_bag

from frame_ros.bags.findings import Level
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.true_contacts import true_contacts
from frame_ros.evaluation.distance_comparison import compare_distances
from frame_ros.reports import build_report, report_data
from frame_ros.reports.model.episode_check import check_episode
from frame_ros.reports.model.rates import stream_rates
from frame_ros.reports.sections.truth import TruthSection

TRUE, SENSED = '/ground_truth', ''


def state(room, at, contacts=(), threshold=0.0):
    """contacts: (link, is_expected, peak force N, duration s). threshold: N; 0: not known."""
    when = T0 + round(at * SECOND)
    links, expected, peaks, durations = zip(*contacts) if contacts else ((),) * 4
    content = message(
        'frame_ros/msg/ContactState',
        header__stamp=stamp(when),
        in_contact=bool(contacts),
        force=max(peaks, default=0.0),
        force_threshold=threshold,
        response_time=0.03,
        links=list(links),
        others=['table'] * len(links),
        is_expected=np.array(expected, bool),
        reasons=[''] * len(links),
        peak_forces=np.array(peaks, float),
        durations=np.array(durations, float),
        positions=[message('geometry_msgs/msg/Point')] * len(links),
    )
    return f'{room}/contact', when, content


def events(number, begin, end, link, is_expected=False):
    """BEGIN and END of a sensed contact."""
    for kind, at in ((0, begin), (1, end)):
        when = T0 + round(at * SECOND)
        values = {'link': link, 'is_expected': is_expected, 'peak_force': 5.0, 'source': 2}
        content = message('frame_ros/msg/ContactEvent', header__stamp=stamp(when), **values)
        object.__setattr__(content, 'type', kind)
        object.__setattr__(content, 'id', number)
        object.__setattr__(content, 'duration', end - begin)
        yield '/contact_events', when, content


def distance(room, at, value):
    when = T0 + round(at * SECOND)
    content = message('frame_ros/msg/Proximity', header__stamp=stamp(when), distance=value)
    return f'{room}/proximity', when, content


def an_episode(folder, extra):
    return next(read_episodes(robot_bag(folder / 'bag', extra)))


@pytest.fixture(scope='module')
def episode(tmp_path_factory):
    """True: the hand from 0.2 to 0.3 s, the elbow from 0.8 to 0.9 s. Sensed: the first for 0.4 s,
    and something at 0.45 s.
    """
    extra = [
        *(state(SENSED, 0.02 * i) for i in range(50)),
        *(state(TRUE, 0.02 * i) for i in range(11)),
        *(state(TRUE, at, [('hand', False, 8.0, at - 0.2)]) for at in (0.22, 0.26, 0.3)),
        *(state(TRUE, 0.32 + 0.02 * i) for i in range(24)),
        *(state(TRUE, at, [('elbow', False, 9.0, at - 0.8)]) for at in (0.82, 0.9)),
        state(TRUE, 0.92),
        *events(1, 0.2, 0.6, 'hand'),
        *events(2, 0.45, 0.46, 'upper_arm'),
        *(distance(TRUE, 0.02 * i, 0.1) for i in range(50)),
        *(distance(SENSED, 0.105 + 0.1 * i, 0.1 + 0.005 * i) for i in range(8)),
    ]
    return an_episode(tmp_path_factory.mktemp('bags'), extra)


def test_contacts_are_known_false_overlong_or_not_sensed(episode):
    found = TruthSection(episode, episode.open_bag()).data['contacts']
    assert [row['verdict'] for row in found['sensed']] == ['overlong', 'false']
    assert found['sensed'][0]['true']['duration'] == pytest.approx(0.1)
    assert found['sensed'][1]['true'] is None
    (missed,) = found['missed']
    assert (missed['true']['link'], missed['true']['peak_force']) == ('elbow', 9.0)
    assert missed['sensed'] is None
    assert (found['false'], found['overlong']) == (1, 1)


@pytest.mark.parametrize(
    ('threshold', 'verdict', 'known'),
    [
        (0.0, 'not sensed', 'what was felt is not recorded'),
        (5.0, 'missed', 'felt from 5 N on, if it lasts 0.03 s'),
        (
            12.0,
            'too weak',
            'felt from 12 N on, if it lasts 0.03 s',
        ),
    ],
)
def test_a_contact_that_was_not_sensed_says_why(tmp_path, threshold, verdict, known):
    extra = [
        *(state(SENSED, 0.02 * i, threshold=threshold) for i in range(50)),
        *(state(TRUE, 0.02 * i) for i in range(40)),
        *(state(TRUE, at, [('elbow', False, 9.0, at - 0.8)]) for at in (0.82, 0.84, 0.86, 0.9)),
        state(TRUE, 0.92),
    ]
    episode = an_episode(tmp_path, extra)
    (missed,) = TruthSection(episode, episode.open_bag()).data['contacts']['missed']
    assert (missed['verdict'], missed['net_force']) == (verdict, 9.0)
    page = build_report([episode])
    assert f'1 {verdict} (net force up to 9 N; {known})' in page
    assert ('net 9 N, felt from 12 N' in page) is (verdict == 'too weak')
    found = check_episode(episode)
    is_doubtful = any('nothing sensed' in text for text in found.doubtful)
    beyond = found.texts(Level.WORTH_KNOWING)
    is_beyond = any('too weak or too short' in text for text in beyond)
    assert (is_doubtful, is_beyond) == (verdict != 'too weak', verdict == 'too weak')


def test_a_sensed_collision_that_truth_knows_as_expected_is_named_so(tmp_path):
    extra = [
        *(state(SENSED, 0.02 * i) for i in range(50)),
        *(state(TRUE, 0.02 * i) for i in range(11)),
        *(state(TRUE, at, [('jaw', True, 6.0, at - 0.2)]) for at in (0.22, 0.26, 0.3, 0.4)),
        *(state(TRUE, 0.42 + 0.02 * i) for i in range(24)),
        *events(1, 0.22, 0.26, 'upper_arm'),
    ]
    episode = an_episode(tmp_path, extra)
    found = TruthSection(episode, episode.open_bag()).data['contacts']
    assert [row['verdict'] for row in found['sensed']] == ['false collision']
    assert (found['false'], found['false_collisions'], found['excused']) == (0, 1, 0)
    assert any('1 false collision sensed' in text for text in check_episode(episode).doubtful)
    page = build_report([episode])
    assert '1 false collision (truth knows only an expected contact)' in page
    assert '✕ false collision' in page


def test_a_contact_that_turns_expected_is_two(tmp_path):
    extra = [
        state(SENSED, 0.0),
        state(TRUE, 0.1),
        *(state(TRUE, at, [('jaw', False, 30.0, at - 0.2)]) for at in (0.22, 0.3)),
        *(state(TRUE, at, [('jaw', True, 30.0, at - 0.2)]) for at in (0.32, 0.5)),
        state(TRUE, 0.52),
    ]
    episode = an_episode(tmp_path, extra)
    found = true_contacts(episode, episode.open_bag()).contacts
    spans = [(each.is_expected, round(each.duration, 6)) for each in found]
    assert spans == [(False, 0.1), (True, 0.2)]


def test_distances_by_hand(episode):
    """0, 5, ... 35 mm too far."""
    found = compare_distances(episode, episode.open_bag())
    assert found.samples == 8
    assert found.median_error == pytest.approx(0.0175)
    assert found.p95_error == pytest.approx(np.percentile(np.arange(8) * 0.005, 95))
    assert found.too_far == pytest.approx(5 / 8)  # 15 mm and more
    assert (found.least_sensed, found.least_true) == pytest.approx((0.1, 0.1))


def test_one_true_distance_alone(tmp_path):
    sensed = [distance(SENSED, at, 0.12) for at in (0.1, 0.48, 0.52, 0.9)]
    episode = an_episode(tmp_path, [distance(TRUE, 0.5, 0.1), *sensed])
    found = compare_distances(episode, episode.open_bag())
    assert (found.samples, found.median_error) == (2, pytest.approx(0.02))


def test_false_and_missed_collisions_make_their_number_doubtful(episode):
    texts = check_episode(episode).doubtful
    assert "1 sensed collision that the simulator's truth does not know" in texts
    assert "1 collision of the simulator's truth that nothing sensed" in texts


def test_the_page_names_truth_as_such_and_the_json_holds_it(episode):
    page = build_report([episode])
    assert 'Sensed, compared with the simulator' in page
    assert 'no metric is computed from it' in page
    assert '2 contacts sensed: 1 false' in page
    assert 'true (simulator)' in page
    (data,) = report_data([episode])['episodes']
    assert data['truth']['distances']['samples'] == 8


def test_without_truth_nothing_is_said_of_it(tmp_path):
    episode = an_episode(tmp_path, [distance(SENSED, 0.1 * i, 0.2) for i in range(9)])
    assert TruthSection(episode, episode.open_bag()).data is None
    assert 'compared with the simulator' not in build_report([episode])
    assert not any('truth' in text for text in check_episode(episode).doubtful)


def test_of_types_without_a_header_no_stamps_are_judged(tmp_path):
    text = message('std_msgs/msg/String', data='settings')
    episode = an_episode(tmp_path, [('/metrics_config', T0, text), ('/metrics_config', T0, text)])
    rows = {row.topic: row for row in stream_rates(episode, episode.open_bag())}
    assert (rows['/metrics_config'].has_header, rows['/metrics_config'].duplicate) == (False, 0)
    assert rows['/joint_commands'].has_header
