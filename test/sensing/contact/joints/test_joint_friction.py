# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction between torque sensors and links: found in a motion, and taken out of what is felt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.detector import JointContact
from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
from frame_ros.sensing.contact.joints.fitting.joint_fit import explains_little
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.joint_friction import JointFriction
from frame_ros.sensing.contact.joints.motor_model import MotorModel, load_motors, save_motors

ROBOT = load_robot('so101')
NAMES = ROBOT.joint_names
RATE = 200.0
SENSORS = IdentificationOptions(has_torque_sensors=True)
FREE = MotorModel('so101', NAMES, np.ones(5), offset=np.full(5, 0.05), presliding=0.001)
RUBS = replace(
    FREE,
    coulomb=np.array([0.5, 0.8, 0.6, 0.4, 0.3]),
    viscous=np.array([0.3, 0.2, 0.4, 0.3, 0.2]),
    has_torque_sensors=True,
)


def recorded(motors: MotorModel, seconds: float = 24.0, external=None) -> JointRecording:
    """The joints of an arm with torque sensors swing, pushed by external(row) N m."""
    times = np.arange(round(seconds * RATE)) / RATE
    motion = swing(times, 0.6)
    more = {} if external is None else {'external': external}
    efforts = efforts_of(RobotDynamics(ROBOT), motors, motion, **more)
    efforts += 0.02 * np.random.default_rng(0).standard_normal(efforts.shape)
    # An error that goes with the posture, as sensors have it.
    efforts += 0.05 * np.sin(3.0 * motion[0] + np.arange(5))
    stamps = 10**9 + np.rint(times * 1e9).astype(np.int64)
    return JointRecording(NAMES, stamps, motion[0], motion[1], efforts)


@pytest.fixture(scope='module')
def found():
    return identify_joints(RobotDynamics(ROBOT), recorded(RUBS), SENSORS)


def test_friction_behind_torque_sensors_is_found(found):
    motors = found.motors
    np.testing.assert_allclose(motors.coulomb, RUBS.coulomb, atol=0.05)
    np.testing.assert_allclose(motors.viscous, RUBS.viscous, atol=0.06)
    assert not motors.armature.any() and not motors.load_friction.any() and not motors.rest.any()
    assert all(fit.rms_after < 0.3 * fit.rms_before for fit in found.joints)
    assert not any(explains_little(fit, True) for fit in found.joints)


def test_sensors_that_show_no_friction_have_none():
    motors = identify_joints(RobotDynamics(ROBOT), recorded(FREE), SENSORS).motors
    assert not motors.coulomb.any() and not motors.viscous.any()
    assert motors.has_torque_sensors


def test_the_joint_that_shows_it_alone_has_it():
    one = np.array([0.0, 0.0, 0.6, 0.0, 0.0])
    motors = replace(FREE, coulomb=one)
    found = identify_joints(RobotDynamics(ROBOT), recorded(motors), SENSORS).motors
    np.testing.assert_allclose(found.coulomb, one, atol=0.05)


def test_the_file_says_where_efforts_are_measured(found, tmp_path):
    path = tmp_path / 'motors.yaml'
    save_motors(found.motors, path)
    motors = load_motors(path)
    assert motors.has_torque_sensors and motors.coulomb.any()
    # No gear sticks, whose motor's torque would balance it.
    assert not motors.has_friction
    assert not load_motors('so101').has_torque_sensors


def felt(motors: MotorModel, recording: JointRecording) -> list[bool | None]:
    detector = JointContact(RobotDynamics(ROBOT), motors=motors)
    rows = zip(
        recording.stamps.tolist(), recording.positions, recording.velocities, recording.efforts
    )
    return [detector.update(*row).is_contact for row in rows]


def test_a_push_of_the_size_of_the_friction_is_felt_and_nothing_else(found):
    # 0.9 N m on the lift for half a second, whose friction is 0.8.
    push = np.array([0.0, 0.9, 0.0, 0.0, 0.0])
    begin, end = round(10.0 * RATE), round(10.5 * RATE)
    pushed = recorded(RUBS, 14.0, lambda row: push if begin <= row < end else 0.0 * push)
    contact = np.array([bool(c) for c in felt(found.motors, pushed)])
    assert contact[begin:end].any()
    assert not contact[:begin].any() and not contact[end + round(0.3 * RATE) :].any()
    without = identify_joints(RobotDynamics(ROBOT), recorded(RUBS), SENSORS).motors
    without = replace(without, coulomb=np.zeros(5), viscous=np.zeros(5))
    assert np.array([bool(c) for c in felt(without, pushed)])[:begin].any()


def test_friction_is_unknown_until_a_joint_has_moved():
    friction = JointFriction(RUBS, gain=30.0)
    np.testing.assert_array_equal(friction.doubt, RUBS.coulomb)
    q = np.zeros(5)
    for _ in range(100):
        q = q + [0.0, 1e-4, 0.0, 0.0, 0.0]
        friction.update(q, 0.01)
    assert friction.friction[1] == pytest.approx(0.8)
    assert friction.doubt[1] < 0.01 and friction.doubt[0] == 0.5
    # It turns round over the presliding, on both sides of nothing.
    for _ in range(20):
        q = q - [0.0, 1e-4, 0.0, 0.0, 0.0]
        friction.update(q, 0.01)
    assert friction.friction[1] == pytest.approx(-0.8)


def test_a_joint_at_rest_may_hold_a_push():
    friction = JointFriction(RUBS, gain=30.0)
    q = np.zeros(5)
    for _ in range(20):
        q = q + 0.01
        friction.update(q, 0.01)
    assert not friction.held.any()
    for _ in range(20):
        friction.update(q, 0.01)
    # Friction that turns round from one side to the other.
    np.testing.assert_allclose(friction.held, 2.0 * RUBS.coulomb)


def test_what_is_not_known_widens_the_thresholds_also_after_a_gap(found):
    detector = JointContact(RobotDynamics(ROBOT), motors=found.motors)
    recording = recorded(RUBS, 6.0)
    rows = list(
        zip(recording.stamps.tolist(), recording.positions, recording.velocities, recording.efforts)
    )
    for row in rows[:800]:
        detector.update(*row)
    known = detector.threshold.copy()
    assert (detector.needed >= known).all()
    for row in rows[860:863]:
        detector.update(*row)
    assert (detector.threshold >= found.motors.coulomb).all()
    for row in rows[863:1160]:
        detector.update(*row)
    assert (detector.threshold < known + 0.1).all()
