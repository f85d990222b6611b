# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A servo whose goals come at another moment of a sample's period than in its identification."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.momentum_observer import first_order
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.speed_losses import LARGEST, SpeedLosses

STIFFNESS, GAIN, DT = np.array([0.5, 12.0, 6.0]), 12.0, 1.0 / 30.0
ROBOT = load_robot('so101')
MOTORS = MotorModel(
    'so101', ROBOT.joint_names, effort_scale=np.full(5, 1.1), coulomb=np.full(5, 0.05),
    viscous=np.full(5, 0.3), armature=np.full(5, 0.02), threshold_base=np.full(5, 0.08),
    threshold_velocity=np.full(5, 0.05), presliding=0.004, stiffness=np.full(5, 13.0),
)  # fmt: skip


def pushed(times):
    return np.where((times > 5.0) & (times < 6.0), 1.0, 0.0)


def followed(seconds, shift, push=None, noise=0.02, seed=4, jitter=None, size=(0.8, 0.8, 0.8)):
    """Times that are found, s, of three joints that swing: of a shift (s), and a push (N m).

    One after each sample.
    """
    rng = np.random.default_rng(seed)
    times = np.arange(round(seconds / DT)) * DT
    speeds = np.array(size) * np.cos(np.outer(times, [1.0, 1.3, 1.7]))
    external = shift * STIFFNESS.max() * speeds + rng.normal(0.0, noise, speeds.shape)
    if push is not None:
        external += push(times, speeds) if callable(push) else pushed(times)[:, None] * push
    losses, found = SpeedLosses(STIFFNESS, GAIN), []
    residual = np.zeros(3)
    intervals = np.full(len(times), DT) if jitter is None else jitter(len(times))
    for speed, torque, interval in zip(speeds, external, intervals, strict=True):
        decay = np.full(3, np.exp(-GAIN * interval))
        # The observer, of what the losses so far leave.
        residual = decay * residual + (1.0 - decay) * (torque + losses.viscous * speed)
        losses.update(speed, decay, interval, DT, residual, np.full(3, 0.15), np.ones(3, bool))
        found.append(losses.seconds)
    return np.array(found)


@pytest.mark.parametrize('shift', [-0.015, 0.004, 0.0167])
def test_a_shift_that_all_joints_show_is_found(shift):
    found = followed(30.0, shift)
    assert found[-1] == pytest.approx(shift, abs=5e-4)
    # Nearly all of it after 3 s of motion.
    assert abs(found[90] - shift) < 0.15 * abs(shift) + 1e-3


def test_it_is_what_least_squares_of_the_whole_has():
    rng = np.random.default_rng(5)
    times = np.arange(3000) * DT
    speeds = 0.8 * np.cos(np.outer(times, [1.0, 1.3, 1.7]))
    torques = 0.008 * 12.0 * speeds + rng.normal(0.0, 0.02, speeds.shape)
    shown = first_order(12.0 * speeds, np.full(3000, DT), GAIN)
    left = first_order(torques, np.full(3000, DT), GAIN)
    whole = float((shown * left).sum() / (shown * shown).sum())
    assert followed(100.0, 0.008, seed=5)[-1] == pytest.approx(whole, abs=3e-4)


def test_a_push_hardly_changes_it():
    push = np.array([0.0, 0.4, 0.4])
    found = followed(7.0, 0.0, push) - followed(7.0, 0.0)
    # Of what a push of 0.4 N m would be at 0.8 rad/s, 42 ms.
    assert np.abs(found).max() < 0.003


def test_a_push_against_the_motion_of_all_joints_is_not_learnt():
    def drag(times, speeds):
        return -0.6 * np.sign(speeds) * ((times > 10.0) & (times < 12.5))[:, None]

    found = followed(14.0, 0.01, drag) - followed(14.0, 0.01)
    assert np.abs(found).max() < 0.002


def test_what_is_felt_for_long_is_learnt_as_other_goals_are_no_push():
    before = followed(10.0, 0.0)
    assert abs(before[-1]) < 5e-4

    def other_goals(times, speeds):
        return 0.0165 * 12.0 * speeds * (times > 10.0)[:, None]

    assert followed(80.0, 0.0, other_goals)[-1] == pytest.approx(0.0165, abs=2e-3)


