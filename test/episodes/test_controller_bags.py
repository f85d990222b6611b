# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands to controllers of ros2_control in bags of others: trajectories, states of a controller,
and values without names."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import controller_bags as bags
import numpy as np
import pytest
from controller_bags import FORWARD, PANDA, POSTURE, STATE, T0, TRAJECTORY

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.table import read_stream
from frame_ros.bags.streams.trajectories import Trajectory, steps_of
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recorded.actions import recorded_actions
from frame_ros.episodes.topic_statistics import topic_statistics

MS = 10**6
STAMPS, ROWS = bags.path_of(90)
MEASURED = bags.measured_joints(STAMPS, ROWS)


def episode_of(path: Path, topic: str, **options: Any) -> Episode:
    (episode,) = read_episodes(path, robot='panda', topics={'action': topic}, **options)
    return episode


def actions(stream: Stream) -> np.ndarray:
    return stream.values['positions']


def noted(episode: Episode, text: str) -> str:
    (found,) = (problem for problem in episode.problems if text in problem)
    return found


@pytest.fixture(scope='module')
def plain(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    """The same commands as joint states."""
    sent = [('/orders', at, bags.joint_state(at, row)) for at, row in zip(STAMPS.tolist(), ROWS)]
    path = bags.write(tmp_path_factory.mktemp('plain') / 'bag', [*MEASURED, *sent])
    return episode_of(path, '/orders')


@pytest.mark.parametrize('is_stamped', [True, False])
def test_trajectories_of_one_point_are_a_step_each(tmp_path: Path, plain: Episode, is_stamped):
    """As of a policy: each is replaced long before its point is reached."""
    sent = [
        (TRAJECTORY, at, bags.trajectory(at if is_stamped else 0, [row]))
        for at, row in zip(STAMPS.tolist(), ROWS)
    ]
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    episode = episode_of(path, TRAJECTORY)
    stream = episode.streams['action']
    np.testing.assert_array_equal(stream.stamps, STAMPS)
    np.testing.assert_array_equal(actions(stream), ROWS)
    assert episode.summary['steps'] == len(ROWS)
    for name, wanted in plain.metrics['quality'].items():
        np.testing.assert_array_equal(episode.metrics['quality'][name], wanted)
    has_note = any('90 of 90 messages without a stamp: it means now' in p
                   for p in episode.problems)  # fmt: skip
    assert has_note is not is_stamped
    assert topic_statistics(path)[TRAJECTORY].zero == 0
    found = recorded_actions(path, topics={'action': TRAJECTORY})
    assert found.names == PANDA and len(found) == len(ROWS)


def test_a_plan_has_its_points_as_steps(tmp_path: Path):
    """As of MoveIt: the first point is where the arm is, at no time."""
    times = STAMPS[::5] - T0
    sent = [(TRAJECTORY, T0 + 3 * MS, bags.trajectory(0, ROWS[::5], times.tolist()))]
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    episode = episode_of(path, TRAJECTORY)
    stream = episode.streams['action']
    # From the time of the point before, of the receipt.
    np.testing.assert_array_equal(stream.stamps, T0 + 3 * MS + times[:-1])
    np.testing.assert_array_equal(actions(stream), ROWS[5::5])
    note = noted(episode, '18 points of 1 message give 17 steps, each from')
    assert isinstance(note, Note)


def executed(
    sent: list[tuple[int, np.ndarray, np.ndarray]], until: int
) -> tuple[list[int], list[float]]:
    """The times at which the point that a controller goes to changes, and these points, of
    trajectories (start, times, positions), by asking at every millisecond.
    """
    changes, goals, last = [], [], None
    for now in range(until):
        begun = [number for number, (start, _, _) in enumerate(sent) if start <= now]
        if not begun:
            continue
        newest = max(begun, key=lambda number: (sent[number][0], number))
        start, times, rows = sent[newest]
        ahead = np.flatnonzero(start + times > now)
        goal = (newest, int(ahead[0]) if len(ahead) else len(rows) - 1)
        if goal != last:
            changes.append(now)
            goals.append(float(rows[goal[1]]))
        last = goal
    return changes, goals


@pytest.mark.parametrize('seed', range(20))
def test_a_later_trajectory_replaces_the_rest_of_the_one_before(seed: int):
    rng = np.random.default_rng(seed)
    starts = np.cumsum(rng.integers(1, 60, 12))
    sent = []
    for start in starts.tolist():
        times = np.cumsum(rng.integers(1, 30, rng.integers(1, 9)))
        sent.append((start, times - (rng.random() < 0.3) * times[0], rng.random(len(times))))
    wanted, goals = executed(sent, 2000)
    found = steps_of(
        [
            Trajectory(T0 + s * MS, T0 + (s + 3) * MS, ('a',), t.astype(np.int64) * MS, r[:, None])
            for s, t, r in sent
        ]
    )
    assert [(step.stamp - T0) / MS for step in found] == wanted
    assert [float(step.positions[0]) for step in found] == goals
    arrivals = [step.arrival for step in found]
    assert arrivals == sorted(arrivals)


def test_a_trajectory_without_points_ends_the_one_before(tmp_path: Path):
    plan = bags.trajectory(0, ROWS[:40], [(i + 1) * 100 * MS for i in range(40)])
    sent = [(TRAJECTORY, T0, plan), (TRAJECTORY, T0 + 1050 * MS, bags.trajectory(0, []))]
    episode = episode_of(bags.write(tmp_path / 'bag', [*MEASURED, *sent]), TRAJECTORY)
    assert len(episode.streams['action']) == 11
    assert isinstance(noted(episode, '1 message without points, which ends the one'), Note)


def test_steps_behind_the_end_of_the_recording_are_none(tmp_path: Path):
    plan = bags.trajectory(0, ROWS[:80], [(i + 1) * 100 * MS for i in range(80)])
    episode = episode_of(
        bags.write(tmp_path / 'bag', [*MEASURED, (TRAJECTORY, T0, plan)]), TRAJECTORY
    )
    last = MEASURED[-1][1]
    assert episode.streams['action'].stamps[-1] <= last < T0 + 3000 * MS
    assert len(episode.streams['action']) == 1 + (last - T0) // (100 * MS)


def test_a_clock_that_was_set_back_keeps_what_came_before():
    def plan(start: int, received: int) -> Trajectory:
        times = np.arange(1, 6, dtype=np.int64) * 100 * MS
        return Trajectory(start, received, ('a',), times, np.zeros((5, 1)))

    runs = [plan(10**9 * s, T0 + 10**9 * (s + shift)) for shift in (0, 20) for s in (10, 11, 12)]
    assert len(steps_of(runs)) == 30
    # Stamped once and for all: every message is a step, and has no stamp of its own.
    same = [plan(10**9, T0 + 50 * MS * i) for i in range(10)]
    assert len(steps_of(same)) == 9 + 5


def test_trajectories_of_one_stamp_are_read_by_their_receipt(tmp_path: Path):
    sent = [(TRAJECTORY, at, bags.trajectory(T0, [row])) for at, row in zip(STAMPS.tolist(), ROWS)]
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    assert '--stamps receive takes' in noted(
        episode_of(path, TRAJECTORY), f'{TRAJECTORY}: all messages have the same stamp'
    )
    stream = episode_of(path, TRAJECTORY, stamps='receive').streams['action']
    np.testing.assert_array_equal(stream.stamps, STAMPS)


def damaged(kind: str) -> Any:
    row = POSTURE.copy()
    if kind == 'without positions':
        message = bags.trajectory(0, [()])
        message.points[0].velocities = row
        return message
    if kind == 'with another number of positions than of joints':
        return bags.trajectory(0, [row, row[:6]])
    if kind == 'with a position that is not finite':
        row[3] = math.nan
        return bags.trajectory(0, [POSTURE, row])
    if kind == 'whose points are not in the order of time':
        return bags.trajectory(0, [row, row], [200 * MS, 200 * MS])
    names = {'': (), 'empty': ('', *PANDA[1:]), 'twice': (PANDA[1], *PANDA[1:])}
    return bags.trajectory(0, [row], names=names[kind.partition(': ')[2]])


@pytest.mark.parametrize(
    'kind',
    [
        'without positions',
        'with another number of positions than of joints',
        'with a position that is not finite',
        'whose points are not in the order of time',
        'that do not name each joint once',
        'that do not name each joint once: empty',
        'that do not name each joint once: twice',
    ],
)
def test_a_damaged_trajectory_loses_nothing_else(tmp_path: Path, kind: str):
    sent = [(TRAJECTORY, at, bags.trajectory(0, [r])) for at, r in zip(STAMPS.tolist(), ROWS)]
    sent[40] = (TRAJECTORY, int(STAMPS[40]), damaged(kind))
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    episode = episode_of(path, TRAJECTORY)
    np.testing.assert_array_equal(actions(episode.streams['action']), np.delete(ROWS, 40, axis=0))
    reason = kind.partition(': ')[0]
    found = noted(episode, f'{TRAJECTORY}: of 90 messages 1 left out: 1 {reason}')
    assert not isinstance(found, Note)  # more than one in a hundred


def test_trajectories_none_of_which_is_usable_say_why(tmp_path: Path):
    sent = [(TRAJECTORY, at, damaged('without positions')) for at in STAMPS.tolist()]
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    episode = episode_of(path, TRAJECTORY)
    assert 'action' not in episode.streams
    assert noted(episode, 'of 90 messages 90 left out: 90 without positions')
    with pytest.raises(BagError, match='no joint commands in'):
        recorded_actions(path, topics={'action': TRAJECTORY})


def test_the_names_are_in_the_order_of_the_message(tmp_path: Path):
    """And a part of the joints leaves the others where they were sent last."""
    backwards = PANDA[::-1]
    first = bags.trajectory(0, [POSTURE[::-1]], names=backwards)
    second = bags.trajectory(0, [[0.3, 0.4]], names=PANDA[2:4])
    sent = [(TRAJECTORY, T0, first), (TRAJECTORY, T0 + 100 * MS, second)]
    sent.append((TRAJECTORY, T0 + 200 * MS, first))
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    stream = read_stream(Bag(path), 'action', TRAJECTORY)
    assert stream.values['names_count'].tolist() == [7, 2, 7]
    found = recorded_actions(path, topics={'action': TRAJECTORY})
    order = [found.names.index(name) for name in PANDA]
    np.testing.assert_array_equal(found.positions[:, order], np.tile(POSTURE, (len(found), 1)))


@pytest.mark.parametrize('points', bags.POINTS.values(), ids=bags.POINTS)
def test_states_of_a_controller_hold_set_points_and_measurements(tmp_path: Path, points):
    sent = [
        (STATE, at + MS, bags.controller_state(at, row + 0.01, row, points))
        for at, row in zip(STAMPS.tolist(), ROWS)
    ]
    path = bags.write(tmp_path / 'bag', sent, points)
    both = {'action': STATE, 'joint_states': STATE}
    (episode,) = read_episodes(path, robot='panda', topics=both)
    np.testing.assert_array_equal(actions(episode.streams['action']), ROWS + 0.01)
    np.testing.assert_array_equal(episode.streams['joint_states'].values['positions'], ROWS)
    assert episode.summary['steps'] == len(ROWS) and episode.metrics['quality']['pl'][-1] > 0
    assert isinstance(noted(episode, 'are those of the set points of the controller'), Note)
    assert 'measured joints, not of commands' not in '\n'.join(episode.problems)


def test_a_controller_that_fills_the_old_fields_alone(tmp_path: Path):
    points = bags.POINTS['iron']
    sent = [
        (STATE, at, bags.controller_state(at, row + 0.01, row, points, filled))
        for at, row, filled in zip(STAMPS.tolist(), ROWS, [points[2:], points[:2]] * 45)
    ]
    path = bags.write(tmp_path / 'bag', sent, points)
    bag = Bag(path)
    np.testing.assert_array_equal(actions(read_stream(bag, 'action', STATE)), ROWS + 0.01)
    np.testing.assert_array_equal(actions(read_stream(bag, 'joint_states', STATE)), ROWS)


@pytest.mark.parametrize(
    ('times', 'delay', 'text'),
    [
        ([0], 1, '90 of 90 messages received when the last point was due already'),
        ([50, 100, 150, 200], 120, '90 of 90 messages received when points were due already'),
        ([0, 50, 100, 150], 20, ''),
        ([100], 20, ''),
    ],
)
def test_points_that_were_due_before_their_receipt_are_counted(tmp_path: Path, times, delay, text):
    """joint_trajectory_controller compares the end with its clock (`validate_trajectory_msg`)."""
    due = [time * MS for time in times]
    sent = [
        (TRAJECTORY, at + delay * MS, bags.trajectory(at, [row] * len(due), due))
        for at, row in zip(STAMPS.tolist(), ROWS)
    ]
    episode = episode_of(bags.write(tmp_path / 'bag', [*MEASURED, *sent]), TRAJECTORY)
    found = [p for p in episode.problems if 'due already' in p]
    assert len(found) == bool(text) and all(text in p for p in found)


def forward(folder: Path, rows: np.ndarray, topic: str = FORWARD, scale: float = 1.0) -> Path:
    sent = [(topic, at + 2 * MS, bags.values(row)) for at, row in zip(STAMPS.tolist(), rows)]
    joints = bags.measured_joints(STAMPS, scale * ROWS)
    return bags.write(folder, [*joints, *sent])


def test_values_without_names_are_those_of_the_joints_that_are_named(tmp_path: Path):
    path = forward(tmp_path / 'bag', ROWS)
    episode = episode_of(path, FORWARD, action_joints=PANDA)
    stream = episode.streams['action']
    np.testing.assert_array_equal(stream.stamps, STAMPS + 2 * MS)
    np.testing.assert_array_equal(actions(stream), ROWS)
    assert isinstance(noted(episode, 'says neither joints, interface nor time'), Note)
    assert [p for p in episode.problems if not isinstance(p, Note)] == [
        'no START event: the whole bag is taken as one episode'
    ]
    found = recorded_actions(path, topics={'action': FORWARD}, action_joints=PANDA)
    assert found.names == PANDA and len(found) == len(ROWS)


def test_values_whose_joints_are_not_named_are_not_taken(tmp_path: Path):
    path = forward(tmp_path / 'bag', ROWS)
    for joints, reason in (
        ((), 'has 7 values and no names: --action-joints A,B,... names the joints'),
        (PANDA[:6], 'has 7 values, but --action-joints names 6 joints: panda_joint1, '),
    ):
        episode = episode_of(path, FORWARD, action_joints=joints)
        assert 'action' not in episode.streams
        assert noted(episode, f'no action: {FORWARD} (std_msgs/msg/Float64MultiArray) {reason}')
        assert 'could be read' not in '\n'.join(episode.problems)
        with pytest.raises(BagError, match='--action-joints'):
            recorded_actions(path, topics={'action': FORWARD}, action_joints=joints)


def test_messages_of_another_length_lose_nothing_else(tmp_path: Path):
    rows = [*ROWS[:40], ROWS[40][:6], *ROWS[41:]]
    path = forward(tmp_path / 'bag', rows)  # type: ignore[arg-type]
    episode = episode_of(path, FORWARD, action_joints=PANDA)
    np.testing.assert_array_equal(actions(episode.streams['action']), np.delete(ROWS, 40, axis=0))
    assert noted(episode, 'of 90 messages 1 left out: with another number of values than 7')


def test_a_value_that_is_not_finite_loses_nothing_else(tmp_path: Path):
    rows = ROWS.copy()
    rows[40, 2] = math.nan
    episode = episode_of(forward(tmp_path / 'bag', rows), FORWARD, action_joints=PANDA)
    assert episode.data_quality['action.invalid'] == 1
    assert episode.summary['steps'] == len(ROWS) - 1


@pytest.mark.parametrize(
    ('rows', 'text'),
    [
        (0.2 * np.cos(1.5 * np.arange(90) / 30)[:, None] * np.ones(7), 'velocities or efforts, an'),
        (ROWS[:, ::-1], 'another order of the joints'),
        (20.0 * ROWS, 'joint values outside the limits of panda'),
    ],
)
def test_values_that_cannot_be_positions_are_doubtful(tmp_path: Path, rows: np.ndarray, text: str):
    episode = episode_of(forward(tmp_path / 'bag', rows), FORWARD, action_joints=PANDA)
    assert not isinstance(noted(episode, text), Note)


def test_whole_turns_are_no_doubt_where_the_robot_is_not_known(tmp_path: Path):
    """A Kinova publishes its joints from -pi to pi, and takes commands beyond."""
    turned = ROWS + 2.0 * np.pi * (np.arange(7) == 2)
    path = forward(tmp_path / 'bag', turned)
    (episode,) = read_episodes(path, topics={'action': FORWARD}, action_joints=PANDA)
    assert 'far from' not in '\n'.join(episode.problems)


def test_a_joint_that_is_named_wrongly_is_doubtful(tmp_path: Path):
    """Its values were those of no joint, in data sets and replays, without a word."""
    path = forward(tmp_path / 'bag', ROWS)
    episode = episode_of(path, FORWARD, action_joints=('panda_joint', *PANDA[1:]))
    found = noted(episode, 'no joint is measured of the name panda_joint')
    assert not isinstance(found, Note)
    values = np.column_stack([ROWS, np.full(len(ROWS), 0.04)])
    path = forward(tmp_path / 'hand', values)
    episode = episode_of(path, FORWARD, action_joints=(*PANDA, 'panda_finger_joint1'))
    assert isinstance(noted(episode, 'of the name panda_finger_joint1'), Note)


@pytest.mark.parametrize('interface', ['velocity', 'effort'])
def test_a_topic_of_another_interface_is_not_taken(tmp_path: Path, interface: str):
    topic = f'/position_lab/forward_{interface}_controller/commands'  # its room is no interface
    path = forward(tmp_path / 'bag', 0.0 * ROWS, topic)
    episode = episode_of(path, topic, action_joints=PANDA)
    assert 'action' not in episode.streams
    assert noted(episode, f'is of the interface {interface} by its name, not positions')
    (bare,) = read_episodes(path, robot='panda')
    assert topic not in '\n'.join(bare.problems)


def test_without_measured_joints_the_interface_is_not_known(tmp_path: Path):
    sent = [(FORWARD, at, bags.values(row)) for at, row in zip(STAMPS.tolist(), ROWS)]
    episode = episode_of(bags.write(tmp_path / 'bag', sent), FORWARD, action_joints=PANDA)
    assert isinstance(noted(episode, 'it is not known whether its values are positions'), Note)


def test_units_are_those_of_commands_without_names_too(tmp_path: Path):
    path = forward(tmp_path / 'bag', np.degrees(ROWS), scale=math.degrees(1.0))
    units = RecordedUnits('deg')
    episode = episode_of(path, FORWARD, action_joints=PANDA, joint_units=units)
    np.testing.assert_allclose(actions(episode.streams['action']), ROWS, atol=1e-12)
    assert 'far from where' not in '\n'.join(episode.problems)


def test_names_that_are_given_for_commands_with_names_change_nothing(tmp_path: Path):
    sent = [(TRAJECTORY, at, bags.trajectory(0, [r])) for at, r in zip(STAMPS.tolist(), ROWS)]
    path = bags.write(tmp_path / 'bag', [*MEASURED, *sent])
    episode = episode_of(path, TRAJECTORY, action_joints=PANDA[::-1])
    found = noted(episode, f'{TRAJECTORY} names its joints: --action-joints changes nothing')
    assert isinstance(found, Note)
    np.testing.assert_array_equal(actions(episode.streams['action']), ROWS)


@pytest.mark.parametrize('topic', [TRAJECTORY, FORWARD])
def test_joints_stamped_by_another_clock_than_the_receipt_are_named(tmp_path: Path, topic: str):
    """As of a simulation that was recorded by the wall clock."""
    late = [
        ('/joint_states', at, bags.joint_state(at - T0 + 10**9, row))
        for at, row in zip(STAMPS.tolist(), ROWS)
    ]
    message = {TRAJECTORY: lambda row: bags.trajectory(0, [row]), FORWARD: bags.values}[topic]
    sent = [(topic, at, message(row)) for at, row in zip(STAMPS.tolist(), ROWS)]
    path = bags.write(tmp_path / 'bag', [*late, *sent])
    found = noted(episode_of(path, topic, action_joints=PANDA), 'two clocks')
    assert found.endswith('--stamps receive takes the times at which they were received')
    episode = episode_of(path, topic, action_joints=PANDA, stamps='receive')
    assert episode.summary['steps'] == len(ROWS) and episode.metrics['quality']['pl'][-1] > 0
