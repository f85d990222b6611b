# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of drivers that report none, or in another unit; joints and motors that may be 0."""

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joints.detector import dynamics_for
from frame_ros.sensing.contact.joints.effort_check import EffortCheck
from frame_ros.sensing.contact.joints.motor_model import MotorModel, simulated_motors

ROBOT = load_robot('so101')
MOTORS = MotorModel(
    'so101',
    ROBOT.joint_names,
    effort_scale=np.full(5, 1.1),
    coulomb=np.full(5, 0.05),
    threshold_base=np.full(5, 0.05),
    effort_unit='A',
)
DYNAMICS = dynamics_for(ROBOT, MOTORS)
STRETCHED = np.array([0.0, 0.9, -0.9, 0.0, 0.0])  # its shoulder bears a large part of the arm
UPRIGHT = np.zeros(5)
STEP = SECOND // 30


def held(q=STRETCHED):
    """(5,) A that hold the arm."""
    return DYNAMICS.gravity(q) / 1.1


def said(check, efforts, q=lambda i: STRETCHED, begin=0):
    return [
        check.problem(SECOND + (begin + i) * STEP, q(i), None, np.asarray(effort, float))
        for i, effort in enumerate(efforts)
    ]


def test_the_posture_needs_motors():
    assert np.abs(DYNAMICS.gravity(STRETCHED)).max() > 0.3


def test_efforts_that_hold_the_arm_are_used():
    assert set(said(EffortCheck(DYNAMICS, MOTORS), [held()] * 60)) == {''}


def test_efforts_of_a_driver_that_reports_none_are_never_used():
    found = said(EffortCheck(DYNAMICS, MOTORS), [np.zeros(5)] * 60)
    assert all('exactly 0' in text and 'driver reports none' in text for text in found)


def test_they_are_not_used_in_motion_where_nothing_must_be_held():
    """Neither later, as it stands again where nothing must be held."""
    low = MotorModel('so101', ROBOT.joint_names, np.ones(5), coulomb=np.full(5, 9.0))
    check = EffortCheck(DYNAMICS, low)
    assert set(said(check, [np.zeros(5)] * 60)) == {''}
    moved = said(check, [np.zeros(5)] * 60, lambda i: STRETCHED + 0.02 * i, 60)
    assert 'exactly 0' in moved[30] and 'exactly 0' in moved[-1]
    assert 'exactly 0' in said(check, [np.zeros(5)], begin=120)[0]


def test_efforts_that_become_0_are_not_used_within_a_second():
    check = EffortCheck(DYNAMICS, MOTORS)
    said(check, [held()] * 30)
    found = said(check, [np.zeros(5)] * 60, begin=30)
    first = next(i for i, text in enumerate(found) if text)
    assert 10 <= first <= 30 and all(found[first:])
    assert said(check, [held()], begin=90) == ['']


def test_a_single_sample_ends_nothing():
    check = EffortCheck(DYNAMICS, MOTORS)
    efforts = [held()] * 30
    efforts[10] = np.zeros(5)
    efforts[20] = 1000.0 * held()
    found = said(check, efforts)
    assert [i for i, text in enumerate(found) if text] == [20]


def test_one_joint_or_motor_that_is_0_is_no_fault():
    efforts = held()
    for joint in range(5):
        one = efforts.copy()
        one[joint] = 0.0
        assert set(said(EffortCheck(DYNAMICS, MOTORS), [one] * 60)) == {''}


def test_currents_of_a_few_steps_are_those_of_gears_that_hold_the_arm():
    steps = 0.0065 * np.array([0.0, 2.0, -1.0, 0.0, 1.0])
    check = EffortCheck(DYNAMICS, MOTORS)
    assert set(said(check, [steps] * 60)) == {''}
    assert set(said(check, [steps] * 60, lambda i: STRETCHED + 0.02 * i, 60)) == {''}


def test_an_arm_that_its_friction_holds_may_report_0():
    check = EffortCheck(DYNAMICS, MOTORS)
    low = np.abs(DYNAMICS.gravity(UPRIGHT)).max()
    stiff = MotorModel('so101', ROBOT.joint_names, np.ones(5), coulomb=np.full(5, 1.1 * low + 0.1))
    assert set(said(EffortCheck(DYNAMICS, stiff), [np.zeros(5)] * 60, lambda i: UPRIGHT)) == {''}
    assert said(check, [np.full(5, np.nan)]) == ['']  # whose absence the detector reports


@pytest.mark.parametrize(('factor', 'words'), [(1000.0, '5.'), (0.001, 'a hundredth')])
def test_another_unit_is_named(factor, words):
    found = said(EffortCheck(DYNAMICS, MOTORS), [factor * held()] * 60)
    assert all(text.endswith('another unit?') for text in found)
    if factor > 1.0:
        assert all('N m by the motor file, which takes A' in text for text in found)
        assert 'its motor has 10 N m at most' in found[0] and len(set(found)) <= 3
    else:
        assert words in found[0]


def test_the_largest_torques_of_an_arm_are_used():
    for name in ('so101', 'fr3'):
        robot, motors = load_robot(name), simulated_motors(name)
        dynamics = dynamics_for(robot, motors)
        torque = 1.5 * robot.effort_limits[: len(dynamics.joint_names)]
        effort = torque / motors.of(dynamics.joint_names).effort_scale
        q = 0.5 * (robot.lower + robot.upper)[: len(effort)]
        assert EffortCheck(dynamics, motors).problem(SECOND, q, np.zeros_like(q), effort) == ''
