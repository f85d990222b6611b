# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report` of a bag of another recorder: the command line that works, to be copied."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag_making import T0, event, pose, write_bag
from robot_bags import JOINTS, joint_state, step_stamp

from frame_ros.cli import main
from frame_ros.core.events import EventType

COUNT = 30
PANDA = tuple(f'panda_joint{number}' for number in range(1, 8))
FR3 = tuple(f'fr3_joint{number}' for number in range(1, 8))
POSTURE = {7: (0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7), 6: (0.0, -0.5, 0.5, 0.3, 0.0, 0.2)}
LINE = 'for poses and steps: '


def recording(
    folder: Path,
    topics: dict[str, tuple[str, ...]],
    has_stamps: bool = True,
    scale: float = 1.0,
) -> Path:
    """Topics of joint states of these joints, of none a pose."""
    sent: list[tuple[str, int, Any]] = []
    for step in range(COUNT):
        at = step_stamp(step)
        stamp = at if has_stamps else 0
        for topic, names in topics.items():
            if names:
                row = np.array(POSTURE[len(names)]) + 0.1 * math.sin(step / 5)
                sent.append((topic, at, joint_state(stamp, scale * row, names)))
            else:
                sent.append((topic, at, pose(stamp, 0.01 * step)))
    return write_bag(folder, sent)


def commands_of(text: str) -> list[str]:
    return [line.removeprefix(LINE) for line in text.splitlines() if line.startswith(LINE)]


@pytest.mark.parametrize(
    ('topics', 'given', 'wanted'),
    [
        ({'/joint_states': PANDA}, '', '--robot panda --topic action=/joint_states'),
        ({'/joint_states': FR3}, '', '--robot fr3 --topic action=/joint_states'),
        ({'/joint_states': JOINTS}, '', '--robot so101 --topic action=/joint_states'),
        (
            {'/joint_states': PANDA},
            '--robot fr3',
            '--robot panda --topic action=/joint_states',
        ),
        (
            {'/joint_states': PANDA},
            '--topic action=/joint_states',
            '--topic action=/joint_states --robot panda',
        ),
        ({'/joint_states': PANDA}, '--robot panda', '--robot panda --topic action=/joint_states'),
        (
            {'/arm/state': PANDA},
            '',
            '--robot panda --topic joint_states=/arm/state --topic action=/arm/state',
        ),
        (
            {'/arm/joint_states': PANDA, '/arm/orders': PANDA},
            '',
            '--robot panda --topic action=/arm/orders',
        ),
        ({'/tcp': ()}, '', '--topic pose=/tcp --topic action=/tcp'),
        ({'/ee_pose': ()}, '', '--topic action=/ee_pose'),
        ({'/joint_states': tuple('abcdef'), '/ee_pose': ()}, '', '--topic action=/joint_states'),
    ],
)
def test_the_command_that_is_shown_gives_numbers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    topics: dict[str, tuple[str, ...]],
    given: str,
    wanted: str,
):
    path = recording(tmp_path / 'a bag', topics)
    page = ['-o', str(tmp_path / 'page.html')]
    main(['report', str(path), *page, *given.split()])
    (command,) = commands_of(capsys.readouterr().err)
    assert command == f'frame-ros report {shlex.quote(str(path))} {wanted}'
    assert main([*shlex.split(command)[1:], '--json', '-q']) == 0
    found = capsys.readouterr()
    (episode,) = json.loads(found.out)['episodes']
    assert episode['summary']['steps'] == COUNT and episode['metrics']['pl']['value'] > 0
    assert commands_of(found.err) == []


def test_without_stamps_the_command_has_the_option_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = recording(tmp_path / 'bag', {'/joint_states': PANDA}, has_stamps=False)
    degrees = recording(tmp_path / 'deg', {'/joint_states': PANDA}, False, math.degrees(1.0))
    for each, units in ((path, ''), (degrees, '--joint-units deg ')):
        assert main(['report', str(each), *units.split()]) == 1
        (command,) = commands_of(capsys.readouterr().err)
        more = f'{units}--robot panda --topic action=/joint_states --stamps receive'
        assert command == f'frame-ros report {each} {more}'
        assert main([*shlex.split(command)[1:], '-o', str(tmp_path / 'page.html'), '-q']) == 0
        assert commands_of(capsys.readouterr().err) == []


def test_bags_of_one_kind_have_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name in ('1', '2'):
        recording(tmp_path / 'runs' / name, {'/joint_states': PANDA})
    assert main(['report', str(tmp_path / 'runs')]) == 1
    (command,) = commands_of(capsys.readouterr().err)
    wanted = '--robot panda --topic action=/joint_states'
    assert command == f'frame-ros report {tmp_path / "runs"} {wanted}'
    recording(tmp_path / 'runs' / '3', {'/joint_states': JOINTS})
    assert main(['report', str(tmp_path / 'runs')]) == 1
    assert len(commands_of(capsys.readouterr().err)) == 3


def test_joints_of_no_known_robot_have_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = recording(tmp_path / 'bag', {'/joint_states': tuple('abcdef')})
    assert main(['report', str(path)]) == 1
    err = capsys.readouterr().err
    assert commands_of(err) == [] and '--robot NAME, or --robot FILE.urdf' in err


def test_an_episode_of_our_recorder_has_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Its policy may have sent nothing: what was measured is not what it did."""
    sent: list[tuple[str, int, Any]] = [('/episode_events', T0, event(T0, EventType.START))]
    for step in range(COUNT):
        at = step_stamp(step + 1)
        sent.append(('/joint_states', at, joint_state(at, POSTURE[7], PANDA)))
    path = write_bag(tmp_path / 'bag', sent, {'robot': 'panda'})
    main(['report', str(path), '-o', str(tmp_path / 'page.html')])
    assert commands_of(capsys.readouterr().err) == []


def test_the_joints_of_another_robot_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = recording(tmp_path / 'bag', {'/joint_states': PANDA})
    assert main(['report', str(path), '--robot', 'fr3']) == 1
    assert 'panda_joint7, the joints of panda: --robot panda' in capsys.readouterr().err
