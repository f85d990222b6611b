# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of other tools: what they lack is said, with the way to use what they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag_making import T0, message, stamp, write_bag
from mcap.writer import Writer
from robot_bags import JOINTS, commands, joint_state, step_stamp

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.bags.streams.table import read_stream
from frame_ros.core.errors import BagError
from frame_ros.episodes.foreign_bags.topic_uses import use_lines
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recorded.actions import recorded_actions
from frame_ros.reports.model.episode_check import without_data

COUNT = 30
Stamped = Callable[[int], int]


def recording(
    folder: Path,
    topics: tuple[str, ...] = ('/joint_states', '/joint_commands'),
    names: tuple[str, ...] = JOINTS,
    stamped: dict[str, Stamped] | None = None,
) -> Path:
    """Joint states and commands without events; stamped: topic -> stamp (ns) of a step."""
    sent = []
    for step, row in enumerate(commands(COUNT)):
        for topic in topics:
            at = (stamped or {}).get(topic, step_stamp)(step)
            sent.append((topic, step_stamp(step), joint_state(at, row, names)))
    return write_bag(folder, sent)


def problems(path: Path, **options: Any) -> str:
    (episode,) = read_episodes(path, robot='so101', **options)
    return '\n'.join(episode.problems)


def test_without_commands_the_measured_joints_can_be_the_steps(tmp_path: Path):
    path = recording(tmp_path / 'bag', ('/joint_states',))
    assert '--topic action=/joint_states takes the measured joints as the steps' in problems(path)
    (episode,) = read_episodes(path, robot='so101', topics={'action': '/joint_states'})
    assert episode.summary['steps'] == COUNT and episode.metrics['quality']['pl'][-1] > 0
    (note,) = (p for p in episode.problems if 'is taken as the actions' in p)
    assert isinstance(note, Note)
    assert 'is taken as the actions' not in problems(recording(tmp_path / 'both'))


def test_joint_states_without_stamps_are_not_said_to_lack_joints(tmp_path: Path):
    path = recording(tmp_path / 'bag', stamped={'/joint_states': lambda _: 0})
    assert 'no message of /joint_states has a stamp' in problems(path)
    (episode,) = read_episodes(path, robot='so101')
    assert '--robot NAME' not in '\n'.join(use_lines(episode, Bag(path)))
    assert 'lacks' not in problems(path)


def test_joint_states_without_names(tmp_path: Path):
    path = recording(tmp_path / 'bag', ('/joint_states',), names=())
    assert 'the messages of /joint_states name no joints' in problems(path)


def test_joint_states_of_other_names_name_those_that_lack(tmp_path: Path):
    path = recording(tmp_path / 'bag', ('/joint_states',), names=('q0', *JOINTS[1:]))
    assert '/joint_states lacks shoulder_pan; it has' in problems(path)


@pytest.mark.parametrize(
    ('offset', 'is_other'), [(-T0 + 10**9, True), (10**12, True), (-(10**9), False)]
)
def test_streams_of_two_clocks_are_named(tmp_path: Path, offset: int, is_other: bool):
    """As where simulated and wall time mix; a second apart is a late stream."""
    path = recording(
        tmp_path / 'bag', stamped={'/joint_commands': lambda step: step_stamp(step) + offset}
    )
    assert ('two clocks, so no step has a pose' in problems(path)) is is_other


def test_commands_of_arm_and_gripper_in_turns_are_one_step_each_cycle(tmp_path: Path):
    sent = []
    for step, row in enumerate(commands(2 * COUNT)):
        at = step_stamp(step)
        sent.append(('/joint_states', at, joint_state(at, row)))
        sent.append(('/joint_commands', at, joint_state(at, row[:5], JOINTS[:5])))
        later = at + 200_000
        sent.append(('/joint_commands', later, joint_state(later, row[5:], JOINTS[5:])))
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', sent), robot='so101')
    assert episode.summary['steps'] == 2 * COUNT
    efficiency = episode.metrics['efficiency']
    for name in ('control_rate', 'control_rate_worst'):
        assert efficiency[name][-1] == pytest.approx(30.0, rel=0.02)


