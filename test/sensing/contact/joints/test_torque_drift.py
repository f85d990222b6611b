# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Torque sensors that drift are followed in motion; pushes hardly are."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
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
    assert np.mean(left[100:200]) > 0.25
    assert np.mean(left[-500:]) < 0.1
