# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A hand or tool that is not as described is named, by torques over postures."""

import numpy as np
import pytest

from frame_ros.core.options import evolved
from frame_ros.core.time import MILLISECOND
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import Payload, RobotDynamics
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.joints.unknown_weight import UnknownWeight
from frame_ros.sensing.contact.options import SensingOptions

HOME = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
OFFSETS = np.array([0.3, -0.4, 0.2, 0.1, 0.2, -0.1, 0.1])  # N m, of sensors
POINT = (0.0, 0.0, 0.1)
STEP = 20  # ms


@pytest.fixture(scope='module')
def robot():
    return load_robot('fr3')


def posture(seconds, moves=True):
    swing = [0.6, 0.5, 0.6, 0.7, 0.8, 0.5, 0.4]
    phases = seconds * np.array([0.7, 1.0, 0.8, 1.1, 1.3, 0.9, 1.0])
    return HOME + moves * np.array(swing) * np.sin(phases)


def watched(robot, mass, seconds=20.0, moves=True, push=None, is_holding=False):
    """The weight found where the arm carries `mass` more than described. push(t): N at the tip."""
    dynamics, carrying = RobotDynamics(robot), RobotDynamics(robot)
    carrying.set_payload(Payload('fr3_link8', max(mass, 0.0), POINT))
    lighter = RobotDynamics(robot)
    lighter.set_payload(Payload('fr3_link8', max(-mass, 0.0), POINT))
    found, random = UnknownWeight(dynamics), np.random.default_rng(1)
    for tick in range(round(1000 * seconds / STEP)):
        time = tick * STEP / 1000.0
        q = posture(time, moves)
        # Weight makes the joints hold more: what seems to push is the other way.
        residual = OFFSETS - carrying.gravity(q) + lighter.gravity(q)
        if push is not None:
            residual = residual + dynamics.link_jacobian('fr3_link8', q)[:3].T @ push(time)
        residual = residual + 0.1 * random.normal(size=7)
        found.update(tick * STEP * MILLISECOND, q, residual, is_holding)
    return found


@pytest.mark.parametrize('mass', [-0.7, -0.4, 0.5, 1.0])
def test_what_the_arm_carries_less_or_more_is_found(robot, mass):
    found = watched(robot, mass)
    # At a point beyond the tip its levers are up to a fifth longer or shorter.
    assert found.weight == pytest.approx(9.81 * mass, rel=0.25)
    assert f' g {"less" if mass < 0 else "more"} at fr3_link8' in found.warning


@pytest.mark.parametrize('mass', [0.0, 0.1, -0.1])
def test_nothing_is_said_of_what_is_small(robot, mass):
    found = watched(robot, mass)
    assert found.weight == 0.0 and found.warning == ''


def test_at_rest_no_weight_can_be_distinguished_from_an_offset(robot):
    assert watched(robot, -0.7, moves=False).weight == 0.0


def test_a_held_object_is_no_fault(robot):
    assert watched(robot, 0.7, is_holding=True).weight == 0.0


def test_nothing_is_kept_of_what_was_held(robot):
    """Else the postures of the hold stand for motion, and its torques for what is left now."""
    dynamics = RobotDynamics(robot)
    found, other = UnknownWeight(dynamics), UnknownWeight(dynamics)
    found.update(STEP * MILLISECOND, HOME, 50.0 * OFFSETS, is_holding=True)
    for tick in range(2, 1500):
        time = tick * STEP / 1000.0
        q = posture(time)
        for each in (found, other):
            residual = OFFSETS - 7.0 * dynamics.gravity(q) / 30.0
            each.update(tick * STEP * MILLISECOND, q, residual, is_holding=False)
        assert found.weight == other.weight
    assert found.weight


def test_pushes_are_no_weight(robot):
    random = np.random.default_rng(2)
    pushes = [15.0 * each / np.linalg.norm(each) for each in random.normal(size=(40, 3))]

    def push(time):
        return pushes[int(time / 3.0) % 40] if time % 3.0 < 0.7 else np.zeros(3)

    assert watched(robot, 0.0, 120.0, push=push).weight == 0.0
    assert watched(robot, 0.0, 40.0, push=lambda _: np.array([6.0, 0.0, 0.0])).weight == 0.0


def test_a_mended_description_ends_the_warning(robot):
    found = watched(robot, -0.7)
    assert found.warning
    for tick in range(3000):
        q = posture(tick * STEP / 1000.0)
        found.update((2000 + tick) * STEP * MILLISECOND, q, OFFSETS, is_holding=False)
    assert found.warning == ''


@pytest.mark.parametrize('mass', [0.0, -0.6])
def test_the_sensor_of_the_contact_node_says_so(robot, mass):
    plain = SensingOptions(robot='fr3')
    settings = evolved(plain, joints=evolved(plain.joints, motors_file='generic'))
    joints = JointArrays(robot.joint_names)
    sensor = EffortSensor(settings, robot, joints, JointArrays(robot.joint_names))
    dynamics, lighter, still = RobotDynamics(robot), RobotDynamics(robot), np.zeros(7)
    lighter.set_payload(Payload('fr3_link8', -mass, POINT))
    for tick in range(1500):
        stamp = (100 + tick) * 10 * MILLISECOND
        q = posture(tick / 100.0)
        torque = 2.0 * dynamics.gravity(q) - lighter.gravity(q)
        taken = joints.take(FullJointState(stamp, robot.joint_names, q, still, torque))
        sensor.on_joints(stamp, taken, False)
    assert any(' g less at fr3_link8' in each for each in sensor.warnings) is (mass < 0.0)