@pytest.mark.parametrize('first', ['arm', 'gripper'])
def test_a_gripper_that_is_sent_first_is_not_taken_for_the_arm(tmp_path: Path, first: str):
    sent = []
    for step, row in enumerate(commands(2 * COUNT)):
        at = step_stamp(step)
        sent.append(('/joint_states', at, joint_state(at, row)))
        arm = ('/joint_commands', at + 4_000_000, joint_state(at + 4_000_000, row[:5], JOINTS[:5]))
        later = at if first == 'gripper' else at + 8_000_000
        gripper = ('/joint_commands', later, joint_state(later, row[5:], JOINTS[5:]))
        sent += sorted([arm, gripper] if step % 10 == 0 else [arm], key=lambda each: each[1])
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', sent), robot='so101')
    # The gripper's first command alone, before there was another, is a step, too.
    assert episode.summary['steps'] == 2 * COUNT + (first == 'gripper')
    efficiency, quality = episode.metrics['efficiency'], episode.metrics['quality']
    for name in ('control_rate', 'control_rate_worst'):
        assert efficiency[name][-1] == pytest.approx(30.0, rel=0.02)
    assert efficiency['step'][-1] <= 2 * COUNT
    assert quality['a_pi'][-1] > 0.0


@pytest.mark.parametrize('parts', [(slice(0, 5), slice(5, 6)), [slice(i, i + 1) for i in range(6)]])
def test_measured_joints_in_parts_are_whole_steps(tmp_path: Path, parts: Sequence[slice]):
    """As of an arm and a gripper that publish on one topic, and of one joint a message."""
    sent, whole = [], []
    for step, row in enumerate(commands(2 * COUNT)):
        at = step_stamp(step)
        whole.append(('/joint_states', at, joint_state(at, row)))
        sent += [('/joint_states', at, joint_state(at, row[p], JOINTS[p])) for p in parts]
    named: dict[str, Any] = {'robot': 'so101', 'topics': {'action': '/joint_states'}}
    (wanted,) = read_episodes(write_bag(tmp_path / 'whole', whole), **named)
    (episode,) = read_episodes(write_bag(tmp_path / 'parts', sent), **named)
    assert episode.summary['steps'] == wanted.summary['steps'] == 2 * COUNT
    assert 'action.invalid' not in episode.data_quality
    for name in ('a_pi', 'a_vi', 'a_ai', 'pl', 'ti'):
        found = episode.metrics['quality'][name]
        np.testing.assert_allclose(found, wanted.metrics['quality'][name], atol=1e-9)
    (note,) = (text for text in episode.problems if 'merged by their stamps' in text)
    assert isinstance(note, Note) and f'are {2 * COUNT} steps' in note


def test_a_gripper_that_is_measured_seldom_costs_the_arm_no_step(tmp_path: Path):
    sent = []
    for step, row in enumerate(commands(6 * COUNT)):
        at = step_stamp(step)
        sent.append(('/joint_states', at, joint_state(at, row[:5], JOINTS[:5])))
        if step % 30 == 0:  # once a second
            sent.append(('/joint_states', at, joint_state(at, row[5:], JOINTS[5:])))
    path = write_bag(tmp_path / 'bag', sent)
    (episode,) = read_episodes(path, robot='so101', topics={'action': '/joint_states'})
    assert episode.summary['steps'] == 6 * COUNT


def test_commands_of_one_joint_each_are_said_in_words(tmp_path: Path):
    sent = []
    for step, row in enumerate(commands(COUNT)):
        at = step_stamp(step)
        for i, name in enumerate(JOINTS[:3]):
            later = at + i * 1_000_000
            sent.append(('/joint_commands', later, joint_state(later, row[i : i + 1], [name])))
    found = problems(write_bag(tmp_path / 'bag', sent))
    assert 'an action of elbow_flex is no step: the steps, and a_*, are of shoulder_pan' in found
    assert '[' not in found


