# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts that are the current of the supply: by hand, found by the identification, and kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.core.errors import SetupError
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.motor_model import MotorModel, load_motors, save_motors
from frame_ros.sensing.contact.joints.supply_current import winding_effort

NAMES = load_robot('so101').joint_names
BACK_EMF = 0.3
TRUE = MotorModel(
    'so101', NAMES, effort_scale=np.full(5, 1.5), coulomb=np.array([0.12, 0.10, 0.08, 0.06, 0.05]),
    armature=np.full(5, 0.02), presliding=0.006, is_supply_current=True, back_emf=BACK_EMF,
)  # fmt: skip


def supply_of(winding, velocity):
    """(..., N) A with the sign of the drive, of I / sqrt(s): i = d I with d sqrt(s) = it + b dq."""
    drive = winding + BACK_EMF * velocity
    return np.sign(drive) * np.maximum(winding * drive, 0.0)


def test_a_standing_motors_torque_is_the_root_of_what_is_read():
    stands = winding_effort(np.array([0.25, -0.04, 0.0]), np.zeros(3), BACK_EMF)
    np.testing.assert_allclose(stands, [0.5, -0.2, 0.0])


def test_what_a_moving_motor_draws_gives_its_torque_again():
    # Driving and braking with the drive reversed; a motor that only brakes draws nothing.
    winding, velocity = np.array([0.5, -0.3, 0.4, -0.9]), np.array([1.0, -2.0, -0.5, 2.0])
    read = supply_of(winding, velocity)
    np.testing.assert_allclose(winding_effort(read, velocity, BACK_EMF), winding, atol=1e-12)
    assert winding_effort(np.zeros(2), np.array([1.0, -1.0]), BACK_EMF).tolist() == [0.0, 0.0]


@pytest.fixture(scope='module')
def recording() -> JointRecording:
    times = np.arange(600) / 50.0
    motion = swing(times, 0.6)
    dynamics = RobotDynamics(load_robot('so101'), armature=TRUE.armature)
    efforts = supply_of(efforts_of(dynamics, TRUE, motion), motion[1])
    efforts += 0.002 * np.random.default_rng(0).standard_normal(efforts.shape)
    stamps = 10**9 + np.rint(times * 1e9).astype(np.int64)
    return JointRecording(NAMES, stamps, motion[0], motion[1], efforts)


def test_the_identification_finds_that_they_are_the_supplys(recording, tmp_path):
    dynamics = RobotDynamics(load_robot('so101'))
    found = identify_joints(dynamics, recording).motors
    assert found.is_supply_current and found.back_emf == BACK_EMF
    assert not found.weight_friction.any() and not found.weight_rest.any()
    np.testing.assert_allclose(found.effort_scale[1:3], TRUE.effort_scale[1:3], rtol=0.1)
    # Taken as currents of the motors they give constants that are nothing like these.
    kept = IdentificationOptions(effort_kind='motor')
    plain = identify_joints(dynamics, recording, kept).motors
    assert not plain.is_supply_current
    assert (np.abs(plain.effort_scale[1:3] / TRUE.effort_scale[1:3] - 1.0) > 0.5).all()
    save_motors(found, tmp_path / 'motors.yaml')
    assert load_motors(tmp_path / 'motors.yaml').motor_torque(
        np.full(5, 0.25), np.zeros(5)
    ) == pytest.approx(found.motor_torque(np.full(5, 0.25), np.zeros(5)), rel=1e-4)


@pytest.mark.parametrize('noise', [0.0065, 0.02])
def test_noise_of_the_register_is_no_loss_by_weight(noise):
    """With a step of it and with three, for each of which a weight explains a part."""
    times = np.arange(900) / 50.0
    motion = swing(times, 0.6)
    dynamics = RobotDynamics(load_robot('so101'), armature=TRUE.armature)
    efforts = supply_of(efforts_of(dynamics, TRUE, motion), motion[1])
    efforts += noise * np.random.default_rng(0).standard_normal(efforts.shape)
    stamps = 10**9 + np.rint(times * 1e9).astype(np.int64)
    noisy = JointRecording(NAMES, stamps, motion[0], motion[1], efforts)
    settings = IdentificationOptions(effort_kind='supply')
    found = identify_joints(RobotDynamics(load_robot('so101')), noisy, settings).motors
    assert not found.weight_friction.any() and not found.weight_rest.any()


def test_joints_without_weight_do_not_show_the_supplys_current(recording):
    dynamics = RobotDynamics(load_robot('so101'), NAMES[:1])
    settings = IdentificationOptions(effort_kind='supply', effort_scale=1.5)
    with pytest.raises(SetupError, match='none of shoulder_pan does'):
        identify_joints(dynamics, recording, settings)


def test_a_back_emf_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(SetupError, match='back_emf is -1'):
        replace(TRUE, back_emf=-1.0)
    save_motors(TRUE, tmp_path / 'motors.yaml')
    text = (tmp_path / 'motors.yaml').read_text()
    (tmp_path / 'motors.yaml').write_text(
        text.replace('is_supply_current: true', 'is_supply_current: 1')
    )
    with pytest.raises(SetupError, match='is_supply_current is 1; true or false'):
        load_motors(tmp_path / 'motors.yaml')
