# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor from joint states, against differences of its pose."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import RobotError, ShapeError, ValueRangeError
from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.wrench.motion_history import MotionHistory
from frame_ros.sensing.contact.wrench.tool_motion import (
    MotionOptions,
    ToolMotion,
    ToolMotionEstimator,
    ToolMotions,
    check_rotation,
)

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
LINK = 'fr3_hand'


@pytest.fixture(scope='module')
def robot():
    return load_robot('fr3')


def swing(time, rate=2.0):
    """Positions and velocities (7,) of a smooth motion."""
    phases = np.arange(7)
    q = HOME + 0.3 * np.sin(rate * time + phases)
    return q, 0.3 * rate * np.cos(rate * time + phases)


def pose(arm, time, translation=(0.0, 0.0, 0.0)):
    position, quaternion = arm.forward(swing(time)[0])
    turned = Rotation.from_quat(quaternion)
    return position + turned.apply(translation), turned


def truth(robot, time, translation=(0.0, 0.0, 0.0)):
    """Acceleration, angular velocity and acceleration by central differences of the pose."""
    arm, h = Robot(robot.urdf, LINK), 1e-4
    before, now, after = (pose(arm, time + step, translation) for step in (-h, 0.0, h))
    omegas = [
        (second[1] * first[1].inv()).as_rotvec() / h
        for first, second in ((before, now), (now, after))
    ]
    acceleration = (before[0] - 2 * now[0] + after[0]) / h**2
    return acceleration, np.mean(omegas, axis=0), (omegas[1] - omegas[0]) / h


@pytest.mark.parametrize('has_velocities', [True, False])
@pytest.mark.parametrize('period', [1, 20])
def test_accelerations_are_those_a_delay_ago(robot, has_velocities, period):
    offset = (0.0, 0.02, 0.05)
    estimator = ToolMotionEstimator(robot, LINK, MotionOptions(translation=offset))
    for tick in range(0, 600, period):
        q, dq = swing(tick * 1e-3)
        motion = estimator.update(tick * MILLISECOND, q, dq if has_velocities else None)
    # Half a period, of which the newest slope is the mean, and as much where dq is a difference.
    periods = 0.5 if has_velocities else 1.0
    assert motion.delay == pytest.approx(estimator._filter.delay + periods * period * 1e-3)
    acceleration, _, alpha = truth(robot, tick * 1e-3 - motion.delay, offset)
    tolerance = 0.02 if period == 1 else 0.15
    np.testing.assert_allclose(motion.linear_acceleration, acceleration, atol=tolerance)
    np.testing.assert_allclose(motion.angular_acceleration, alpha, atol=2 * tolerance)
    rotation = pose(Robot(robot.urdf, LINK), tick * 1e-3)[1].as_matrix()
    np.testing.assert_allclose(motion.rotation, rotation, atol=1e-12)
    assert motion.is_moving


def test_at_rest(robot):
    estimator = ToolMotionEstimator(robot, LINK)
    for tick in range(5):
        motion = estimator.update(tick * MILLISECOND, HOME, np.zeros(7))
    assert motion.is_moving is False
    np.testing.assert_allclose(motion.linear_acceleration, 0.0, atol=1e-12)


def test_between_joint_states_the_sensor_turns_on(robot):
    estimator = ToolMotionEstimator(robot, LINK)
    for tick in range(0, 500, 10):
        estimator.update(tick * MILLISECOND, *swing(tick * 1e-3))
    motion = estimator.at((tick + 10) * MILLISECOND)
    expected = pose(Robot(robot.urdf, LINK), (tick + 10) * 1e-3)[1].as_matrix()
    np.testing.assert_allclose(motion.rotation, expected, atol=1e-2)
    assert np.abs(estimator.at(tick * MILLISECOND).rotation - expected).max() > 1e-2 / 2
    assert motion.delay == pytest.approx(estimator.at(tick * MILLISECOND).delay + 0.01)


