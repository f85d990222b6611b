# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors that are known, found again from a motion; and the file that they are kept in."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.core import shared_files
from frame_ros.core.errors import RobotError, SetupError, ShapeError, ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording, recording_of
from frame_ros.sensing.contact.joints.motor_model import (
    MotorModel,
    load_motors,
    own_motors,
    save_motors,
)

NAMES = load_robot('so101').joint_names
TRUE = MotorModel(
    'so101',
    NAMES,
    effort_scale=np.array([1.1, 1.2, 1.0, 1.1, 1.1]),
    coulomb=np.array([0.12, 0.10, 0.08, 0.06, 0.05]),
    viscous=np.array([0.10, 0.12, 0.05, 0.04, 0.03]),
    offset=np.array([0.01, -0.02, 0.0, 0.01, 0.0]),
    armature=np.array([0.03, 0.03, 0.02, 0.02, 0.01]),
    presliding=0.006,
)


def recorded(seconds: float = 20.0, noise: float = 0.004, rate: float = 50.0) -> JointRecording:
    times = np.arange(round(seconds * rate)) / rate
    motion = swing(times, 0.6)
    dynamics = RobotDynamics(load_robot('so101'), armature=TRUE.armature)
    efforts = efforts_of(dynamics, TRUE, motion)
    efforts += noise * np.random.default_rng(0).standard_normal(efforts.shape)
    stamps = 10**9 + np.rint(times * 1e9).astype(np.int64)
    return JointRecording(NAMES, stamps, motion[0], motion[1], efforts)


@pytest.fixture(scope='module')
def recording() -> JointRecording:
    return recorded()


@pytest.fixture(scope='module')
def found(recording):
    dynamics = RobotDynamics(load_robot('so101'))
    return identify_joints(dynamics, recording, source='a test')


def test_known_motors_are_found_again(found):
    motors = found.motors
    # Lift and elbow carry the arm; pan and roll carry nothing, and get what the others have.
    np.testing.assert_allclose(motors.effort_scale[1:3], TRUE.effort_scale[1:3], rtol=0.05)
    np.testing.assert_allclose(motors.coulomb, TRUE.coulomb, atol=0.02)
    np.testing.assert_allclose(motors.viscous, TRUE.viscous, atol=0.03)
    np.testing.assert_allclose(motors.armature, TRUE.armature, atol=0.006)
    assert motors.presliding == TRUE.presliding
    assert 'effort_scale' in found.joints[0].not_identifiable
    assert 'effort_scale' not in found.joints[1].not_identifiable


def test_it_says_how_much_better_it_is_and_how_sure(found, recording):
    for joint in found.joints:
        assert joint.rms_after < 0.25 * joint.rms_before
        assert joint.rms_after < 0.012
        assert joint.condition < 60.0
    assert found.duration == pytest.approx(20.0, abs=0.1)
    assert found.motors.sample_rate == pytest.approx(50.0)
    # The truth lies within a few standard errors.
    lift = found.joints[1]
    assert abs(lift.values['viscous'] - 0.12) < 5 * lift.standard_errors['viscous'] + 0.02
    # Thresholds are above what was left over.
    for row, joint in enumerate(found.joints):
        assert found.motors.threshold_base[row] > joint.rms_after


def test_a_joint_that_bears_nothing_has_the_motor_of_those_with_its_largest_effort(recording):
    """The wrist's motors are small ones: a unit of their efforts is less."""
    kinds = np.array([1.0, 1.0, 1.0, 0.5, 0.5])
    small = replace(recording, efforts=recording.efforts / kinds)
    text = load_robot('so101').urdf
    root = ElementTree.fromstring(text)
    for joint in ('wrist_flex', 'wrist_roll'):
        (limit,) = root.findall(f"joint[@name='{joint}']/limit")
        limit.set('effort', '1.5')
    robot = load_robot(ElementTree.tostring(root, encoding='unicode'), 'gripper_frame_link')
    found = identify_joints(RobotDynamics(robot), small, source='a test')
    scales = found.motors.effort_scale
    assert 'effort_scale' in found.joints[4].not_identifiable
    assert scales[4] == pytest.approx(scales[3]) and scales[3] == pytest.approx(0.55, rel=0.1)
    assert scales[0] == pytest.approx(np.median(scales[1:3]))
    # Where all are said to be of one size, the median of all is taken.
    alike = identify_joints(RobotDynamics(load_robot('so101')), small, source='a test')
    assert alike.motors.effort_scale[4] > 1.5 * scales[4]


