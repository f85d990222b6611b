# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros open-loop`: tables, JSON, and errors in words."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from bag_making import write_bag
from robot_bags import commands, inference, robot_bag, robot_messages, step_stamp

from frame_ros.cli import main
from frame_ros.robots import find_urdf


@pytest.fixture(scope='module')
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wanted = commands(30)
    sent = [inference(i, wanted[i : i + 6]) for i in (0, 5, 10)]
    return robot_bag(tmp_path_factory.mktemp('bags') / 'bag', sent, {'robot': 'so101'}, count=30)


def test_a_replay_of_its_own_bag_has_no_error(bag: Path, capsys: pytest.CaptureFixture[str]):
    given = ['open-loop', str(bag), '--policy', 'replay', '--checkpoint', str(bag)]
    assert main([*given, '--option', 'horizon=5', '--every', '6', '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['amse'] == {'value': 0.0, 'lower': None, 'upper': None, 'count': 1}
    assert data['namse']['value'] == 0.0 and data['chunks'] == 5 and data['every'] == 6
    assert len(data['steps']) == 5 and len(data['joints']) == 6
    assert data['episodes'][0]['episode_id'] == 'e1'


def test_the_named_topic_is_that_of_the_replayed_bag_too(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sent = [
        (topic.replace('/joint_commands', '/arm/orders'), at, content)
        for topic, at, content in robot_messages(30)
    ]
    other = write_bag(tmp_path / 'other', sent, {'robot': 'so101'})
    given = ['--policy', 'replay', '--every', '6', '--json', '--topic', 'action=/arm/orders']
    for replayed in (other, bag):  # the second has its commands under the usual name
        assert main(['open-loop', str(other), '--checkpoint', str(replayed), *given]) == 0
        assert json.loads(capsys.readouterr().out)['amse']['value'] == 0.0


def test_hold_as_tables(bag: Path, capsys: pytest.CaptureFixture[str]):
    assert main(['open-loop', str(bag), '--policy', 'hold', '--option', 'horizon=40']) == 0
    out = capsys.readouterr().out
    assert out.startswith('hold: 1 episode, 3 chunks, 60 steps compared')
    assert 'left out: 60 × step behind the last recorded action' in out
    assert 'note: one episode has no interval' in out
    for word in ('amse (range)', 'namse', 'shoulder_pan', 'RMS (rad)', 'after (s)'):
        assert word in out
    rows = out.split('step  after')[1].split('\n\n')[0].splitlines()
    assert len(rows) == 2 + 12 and rows[2].startswith('0 ')


HOLDING = """
import numpy as np
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference


class Holding(Policy):
    name = 'holding'

    def __init__(self, units, gripper_limits):
        (self.ends,) = gripper_limits.values()
        self.units = tuple(units)

    def infer(self, observation):
        row = np.array(observation.joint_positions)
        row[-1] = np.clip(row[-1], *self.ends)
        if 'degrees' in self.units:
            row = np.degrees(row)
        elif '1' in self.units:
            closed, opened = self.ends
            row[-1] = (row[-1] - closed) / (opened - closed)
        names = observation.joint_names
        return Inference(np.tile(row, (5, 1)), 1 / 30, names, self.units)
"""


def test_chunks_in_other_units_are_converted_or_refused(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / 'holding.py'
    file.write_text(HOLDING)

    def asked(units: list[str], *others: str) -> int:
        given = ['open-loop', str(bag), '--policy', f'{file}:Holding', '--json', *others]
        return main([*given, '--option', f'units={json.dumps(units)}'])

    assert asked(['rad'] * 6) == 0
    plain = json.loads(capsys.readouterr().out)['amse']['value']
    assert asked(['degrees'] * 6) == 2
    assert "joint_position in 'degrees'; joints must be in rad" in capsys.readouterr().err
    shares = ['rad'] * 5 + ['1']
    assert asked(shares, '--action-option', 'gripper=open') == 0
    assert json.loads(capsys.readouterr().out)['amse']['value'] == pytest.approx(plain)
    assert asked(shares) == 2
    assert "joint_position in '1'; joints must be in rad" in capsys.readouterr().err


def test_the_recorded_chunks_need_no_policy(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(['open-loop', str(bag), '--recorded', '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['amse']['value'] == 0.0 and data['chunks'] == 3
    assert data['compared_steps'] == 18 and data['every'] is None
    plain = robot_bag(tmp_path / 'plain')
    assert main(['open-loop', str(plain), '--recorded']) == 2
    assert 'no policy_inference' in capsys.readouterr().err


def test_several_bags_have_an_interval(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    other = robot_bag(tmp_path / 'other', count=20, start=step_stamp(99))
    assert main(['open-loop', str(bag), str(other), '--policy', 'hold', '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['amse']['count'] == 2 and data['amse']['lower'] < data['amse']['upper']
    assert data['spread'] == sorted(e['mse'] for e in data['episodes'])


def test_what_is_wrong_with_the_recording_is_said(tmp_path: Path, capsys):
    sent = [('/sent' if topic == '/joint_commands' else topic, at, content)
            for topic, at, content in robot_messages(count=20)
            if at != step_stamp(20)]  # fmt: skip
    bag = write_bag(tmp_path / 'bag', sent)
    source = robot_bag(tmp_path / 'source', count=20)
    given = ['open-loop', str(bag), '--policy', 'replay', '--checkpoint', str(source), '--json']
    given += ['--topic', 'action=/sent', '--option', 'episode_id=e1']
    assert main(given) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['amse']['value'] == 0.0
    assert 'bag: no END event: the end of the data is taken as its end' in data['notes']


def test_a_robot_that_is_given_is_not_asked_for(tmp_path: Path, capsys):
    """Neither that of the bag is, of which the profile lies elsewhere, nor limits that it lacks."""
    bag = robot_bag(tmp_path / 'bag', metadata={'robot': 'their_arm.yaml'})
    given = ['open-loop', str(bag), '--policy', 'replay', '--checkpoint', str(bag), '--json']
    assert main(given) == 2
    assert "names the robot 'their_arm.yaml'" in capsys.readouterr().err
    text = find_urdf('so101').read_text()
    found = re.sub(r'(name="wrist_roll"\s+type=)"revolute"', r'\1"continuous"', text)
    assert found != text
    (tmp_path / 'endless.urdf').write_text(found)
    assert main([*given, '--robot', str(tmp_path / 'endless.urdf')]) == 0
    data = json.loads(capsys.readouterr().out)
    (note,) = [note for note in data['notes'] if 'joint range' in note]
    assert note.endswith('range: wrist_roll, of which the robot has no limits')
    assert [note for note in data['notes'] if 'not opened' in note] == []


def test_a_policy_that_needs_cameras_says_which_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip('lerobot')
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'policies'))
    from checkpoints import make_act_checkpoint

    folder = make_act_checkpoint(tmp_path / 'act', ('front',), (12, 16), dim_model=32)
    seen = robot_bag(tmp_path / 'seen', count=20)
    given = ['--policy', 'lerobot', '--checkpoint', str(folder), '--json']
    assert main(['open-loop', str(seen), *given, '--every', '15']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['chunks'] == 2 and data['amse']['value'] > 0
    blind = robot_bag(tmp_path / 'blind', cameras=())
    assert main(['open-loop', str(blind), *given]) == 2
    assert 'no images of front; it has images of no camera' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (['--policy', 'nosuch'], "there is no policy 'nosuch'"),
        (['--policy', 'replay'], 'checkpoint of the policy replay is empty; it must be a bag'),
        (
            ['--policy', 'hold', '--option', 'speed=2'],
            "does not take 'speed'; it takes: horizon",
        ),
        (['--policy', 'hold', '--option', 'speed'], 'must be NAME=VALUE'),
        (['--policy', 'hold', '--every', '0'], '--every is 0; it must be at least 1'),
        (['--policy', 'hold', '--robot', 'r2d2'], "no robot 'r2d2'"),
    ],
)
def test_errors_in_words(
    bag: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
):
    assert main(['open-loop', str(bag), *arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_copy_of_a_bag_counts_once(bag: Path, tmp_path: Path, capsys):
    copy = Path(shutil.copytree(bag, tmp_path / 'copy'))
    assert main(['open-loop', str(bag), str(copy), '--policy', 'hold', '--json', '-q']) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found['episodes']) == 1
    assert f'recorded twice, counted once: {copy} (as {bag})' in found['notes']
