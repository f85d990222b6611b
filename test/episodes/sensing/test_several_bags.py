# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros sense` of several bags, and its end by SIGTERM."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sensed_bags import TOOL, foreign_bag

from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.reader import Bag
from frame_ros.cli import main


@pytest.fixture(scope='module')
def recording(tmp_path_factory) -> Path:
    return foreign_bag(tmp_path_factory.mktemp('foreign') / 'lab')


def test_each_of_several_bags_has_a_folder_of_its_name(recording, tmp_path, capsys):
    for place in ('runs/a', 'runs/b', 'other/a'):
        shutil.copytree(recording, tmp_path / place)
    (tmp_path / 'runs/c').mkdir()
    (tmp_path / 'runs/c/c.mcap').write_bytes(b'no bag')
    given = [str(tmp_path / 'runs'), str(tmp_path / 'other/a')]
    assert main(['sense', *given, '-o', str(tmp_path / 'new'), *TOOL]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / 'runs/c') in said and said.count('1 contact in') == 3
    found = find_bags(tmp_path / 'new')
    assert [bag.name for bag in found] == ['a', 'a_2', 'b']
    assert all(len(Bag(bag).topics['/arm/contact']) for bag in found)
    capsys.readouterr()
    assert main(['sense', *given, '-o', str(tmp_path / 'new'), *TOOL]) == 1
    assert 'nothing is overwritten' in capsys.readouterr().err


def test_a_folder_of_one_bag_is_a_folder_of_bags(recording, tmp_path):
    shutil.copytree(recording, tmp_path / 'runs/a')
    assert main(['sense', str(tmp_path / 'runs'), '-o', str(tmp_path / 'new'), '-q', *TOOL]) == 0
    assert find_bags(tmp_path / 'new') == [tmp_path / 'new/a']


def test_a_wrong_parameter_is_said_once(recording, tmp_path, capsys):
    for name in 'ab':
        shutil.copytree(recording, tmp_path / 'runs' / name)
    given = ['sense', str(tmp_path / 'runs'), '-o', str(tmp_path / 'new'), '-q']
    assert main([*given, '--parameter', 'no.such=1']) == 1
    assert capsys.readouterr().err.count('no.such') == 1
    assert not (tmp_path / 'new').exists()


def test_sigterm_leaves_no_partial_folder(recording, tmp_path):
    new, partial = tmp_path / 'new', tmp_path / 'new.partial'
    start = 'from frame_ros.cli import main; import sys; sys.exit(main())'
    words = [sys.executable, '-c', start, 'sense', str(recording), '-o', str(new), '-q']
    with subprocess.Popen([*words, *TOOL]) as process:
        while not partial.exists() and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert process.returncode == 130
    assert not partial.exists() and not new.exists()
