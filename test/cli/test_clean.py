# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros clean` removes runs of ours and never anything else."""

import os
import subprocess
import sys
import time

import pytest
from bag_making import episode_messages, write_bag

from frame_ros.bags.find_bags import survey
from frame_ros.bags.recording_lock import NAME, RecordingLock
from frame_ros.bags.run_folders import is_own_page
from frame_ros.cli import main
from frame_ros.cli.clean import age_seconds
from frame_ros.core.errors import ValueRangeError

DAY = 86400
PAGE = '<html><head><meta name="generator" content="frame_ros 0.1.0"></head></html>'
OURS = {'frame_ros_version': '0.1.0'}


def make_run(folder, age=0.0, episodes=2, **options):
    """A run as a demo leaves it, last written to `age` s ago."""
    for number in range(episodes):
        write_bag(folder / f'episode_{number}', episode_messages(5), OURS, **options)
        (folder / f'episode_{number}.mp4').write_bytes(bytes(1000))
    (folder / 'logs').mkdir()
    (folder / 'logs' / 'session.log').write_text('x')
    (folder / 'report.html').write_text(PAGE)
    for path in folder.rglob('*'):
        os.utime(path, (time.time() - age,) * 2)
    return folder


def entries(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob('*')}


@pytest.fixture
def runs(tmp_path):
    """Three runs, the newest called a, beside other folders and files."""
    folder = tmp_path / 'runs'
    for name, age in (('a', 0), ('b', 3 * DAY), ('c', 10 * DAY)):
        make_run(folder / name, age)
    # Not ours: a bag of another recorder, one without our mark, and files.
    write_bag(folder / 'others' / 'bag', episode_messages(5))
    (folder / 'others' / 'bag' / 'episode.json').unlink()
    write_bag(folder / 'unmarked' / 'bag', episode_messages(5))
    (folder / 'notes.txt').write_text('mine')
    return folder


def test_it_lists_what_runs_take_and_removes_nothing_by_itself(runs, capsys):
    before = entries(runs)
    assert main(['clean', str(runs), '--dry-run']) == 0
    text = capsys.readouterr().out
    assert text.count('2 episodes') == 3 and 'MB in 3 runs; to remove: 3 runs' in text
    assert [line.split('/')[-1] for line in text.splitlines()[:3]] == ['a', 'b', 'c']
    assert main(['clean', str(runs)]) == 2  # nobody to ask
    assert '--yes removes' in capsys.readouterr().err
    assert entries(runs) == before


@pytest.mark.parametrize(
    ('options', 'left'),
    [
        (['--keep', '2'], {'a', 'b'}),
        (['--older-than', '5d'], {'a', 'b'}),
        (['--older-than', '1d', '--keep', '2'], {'a', 'b'}),
        (['--older-than', '52w'], {'a', 'b', 'c'}),
        (['--keep', '0'], set()),
        ([], set()),
    ],
)
def test_chosen_runs_are_removed_and_nothing_else(runs, options, left):
    others = {name for name in entries(runs) if name.split('/')[0] not in ('a', 'b', 'c')}
    kept = {name for name in entries(runs) if name.split('/')[0] in left}
    assert main(['clean', str(runs), '--yes', *options]) == 0
    assert entries(runs) == others | kept


def test_it_asks(runs, monkeypatch):
    before = entries(runs)
    monkeypatch.setattr('sys.stdin.isatty', lambda: True, raising=False)
    monkeypatch.setattr('builtins.input', lambda text: 'n')
    assert main(['clean', str(runs)]) == 0
    assert entries(runs) == before
    monkeypatch.setattr('builtins.input', lambda text: 'y')
    assert main(['clean', str(runs / 'c')]) == 0
    assert not (runs / 'c').exists() and (runs / 'b').exists()


def test_what_a_user_put_into_a_run_stays(tmp_path, capsys):
    folder = make_run(tmp_path / 'run')
    (folder / 'notes.txt').write_text('mine')
    (folder / 'episode_0' / 'labels.csv').write_text('mine')
    (folder / 'logs' / 'mine.txt').write_text('mine')
    (folder / 'other.mp4').write_text('mine')
    outside = tmp_path / 'outside'
    write_bag(outside / 'episode_9', episode_messages(5), OURS)
    (folder / 'episode_9').symlink_to(outside / 'episode_9')
    before = entries(outside)
    assert main(['clean', str(folder), '--yes']) == 0
    assert entries(folder) == {
        'notes.txt', 'episode_0', 'episode_0/labels.csv', 'logs', 'logs/mine.txt', 'other.mp4',
        'episode_9',
    }  # fmt: skip
    assert entries(outside) == before
    assert 'kept files of others' in capsys.readouterr().out


