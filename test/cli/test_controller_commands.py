# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that read bags, on bags of controllers of ros2_control."""

from __future__ import annotations

import contextlib
import json
import shlex
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import controller_bags as bags
import numpy as np
import pytest
from controller_bags import FORWARD, PANDA, STATE, TRAJECTORY
from rosbags.rosbag2 import StoragePlugin

from frame_ros.cli import main

LINE = 'for poses and steps: '
COUNT = 60
STAMPS, ROWS = bags.path_of(COUNT)
NAMED = ','.join(PANDA)
KINDS: dict[str, tuple[str, Callable[[int, Any], Any], str]] = {
    'trajectory': (TRAJECTORY, lambda _, row: bags.trajectory(0, [row]), ''),
    'state': (STATE, lambda at, row: bags.controller_state(at, row, row), ''),
    'values': (FORWARD, lambda _, row: bags.values(row), f' --action-joints {NAMED}'),
}


def recording(
    folder: Path,
    *kinds: str,
    has_joints: bool = True,
    plugin: StoragePlugin = StoragePlugin.MCAP,
) -> Path:
    sent = bags.measured_joints(STAMPS, ROWS) if has_joints else []
    for topic, message, _ in (KINDS[kind] for kind in kinds):
        sent += [(topic, at, message(at, row)) for at, row in zip(STAMPS.tolist(), ROWS)]
    return bags.write(folder, sent, plugin=plugin)


def command_of(text: str) -> str:
    (line,) = (line for line in text.splitlines() if line.startswith(LINE))
    return line.removeprefix(LINE)


def steps_of(command: str, capsys: pytest.CaptureFixture[str]) -> int:
    assert main([*shlex.split(command)[1:], '--json', '-q']) == 0
    (episode,) = json.loads(capsys.readouterr().out)['episodes']
    assert episode['metrics']['pl']['value'] > 0 and episode['metrics']['a_pi']['value'] > 0
    return int(episode['summary']['steps'])


@pytest.mark.parametrize('kind', KINDS)
def test_the_command_that_is_shown_gives_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
):
    topic, _, more = KINDS[kind]
    path = recording(tmp_path / 'bag', kind)
    assert main(['report', str(path)]) == 1
    err = capsys.readouterr().err
    shown = more.replace(NAMED, 'A,B,...')
    assert f'; --topic action={topic}{shown} takes those commands; ' in err
    assert f'could be action{", joint_states" * (kind == "state")}: --topic action={topic}' in err
    command = command_of(err)
    assert command == f'frame-ros report {path} --robot panda --topic action={topic}{more}'
    assert steps_of(command, capsys) == COUNT


def test_a_state_of_a_controller_alone_has_poses_and_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = recording(tmp_path / 'bag', 'state', has_joints=False)
    assert main(['report', str(path)]) == 1
    command = command_of(capsys.readouterr().err)
    both = f'--topic joint_states={STATE} --topic action={STATE}'
    assert command == f'frame-ros report {path} --robot panda {both}'
    assert steps_of(command, capsys) == COUNT


@pytest.mark.parametrize(
    ('kinds', 'taken'),
    [(('values', 'state'), 'state'), (('values', 'state', 'trajectory'), 'trajectory')],
)
def test_commands_with_names_are_taken_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kinds: tuple[str, ...], taken: str
):
    path = recording(tmp_path / 'bag', *kinds)
    assert main(['report', str(path)]) == 1
    assert command_of(capsys.readouterr().err).endswith(f'action={KINDS[taken][0]}')