def test_a_known_scale_is_taken(recording):
    dynamics = RobotDynamics(load_robot('so101'))
    found = identify_joints(dynamics, recording, IdentificationOptions(effort_scale=1.1))
    np.testing.assert_array_equal(found.motors.effort_scale, np.full(5, 1.1))
    assert not any('effort_scale' in joint.not_identifiable for joint in found.joints)
    assert np.isnan(found.joints[0].standard_errors['effort_scale'])


def test_velocities_by_differences_will_do(recording):
    dynamics = RobotDynamics(load_robot('so101'))
    found = identify_joints(dynamics, replace(recording, velocities=None))
    assert not found.motors.has_velocities
    np.testing.assert_allclose(found.motors.coulomb, TRUE.coulomb, atol=0.04)


def test_a_bump_is_left_out(recording):
    dynamics = RobotDynamics(load_robot('so101'))
    efforts = recording.efforts.copy()
    efforts[410:425] += 0.5  # in a block that is fitted
    found = identify_joints(dynamics, replace(recording, efforts=efforts))
    assert found.left_out > 0.0
    np.testing.assert_allclose(found.motors.coulomb, TRUE.coulomb, atol=0.02)


def test_what_was_not_moved_or_not_measured_is_told(recording):
    dynamics = RobotDynamics(load_robot('so101'))
    still = recording.positions.copy()
    still[:, 2] = 1.0
    with pytest.raises(SetupError, match='elbow_flex moved by less than 0.1 rad'):
        identify_joints(dynamics, replace(recording, positions=still))
    silent = recording.efforts.copy()
    silent[:, 1] = 0.5
    with pytest.raises(SetupError, match='effort of shoulder_lift never changes'):
        identify_joints(dynamics, replace(recording, efforts=silent))
    with pytest.raises(SetupError, match='without armature'):
        identify_joints(RobotDynamics(load_robot('so101'), armature=0.1), recording)
    with pytest.raises(ShapeError, match="'wheel' was not recorded"):
        recording.of(['wheel'])
    noise = np.random.default_rng(0).standard_normal(recording.efforts.shape)
    with pytest.raises(SetupError, match='--effort-scale'):
        identify_joints(dynamics, replace(recording, efforts=noise))


def test_recordings_that_cannot_be():
    stamps = np.arange(1, 301) * 20_000_000
    zeros = np.zeros((300, 5))
    with pytest.raises(SetupError, match='no efforts'):
        recording_of(NAMES, stamps, zeros, zeros, np.full((300, 5), np.nan))
    with pytest.raises(ShapeError, match='do not rise'):
        JointRecording(NAMES, stamps[::-1].copy(), zeros, None, zeros)
    with pytest.raises(ShapeError, match='3 samples'):
        JointRecording(NAMES, stamps[:3], zeros[:3], None, zeros[:3])
    holes = zeros.copy()
    holes[7, 1] = np.nan
    with pytest.raises(ShapeError, match='efforts of shoulder_lift'):
        JointRecording(NAMES, stamps, zeros, None, holes)
    assert recording_of(NAMES, stamps, zeros, holes, zeros).velocities is None
    kept = recording_of(NAMES, stamps, zeros, zeros, holes)
    assert len(kept.stamps) == 299 and stamps[7] not in kept.stamps
    with pytest.raises(SetupError, match='no effort of elbow_flex'):
        recording_of(NAMES, stamps, zeros, zeros, np.where(np.arange(5) == 2, np.nan, zeros))


def test_settings_that_cannot_be():
    for settings in ({'gain': 0.0}, {'margin': -1.0}, {'effort_scale': 0.0}):
        with pytest.raises(ValueRangeError):
            IdentificationOptions(**settings)


# The file.


