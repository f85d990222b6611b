# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands whose reader goes away, as with `| head`, or whose output finds a full disk: their files
are written all the same.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from robot_bags import robot_bag

from frame_ros.cli import main
from frame_ros.cli.lasting_output import lasting_output

CODE = 'import sys; from frame_ros.cli import main; sys.exit(main())'


def without_reader(arguments: list[str], folder: Path, with_errors: bool) -> tuple[int, str]:
    """Runs the command with an output, and error output too, that nobody reads; returns its exit
    code and what it wrote to the error output.
    """
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, '-c', CODE, *arguments], cwd=folder, stdout=writer, text=True,
            stderr=writer if with_errors else subprocess.PIPE, check=False,
        )  # fmt: skip
    finally:
        os.close(writer)
    return done.returncode, done.stderr or ''


@pytest.mark.parametrize('with_errors', [False, True], ids=['output', 'both'])
@pytest.mark.parametrize('command', ['compare', 'plan', 'report', 'calibrate'])
def test_files_are_written_without_a_reader(tmp_path, command, with_errors):
    """With --json most print before they write the page."""
    page, code = tmp_path / 'page.html', 0
    if command == 'compare':
        lines = [
            f'{p},{str(i < n).lower()},{i}' for p, n in (('a', 1), ('b', 10)) for i in range(10)
        ]
        (tmp_path / 'outcomes.csv').write_text('\n'.join(['policy,success,seed', *lines, '']))
        arguments, code = ['outcomes.csv', '--resamples', '200', '--no-cache', '--json'], 10
    elif command == 'plan':
        arguments = ['--discordance', '0.1', '--json']
    else:
        robot_bag(tmp_path / 'bag')
        arguments = ['bag', '--json'] if command == 'report' else ['bag']
    if command == 'calibrate':
        # Of one episode there is nothing to fit: the user's error stays one.
        code = 2
    done, said = without_reader([command, *arguments, '-o', str(page)], tmp_path, with_errors)
    assert done == code and 'Traceback' not in said and 'Broken' not in said
    assert page.is_file() == (command != 'calibrate')


FULL = Path('/dev/full')


@pytest.mark.skipif(not FULL.exists(), reason='a device of Linux')
@pytest.mark.parametrize(
    'words', [['metrics'], ['metrics', 'sr', '--json'], ['--version'], ['report', '--help']]
)
def test_a_full_disk_is_one_line_and_an_error(words):
    with FULL.open('w') as full:
        done = subprocess.run(
            [sys.executable, '-c', CODE, *words], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    said = 'frame-ros: the output cannot be written: No space left on device\n'
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.skipif(not FULL.exists(), reason='a device of Linux')
def test_files_are_written_although_output_and_errors_have_no_room(tmp_path):
    page = tmp_path / 'page.html'
    words = ['plan', '--discordance', '0.1', '--json', '-o', str(page)]
    with FULL.open('w') as full:
        done = subprocess.run(
            [sys.executable, '-c', CODE, *words], stdout=full, stderr=full, check=False
        )
    assert done.returncode == 2 and '</html>' in page.read_text()


@pytest.mark.parametrize('command', ['report', 'video'])
def test_files_without_room_are_one_line_and_an_error(tmp_path, command):
    if command == 'video':
        pytest.importorskip('av')
    robot_bag(tmp_path / 'bag')
    small = (200, 200)  # bytes; as on a disk that becomes full
    done = subprocess.run(
        [sys.executable, '-c', CODE, command, 'bag', '-q', '-o', 'file'], cwd=tmp_path, text=True,
        capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, small),
    )  # fmt: skip
    *_, line = done.stderr.splitlines()
    assert done.returncode == 2 and 'Traceback' not in done.stderr
    assert line.startswith('frame-ros: ') and line.endswith('File too large')
    assert not (tmp_path / 'file').exists()


@pytest.mark.parametrize('command', ['report', 'compare', 'clean', 'plan'])
def test_a_path_that_no_system_has_is_one_line_and_an_error(command, capsys):
    assert main([command, 300 * 'a']) == 2
    assert re.fullmatch(r'frame-ros: .*a{300}.*File name too long.*\n', capsys.readouterr().err)


def test_what_is_read_arrives_whole(tmp_path):
    code = 'import sys; from frame_ros.cli import main; sys.exit(main(["metrics", "--json"]))'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(']\n') and done.stderr == ''


def test_streams_of_others_stay(capsys):
    before = sys.stdout, sys.stderr
    with lasting_output():
        assert (sys.stdout, sys.stderr) == before
        print('seen')
    assert capsys.readouterr().out == 'seen\n'


def test_a_closed_output_is_none(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -c '{CODE}' metrics >&- 2>&-", shell=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0
