# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact by the torques of recorded Pandas: read, judged, and put into a table."""

from argparse import Namespace

import numpy as np
import pytest
from benchmark_parts import import_parts

from frame_ros.core.errors import BagError
from frame_ros.evaluation.recorded_motion.panda_torques import (
    FREE,
    FREE_MOTION,
    FREE_PARTS,
    JOINTS,
    digest_of,
    read_torques,
    torque_files,
)
from frame_ros.evaluation.trials.campaign import Outcome
from frame_ros.evaluation.trials.recorded_torque import run, without_hand
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics

Q = np.array([0.06, 0.69, -0.08, -1.62, 0.03, 2.29, 0.85])
# N m at 24 N on the hand: more than generic thresholds.
PUSH = np.array([0.0, -8.0, 0.0, 6.0, 0.0, 0.0, 0.0])


def write_labelled(file, seconds=6.0, touches=((3.0, 4.0),), changes=()):
    """A Panda with its hand at rest, 200 Hz, touched from time to time, as MINDLab writes it.
    changes: row -> its text.
    """
    columns = [f'{of}{i}' for of in ('tau_J', 'q', 'dq') for i in range(7)]
    weight, random = RobotDynamics(load_robot('panda')).gravity(Q), np.random.default_rng(0)
    lines = [f'index,time,{",".join(columns)},label']
    for row in range(round(200 * seconds)):
        time = row / 200.0
        touched = any(begin <= time < end for begin, end in touches)
        torques = weight + touched * PUSH + 0.02 * random.normal(size=7)
        values = [*torques, *(Q + 1e-5 * random.normal(size=7)), *(1e-3 * random.normal(size=7))]
        lines.append(f'{row},{time},{",".join(map(str, values))},{int(touched)}')
    for row, text in dict(changes).items():
        lines[row] = text(lines[row])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('\n'.join(lines) + '\n')
    return file


def write_free(folder, rows=2000):
    """A Panda without a hand that moves its joints, 1 kHz, as Gaz et al. write it."""
    times = np.arange(rows) / 1000.0
    dynamics = RobotDynamics(without_hand(), JOINTS)
    wave = [Q + 0.2 * np.sin(2.0 * t) * np.ones(7) for t in times]
    rate = [0.4 * np.cos(2.0 * t) * np.ones(7) for t in times]
    torques = [
        dynamics.inverse_dynamics(q, dq, -0.8 * np.sin(2.0 * t) * np.ones(7))
        for t, q, dq in zip(times, wave, rate, strict=True)
    ]
    folder.mkdir(parents=True)
    np.savetxt(folder / FREE.format('time'), times)
    for name, values in (('positions', wave), ('velocities', rate), ('torques', torques)):
        np.savetxt(folder / FREE.format(FREE_PARTS[name]), np.ravel(values))


def times(*changed):
    """Changes of rows' times: (row, time) each."""

    def to(time):
        return lambda line: ','.join([line.split(',')[0], str(time), *line.split(',')[2:]])

    return {row: to(time) for row, time in changed}


def test_recordings_are_found_by_their_first_line_and_read(tmp_path):
    (tmp_path / 'other.csv').write_text('a,b\n1,2\n')
    file = write_labelled(tmp_path / 'a4' / 'labeled_data.csv', 1.0, ((0.2, 0.4), (0.9, 2.0)))
    write_labelled(tmp_path / 'link3' / 'e1_3.csv', 0.1)
    write_free(tmp_path / 'Trajectory_1' / 'rbt_log', 20)
    found = [read_torques(each) for each in torque_files(tmp_path)]
    assert sorted(each.place for each in found) == ['a', FREE_MOTION, 'link3']
    labelled = read_torques(file)
    np.testing.assert_allclose(labelled.touches, [[0.2, 0.4], [0.9, 0.995]])
    assert labelled.seconds == pytest.approx(0.995) and labelled.has_hand
    assert labelled.torques.shape == labelled.positions.shape == (200, 7)
    np.testing.assert_allclose(labelled.positions[0], Q, atol=1e-3)
    assert torque_files(tmp_path / 'none') == []


def test_of_samples_of_one_time_the_first_is_taken(tmp_path):
    file = write_labelled(tmp_path / 'a.csv', 0.1, changes=times((5, 0.015), (6, 0.015)))
    found = read_torques(file)
    assert len(found.stamps) == 18 and (np.diff(found.stamps) > 0).all()


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        (times((5, 0.001)), 'its times fall'),
        (times((5, 'nan')), 'not finite'),
        ({20: lambda line: line[:40]}, 'cannot be read'),
        ({5: lambda line: line.replace(',', ',x', 3)}, 'cannot be read'),
    ],
)
def test_damaged_recordings_are_refused(tmp_path, changes, message):
    file = write_labelled(tmp_path / 'a.csv', 0.1, changes=changes)
    with pytest.raises(BagError, match=message):
        read_torques(file)


def test_a_part_that_is_missing_is_named(tmp_path):
    write_free(tmp_path / 'log', 20)
    file = tmp_path / 'log' / FREE.format('time')
    before = digest_of(file)
    np.savetxt(file.with_name(FREE.format('torques')), np.zeros(70))
    assert digest_of(file) != before
    with pytest.raises(BagError, match='20 times, and values of shape'):
        read_torques(file)
    file.with_name(FREE.format('velocity')).unlink()
    with pytest.raises(BagError, match='exciting_traj_velocity.txt'):
        read_torques(file)
    with pytest.raises(BagError, match='cannot be read'):
        digest_of(file)


def test_a_panda_without_its_hand_is_lighter_by_it():
    bare, whole = (
        RobotDynamics(r, JOINTS).gravity(Q) for r in (without_hand(), load_robot('panda'))
    )
    # The hand of 0.71 kg, about 0.6 m before joint 2 in this posture.
    assert 3.0 < abs(whole[1] - bare[1]) < 6.0


def test_touches_are_felt_and_put_into_a_table(tmp_path, monkeypatch, capsys):
    (rows,) = import_parts(monkeypatch, 'recorded_torque_rows')
    from parts.bars import Bars

    write_labelled(tmp_path / 'a4' / 'labeled_data.csv')
    write_labelled(tmp_path / 'b1' / 'labeled_data.csv', 3.0, ())
    write_free(tmp_path / 'Trajectory_1' / 'rbt_log')
    files = rows.recorded(tmp_path)
    trials = list(rows.trials(files, 1.0))
    results = [run(trial) for trial in trials]
    outcomes = [Outcome(*pair) for pair in zip(trials, results, strict=True)]
    (touched,) = [each for each in results if each['touched']]
    assert len(touched['begins']) == 1 and 3.0 < touched['begins'][0] < 3.5
    assert touched['causes'][0][0] in ('panda_joint2', 'panda_joint4')
    text = '\n'.join(rows.lines(outcomes, Bars(Namespace(short=False))))
    assert '| a (1) | 1 of 1: 100 %' in text and f'| {FREE_MOTION} (1) | none touched |' in text
    assert '| all (3) | 1 of 1: 100 %' in text
    assert 'torques, false contacts per hour: 0, at most 1: met' in capsys.readouterr().out
    # A contact before the touch is a false one, and the touch is missed.
    touched['begins'] = [1.0]
    text = '\n'.join(rows.lines(outcomes, Bars(Namespace(short=False))))
    assert '| a (1) | 0 of 1: 0 %' in text and ': MISSED' in capsys.readouterr().out
    with pytest.raises(BagError, match='no recording of joint torques'):
        rows.recorded(tmp_path / 'Trajectory_1' / 'rbt_log' / 'none')
