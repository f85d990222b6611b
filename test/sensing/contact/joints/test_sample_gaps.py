# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Missing samples, and what the residual is worth after them."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joints.detector import dynamics_for
from frame_ros.sensing.contact.joints.external_torque import ExternalTorque
from frame_ros.sensing.contact.joints.momentum_observer import ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.sample_gaps import SampleGaps
from frame_ros.sensing.contact.joints.scatter import ResidualScatter

MS = SECOND // 1000
ROBOT = load_robot('so101')
MOTORS = MotorModel(
    'so101', ROBOT.joint_names, effort_scale=np.ones(5), coulomb=np.full(5, 0.05),
    armature=np.full(5, 0.02), presliding=0.004,
)  # fmt: skip
GAIN = 12.0


def gaps_of(intervals):
    gaps = SampleGaps()
    return [gaps.update(round(each * MS)) for each in intervals]


def test_a_gap_is_one_by_what_is_usual():
    assert gaps_of([20, 20, 24, 16, 20, 28, 20]) == [False] * 7
    # Two after each other are two.
    assert gaps_of([20, 21, 19, 20, 78, 60, 20]) == [False] * 4 + [True, True, False]
    # A slower stream is none for long.
    assert gaps_of([20] * 9 + [40] * 9).count(True) == 5


def test_it_forgets_what_is_usual():
    gaps = SampleGaps()
    for _ in range(9):
        gaps.update(20 * MS)
    gaps.reset()
    assert not gaps.update(100 * MS)


def test_a_second_gap_is_judged_by_what_was_before_the_first():
    scatter, decay = ResidualScatter(1), np.array([0.8])
    for _ in range(5):
        scatter.update(np.array([0.1]), decay, False)
    for _ in range(2):
        found = scatter.update(np.array([0.5]), decay, True)[0]
    assert found == pytest.approx(0.2 * 0.4 * np.hypot(1.0, 0.8))


def residual_after(settle_time, seconds):
    """Of a joint that sticks, pushed beyond what it holds for 0.1 s, 0.2 s after the beginning."""
    dynamics = dynamics_for(ROBOT, MOTORS)
    external = ExternalTorque(dynamics, MOTORS, ObserverOptions(GAIN, 0.15), settle_time)
    q = np.zeros(5)
    weight = dynamics.gravity(q)
    stamp, end = SECOND, SECOND + round((0.3 + seconds) * SECOND)
    while stamp <= end:
        is_pushed = 0.2 <= (stamp - SECOND) / SECOND < 0.3
        push = np.where(np.arange(5) == 1, 0.3 * is_pushed, 0.0)
        external.update(stamp, q, np.zeros(5), weight - push)
        stamp += 20 * MS
    return external.observer.residual[1]


def test_what_is_unexplained_before_the_observer_has_settled_is_not_held():
    held = residual_after(0, 0.04)
    assert held > 0.1
    # Else it fades slowly, as the end of a push may not show at a gear that holds.
    assert residual_after(0, 0.24) == pytest.approx(held * np.exp(-0.2 / 0.25), rel=0.01)
    settling = residual_after(SECOND, 0.04)
    assert residual_after(SECOND, 0.24) == pytest.approx(settling * np.exp(-0.2 * GAIN), rel=0.01)


def test_a_stream_that_comes_back_at_another_rate_goes_on():
    dynamics = dynamics_for(ROBOT, MOTORS)
    external = ExternalTorque(dynamics, MOTORS, ObserverOptions(GAIN, 0.15))
    q = np.zeros(5)
    stamp, weight = SECOND, dynamics.gravity(q)
    known = []
    for interval in [10] * 40 + [200] + [20] * 20:
        stamp += interval * MS
        known.append(external.update(stamp, q, np.zeros(5), weight))
    # It begins again after the pause, and the new rate has no gaps.
    assert known == [False] + [True] * 39 + [False] + [True] * 20
    assert external.period == pytest.approx(0.02)
    assert (external.scatter == 0.0).all()
