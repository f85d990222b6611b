# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction at rest from the moments at which joints break away, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.sensing.contact.joints.fitting.breakaway import FEWEST, friction_at_rest
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.motor_model import REST_SPEED, MotorModel

GAP = 0.25  # s
REST, SHARE = np.array([0.05, 0.1]), 0.5
MOTORS = MotorModel('arm', ('loaded', 'light'), effort_scale=np.ones(2), coulomb=np.full(2, 0.02))


class Weights:
    """Of a loaded joint in several postures; the other one carries nothing."""

    def gravity(self, q):
        return np.array([0.2 + 0.1 * np.floor(q[0] + 1e-9), 0.0])


def recording(times: int = FEWEST + 1, pause: float = 0.0) -> JointRecording:
    """Motors ramp up until the joints break away, each by a step of 1 rad and 1 rad, with a pause
    of the recording, s, before each step.
    """
    rows, efforts = [], []
    for posture in range(times):
        weight = np.array([0.2 + 0.1 * posture, 0.0])
        # motor - weight = rest + share * motor.
        breaks = (weight + REST) / (1.0 - SHARE)
        for part in np.linspace(0.0, 1.0, 50):
            rows.append(np.full(2, float(posture)))
            efforts.append(weight + part * (breaks - weight))
    count = np.arange(len(rows))
    stamps = 10**9 + 20_000_000 * count + round(pause * 1e9) * (count // 50)
    return JointRecording(MOTORS.joint_names, stamps, np.array(rows), None, np.array(efforts))


def test_what_a_gear_can_hold_is_found_from_its_breaking_away():
    found = friction_at_rest(MOTORS, Weights(), recording(), [True, True], GAP)
    assert found['rest'][0] == pytest.approx(REST[0], abs=1e-6)
    assert found['load_rest'][0] == pytest.approx(SHARE, abs=1e-6)


def test_a_joint_without_load_takes_the_share_of_the_others():
    # Without a weight all of the motor's torque is held: no share can be seen there.
    found = friction_at_rest(MOTORS, Weights(), recording(), [True, False], GAP)
    assert found['load_rest'][1] == pytest.approx(SHARE, abs=1e-6)
    assert found['rest'][1] == pytest.approx(REST[1], abs=1e-6)


def test_too_few_moments_say_nothing():
    found = friction_at_rest(MOTORS, Weights(), recording(FEWEST), [True, True], GAP)
    assert not found['rest'].any() and not found['load_rest'].any()


def test_a_joint_that_is_elsewhere_after_a_gap_has_not_broken_away():
    found = friction_at_rest(MOTORS, Weights(), recording(pause=5.0), [True, True], GAP)
    assert not found['rest'].any() and not found['load_rest'].any()


def test_friction_at_rest_fades_with_speed_and_is_no_less_than_that_of_sliding():
    motors = MotorModel(
        'arm', ('joint',), effort_scale=np.ones(1), coulomb=np.full(1, 0.1), rest=np.full(1, 0.2),
        load_rest=np.full(1, 0.5),
    )  # fmt: skip
    held, at, fast = (
        motors.dry_friction(np.array([speed]), np.ones(1), np.zeros(1))[0]
        for speed in (0.0, REST_SPEED, 1.0)
    )
    assert held == pytest.approx(0.7)
    assert at == pytest.approx(0.7 / np.e)
    assert fast == pytest.approx(0.1)
