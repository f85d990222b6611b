# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Torque sensors that drift are followed in motion; pushes hardly are."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.detector import (
    JointContact,
    JointContactOptions,
    dynamics_for,
)
from frame_ros.sensing.contact.joints.external_torque import ExternalTorque
from frame_ros.sensing.contact.joints.momentum_observer import ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.torque_drift import TorqueDrift

ROBOT = load_robot('fr3')
NAMES = ROBOT.joint_names[:7]
MOTORS = MotorModel(
    'fr3', NAMES, np.ones(7), threshold_base=np.full(7, 0.6), has_torque_sensors=True, gain=30.0
)  # fmt: skip
DT = 0.004


def left_after(seconds, read, speed=0.5, pushed=lambda t: 0.0):
    """N m that are left of what a sensor reads too much, read(t)."""
    drift = TorqueDrift(MOTORS)
    for t in np.arange(0.0, seconds, DT):
        residual = pushed(t) - (read(t) - drift.offset)
        drift.update(residual, np.full(7, speed), DT)
    return read(seconds) - drift.offset[0]


def test_a_drift_is_followed_in_motion_and_not_at_rest():
    assert abs(left_after(1000.0, lambda t: 4e-4 * t)) < 0.09
    assert left_after(1000.0, lambda t: 4e-4 * t, speed=0.0) == pytest.approx(0.4)


def test_a_push_hardly_counts_however_hard_it_is():
    once = left_after(2.0, lambda t: 0.0, pushed=lambda t: 30.0)
    assert abs(once) < 0.005
    assert abs(left_after(60.0, lambda t: 0.0, pushed=lambda t: -30.0)) < 0.1


def test_the_torque_that_reaches_the_links_is_without_it():
    """A reading that is 0.3 N m too much leaves less and less, on an arm that swings."""
    dynamics = RobotDynamics(ROBOT, NAMES)
    external = ExternalTorque(dynamics, MOTORS, ObserverOptions(30.0, 0.5))
    middle = 0.5 * (ROBOT.lower + ROBOT.upper)[:7]
    left = []
    for row in range(20_000):
        t = 0.02 * row
        q, dq = middle + 0.1 * np.sin(t), np.full(7, 0.1 * np.cos(t))
        ddq = np.full(7, -0.1 * np.sin(t))
        torque = dynamics.inverse_dynamics(q, dq, ddq)
        if external.update(1_000_000_000 + round(2e7 * row), q, dq, torque + 0.3):
            left.append(np.abs(external.observer.residual).mean())
            external.follow_drift(np.full(7, 1.0))
    assert np.mean(left[100:200]) > 0.25
    assert np.mean(left[-500:]) < 0.1


def swung(detector, seconds, pushed, is_holding=False):
    """Share of the time in contact of an arm that swings, with pushed (7,) N m on its links."""
    middle, found = 0.5 * (ROBOT.lower + ROBOT.upper)[:7], []
    for _ in range(round(50 * seconds)):
        swung.tick += 1
        t = 0.02 * swung.tick
        q, dq = middle + 0.1 * np.sin(t), np.full(7, 0.1 * np.cos(t))
        torque = DYNAMICS.inverse_dynamics(q, dq, np.full(7, -0.1 * np.sin(t))) - pushed
        stamp = SECOND + round(2e7 * swung.tick)
        detection = detector.update(stamp, q, dq, torque, None, is_holding)
        found.append(bool(detection.is_contact))
    return float(np.mean(found))


swung.tick = 0
DYNAMICS = RobotDynamics(ROBOT, NAMES)
PUSH, NONE = np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0]), np.zeros(7)


def test_what_is_felt_or_held_for_minutes_is_no_drift():
    detector = JointContact(dynamics_for(ROBOT, MOTORS), JointContactOptions(held_mass=1.0), MOTORS)
    assert swung(detector, 2.0, NONE) == 0.0
    assert swung(detector, 400.0, PUSH) > 0.99
    assert swung(detector, 20.0, NONE) < 0.05
    assert swung(detector, 400.0, 2.0 * PUSH, is_holding=True) == 0.0
    assert swung(detector, 20.0, NONE) < 0.05
    assert np.abs(detector._external.drift.offset).max() < 0.02


def test_an_offset_is_never_as_large_as_what_is_felt_and_is_forgotten():
    detector = JointContact(dynamics_for(ROBOT, MOTORS), motors=MOTORS)
    for _ in range(20):
        # Weaker than what is felt, whatever was followed.
        push = 0.5 * PUSH / 1.5 - np.array(detector._external.drift.offset)
        swung(detector, 30.0, push)
    assert 0.4 < np.abs(detector._external.drift.offset).max() <= 0.8 * 0.6
    assert swung(detector, 20.0, NONE) < 0.05
    detector.set_payload(None)
    assert not detector._external.drift.offset.any()
