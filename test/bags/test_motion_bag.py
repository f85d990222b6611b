# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A bag that grows while an arm is measured."""

from __future__ import annotations

import threading

import numpy as np
from patience import PATIENCE

from frame_ros.bags.motion_bag import MotionBag
from frame_ros.bags.reader import Bag
from frame_ros.bags.storage.mcap_writer import McapWriter


def test_a_disk_that_stalls_delays_nobody_who_adds(tmp_path, monkeypatch):
    """As while the arm is commanded: a command that waits for the disk stops the arm."""
    goes_on, write = threading.Event(), McapWriter.write

    def stalled(*arguments) -> None:
        assert goes_on.wait(PATIENCE)
        write(*arguments)

    monkeypatch.setattr(McapWriter, 'write', stalled)
    bag = MotionBag(tmp_path / 'a', {})

    def add() -> None:
        for row in range(3):
            bag.add_joints('joint_states', 10**9 + row, ['a'], np.ones(1))
            bag.add_joints('joint_commands', 10**9 + row, ['a'], np.ones(1))

    adding = threading.Thread(target=add)
    adding.start()
    adding.join(PATIENCE / 2)
    was_delayed = adding.is_alive()
    goes_on.set()
    adding.join()
    assert not was_delayed
    assert bag.counts == {'/joint_states': 3, '/joint_commands': 3}
    assert Bag(bag.finish()).received('/joint_states').tolist() == [10**9, 10**9 + 1, 10**9 + 2]


def test_what_cannot_be_written_ends_the_recording_alone(tmp_path):
    bag = MotionBag(tmp_path / 'a', {})
    bag.add_joints('joint_states', 10**9, ['a'], np.ones(1))
    bag.add_joints('joint_states', -(10**18) * 9, ['a'], np.ones(1))
    bag.add_joints('joint_states', 2 * 10**9, ['a'], np.ones(1))
    assert bag.counts == {'/joint_states': 1} and 'from 0 s on nothing was written' in bag.problem
    assert Bag(bag.finish()).metadata['problem'] == bag.problem