def test_a_motor_model_comes_back_from_its_file(found, tmp_path):
    path = tmp_path / 'deep' / 'motors.yaml'
    save_motors(found.motors, path)
    text = path.read_text()
    assert 'N m per unit of joint_states.effort' in text and 'source: a test' in text
    again = load_motors(path)
    assert again.joint_names == NAMES and again.robot == 'so101'
    assert again.date == found.motors.date and again.presliding == found.motors.presliding
    np.testing.assert_allclose(again.coulomb, found.motors.coulomb, rtol=1e-5)
    np.testing.assert_allclose(again.threshold_base, found.motors.threshold_base, rtol=1e-5)


@pytest.mark.parametrize('place', ['checkout', 'overlay', 'pip'])
def test_models_that_come_along_are_found(tmp_path, monkeypatch, place):
    installed = tmp_path / 'prefix' / 'share' / 'frame_ros' / 'config' / 'motors'
    shutil.copytree(shared_files.CHECKOUT / 'config' / 'motors', installed)
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    if place != 'checkout':
        monkeypatch.setattr(shared_files, 'CHECKOUT', tmp_path)
        with pytest.raises(RobotError, match='so101.yaml, which is not there'):
            load_motors('so101')
    if place == 'overlay':
        monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path / "other"}:{tmp_path / "prefix"}')
    if place == 'pip':
        monkeypatch.setattr(sys, 'prefix', str(tmp_path / 'prefix'))
    assert load_motors('so101').robot == 'so101'


@pytest.mark.parametrize('robot', ['so101', 'fr3'])
def test_models_of_a_simulation_are_of_no_real_arm(robot):
    path = shared_files.CHECKOUT / 'config' / 'motors' / f'{robot}.yaml'
    assert load_motors(path).is_simulated
    with pytest.raises(SetupError, match=f'frame-ros identify joints --robot {robot}'):
        own_motors(path)


def test_models_of_ones_own_arm(tmp_path):
    path = tmp_path / 'motors.yaml'
    save_motors(TRUE, path)
    assert not own_motors(path).is_simulated


@pytest.mark.parametrize('robot', ['so101', 'fr3'])
def test_models_that_come_along_fit_their_robots(robot):
    motors = load_motors(robot)
    arm = load_robot(robot).joint_names
    assert motors.of(arm).joint_names == arm
    assert (motors.of(arm).threshold_base > 0.0).all()
    assert motors.source and motors.date


def test_a_model_of_some_joints():
    two = TRUE.of(['wrist_flex', 'elbow_flex'])
    np.testing.assert_array_equal(two.coulomb, [0.06, 0.08])
    with pytest.raises(SetupError, match="no joint 'wheel'"):
        TRUE.of(['wheel'])


@pytest.mark.parametrize(
    ('text', 'what'),
    [
        ('joints: [1, 2]', 'a motor model is a map'),
        ('joints: {a: 1}', "joint 'a' must have a map"),
        ('joints: {a: {coulomb: 1}}', 'lacks effort_scale'),
        ('joints: {a: {effort_scale: 1, colour: red}}', "has 'colour'"),
        ('joints: {a: {effort_scale: big}}', 'a.effort_scale is'),
        ('joints: {a: {effort_scale: .nan}}', 'finite numbers'),
        ('joints: {a: {effort_scale: 0}}', '0 measures nothing'),
        ('joints: {a: {effort_scale: 1, coulomb: -1}}', 'none may be negative'),
        ('speed: 1\njoints: {a: {effort_scale: 1}}', "'speed' is not known"),
        ('gain: -1\njoints: {a: {effort_scale: 1}}', 'gain is -1.0'),
        ('is_simulated: 1\njoints: {a: {effort_scale: 1}}', 'is_simulated is 1'),
        ('{', 'cannot be read'),
    ],
)
def test_files_that_are_no_motor_model(tmp_path, text, what):
    path = tmp_path / 'motors.yaml'
    path.write_text(text)
    with pytest.raises(SetupError, match=what):
        load_motors(path)


def test_a_file_that_is_not_there():
    with pytest.raises(SetupError, match='frame-ros identify joints'):
        load_motors('no-such-robot')