def test_one_joint_alone_says_nothing():
    assert (followed(20.0, 0.015, size=(0.0, 0.8, 0.0)) == 0.0).all()


def test_single_short_intervals_change_nothing():
    def short(count):
        intervals = np.full(count, DT)
        intervals[[0, 400]] = 0.001
        return intervals

    found = followed(20.0, 0.0167, jitter=short)
    assert found[405] == pytest.approx(0.0167, abs=1e-3)
    assert found[90] == pytest.approx(0.0167, abs=3e-3)


def test_it_is_bounded_and_needs_a_stiffness():
    assert followed(30.0, 0.2)[-1] == pytest.approx(LARGEST * DT)
    assert followed(30.0, -0.2)[-1] == pytest.approx(-LARGEST * DT)
    assert not SpeedLosses(np.zeros(3), GAIN).is_used


def test_joints_that_stick_say_nothing():
    losses = SpeedLosses(STIFFNESS, GAIN)
    for _ in range(100):
        losses.update(
            np.ones(3),
            np.full(3, 0.7),
            DT,
            DT,
            np.full(3, 0.1),
            np.full(3, 0.15),
            np.zeros(3, bool),
        )
    assert losses.seconds == 0.0


def contacts(motors, shift=0.0167, push=None):
    """Times of samples in contact, s, of an arm that swings at up to 1 rad/s, at 30 Hz."""
    times = np.arange(600) * DT
    motion = swing(times, 0.45)
    dynamics = dynamics_for(ROBOT, motors)
    torque = np.zeros((600, 5))
    if push:
        torque[(times > push) & (times < push + 0.6), 1] = 0.6
    true = replace(MOTORS, viscous=MOTORS.viscous - 13.0 * shift)
    efforts = efforts_of(dynamics, true, motion, lambda row: torque[row])
    detector = JointContact(dynamics, None, motors)
    found = [
        detector.update(10**9 + round(time * 1e9), q, dq, effort).is_contact
        for time, q, dq, effort in zip(times, *motion[:2], efforts, strict=True)
    ]
    return times[np.array([bool(each) for each in found])]


def test_goals_at_another_moment_are_no_contact_and_a_push_is():
    assert len(contacts(replace(MOTORS, stiffness=np.zeros(5)))) > 50
    assert not len(contacts(MOTORS))
    pushed = contacts(MOTORS, push=8.0)
    assert len(pushed) > 10 and 8.0 < pushed[0] < 8.3 and pushed[-1] < 9.3


def test_an_arm_that_stands_for_long_shows_nothing():
    # Its filtered speed falls until its squares are no numbers any more.
    losses, decay = SpeedLosses(STIFFNESS, GAIN), np.full(3, np.exp(-GAIN * DT))
    rest = np.zeros(3)
    losses.update(np.ones(3), decay, DT, DT, rest, np.full(3, 0.15), np.ones(3, bool))
    for _ in range(round(90.0 / DT)):
        losses.update(rest, decay, DT, DT, rest, np.full(3, 0.15), np.ones(3, bool))
    assert losses.seconds == 0.0


def test_goals_that_are_known_have_speeds_of_their_own():
    motors = replace(MOTORS, has_torque_sensors=False)
    external = JointContact(dynamics_for(ROBOT, motors), motors=motors)._external
    goals = np.zeros(5)
    for row, step in enumerate([0.0, 0.01, 0.01, 0.5, np.nan, 0.01]):
        goals = goals + [step, 0.0, 0.0, 0.0, 0.0]
        dq = np.full(5, 0.2)
        external.update(
            SECOND + row * SECOND // 50, 0.004 * row * np.ones(5), dq, np.zeros(5), goals
        )
        found = external.goal_speed
        # 0.01 rad in 0.02 s; a jump counts as 2 rad/s more than the joint's; else the joint's own.
        expected = {1: 0.5, 2: 0.5, 3: 2.2}.get(row, 0.2)
        assert found[0] == pytest.approx(expected)
        assert found[1] == pytest.approx(0.2 if row == 0 else 0.0)
    external.update(2 * SECOND, np.zeros(5), np.full(5, 0.3), np.zeros(5))
    assert external.goal_speed == pytest.approx(np.full(5, 0.3))