def two_arms(folder: Path, also: str = '') -> Path:
    """Joint states of two arms, the right one of twice the motion; also: another topic of poses."""
    sent: list[tuple[str, int, Any]] = []
    for step, row in enumerate(commands(COUNT)):
        at = step_stamp(step)
        sent.append(('/left/joint_states', at, joint_state(at, row)))
        sent.append(('/right/joint_states', at, joint_state(at, 2.0 * row)))
        if also:
            sent.append((also, at, placed(at, step)))
    return write_bag(folder, sent)


def placed(at: int, step: int) -> Any:
    pose = message('geometry_msgs/msg/PoseStamped', header__stamp=stamp(at))
    place = pose.pose.position
    place.x, place.y, place.z = 0.01 * step, 0.1 * math.sin(0.1 * step), 0.2
    pose.pose.orientation.w = 1.0
    return pose


def test_the_steps_that_are_named_choose_the_robot(tmp_path: Path):
    path = two_arms(tmp_path / 'bag')
    lengths = {}
    for arm in ('left', 'right'):
        named = {'action': f'/{arm}/joint_states'}
        (episode,) = read_episodes(path, robot='so101', topics=named)
        (same,) = read_episodes(path, robot='so101', topics=named, namespace=arm)
        lengths[arm] = episode.metrics['quality']['pl'][-1]
        assert lengths[arm] == same.metrics['quality']['pl'][-1]
        assert ', given as action, is of ' not in '\n'.join(episode.problems)
    assert lengths['right'] > 1.5 * lengths['left'] > 0.0


def test_steps_of_another_robot_than_all_else_are_doubtful(tmp_path: Path):
    path = two_arms(tmp_path / 'bag', also='/left/object_pose')
    named = {'action': '/right/joint_states'}
    lines = problems(path, topics=named).splitlines()
    (found,) = (line for line in lines if 'is of /right, all else of /left' in line)
    assert '--namespace /right takes' in found
    assert 'all else of' not in problems(path, topics=named, namespace='/left')


@pytest.mark.parametrize('units', [None, RecordedUnits('deg')])
def test_measured_poses_can_be_the_steps(tmp_path: Path, units: RecordedUnits | None):
    sent = [('/tcp', step_stamp(step), placed(step_stamp(step), step)) for step in range(COUNT)]
    path = write_bag(tmp_path / 'bag', sent)
    (bare,) = read_episodes(path, topics={'pose': '/tcp'})
    assert '--topic action=/tcp takes the measured poses as the steps' in '\n'.join(bare.problems)
    (episode,) = read_episodes(path, topics={'pose': '/tcp', 'action': '/tcp'}, joint_units=units)
    quality = episode.metrics['quality']
    places = np.array([[0.01 * s, 0.1 * math.sin(0.1 * s), 0.2] for s in range(COUNT)])
    first, second = np.diff(places, axis=0), np.diff(places, 2, axis=0)
    assert episode.summary['steps'] == COUNT
    assert quality['pl'][-1] == pytest.approx(np.linalg.norm(first, axis=1).sum(), rel=1e-12)
    smoothness = np.linalg.norm(second, axis=1).sum() / quality['pl'][-1]
    assert quality['ps'][-1] == pytest.approx(smoothness, rel=1e-9)
    assert quality['a_pi_mean'][-1] == pytest.approx(np.abs(first).mean(axis=1).mean(), rel=1e-2)
    (note,) = (p for p in episode.problems if 'those of measured positions in m' in p)
    assert isinstance(note, Note)
    with pytest.raises(BagError, match='/tcp holds poses; to replay'):
        recorded_actions(path, topics={'action': '/tcp'})
    with pytest.raises(BagError, match='as joint_states it should be sensor_msgs/msg/JointState'):
        read_stream(Bag(path), 'joint_states', '/tcp')


