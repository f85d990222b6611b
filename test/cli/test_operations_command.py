# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros operations`: tables, JSON, and a review that is written and read back."""

import csv
import json
import shutil

import numpy as np
import pytest
from bag_making import event, pose, write_bag
from robot_bags import T0, joint_state

from frame_ros.cli import main
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.evaluation.outcomes.reading import read_outcomes

ARM = [0.1] * 5
ZONES = 'bin: {kind: target, box: [0.2, -0.1, 0.4, 0.1]}\n'


def grasping_bag(folder, name, counted, places, start=T0):
    """Each place is where an item of 0.5 rad is released, in x."""
    length = 4.0 * len(places) + 2.0
    sent = [('/episode_events', start - 1000, event(start, EventType.START, name))]
    x = 0.0
    for i in range(round(length * 50)):
        time, at = i / 50, start + i * SECOND // 50
        place, phase = int(time // 4), time % 4
        is_closed = place < len(places) and 0.5 <= phase < 3.0
        target, held = (0.0, 0.5) if is_closed else (1.2, 1.2)
        if place < len(places):
            x = float(np.interp(phase, [1.0, 2.5], [0.0, places[place]]))
        sent.append(('/joint_commands', at, joint_state(at, [*ARM, target])))
        sent.append(('/joint_states', at, joint_state(at, [*ARM, held])))
        sent.append(('/ee_pose', at, pose(at, x)))
    end = start + round(length * SECOND)
    finish = event(end, EventType.END, name, outcome=3)
    sent.append(('/episode_events', end, finish))
    return write_bag(folder / name, sent, {'robot': 'so101', 'end_notes': counted})


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs')
    grasping_bag(folder, 'agrees', 'successful_items=1', [0.3])
    grasping_bag(folder, 'differs', 'successful_items=2 lost_items=1', [0.3, 0.6])
    (folder / 'zones.yaml').write_text(ZONES)
    return folder


def given(runs, *more):
    bags = [str(runs / name) for name in ('agrees', 'differs')]
    return ['operations', *bags, '--zones', str(runs / 'zones.yaml'), '-q', *map(str, more)]


def test_tables_name_what_disagrees(runs, capsys):
    assert main(given(runs)) == 0
    text = capsys.readouterr().out
    assert 'agrees with the expected successes in 1 of 2 episodes' in text
    assert 'differs disagrees: 1 success detected, 2 expected' in text
    assert 'released off the target, and not collected' in text
    assert 'agrees disagrees' not in text


def test_a_review_is_written_edited_and_read_back(runs, tmp_path, capsys):
    path = tmp_path / 'review.csv'
    assert main(given(runs, '--review', path)) == 0
    assert '2 rows of 1 episode to review' in capsys.readouterr().out
    with path.open(newline='') as file:
        rows = list(csv.DictReader(file))
    assert [row['verdict'] for row in rows] == ['success', 'failure']
    rows[1]['reviewed'] = 'success'
    with path.open('w', newline='') as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert main(given(runs, '--reviewed', path, '--json')) == 0
    first, second = json.loads(capsys.readouterr().out)['episodes']
    assert (first['chosen'], second['chosen']) == ('detected', 'reviewed')
    endings = {
        source: [each['ending'] for each in operations]
        for source, operations in second['operations'].items()
    }
    assert endings == {
        'events': ['timeout', 'drop'],
        'detected': ['success', 'drop', 'timeout'],
        'reviewed': ['success', 'success', 'timeout', 'drop'],
    }


def test_outcomes_are_written_for_a_comparison(runs, tmp_path, capsys):
    path = tmp_path / 'outcomes.csv'
    assert main(given(runs, '--outcomes', path)) == 0
    assert f'outcomes of 2 episodes: {path}' in capsys.readouterr().out
    read = {each.name: each for each in read_outcomes([path]).outcomes}
    assert {name: each.successes for name, each in read.items()} == {'agrees': 1, 'differs': 1}
    assert main(given(runs, '--outcomes', path, '--labels', 'reviewed')) == 2
    assert 'none of 2 episodes has labels of the kind reviewed' in capsys.readouterr().err


def test_all_can_be_reviewed(runs, tmp_path, capsys):
    assert main(given(runs, '--review', tmp_path / 'all.csv', '--all')) == 0
    assert '3 rows of 2 episodes' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('row', 'text'),
    [
        ('differs,differs,1,success,perhaps', "line 2: reviewed is 'perhaps'"),
        ('gone,gone,1,success,1', "line 2: the bags given hold no episode 'gone'"),
    ],
)
def test_a_review_that_does_not_fit_is_refused(runs, tmp_path, capsys, row, text):
    path = tmp_path / 'bad.csv'
    path.write_text(f'bag,episode,time,verdict,reviewed\n{row}\n')
    assert main(given(runs, '--reviewed', path)) == 2
    assert text in capsys.readouterr().err


def test_a_review_of_two_bags_of_one_name_is_refused(runs, tmp_path, capsys):
    grasping_bag(tmp_path, 'agrees', '', [0.3], T0 + SECOND)
    path = tmp_path / 'review.csv'
    path.write_text('bag,episode,time,verdict,reviewed\nagrees,agrees,1,success,1\n')
    command, *more = given(runs, '--reviewed', path)
    assert main([command, str(tmp_path / 'agrees'), *more]) == 2
    assert '2 of the bags given are called agrees' in capsys.readouterr().err


def test_what_is_read_is_not_written_over(runs, capsys):
    assert main(given(runs, '--review', runs / 'zones.yaml')) == 2
    assert 'is a file that is read' in capsys.readouterr().err
    assert (runs / 'zones.yaml').read_text() == ZONES
    file = runs / 'agrees' / 'metadata.yaml'
    before = file.read_text()
    for option in ('--review', '--outcomes'):
        assert main(given(runs, option, file)) == 2
        assert f'is a file that is read: {file}' in capsys.readouterr().err
    assert file.read_text() == before


def test_copies_count_once_and_episodes_of_one_name_stay_apart(runs, tmp_path, capsys):
    """As where a bag was copied, and where another session counted from 1 again."""
    shutil.copytree(runs / 'differs', tmp_path / 'copy' / 'differs')
    other = event(T0 + SECOND, EventType.START, 'agrees')
    end = event(T0 + 9 * SECOND, EventType.END, 'agrees', outcome=1)
    sent = [('/episode_events', T0 + SECOND, other), ('/episode_events', T0 + 9 * SECOND, end)]
    write_bag(tmp_path / 'monday' / 'agrees', sent, {'robot': 'so101'})
    table = tmp_path / 'outcomes.csv'
    more = [tmp_path / 'copy', tmp_path / 'monday']
    command, *others = given(runs, '--outcomes', table)
    assert main([command, *map(str, more), *others]) == 0
    told = capsys.readouterr().out
    assert 'recorded twice, counted once' in told and 'outcomes of 3 episodes' in told
    found = read_outcomes([table]).outcomes
    assert sorted(outcome.name for outcome in found) == [
        'agrees (monday/agrees)',
        f'agrees ({runs.name}/agrees)',
        'differs',
    ]
    assert sum(len(outcome.operations) for outcome in found) == 6  # 2, 3, 1
