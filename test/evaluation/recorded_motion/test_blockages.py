# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of a recording that are evidently blocked."""

import numpy as np
import pytest

from frame_ros.evaluation.recorded_motion.blockages import evident_blockages
from frame_ros.evaluation.recorded_motion.sage import EffortRecording

TIMES = np.arange(200) / 50.0
NAMES = ('elbow_flex', 'gripper')


def recording(q, goals):
    """Of an elbow; the gripper holds something."""
    stamps = 10**9 + np.rint(TIMES * 1e9).astype(np.int64)
    positions = np.stack((q, np.zeros(200)), axis=1)
    efforts = np.stack((0.5 * np.abs(goals - q), np.zeros(200)), axis=1)
    aims = np.stack((goals, np.linspace(0.0, 1.0, 200)), axis=1)
    return EffortRecording('any', NAMES, stamps, positions, np.zeros((200, 2)), efforts, aims)


def test_a_joint_that_stands_while_its_goal_goes_on_is_blocked():
    goals = 0.4 * np.sin(np.pi * TIMES / 4.0)
    (found,) = evident_blockages(recording(np.minimum(goals, 0.2), goals))
    assert found.joint == 'elbow_flex'
    assert found.begin == pytest.approx(1.24, abs=0.03)
    assert found.end == pytest.approx(2.76, abs=0.03)
    assert found.distance == pytest.approx(0.2) and found.effort == pytest.approx(0.1)
    (other,) = evident_blockages(recording(np.maximum(-goals, -0.2), -goals))
    assert (other.begin, other.end) == (found.begin, found.end)


@pytest.mark.parametrize(
    ('q', 'goals'),
    [
        # Lags; stands off a goal that stays; is off for half a second; comes nearer.
        (TIMES, TIMES + 0.2),
        (np.zeros(200), np.full(200, 0.2)),
        (np.zeros(200), np.where((TIMES > 1.0) & (TIMES < 1.5), 0.2 + 0.1 * TIMES, 0.0)),
        (0.1 * TIMES, 0.1 * TIMES + 0.14),
    ],
)
def test_a_joint_that_follows_or_stands_off_an_old_goal_is_not(q, goals):
    assert evident_blockages(recording(q, goals)) == []