def test_a_renamed_episode_stays_whole(tmp_path):
    folder = make_run(tmp_path / 'run')
    (folder / 'episode_1').rename(folder / 'best')
    before = {name for name in entries(folder) if name.startswith('best')}
    assert len(before) == 4
    assert main(['clean', str(folder), '--yes']) == 0
    assert entries(folder) == before | {'episode_1.mp4'}


def test_logs_of_other_programs_stay(tmp_path):
    folder = make_run(tmp_path / 'data')
    (folder / 'logs' / 'session.log').rename(folder / 'logs' / 'database.log')
    assert main(['clean', str(folder), '--yes']) == 0
    assert entries(folder) == {'logs', 'logs/database.log'}


def test_a_run_that_is_being_recorded_is_left_alone(tmp_path, capsys):
    folder = make_run(tmp_path / 'run', finish=False)
    before = entries(folder)
    assert main(['clean', str(folder), '--yes']) == 1
    assert 'being recorded' in capsys.readouterr().err and entries(folder) == before
    for path in folder.rglob('*'):
        os.utime(path, (time.time() - DAY,) * 2)
    assert main(['clean', str(folder), '--yes']) == 0
    assert not folder.exists()


def test_a_run_is_left_alone_between_two_of_its_episodes(tmp_path, capsys):
    folder = make_run(tmp_path / 'run', age=3 * DAY)
    before = entries(folder)
    lock, other = RecordingLock(), RecordingLock()
    lock.hold(folder)
    other.hold(folder)
    lock.release()
    assert main(['clean', str(folder), '--yes']) == 1
    assert 'it is being recorded into; nothing was removed' in capsys.readouterr().err
    assert entries(folder) - before == {NAME}
    other.release()
    assert entries(folder) == before
    assert main(['clean', str(folder), '--yes']) == 0
    assert not folder.exists()


def test_a_recorder_that_was_killed_holds_nothing(tmp_path):
    folder = make_run(tmp_path / 'run')
    code = (
        'import os, sys, pathlib\n'
        'from frame_ros.bags.recording_lock import RecordingLock\n'
        'RecordingLock().hold(pathlib.Path(sys.argv[1]))\n'
        'os.kill(os.getpid(), 9)\n'
    )
    subprocess.run([sys.executable, '-c', code, str(folder)])
    assert (folder / NAME).exists()
    assert main(['clean', str(folder), '--yes']) == 0
    assert not folder.exists()


def test_a_page_of_the_user_s_own_stays(tmp_path, capsys):
    folder = make_run(tmp_path / 'run')
    (folder / 'report.html').write_text('<html><body>my own, of frame_ros</body></html>')
    assert main(['clean', str(folder), '--yes']) == 0
    assert entries(folder) == {'report.html'}
    assert 'kept files of others: report.html' in capsys.readouterr().out


def test_a_page_of_ours_is_known(tmp_path):
    write_bag(tmp_path / 'run' / 'episode_0', episode_messages(5), OURS)
    page = tmp_path / 'run' / 'report.html'
    assert main(['report', str(tmp_path / 'run'), '-q', '-o', str(page)]) == 0
    assert is_own_page(page)


def test_a_folder_that_is_none_is_said(tmp_path, capsys):
    assert main(['clean', str(tmp_path / 'nothing')]) == 2
    assert 'is not a folder' in capsys.readouterr().err
    assert main(['clean', str(tmp_path)]) == 0
    assert 'no recorded run' in capsys.readouterr().out
    assert main(['clean', str(tmp_path), '--keep', '-1']) == 2


def test_ages():
    assert [age_seconds(text) for text in ('90m', '1.5h', '7d', '2w')] == [
        5400, 5400, 7 * DAY, 14 * DAY,
    ]  # fmt: skip
    for text in ('7', 'd', '-1d', '7 days'):
        with pytest.raises(ValueRangeError, match='such as 7d'):
            age_seconds(text)


def test_a_report_on_a_run_does_not_name_the_run_s_own_files_as_unread(tmp_path):
    run = make_run(tmp_path / 'run')
    assert (run / 'logs' / 'session.log').is_file() and list(run.glob('*.mp4'))
    assert survey(tmp_path).others == []
    (run / 'notes.txt').write_text('mine')
    (run / 'logs' / 'mine.txt').write_text('mine')
    assert {path.name for path, _ in survey(tmp_path).others} == {'notes.txt', 'logs'}
