# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The momentum observer against known external torques, at several rates and with gaps."""

from __future__ import annotations

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.momentum_observer import (
    MomentumObserver,
    ObserverOptions,
    first_order,
)
from frame_ros.sensing.contact.joints.motor_model import MotorModel

PUSH = np.array([0.3, -0.5, 0.4, 0.2, -0.1])
GAIN = 20.0


def run(rate: float, seconds: float = 2.0, has_velocities: bool = True, push_at: float = 1.0):
    dynamics = RobotDynamics(load_robot('so101'), armature=0.01)
    motors = MotorModel('so101', dynamics.joint_names, np.ones(5))
    times = np.arange(round(seconds * rate)) / rate
    motion = swing(times)
    torques = efforts_of(dynamics, motors, motion, lambda row: PUSH * (times[row] >= push_at))
    # Without friction, the efforts of such motors are the torques.
    observer = MomentumObserver(dynamics, ObserverOptions(GAIN))
    residuals = []
    for row, time in enumerate(times):
        velocity = motion[1][row] if has_velocities else None
        observer.update(10**9 + round(time * 1e9), motion[0][row], velocity, torques[row])
        residuals.append(observer.residual)
    return times, np.array(residuals)


@pytest.mark.parametrize(('rate', 'error'), [(50.0, 0.02), (200.0, 0.002), (1000.0, 1e-4)])
def test_the_residual_follows_a_push_as_a_first_order_filter(rate, error):
    times, residuals = run(rate)
    free = (times > 0.3) & (times < 1.0)
    assert np.abs(residuals[free]).max() < error
    since = np.maximum(times - 1.0, 0.0)[:, None]
    # The push comes between two samples, half of it counts for the interval.
    expected = PUSH * (1.0 - np.exp(-GAIN * (since + 0.5 / rate))) * (times[:, None] >= 1.0)
    assert np.abs(residuals - expected)[times > 0.3].max() < error + 0.1 * GAIN / rate


def test_velocities_from_positions_serve_too():
    times, residuals = run(200.0, has_velocities=False)
    assert np.isnan(residuals[0]).all()
    assert np.abs(residuals[(times > 0.4) & (times < 1.0)]).max() < 0.03
    assert np.abs(residuals[times > 1.6] - PUSH).max() < 0.03


def test_irregular_stamps_are_integrated_by_their_own_intervals():
    dynamics = RobotDynamics(load_robot('so101'))
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.002, 0.008, 400))
    motion = swing(times)
    torques = efforts_of(dynamics, MotorModel('so101', dynamics.joint_names, np.ones(5)), motion)
    observer = MomentumObserver(dynamics, ObserverOptions(GAIN))
    for row, time in enumerate(times):
        observer.update(round(time * 1e9), motion[0][row], motion[1][row], torques[row])
        if time > 0.3:
            assert np.abs(observer.residual).max() < 2e-3


def test_after_a_gap_it_begins_anew_and_old_stamps_change_nothing():
    dynamics = RobotDynamics(load_robot('so101'))
    observer = MomentumObserver(dynamics, ObserverOptions(GAIN, max_gap=0.1))
    q, still, torque = np.zeros(5), np.zeros(5), np.ones(5)
    assert not observer.update(10**9, q, still, torque)
    assert observer.update(10**9 + 20_000_000, q, still, torque)
    before = observer.residual.copy()
    assert np.abs(before).max() > 0.1
    assert not observer.update(10**9 + 20_000_000, q, still, 9 * torque)
    np.testing.assert_array_equal(observer.residual, before)
    assert not observer.update(3 * 10**9, q, still, torque)
    np.testing.assert_array_equal(observer.residual, np.zeros(5))
    assert observer.since == 3 * 10**9


def test_the_filter_of_the_identification_is_that_of_the_observer():
    dynamics = RobotDynamics(load_robot('so101'))
    rng = np.random.default_rng(1)
    stamps = np.cumsum(rng.integers(1, 5, 50)) * 5_000_000
    torques = rng.standard_normal((50, 5))
    observer = MomentumObserver(dynamics, ObserverOptions(GAIN))
    q, still = np.zeros(5), np.zeros(5)
    found = []
    for stamp, torque in zip(stamps, torques, strict=True):
        observer.update(int(stamp), q, still, torque)
        found.append(observer.residual)
    means = dynamics.gravity(q) - 0.5 * (torques[1:] + torques[:-1])
    expected = first_order(means, np.diff(stamps) / 1e9, GAIN)
    np.testing.assert_allclose(found[1:], expected, atol=1e-12)


@pytest.mark.parametrize(
    'settings', [{'gain': 0.0}, {'gain': (1.0, -1.0)}, {'max_gap': 0.0}, {'velocity_time': -1.0}]
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueRangeError):
        ObserverOptions(**settings)


def test_gains_are_one_or_one_per_joint():
    with pytest.raises(ValueRangeError, match='2 gains for 5 joints'):
        MomentumObserver(RobotDynamics(load_robot('so101')), ObserverOptions((1.0, 2.0)))
