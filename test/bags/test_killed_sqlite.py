# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of SQLite whose recorder was killed: what it had not put into its file is read, and nothing
is written beside it."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from frame_ros.bags.find_bags import survey
from frame_ros.bags.reader import Bag
from frame_ros.cli import main
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import COPIED, FACTOR_VARIABLE

COUNT = 200
RECORDER = """
import os, sqlite3, sys
path, mode, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
base = sqlite3.connect(path)
base.execute(f'PRAGMA journal_mode={mode}')
base.execute('PRAGMA cache_size=1')
base.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, '
             'serialization_format TEXT, offered_qos_profiles TEXT)')
base.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, '
             'timestamp INTEGER, data BLOB)')
base.execute("INSERT INTO topics VALUES(1, '/text', 'std_msgs/msg/String', 'cdr', '')")
base.commit()
def write(first, last):
    for number in range(first, last):
        data = bytes((0, 1, 0, 0, 2, 0, 0, 0, 65, 0))
        at = 1_700_000_000_000_000_000 + number * 10_000_000
        base.execute('INSERT INTO messages VALUES(?, 1, ?, ?)', (number + 1, at, data))
write(0, count)
base.commit()
if mode == 'DELETE':
    write(count, 50 * count)  # spills into the file and is not committed
os.kill(os.getpid(), 9)
"""


def killed(folder, mode='WAL'):
    folder.mkdir()
    command = [sys.executable, '-c', RECORDER, str(folder / 'bag_0.db3'), mode, str(COUNT)]
    assert subprocess.run(command, timeout=60).returncode == -9
    return folder


def content(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / 'temporary'
    folder.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder))
    return folder


@pytest.mark.parametrize('has_shared', [True, False])
@pytest.mark.parametrize('is_file', [True, False])
def test_what_lies_beside_the_file_is_read(tmp_path, temporary, has_shared, is_file):
    folder = killed(tmp_path / 'bag')
    if not has_shared:
        (folder / 'bag_0.db3-shm').unlink()
    before = content(folder)
    bag = Bag(folder / 'bag_0.db3' if is_file else folder)
    assert [found.data for _, found in bag.messages('/text')] == COUNT * ['A']
    assert bag.is_truncated and any('bag_0.db3-wal' in text for text in bag.problems)
    assert content(folder) == before
    del bag
    gc.collect()
    assert not list(temporary.iterdir())
    assert not survey(folder).others


def test_a_transaction_that_was_not_finished_is_none(tmp_path, temporary):
    folder = killed(tmp_path / 'bag', 'DELETE')
    assert (folder / 'bag_0.db3-journal').stat().st_size
    before = content(folder)
    bag = Bag(folder)
    assert bag.message_count == COUNT and bag.is_truncated
    assert len(list(bag.messages('/text'))) == COUNT
    assert content(folder) == before


def test_a_file_that_was_copied_alone_says_what_may_lack(tmp_path, capsys):
    folder = killed(tmp_path / 'bag')
    alone = tmp_path / 'alone'
    alone.mkdir()
    shutil.copy(folder / 'bag_0.db3', alone)
    with pytest.raises(BagError, match='lacks the table.*neither bag_0.db3-wal nor'):
        Bag(alone)
    assert main(['report', str(alone), '-o', str(tmp_path / 'page.html')]) == 1
    assert 'bag_0.db3-wal' in capsys.readouterr().err


def test_a_closed_bag_of_that_kind_is_whole(tmp_path):
    folder = killed(tmp_path / 'bag')
    command = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT 1 FROM topics')"
    subprocess.run([sys.executable, '-c', command, str(folder / 'bag_0.db3')], check=True)
    assert [path.name for path in folder.iterdir()] == ['bag_0.db3']
    bag = Bag(folder)
    assert bag.message_count == COUNT and not bag.is_truncated
    (folder / 'metadata.yaml').write_text(
        'rosbag2_bagfile_information: {relative_file_paths: [bag_0.db3]}'
    )
    assert not Bag(folder).problems


def test_what_is_too_large_to_copy_is_read_without_it(tmp_path, monkeypatch):
    folder = killed(tmp_path / 'bag')
    monkeypatch.setenv(FACTOR_VARIABLE, f'{5000 / COPIED.amount:.9g}')
    with pytest.raises(BagError, match='bag_0.db3-wal was not read.*--file-limits'):
        Bag(folder)


@pytest.mark.parametrize('kind', ['link', 'pipe', 'folder', 'damaged'])
def test_what_is_no_file_of_sqlite_beside_it_is_not_read(tmp_path, kind):
    folder = killed(tmp_path / 'bag')
    rest = folder / 'bag_0.db3-wal'
    kept = rest.rename(tmp_path / 'kept')
    if kind == 'link':
        rest.symlink_to(kept)
    elif kind == 'pipe':
        os.mkfifo(rest)
    elif kind == 'folder':
        rest.mkdir()
    else:
        rest.write_bytes(b'x' * 5000)
    with pytest.raises(BagError, match='lacks the table'):
        Bag(folder)
