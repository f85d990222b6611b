# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The bag that was opened last, shared by what reads of it next."""

from __future__ import annotations

import gc
import shutil
import threading
import weakref

import numpy as np
import pytest

from frame_ros.bags.motion_bag import MotionBag
from frame_ros.bags.shared_bag import newly_opened, shared_bag
from frame_ros.core.errors import BagError


def write(folder, count: int):
    bag = MotionBag(folder, {})
    for row in range(count):
        bag.add_joints('joint_states', 10**9 + row, ['a'], np.ones(1))
    return bag.finish()


def test_a_bag_is_opened_once_and_one_is_kept(tmp_path):
    first, second = write(tmp_path / 'a', 3), write(tmp_path / 'b', 3)
    bag = shared_bag(first)
    assert shared_bag(first) is bag
    assert newly_opened(first) is not bag
    kept = weakref.ref(shared_bag(first))
    del bag
    shared_bag(second)
    gc.collect()
    assert kept() is None


def test_a_bag_that_was_changed_is_opened_again(tmp_path):
    path = write(tmp_path / 'a', 3)
    assert shared_bag(path).message_count == 3
    shutil.rmtree(path)
    write(path, 5)
    assert shared_bag(path).message_count == 5
    shutil.rmtree(path)
    with pytest.raises(BagError):
        shared_bag(path)


def test_threads_do_not_share(tmp_path):
    path, found = write(tmp_path / 'a', 3), []
    thread = threading.Thread(target=lambda: found.append(shared_bag(path)))
    thread.start()
    thread.join()
    assert found[0] is not shared_bag(path)
