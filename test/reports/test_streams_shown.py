# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The streams of an episode that lie, from its bag, in page and JSON."""

import numpy as np
import pytest
from bag_making import T0, message, stamp
from robot_bags import robot_bag

from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.stream_checks import judged_streams
from frame_ros.reports import build_report, report_data
from frame_ros.sensing.stream_health.streams import StreamHealth

RATE, COUNT, FROZEN = 100, 900, 600  # Hz; samples; the first that is that before again
NAMES = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')


def samples():
    """Stamps (ns), wrenches (N, 6) of which the last are frozen, and joint states at rest."""
    rng = np.random.default_rng(0)
    wrenches = np.rint(rng.normal(0.0, 0.1, (COUNT, 6)) * 16) / 16
    wrenches[FROZEN:] = wrenches[FROZEN - 1]
    stamps = [T0 + (i + 1) * SECOND // RATE for i in range(COUNT)]
    return stamps, wrenches


def standing(at):
    """A joint state of an arm that stands."""
    return message(
        'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(NAMES),
        position=np.zeros(6),
    )  # fmt: skip


@pytest.fixture(scope='module')
def episode(tmp_path_factory):
    extra = []
    for at, (fx, fy, fz, tx, ty, tz) in zip(*samples(), strict=True):
        values = {
            'wrench__force__x': fx, 'wrench__force__y': fy, 'wrench__force__z': fz,
            'wrench__torque__x': tx, 'wrench__torque__y': ty, 'wrench__torque__z': tz,
        }  # fmt: skip
        kind = 'geometry_msgs/msg/WrenchStamped'
        extra.append(('/wrench', at, message(kind, header__stamp=stamp(at), **values)))
        # Arm and gripper in one state, which stands; the bag's own end after a second.
        extra.append(('/arm/joint_states', at, standing(at)))
    return next(read_episodes(robot_bag(tmp_path_factory.mktemp('streams') / 'bag', extra)))


@pytest.fixture(scope='module')
def rows(episode):
    return {row.topic: row for row in judged_streams(episode, episode.open_bag())}


def test_a_frozen_wrench_is_found_in_the_bag_within_a_second(rows):
    row = rows['wrench']
    (fault,) = row.faults
    assert fault.kind == 'frozen'
    begin = T0 + FROZEN * SECOND // RATE
    assert fault.begin == begin and fault.found - begin < SECOND
    assert row.count == COUNT and row.rate == pytest.approx(RATE, rel=1e-6)
    assert row.jitter < 1e-6


def test_the_others_are_healthy(rows):
    assert {'joint_states', 'front/image_raw', 'arm/joint_states'} <= set(rows)
    assert not any(row.faults for name, row in rows.items() if name != 'wrench')


def test_live_and_from_the_bag_are_one(rows):
    health = StreamHealth()
    for at, wrench in zip(*samples(), strict=True):
        health.on_joints(at, NAMES, np.zeros(6), np.zeros(0), np.zeros(0), 'arm/joint_states')
        health.on_wrench(at, wrench.tolist())
    assert tuple(health.streams['wrench'].check.faults) == rows['wrench'].faults


def test_page_and_json_have_a_row_per_stream(episode):
    (part,) = report_data([episode])['episodes']
    row = next(row for row in part['streams'] if row['topic'] == 'wrench')
    assert row['faults'][0]['kind'] == 'frozen' and row['offset'] is None
    page = build_report([episode])
    assert 'frozen: new stamps, but the same values' in page
    assert 'Streams: wrong at times: wrench' in page


@pytest.mark.parametrize('jump', [0.03, -0.03])
def test_stamps_that_jump_are_found_in_the_bag(tmp_path, jump):
    """By when the recorder received the messages, while the arm stands."""
    extra = []
    for i in range(COUNT):
        sent = T0 + (i + 1) * SECOND // RATE
        at = sent + (i >= FROZEN) * round(jump * SECOND)
        values = {'wrench__force__z': float(i % 7)}
        kind = 'geometry_msgs/msg/WrenchStamped'
        extra.append(('/wrench', sent, message(kind, header__stamp=stamp(at), **values)))
        extra.append(('/arm/joint_states', sent, standing(sent)))
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', extra)))
    (row,) = (row for row in judged_streams(episode, episode.open_bag()) if row.kind == 'wrench')
    (fault,) = row.faults
    assert fault.kind == 'offset' and ('later' if jump > 0.0 else 'earlier') in fault.reason
    jumped = T0 + (FROZEN + 1) * SECOND // RATE
    assert 0 < fault.found - jumped < SECOND
    assert fault.begin > jumped


def test_two_sensors_are_two_streams(tmp_path):
    """In one namespace, at rates and stamps of their own."""
    extra = []
    for i, at in enumerate(samples()[0]):
        kind = 'geometry_msgs/msg/WrenchStamped'
        values = {'wrench__force__z': float(i % 7)}
        extra.append(('/wrench', at, message(kind, header__stamp=stamp(at), **values)))
        if i % 2:
            second = message(kind, header__stamp=stamp(at + 1_000_000), **values)
            extra.append(('/second/wrench', at + 1_000_000, second))
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', extra)))
    found = {row.topic: row for row in judged_streams(episode, episode.open_bag())}
    first, second = found['wrench'], found['wrench second/wrench']
    assert (first.count, second.count) == (COUNT, COUNT // 2)
    assert (first.rate, second.rate) == pytest.approx((RATE, RATE / 2), rel=1e-6)
    assert first.repeats == second.repeats == 0


@pytest.mark.parametrize(('units', 'is_found'), [('rad', True), ('deg', False)])
def test_joints_outside_of_the_limits_are_found_in_the_bag(tmp_path, units, is_found):
    """Unless their units are given."""
    extra = []
    for i in range(20):
        at = T0 + (i + 1) * SECOND // RATE
        state = message(
            'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(NAMES),
            position=np.degrees([0.1, -1.2, 1.0, 0.6, 0.0, 0.3]),
        )  # fmt: skip
        extra.append(('/arm/joint_states', at, state))
    path = robot_bag(tmp_path / 'bag', extra)
    episode = next(read_episodes(path, robot='so101', joint_units=RecordedUnits(units)))
    found = {row.topic: row for row in judged_streams(episode, episode.open_bag())}
    faults = found['arm/joint_states'].faults
    assert bool(faults) is is_found
    assert all('they look like degrees' in fault.reason for fault in faults)