def test_what_lacks_names_the_topics_that_it_could_be(tmp_path: Path):
    states = recording(tmp_path / 'states', ('/arm/state', '/arm/orders'))
    found = problems(states, topics={'action': '/arm/orders'})
    assert 'no pose: ee_pose was not recorded; --topic joint_states=/arm/orders comp' in found
    assert '--topic joint_states=/arm/state computes it' in found
    orders = recording(tmp_path / 'orders', ('/joint_states', '/arm/orders'))
    assert '; --topic action=/arm/orders takes those commands; ' in problems(orders)
    with pytest.raises(BagError, match='nothing can be replayed.*--topic action=/arm/orders'):
        recorded_actions(orders)
    # The other arm's joints are no commands of this one.
    assert 'action=/right' not in problems(two_arms(tmp_path / 'arms'))


def test_a_clock_that_was_set_back_does_not_mix_the_times_before_and_after(tmp_path: Path):
    """A straight way of 1.5 m at 0.25 m/s, stamped by a clock that goes back by 3 s halfway."""
    sent = []
    for step in range(300):
        at = T0 + step * 20_000_000
        pose = message(
            'geometry_msgs/msg/PoseStamped', header__stamp=stamp(at - (step > 150) * 3 * 10**9)
        )
        pose.pose.position.x, pose.pose.orientation.w = 0.005 * step, 1.0
        sent.append(('/ee_pose', at, pose))
    path = write_bag(tmp_path / 'bag', sent)
    (episode,) = read_episodes(path, topics={'action': '/ee_pose'})
    assert episode.data_quality['pose.reset'] == 1
    quality = episode.metrics['quality']
    assert np.nanmax(quality['tcp_speed']) == pytest.approx(0.25, rel=1e-6)
    assert quality['pl'][-1] == pytest.approx(1.495, abs=0.03)
    assert quality['ti'][-1] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize('count', [0, len(JOINTS) - 1, len(JOINTS) + 1])
def test_joint_states_of_another_number_than_their_names(tmp_path: Path, count: int):
    """As of a driver that sends velocities alone."""
    sent = [
        ('/joint_states', step_stamp(step), joint_state(step_stamp(step), np.zeros(count), JOINTS))
        for step in range(COUNT)
    ]
    path = write_bag(tmp_path / 'bag', sent)
    found = problems(path, topics={'action': '/joint_states'})
    assert f'{len(JOINTS)} joint names but positions of shape ({count},)' in found
    assert 'cannot be computed (' not in found


def test_one_message_of_another_length_leaves_the_units_of_all_others(tmp_path: Path):
    rows = commands(COUNT)

    def lengths(name: str, scale: float, units: RecordedUnits | None) -> Any:
        sent = [
            ('/joint_states', step_stamp(step), joint_state(step_stamp(step), scale * row))
            for step, row in enumerate(rows)
        ]
        at = step_stamp(COUNT)
        odd = ('/joint_states', at, joint_state(at, np.zeros(len(JOINTS) + 1), JOINTS))
        path = write_bag(tmp_path / name, [*sent, odd])
        (episode,) = read_episodes(
            path, robot='so101', topics={'action': '/joint_states'}, joint_units=units
        )
        return np.diff(episode.streams['pose'].values['position'], axis=0)

    # The gripper, whose degrees are LeRobot's percent, does not move the tip.
    in_degrees = lengths('deg', math.degrees(1.0), RecordedUnits('deg'))
    assert in_degrees == pytest.approx(lengths('rad', 1.0, None), abs=1e-9)


def test_messages_in_another_encoding_are_not_said_to_be_absent(tmp_path: Path):
    """As of MCAP files that Foxglove's tools or a ROS 1 converter wrote."""
    path = tmp_path / 'other.mcap'
    with path.open('wb') as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema('foxglove.PoseInFrame', 'jsonschema', b'{}')
        channel = writer.register_channel('/tcp', 'json', schema)
        writer.add_message(channel, T0, b'{}', T0)
        writer.finish()
    (episode,) = read_episodes(path, topics={'pose': '/tcp'})
    assert episode.problems[:2] == [
        "/tcp is encoded as 'json', not cdr: left out",
        'the bag holds no messages that can be read',
    ]
    assert without_data([episode]) == [('other.mcap', 'the bag holds no messages that can be read')]