def test_a_topic_that_cannot_be_read_is_not_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """As of a bag of Humble, whose .db3 has no definitions, and messages of no known version."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')  # where control_msgs may be installed
    path = recording(tmp_path / 'bag', 'state', plugin=StoragePlugin.SQLITE3)
    (file,) = path.glob('*.db3')
    with contextlib.closing(sqlite3.connect(file)) as data, data:
        data.execute('DELETE FROM message_definitions')
        data.create_function('longer', 1, lambda message: message + bytes(40))
        of_state = '(SELECT id FROM topics WHERE name = ?)'
        data.execute(
            f'UPDATE messages SET data = longer(data) WHERE topic_id = {of_state}', [STATE]
        )
    assert main(['report', str(path)]) == 1
    err = capsys.readouterr().err
    assert f'{STATE} cannot be read: no definition of control_msgs' in err
    assert f'action={STATE}' not in err
    assert command_of(err).endswith('action=/joint_states')


@pytest.mark.parametrize('arm', [*KINDS, ''])
def test_of_arm_and_gripper_the_arm_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arm: str
):
    """Even where its trajectories were goals of an action, which bags do not have."""
    topic, message, more = KINDS.get(arm, ('/joint_states', None, ''))
    names = (*PANDA, 'panda_finger_joint1')
    sent: list[tuple[str, int, Any]] = []
    for at, row in zip(STAMPS.tolist(), ROWS):
        sent.append(('/joint_states', at, bags.joint_state(at, [*row, 0.02], names)))
        gripper = bags.trajectory(0, [[0.02]], names=names[7:])
        sent.append(('/a_gripper/joint_trajectory', at, gripper))
        if message is not None:
            sent.append((topic, at, message(at, row)))
    assert main(['report', str(bags.write(tmp_path / 'bag', sent))]) == 1
    assert command_of(capsys.readouterr().err).endswith(f'action={topic}{more}')


def test_values_that_cannot_be_the_arms_positions_are_not_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    joints = bags.measured_joints(STAMPS, ROWS)
    for name, rows in (('speeds', 0.0 * ROWS), ('more', np.hstack([ROWS, ROWS[:, :1]]))):
        sent = [
            ('/controller/commands', at, bags.values(r)) for at, r in zip(STAMPS.tolist(), rows)
        ]
        path = bags.write(tmp_path / name, [*joints, *sent])
        assert main(['report', str(path)]) == 1
        assert command_of(capsys.readouterr().err).endswith('action=/joint_states')


def test_names_that_lack_or_do_not_fit_are_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = recording(tmp_path / 'bag', 'values')
    page = ['-o', str(tmp_path / 'page.html')]
    given = ['--robot', 'panda', '--topic', f'action={FORWARD}']
    for more in ([], ['--action-joints', ','.join(PANDA[:6])]):
        assert main(['report', str(path), *given, *more, *page]) == 0
        command = command_of(capsys.readouterr().err)
        assert command.endswith(f'--topic action={FORWARD} --action-joints {NAMED}')
        assert steps_of(command, capsys) == COUNT
    assert main(['report', str(path), *given, '--action-joints', 'a,a']) == 2
    assert 'each joint once' in capsys.readouterr().err


def test_a_simulation_recorded_by_the_wall_clock_is_read_by_the_receipt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sent: list[tuple[str, int, Any]] = []
    for at, row in zip(STAMPS.tolist(), ROWS):
        sent.append(('/joint_states', at, bags.joint_state(at - bags.T0 + 10**9, row)))
        sent.append((TRAJECTORY, at, bags.trajectory(0, [row])))
    path = bags.write(tmp_path / 'bag', sent)
    assert main(['report', str(path)]) == 1
    command = command_of(capsys.readouterr().err)
    assert command.endswith(f'--topic action={TRAJECTORY} --stamps receive')
    assert steps_of(command, capsys) == COUNT


@pytest.mark.parametrize('kind', KINDS)
def test_a_replay_of_its_own_bag_has_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
):
    topic, _, more = KINDS[kind]
    path = recording(tmp_path / 'bag', kind)
    given = ['--policy', 'replay', '--checkpoint', str(path), '--robot', 'panda', '--every', '6']
    topics = ['--topic', f'action={topic}', *more.split()]
    assert main(['open-loop', str(path), *given, *topics, '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['amse']['value'] == pytest.approx(0.0, abs=1e-20) and data['chunks'] == 10
    assert len(data['joints']) == len(PANDA)


@pytest.mark.parametrize('kind', KINDS)
def test_a_data_set_has_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str):
    pytest.importorskip('lerobot')
    from frame_ros.core.lerobot_import import offline
    from frame_ros.episodes.export.demonstrations import import_dataset

    topic, _, more = KINDS[kind]
    path = recording(tmp_path / 'bag', kind)
    given = ['--robot', 'panda', '--joints', NAMED, '--cameras', 'none', '--task', 'move']
    topics = ['--topic', f'action={topic}', *more.split()]
    folder = tmp_path / 'set'
    output = ['--units', 'rad', '-o', str(folder), '-q']
    assert main(['dataset', str(path), *given, *topics, *output]) == 0
    with offline():
        data = import_dataset()('local/set', root=folder)
    found = np.array([data[i]['action'].numpy() for i in range(len(data))])
    # Each frame has the command that was newest then.
    assert len(found) >= COUNT - 2
    for row in found:
        assert np.abs(ROWS - row).max(axis=1).min() < 1e-6


def test_a_data_set_of_another_robot_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Joints to choose are only those of the robot that is given."""
    pytest.importorskip('lerobot')
    path = recording(tmp_path / 'bag', 'trajectory')
    given = ['--topic', f'action={TRAJECTORY}', '--task', 'pick', '--cameras', 'none']
    assert main(['dataset', str(path), *given, '-o', str(tmp_path / 'set')]) == 2
    assert 'give the robot: --robot panda' in capsys.readouterr().err
