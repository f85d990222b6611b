# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Load of a joint that sticks while others accelerate: it is no contact, and hides no push."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import HOME, efforts_of

from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.link_load import FILTER_TIME, LinkLoad
from frame_ros.sensing.contact.joints.motor_model import MotorModel

ROBOT = load_robot('so101')
STUCK = 1  # the shoulder's lift
COULOMB = np.where(np.arange(5) == STUCK, 0.3, 0.05)
MOTORS = MotorModel(
    'so101', ROBOT.joint_names, effort_scale=np.ones(5), coulomb=COULOMB,
    armature=np.full(5, 0.02), threshold_base=np.full(5, 0.05), threshold_reversal=np.full(5, 0.02),
    threshold_velocity=np.full(5, 0.02), presliding=0.004,
)  # fmt: skip
ONE_STICKS = np.arange(5) == STUCK
DT = 0.02


def load_of(change, dt=DT, is_stuck=ONE_STICKS):
    """The load as velocities come from rest to `change` in dt, and its dynamics."""
    dynamics = dynamics_for(ROBOT, MOTORS)
    return LinkLoad(dynamics).update(HOME, change, np.zeros(5), dt, is_stuck), dynamics


def test_a_joint_that_sticks_holds_what_others_do_to_it_by_their_inertia():
    change = np.array([0.3, 0.7, -1.4, 0.5, 0.2])
    found, dynamics = load_of(change)
    # Its own change is noise: it stands.
    others = np.where(ONE_STICKS, 0.0, change)
    row = dynamics.mass_matrix(HOME)[STUCK] @ others / (DT + FILTER_TIME)
    zero = np.zeros(5)
    coriolis = dynamics.inverse_dynamics(HOME, others, zero) - dynamics.gravity(HOME)
    assert abs(row) > 0.05
    gravity = dynamics.gravity(HOME)
    assert found[STUCK] == pytest.approx(row + coriolis[STUCK] + gravity[STUCK], abs=1e-9)
    np.testing.assert_array_equal(found[~ONE_STICKS], gravity[~ONE_STICKS])


@pytest.mark.parametrize('sticks', [True, False])
def test_the_load_is_gravity_if_all_joints_stick_or_none(sticks):
    found, dynamics = load_of(np.full(5, 0.5), is_stuck=np.full(5, sticks))
    np.testing.assert_array_equal(found, dynamics.gravity(HOME))


def test_a_load_is_gravity_while_no_acceleration_is_known():
    dynamics = dynamics_for(ROBOT, MOTORS)
    load, moving = LinkLoad(dynamics), np.full(5, 0.5)
    for before, seconds in ((np.full(5, np.nan), DT), (np.zeros(5), np.nan)):
        found = load.update(HOME, moving, before, seconds, ONE_STICKS)
        np.testing.assert_array_equal(found, dynamics.gravity(HOME))


def test_stamps_close_to_each_other_make_no_large_load():
    step = np.where(ONE_STICKS, 0.0, 0.08)
    close, dynamics = load_of(step, dt=0.0001)
    far, _ = load_of(step)
    weight = dynamics.gravity(HOME)[STUCK]
    assert 0.01 < abs(far[STUCK] - weight) < abs(close[STUCK] - weight) < 0.25


def swinging(times: np.ndarray):
    """Positions, velocities, accelerations (T, 5): elbow and wrist swing fast, the rest stands."""
    size, rate = np.array([0.0, 0.0, 0.2, 0.3, 0.0]), 2.0 * np.pi * 2.0
    phase = rate * times[:, None]
    return (
        HOME + size * (1.0 - np.cos(phase)),
        size * rate * np.sin(phase),
        size * rate**2 * np.cos(phase),
    )


def shoulder_detections(external: float):
    """Of an arm whose shoulder sticks; from 2 s on a push that its servo takes, in N m."""
    times = np.arange(150) * DT
    motion = swinging(times)
    dynamics: RobotDynamics = dynamics_for(ROBOT, MOTORS)
    efforts = efforts_of(
        dynamics, replace(MOTORS, coulomb=np.where(ONE_STICKS, 0.0, COULOMB)), motion
    )
    coupling = efforts[:, STUCK] - [dynamics.gravity(q)[STUCK] for q in motion[0]]
    # The servo holds the weight that it knows of; the gear holds the rest.
    efforts[:, STUCK] = dynamics.gravity(HOME)[STUCK] - np.where(times < 2.0, 0.0, external)
    detector = JointContact(dynamics, None, MOTORS)
    found = [
        detector.update(10**9 + round(time * 1e9), q, dq, effort)
        for time, q, dq, effort in zip(times, *motion[:2], efforts, strict=True)
    ]
    return coupling, times, found


def test_others_that_accelerate_make_no_contact_of_a_joint_that_sticks():
    coupling, _, found = shoulder_detections(0.0)
    # The gear can hold it, and a threshold is less.
    assert 0.15 < np.abs(coupling).max() < 1.25 * COULOMB[STUCK]
    assert not any(d.is_contact for d in found)
    known = [abs(d.residuals[STUCK]) for d in found if d.is_contact is not None]
    assert max(known) < 0.05


@pytest.mark.parametrize('external', [0.9, -0.9])
def test_a_push_beyond_what_a_gear_holds_is_felt_while_others_accelerate(external):
    _, times, found = shoulder_detections(external)
    assert not any(d.is_contact for t, d in zip(times, found, strict=True) if t < 2.0)
    during = [d for t, d in zip(times, found, strict=True) if t >= 2.2]
    assert all(d.is_contact for d in during)
    assert np.median([d.residuals[STUCK] for d in during]) * external > 0.0
