# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of other tools: what they lack is said, with the way to use what they have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bag_making import T0, write_bag
from robot_bags import JOINTS, commands, joint_state, step_stamp

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.topic_uses import use_lines

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
