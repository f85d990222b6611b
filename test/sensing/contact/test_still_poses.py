# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A pose counts while the arm is known to stand still, and no longer."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.sensing.contact.wrench.still_poses import StillPoses

STEP = 20_000_000


def stand(still: StillPoses, q: float, begin: int, rows: int = 90, until: int = 10**9) -> None:
    """Joints and wrenches of `rows` samples; no joints from the row `until`."""
    for row in range(begin, begin + rows):
        if row < until:
            still.add_joints(row * STEP, np.array([q]))
        still.add_wrench(row * STEP, np.full(6, q))


def test_each_pose_counts_once():
    still = StillPoses()
    stand(still, 1.0, 1)
    stand(still, 2.0, 101)
    stand(still, 1.05, 201)  # too near to the first
    assert [pose.positions[0] for pose in still.poses] == [1.0, 2.0]
    np.testing.assert_allclose([pose.wrench[0] for pose in still.poses], [1.0, 2.0])
    assert still.poses[0].count == 51  # of 1 s


def test_what_moves_or_is_not_known_to_stand_does_not_count():
    still = StillPoses()
    for row in range(1, 200):
        still.add_joints(row * STEP, np.array([0.002 * row]))
        assert still.add_wrench(row * STEP, np.zeros(6)) is None
    silent = StillPoses()
    stand(silent, 1.0, 1, until=30)  # joint states stop before the pose is complete
    stand(silent, 1.0, 91, rows=60)  # and what was before them does not count
    assert not silent.poses
    unknown = StillPoses()
    stand(unknown, np.nan, 1)
    assert not unknown.poses


def test_times_that_cannot_be():
    with pytest.raises(ValueRangeError, match='all positive'):
        StillPoses(time=0.0)
