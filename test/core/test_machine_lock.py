# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One of a kind on a machine; the lock ends with its process."""

import os
import subprocess
import sys

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.machine_lock import MachineLock

HOLD = """
import sys, time
from frame_ros.core.machine_lock import MachineLock
lock = MachineLock('demo', 'left', '7')
lock.acquire()
print('held', flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr('tempfile.tempdir', None)


def test_a_second_one_is_refused_and_the_first_is_named():
    first = subprocess.Popen([sys.executable, '-c', HOLD], stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == 'held\n'
    second = MachineLock('demo', '/left', '7')
    words = f'another demo runs in ROS domain 7, namespace /left .process {first.pid}'
    with pytest.raises(SetupError, match=words):
        second.acquire()
    for other in (('demo', 'left', '8'), ('demo', 'right', '7'), ('recorder', 'left', '7')):
        lock = MachineLock(*other)
        lock.acquire()
        lock.release()
    first.kill()
    first.wait()
    first.stdout.close()
    second.acquire()
    second.acquire()
    second.release()
    third = MachineLock('demo', 'left', '7')
    third.acquire()
    third.release()


def test_a_folder_of_somebody_else_or_a_link_is_not_used(tmp_path):
    (tmp_path / 'elsewhere').mkdir()
    (tmp_path / f'frame_ros_{os.getuid()}').symlink_to(tmp_path / 'elsewhere')
    with pytest.raises(SetupError, match='not a folder of your own'):
        MachineLock('demo', '').acquire()
    assert not list((tmp_path / 'elsewhere').iterdir())
