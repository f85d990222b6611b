# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releases and drops in generated telemetry of grippers, and the verdicts on them."""

from dataclasses import replace

import numpy as np
import pytest
from bag_making import event, pose, write_bag
from gripper_traces import (
    BEGIN,
    BIN,
    RATE,
    TABLE,
    gripper_episode,
    paths,
    placement,
    poses,
    steps,
    times_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from robot_bags import T0, joint_state

from frame_ros.bags.reader import Bag
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_bag
from frame_ros.evaluation.operations.closed_phases import closed_phases
from frame_ros.evaluation.operations.detection import detect
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.zones import make_zone

WORKSPACE = make_zone('workspace', {'box': [0.0, -0.6, 0.6, 0.6]})
SOURCE = make_zone('tray', {'kind': 'source', 'circle': [*TABLE, 0.1]})


def verdicts(episode, zones=(), **options):
    found = detect(episode, zones, DetectorOptions(**options))
    return [(c.kind.value, c.verdict.value) for c in found.candidates]


@pytest.mark.parametrize('robot', ['so101', 'fr3'])
@given(st.floats(0.06, 0.7), st.floats(1.0, 5.0))
@settings(max_examples=15, deadline=None)
def test_an_item_of_any_width_is_released(robot, width, held):
    episode = placement(width, until=1.0 + held, length=7.0, robot=robot)
    found = detect(episode)
    (one,) = found.candidates
    assert one.verdict.value == 'success' and one.zone == 'goal' and not found.notes
    assert one.time == pytest.approx(1.0 + held, abs=0.1)
    assert one.held == pytest.approx(held, abs=0.2)
    assert one.opening == pytest.approx(width, abs=0.01)


@given(st.floats(0.0, 0.5), st.floats(0.0, 1.0), st.floats(0.5, 3.0))
@settings(max_examples=30, deadline=None)
def test_closing_on_nothing_is_no_hold(closed, ramp, wait):
    length = 8.0
    times = times_of(length)
    target = np.interp(times, [1.0, 1.0 + ramp, 3.0 + wait, 3.0 + wait + ramp], [0.8, closed] * 2)
    target = np.where(times > 3.0 + wait, 0.8, target)
    places = paths(length, (1.0, TABLE), (3.0, BIN))
    late = np.concatenate((np.full(4, target[0]), target[:-4]))
    assert ('release', 'success') not in verdicts(gripper_episode(target, late, places))
    assert ('drop', 'failure') not in verdicts(gripper_episode(target, late, places))


@given(st.floats(0.08, 0.7), st.floats(2.0, 3.8))
@settings(max_examples=20, deadline=None)
def test_what_slips_out_of_closed_fingers_is_dropped(width, when):
    (one,) = detect(placement(width, dropped=when)).candidates
    assert one.kind.value == 'drop' and one.time == pytest.approx(when, abs=0.1)
    is_over_bin = np.linalg.norm(one.position[:2] - BIN) <= 0.08
    is_at_table = one.displacement < 0.04
    expected = 'unknown' if is_over_bin else 'neutral' if is_at_table else 'failure'
    assert one.verdict.value == expected


@given(
    st.lists(st.tuples(st.floats(0.1, 0.6), st.booleans()), min_size=1, max_size=5),
    st.integers(0, 2**31),
)
@settings(max_examples=15, deadline=None)
def test_several_items_with_noise_and_lost_samples(items, seed):
    rng = np.random.default_rng(seed)
    length = 4.0 * len(items) + 2.0
    target, held = np.full(len(times_of(length)), 0.8), np.zeros(len(times_of(length)))
    places = [(0.0, TABLE)]
    for i, (width, is_empty) in enumerate(items):
        begin, until = round((4.0 * i + 1.0) * RATE), round((4.0 * i + 3.5) * RATE)
        target[begin:until] = 0.0
        held[begin:until] = 0.0 if is_empty else width
        places += [(4.0 * i + 1.5, TABLE), (4.0 * i + 3.2, BIN), (4.0 * i + 3.8, BIN)]
    opening = np.maximum(target, held) + rng.normal(0.0, 0.002, len(target))
    episode = gripper_episode(target, opening, paths(length, *places))
    kept = rng.random(len(target)) > 0.3
    episode.streams['joint_states'] = episode.streams['joint_states'].select(kept)
    found = verdicts(episode)
    full = sum(not is_empty for _, is_empty in items)
    assert found.count(('release', 'success')) == full
    assert ('drop', 'failure') not in found


def test_a_short_flicker_of_the_target_is_no_release():
    target = steps(6.0, (0.0, 0.8), (1.0, 0.0), (2.5, 0.8), (2.6, 0.0), (4.0, 0.8))
    opening = np.maximum(steps(6.0, (0.0, 0.8), (1.0, 0.3), (4.0, 0.8)), 0.0)
    places = paths(6.0, (1.5, TABLE), (3.5, BIN))
    assert verdicts(gripper_episode(target, opening, places)) == [('release', 'success')]


def test_what_is_held_at_the_end_is_not_released():
    target, opening = steps(4.0, (0.0, 0.8), (1.0, 0.0)), steps(4.0, (0.0, 0.8), (1.0, 0.3))
    assert verdicts(gripper_episode(target, opening, paths(4.0, (1.5, TABLE), (3.0, BIN)))) == []


@pytest.mark.parametrize(
    ('place', 'zones', 'expected'),
    [
        (BIN, (), 'success'),
        ((0.3, 0.0), (), 'failure'),
        ((0.3, -0.28), (), 'neutral'),
        ((0.3, -0.24), (SOURCE,), 'neutral'),
        ((0.7, 0.0), (WORKSPACE,), 'failure'),
        ((0.3, -0.28), (make_zone('t', {'kind': 'target', 'circle': [0.3, -0.28, 0.1]}),),
         'neutral'),
    ],
)  # fmt: skip
def test_the_place_of_the_release_decides(place, zones, expected):
    assert verdicts(placement(0.3, released_at=place), zones) == [('release', expected)]


def carried(*ways):
    """Items on their ways: triples of begin (s), where from, and where to; 3 s each."""
    length = max(way[0] for way in ways) + 5.0
    target, held, places = steps(length, (0.0, 0.8)), np.zeros(len(times_of(length))), []
    for begin, source, goal in ways:
        is_closed = (times_of(length) >= begin) & (times_of(length) < begin + 3.0)
        target[is_closed], held[is_closed] = 0.0, 0.3
        places += [(begin + 0.6, source), (begin + 2.5, goal), (begin + 3.3, goal)]
    return gripper_episode(target, np.maximum(target, held), paths(length, *places))


def test_what_was_dropped_and_collected_is_not_lost():
    found = detect(carried((1.0, TABLE, (0.3, 0.0)), (6.0, (0.3, 0.0), BIN))).candidates
    assert [c.verdict.value for c in found] == ['neutral', 'success']
    assert 'collected' in found[0].reason


def test_the_ledger_counts_what_lies_in_the_target():
    found = detect(carried((1.0, TABLE, BIN), (6.0, BIN, TABLE), (11.0, TABLE, BIN))).candidates
    assert [c.ledger for c in found] == [0, 1, 0]
    assert [c.verdict.value for c in found] == ['success', 'neutral', 'neutral']
    assert 'taken from the target' in found[2].reason
    found = detect(carried((1.0, TABLE, BIN), (6.0, BIN, (0.3, 0.0)))).candidates
    assert [c.verdict.value for c in found] == ['success', 'failure']


def test_the_goal_of_the_moment_counts():
    episode = carried((1.0, TABLE, BIN), (6.0, TABLE, (0.1, 0.0)))
    stamps = BEGIN + np.array([0, 5]) * SECOND
    episode.streams['goal'] = poses(stamps, np.array([[*BIN, 0.0], [0.1, 0.0, 0.0]]))
    assert [c.verdict.value for c in detect(episode).candidates] == ['success', 'success']
    episode.streams['goal'] = poses(stamps[::-1], np.array([[0.1, 0.0, 0.0], [*BIN, 0.0]]))
    assert [c.verdict.value for c in detect(episode).candidates] == ['success', 'success']
    episode.streams['goal'].values['frame'][:] = 'camera'
    found = detect(episode)
    assert [c.verdict.value for c in found.candidates] == ['unknown', 'unknown']
    assert 'goal_pose is in camera' in found.notes[0]


def test_without_zone_or_pose_nothing_is_decided():
    episode = placement(0.3)
    del episode.streams['goal']
    assert verdicts(episode) == [('release', 'unknown')]
    assert 'no target zone' in detect(episode).notes[0]
    episode = placement(0.3)
    del episode.streams['pose']
    assert verdicts(episode) == [('release', 'unknown')]


def test_without_commands_the_opening_shows_the_edges():
    episode = placement(0.3)
    del episode.streams['action']
    found = detect(episode)
    assert [c.verdict.value for c in found.candidates] == ['success']
    assert 'no command' in found.notes[0]


def test_an_end_of_another_clock_does_not_fill_the_memory():
    episode = placement(0.3)
    late = replace(episode.events[-1], stamp=episode.events[-1].stamp + 10**9 * SECOND)
    episode.events[-1] = late
    assert 'too long to look at' in detect(episode).problem


@given(st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_spoilt_streams_end_in_words_not_in_errors(seed):
    rng = np.random.default_rng(seed)
    episode = placement(0.3)
    for role in ('joint_states', 'action', 'pose'):
        stream = episode.streams[role]
        places = rng.permutation(len(stream))[: rng.integers(0, len(stream))]
        stream = stream.select(np.sort(places) if rng.random() < 0.5 else places)
        name = 'position' if role == 'pose' else 'positions'
        values = stream.values[name].copy()
        values[rng.random(values.shape) < rng.choice([0.0, 0.3, 1.0])] = rng.choice(
            [np.nan, np.inf, 1e300]
        )
        stream.values[name] = values
        stream.stamps[rng.random(len(stream)) < 0.1] = rng.choice([0, -5, 2**62])
        episode.streams[role] = stream
    with np.errstate(all='ignore'):
        found = detect(episode)
    assert all(0.0 <= each.time <= 7.0 and each.held >= 0.0 for each in found.candidates)


def test_a_gripper_with_a_topic_of_its_own(tmp_path):
    def states(at, name, value):
        return joint_state(at, [value], [name])

    sent = [('/episode_events', T0 - 1000, event(T0, EventType.START))]
    for i in range(300):
        at, is_closed = T0 + i * SECOND // 50, 50 <= i < 200
        sent.append(('/fr3/joint_states', at, states(at, 'fr3_joint1', 0.1)))
        sent.append(('/fr3/franka_gripper/joint_states', at,
                     states(at, 'fr3_finger_joint1', 0.02 if is_closed else 0.035)))  # fmt: skip
        sent.append(('/fr3/joint_commands', at,
                     states(at, 'fr3_finger_joint1', 0.0 if is_closed else 0.035)))  # fmt: skip
        sent.append(('/fr3/ee_pose', at, pose(at, min(i, 180) / 180 * 0.3)))
    end = T0 + 6 * SECOND
    sent.append(('/episode_events', end, event(end, EventType.END, outcome=3)))
    bag = write_bag(tmp_path / 'bag', sent, {'robot': 'fr3'})
    zone = make_zone('target', {'circle': [0.3, 0.0, 0.05]})
    (found,) = detect(next(iter(read_bag(Bag(bag)))), (zone,)).candidates
    assert found.verdict.value == 'success' and found.time == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize(
    ('change', 'problem'),
    [
        (lambda e: e.streams.pop('joint_states'), 'no joint state of gripper'),
        (lambda e: e.attributes.clear(), 'its robot is not known'),
        (lambda e: e.attributes.update(robot='nosuch'), 'cannot be loaded'),
    ],
)
def test_what_is_lacking_is_named(change, problem):
    episode = placement(0.3)
    change(episode)
    assert problem in detect(episode).problem


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=60),
    st.floats(0.05, 0.5),
    st.integers(1, 6),
)
def test_closed_stretches_are_apart_and_end_below_where_they_rise(target, edge, plateau):
    values = np.array(target)
    phases = closed_phases(values, edge, plateau)
    for first, second in zip(phases, phases[1:]):
        assert first.end < second.begin
        assert values[first.end : second.begin + 1].max() >= values[first.end]
    assert all(0 <= p.begin < p.end < len(values) for p in phases)
    assert all(phase.is_released for phase in phases[:-1])
