# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates of a Franka arm from its torque sensors: signs, low-pass, offset, flags."""

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.simulation.noise.franka_estimates import EstimateOptions, FrankaEstimator

PERIOD = 0.01
NOTHING = np.zeros(7), np.zeros(6)
HOME, UPRIGHT = np.zeros(7), np.eye(3)
TURNED = np.array(((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
EXACT = EstimateOptions(noise=0.0, offset=0.0)


def pushed(force, torques=(0.0,) * 7):
    return np.array(torques), np.array((0.0, force, 0.0, 0.0, 0.0, 0.0))


def settle(estimator, acting, steps=200, positions=HOME, rotation=UPRIGHT):
    for _ in range(steps):
        found = estimator.update(positions, *acting, rotation)
    return found


def test_signs_and_frames_are_libfrankas():
    """Wrenches that the robot exerts are positive; K is the tip's frame, here turned about z."""
    found = settle(FrankaEstimator(EXACT, PERIOD, 0), pushed(10.0, (2.0,) * 7), rotation=TURNED)
    assert found.wrench == pytest.approx((0, -10.0, 0, 0, 0, 0))
    assert found.tip_wrench == pytest.approx((*(TURNED.T @ (0, -10.0, 0)), 0, 0, 0))
    assert found.torques == pytest.approx((-2.0,) * 7)


def test_the_low_pass_reaches_63_percent_in_its_time_constant():
    settings = EstimateOptions(cutoff=2.0, noise=0.0, offset=0.0)
    estimator = FrankaEstimator(settings, PERIOD, 0)
    settle(estimator, NOTHING, 1)
    steps = round(1.0 / (2.0 * np.pi * 2.0) / PERIOD)
    assert settle(estimator, pushed(10.0), steps).wrench[1] == pytest.approx(-6.32, abs=0.2)


def test_the_offset_depends_on_the_posture_and_has_its_size():
    estimator = FrankaEstimator(EstimateOptions(offset=3.0, noise=0.0), PERIOD, 5)
    postures = np.random.default_rng(0).uniform(-2.5, 2.5, (4000, 7))
    forces = np.array([estimator.offset(q)[7:10] for q in postures])
    assert np.sqrt((forces**2).sum(axis=1).mean()) == pytest.approx(3.0, rel=0.5)
    near = estimator.offset(postures[0] + 0.01)[7:10]
    assert np.linalg.norm(near - forces[0]) < 0.1
    assert np.linalg.norm(forces[0] - forces[1]) > 0.1
    found = settle(estimator, NOTHING, positions=postures[0])
    assert found.wrench[:3] == pytest.approx(forces[0])
    other = FrankaEstimator(EstimateOptions(), PERIOD, 6)
    assert not np.allclose(other.offset(postures[0]), estimator.offset(postures[0]))


def test_the_noise_has_its_size_behind_the_low_pass():
    settings = EstimateOptions(noise=0.2, offset=0.0, cutoff=10.0)
    estimator = FrankaEstimator(settings, PERIOD, 1)
    forces = [settle(estimator, NOTHING, 1).wrench[:3] for _ in range(3000)]
    assert np.std(forces[100:]) == pytest.approx(0.2, rel=0.1)


def test_contact_clears_itself_and_collision_stays_until_reset():
    estimator = FrankaEstimator(EXACT, PERIOD, 0)
    assert not settle(estimator, pushed(29.0)).is_contact
    found = settle(estimator, pushed(35.0))
    assert (found.is_contact, found.is_collision) == (True, False)
    assert found.cartesian_contact.tolist() == [False, True, False, False, False, False]
    assert settle(estimator, pushed(45.0)).is_collision
    found = settle(estimator, NOTHING)
    assert (found.is_contact, found.is_collision) == (False, True)
    estimator.reset()
    assert not settle(estimator, NOTHING).is_collision


def test_joints_have_flags_of_their_own():
    found = settle(FrankaEstimator(EXACT, PERIOD, 0), pushed(0.0, (0, 0, 0, 0, 0, 0, 20.0)))
    assert found.joint_contact.tolist() == [False] * 6 + [True]
    assert not found.joint_collision.any() and not found.cartesian_contact.any()


@pytest.mark.parametrize(
    'wrong',
    [{'cutoff': 0.0}, {'noise': -1.0}, {'offset': float('nan')}, {'contact_force': 50.0}],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueRangeError):
        EstimateOptions(**wrong)
