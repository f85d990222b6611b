# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of the joints that a command leaves out."""

import math

import numpy as np
import pytest

from frame_ros.gate.full_command import FullCommand

NAMES = ('shoulder', 'elbow', 'gripper')


@pytest.fixture()
def full():
    return FullCommand(NAMES, NAMES[:2], 0.1)


def places(full, names, positions, measured, time):
    return list(full.complete(names, positions, np.array(measured), time).values())


def test_a_joint_that_was_told_nothing_stays_where_it_was_measured_first(full):
    assert places(full, ['elbow'], [1.0], [0.2, 0.9, 0.3], 0.0) == [0.2, 1.0, 0.3]
    assert places(full, ['elbow'], [1.1], [0.1, 1.0, 0.2], 0.05) == [0.2, 1.1, 0.3]


def test_a_joint_that_was_neither_told_nor_measured_is_left_out(full):
    command = full.complete(['elbow'], [1.0], np.array([0.2, 0.9, math.nan]), 0.0)
    assert command == {'shoulder': 0.2, 'elbow': 1.0}


def test_what_was_told_stays_while_commands_come_however_far_the_arm_is(full):
    places(full, NAMES, [0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 0.0)
    for time in (0.05, 0.1, 0.15, 0.2):
        assert places(full, ['elbow'], [1.0], [0.9, 1.0, 0.0], time) == [0.5, 1.0, 0.0]


def test_after_a_pause_a_joint_that_was_moved_stays_where_it_is(full):
    places(full, NAMES, [0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 0.0)
    # The shoulder was moved, the elbow sags a little, the gripper squeezes something.
    moved = [1.5, 0.95, 0.4]
    assert places(full, ['elbow'], [0.96], moved, 5.0) == [1.5, 0.96, 0.0]
    places(full, NAMES, [0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 6.0)
    assert places(full, ['gripper'], [0.1], [0.45, math.nan, 0.0], 7.0) == [0.5, 1.0, 0.1]
