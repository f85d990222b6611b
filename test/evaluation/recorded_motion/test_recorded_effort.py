# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact by the currents of a recorded arm: read, identified, judged, and put into tables."""

import re
from argparse import Namespace

import numpy as np
import pytest
from benchmark_parts import import_parts
from sage_folders import write_rows, write_sage

from frame_ros.core.errors import BagError
from frame_ros.evaluation.recorded_motion.sage import SAGE_JOINTS, signed_currents
from frame_ros.evaluation.trials.campaign import Outcome
from frame_ros.evaluation.trials.recorded_effort import identified, read_recording, run

NAMES = list(SAGE_JOINTS)


@pytest.fixture
def rows(monkeypatch):
    """The benchmark's module."""
    (found,) = import_parts(monkeypatch, 'recorded_effort_rows')
    return found


def test_currents_have_the_sign_of_the_way_to_the_goal():
    errors = np.array([[0.0, -0.1], [0.2, 0.0], [0.0, 0.0], [-0.1, 0.3]])
    found = signed_currents(np.ones((4, 2)), errors)
    assert found.tolist() == [[0.0, -1.0], [1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]


def test_states_are_read_with_their_currents_and_the_newest_goals(tmp_path):
    times = np.arange(4) / 50.0
    (tmp_path / 'joint_list.txt').write_text(
        'Rotation\nPitch\nElbow\nWrist_Pitch\nWrist_Roll\nJaw\n'
    )
    here, steps = np.zeros((4, 5)), np.full((4, 5), 3 * 0.022814)
    goals = np.array([0.1, -0.1])[:, None] * np.ones((2, 5))
    write_rows(tmp_path / 'state_motor.csv', times, here, here, steps)
    write_rows(tmp_path / 'control.csv', times[[0, 2]], goals)
    found = read_recording(tmp_path / 'state_motor.csv')
    assert found.goals[:, 0].tolist() == [0.1, 0.1, -0.1, -0.1]
    # The goal that is sent as the third sample is read does not drive yet.
    np.testing.assert_allclose(found.efforts[:, 1], 0.0195 * np.array([1, 1, 1, -1]))
    assert found.seconds == pytest.approx(0.06)
    write_rows(tmp_path / 'control.csv', times[[2, 0]], goals)
    with pytest.raises(BagError, match='do not rise'):
        read_recording(tmp_path / 'state_motor.csv')
    (tmp_path / 'control.csv').unlink()
    with pytest.raises(BagError, match='cannot be read'):
        read_recording(tmp_path / 'state_motor.csv')


@pytest.mark.parametrize(
    ('joints', 'end', 'message'),
    [
        (NAMES, 'X,80000\n', 'cannot be read'),  # a line that was cut
        (NAMES, 'X,inf,{},{},{}\n', 'do not rise'),
        ([*NAMES[1:], 'Jaw'], '', 'Jaw more than once'),
        (['Jaw'], '', 'has no shoulder_pan'),
    ],
)
def test_damaged_recordings_are_refused(tmp_path, joints, end, message):
    (tmp_path / 'joint_list.txt').write_text('\n'.join(joints))
    rows = np.zeros((4, len(joints) - 1))
    write_rows(tmp_path / 'state_motor.csv', np.arange(4) / 50.0, rows, rows, rows)
    write_rows(tmp_path / 'control.csv', np.arange(4) / 50.0, rows)
    values = f'"{[0.0] * len(joints)}"'
    with (tmp_path / 'state_motor.csv').open('a') as file:
        file.write(end.format(values, values, values))
    with pytest.raises(BagError, match=message):
        identified([read_recording(tmp_path / 'state_motor.csv')])


def test_a_recorded_arm_is_identified_and_judged_as_the_contact_node_does(tmp_path, rows, capsys):
    from parts.bars import Bars

    for name in rows.IDENTIFIED_BY:
        write_sage(tmp_path / 'set' / name, 8.0)
    write_sage(tmp_path / 'set' / 'free', 8.0)
    write_sage(tmp_path / 'set' / 'pushed', 8.0, (4.0, 5.0, 1.0))
    arm = rows.recorded(tmp_path / 'set', tmp_path / 'runs')
    assert all('efforts are currents of the supply' in each for each in arm.remarks)
    trials = list(rows.trials(arm, 1.0))
    assert [(t.settings['name'], t.settings['motors']) for t in trials] == [
        (name, motors) for motors in rows.MOTORS for name in ('free', 'pushed')
    ]
    results = [run(trial) for trial in trials]
    assert results[0]['begins'] == [] and results[0]['unavailable'] < 1.0
    begins = results[1]['begins']
    assert any(4.0 <= each <= 5.0 for each in begins), begins
    assert results[1]['causes'][0][0] == 'elbow_flex'
    assert results[4]['thresholds']['elbow_flex'][1] > results[0]['thresholds']['elbow_flex'][1]
    assert all(result['blockages'] == [] for result in results)
    assert len(results[1]['ends']) == len(begins)
    # One is felt by all contacts of that recording, another by none.
    results[1]['blockages'] = [['elbow_flex', 0.0, 8.0, 0.2, 0.9, True],
                               ['wrist_roll', 0.0, 0.1, 0.2, 0.9, False]]  # fmt: skip
    outcomes = [Outcome(*pair) for pair in zip(trials, results, strict=True)]
    text = '\n'.join(rows.lines(outcomes, arm, Bars(Namespace(short=False))))
    assert f'(2) | 0.00 h | {len(begins)}: ' in text and '| pushed | 8 s |' in text
    assert '| identified | all (2) | 1 of 2 | elbow_flex 1 of 1, wrist_roll 0 of 1 | 0 | ' in text
    assert 'pushed: wrist_roll from 0.0 to 0.1 s, up to 0.20 rad and 0.90 A, not felt' in text
    assert 'identified motors, contacts per hour' in capsys.readouterr().out
    # Contacts at the table, of which it holds the arm up in one by current, and one elsewhere.
    results[1].update(blockages=[], begins=[1.0, 2.0, 3.0, 4.0], ends=[1.5, 2.5, 3.5, 4.5],
                      heights=[0.0, 0.01, 0.01, 0.02], held_up=[True, False, False, True],
                      causes=[['elbow_flex', 1.0, 0.5, False, is_by] for is_by in (0, 0, 1, 0)],
                      presses=[[1.0, 1.4, 0.01, -0.002, True], [6.0, 6.9, 0.02, 0.004, False]],
                      slow_free=[3.0, 0.003], slow_near=2.0, held=0.8, seconds=8.0)  # fmt: skip
    text = '\n'.join(rows.lines(outcomes, arm, Bars(Namespace(short=False))))
    counts = re.search(r'\| identified \| all \(2\) \|.*', text).group().split(' | ')
    assert counts[4] == '4' and counts[6:9] == ['3', '1 of 2, 0 of 1', '1']
    assert counts[9].startswith('3: ')
    assert '| identified | 2 | 1 | 0 of 1 |' in text
    assert 'Its height then, from that taken for the table: 1 mm on the mean, deviation 3.0' in text
    # Contact that was never available meets no bar.
    for result in results:
        result['unavailable'] = result['seconds']
    rows.lines(outcomes, arm, Bars(Namespace(short=False)))
    assert 'per hour: nan, at most 1: MISSED' in capsys.readouterr().out
    # A recording that changes is another trial.
    write_rows(tmp_path / 'set' / 'free' / 'control.csv', np.zeros(1), np.ones((1, 5)))
    assert trials[0].key != next(rows.trials(arm, 1.0)).key
    (tmp_path / 'set' / rows.IDENTIFIED_BY[0]).rename(tmp_path / 'elsewhere')
    write_sage(tmp_path / 'set' / 'other' / 'free', 1.0)
    with pytest.raises(BagError, match='of one name'):
        rows.recorded(tmp_path / 'set', tmp_path / 'runs')
    (tmp_path / 'set' / 'other' / 'free').rename(tmp_path / 'other')
    with pytest.raises(BagError, match=f'no recording {rows.IDENTIFIED_BY[0]!r}'):
        rows.recorded(tmp_path / 'set', tmp_path / 'runs')