def test_old_joint_states_tell_nothing(robot):
    estimator = ToolMotionEstimator(robot, LINK, MotionOptions(max_age=0.05))
    assert 'no joint states' in estimator.at(0).unavailable
    estimator.update(0, HOME, np.zeros(7))
    assert not estimator.at(50 * MILLISECOND).unavailable
    motion = estimator.at(51 * MILLISECOND)
    assert '0.051 s older' in motion.unavailable and np.isnan(motion.rotation).all()
    assert '0.060 s newer' in estimator.at(-60 * MILLISECOND).unavailable


def test_a_gap_makes_accelerations_unknown_and_late_ones_are_counted(robot):
    estimator = ToolMotionEstimator(robot, LINK)
    for stamp in (0, 1, 2):
        motion = estimator.update(stamp * MILLISECOND, *swing(stamp * 1e-3))
    assert motion.linear_acceleration is not None
    assert estimator.update(2 * MILLISECOND, HOME, np.zeros(7)) is motion and estimator.late == 1
    motion = estimator.update(500 * MILLISECOND, *swing(0.5))
    assert motion.linear_acceleration is None and motion.angular_velocity is not None
    motion = estimator.update(501 * MILLISECOND, *swing(0.501))
    assert motion.linear_acceleration is not None
    motion = estimator.update(0, HOME)  # the clock began anew, and without velocities
    assert motion.angular_velocity is None and motion.is_moving is None and not motion.unavailable


def test_a_turned_sensor(robot):
    turned = Rotation.from_euler('z', 30, degrees=True).as_matrix()
    plain = ToolMotionEstimator(robot, LINK)
    mounted = ToolMotionEstimator(robot, LINK, MotionOptions(rotation=turned))
    first = plain.update(0, HOME, np.zeros(7))
    np.testing.assert_allclose(
        mounted.update(0, HOME, np.zeros(7)).rotation, first.rotation @ turned
    )


def test_many_motions_at_once():
    rotation = np.eye(3)
    motions = ToolMotions.of(
        [ToolMotion.at_rest(rotation), ToolMotion(rotation), ToolMotion.missing('why')]
    )
    assert motions.is_moving.tolist() == [0, -1, -1]
    assert np.isnan(motions.linear_acceleration).any(axis=1).tolist() == [False, True, True]
    assert len(motions[1:]) == 2 and motions[1:].unavailable[1] == 'why'
    assert len(ToolMotions.of([])) == 0


def test_a_history_forgets_what_came_before_its_clock_fell_back(robot):
    estimator = ToolMotionEstimator(robot, LINK)
    history = MotionHistory(estimator)
    for begin, count in ((5000, 40), (1000, 20)):
        for tick in range(begin, begin + count):
            estimator.update(tick * MILLISECOND, *swing(tick / 1000))
            history.take()
    stamps = np.array([1005, 1019]) * MILLISECOND
    found = history.at(stamps, np.full(2, history.newest), np.zeros(2))
    assert found.unavailable == ['', '']
    for rotation, stamp in zip(found.rotation, stamps.tolist(), strict=True):
        np.testing.assert_allclose(rotation, estimator.at(stamp).rotation, atol=1e-9)
    assert 'older' in history.at(stamps + SECOND, stamps + SECOND, np.zeros(2)).unavailable[0]


def test_bad_input(robot):
    with pytest.raises(RobotError):
        ToolMotionEstimator(robot, 'no_link')
    estimator = ToolMotionEstimator(robot, LINK)
    with pytest.raises(RobotError):
        estimator.update(0, np.zeros(6))
    with pytest.raises(ShapeError):
        estimator.update(0, HOME, np.zeros(6))
    with pytest.raises(ValueRangeError):
        MotionOptions(cutoff=0.0)
    with pytest.raises(ValueRangeError):
        MotionOptions(translation=(0.0, np.nan, 0.0))
    with pytest.raises(ValueRangeError, match='reflection'):
        check_rotation(-np.eye(3))
