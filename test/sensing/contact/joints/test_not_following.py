# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints that stand while their commands go on: bounds from free motion, and contacts by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import HOME

from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.fitting.recording import (
    JointRecording,
    newest_commands,
    recording_of,
)
from frame_ros.sensing.contact.joints.motor_model import MotorModel, load_motors, save_motors
from frame_ros.sensing.contact.joints.not_following import NotFollowing, free_distances

PERIOD, STIFFNESS = 20_000_000, 8.0
ONE = MotorModel(
    'arm', ('joint',), effort_scale=np.ones(1), coulomb=np.full(1, 0.1), play=0.016,
    off_against=np.full(1, 0.1), off_with=np.full(1, 0.04), off_weight=np.full(1, 0.5),
    stiffness=np.full(1, STIFFNESS),
)  # fmt: skip


def shares(positions, commands, motors=ONE, load=0.3, effort=1.0, held=0.0):
    """Of one joint, whose servo drives by its stiffness."""
    follows, found = NotFollowing(motors, 1.25), []
    for row, (q, command) in enumerate(zip(positions, commands, strict=True)):
        motor = effort * STIFFNESS * np.array([command - q])
        share = follows.update(
            10**9 + row * PERIOD, np.array([q]), np.array([command]), motor, np.array([load]), held
        )
        found.append(float(share[0]))
    return np.array(found)


def test_a_joint_that_stands_while_its_command_goes_on_is_blocked_until_it_follows_again():
    goal = np.concatenate((np.linspace(0.0, 0.3, 40), np.linspace(0.3, 0.0, 40)))
    found = shares(np.zeros(80), goal)
    # 1.25 times 0.1 rad, and 0.02 of play: reached in row 19, and then for 0.3 s.
    assert found[:33].max() < 1.0 <= found[35:45].min()
    # The goal comes back.
    assert found[62:].max() < 0.7
    freed = np.where(np.arange(80) < 45, 0.0, np.minimum(0.02 * (np.arange(80) - 45), goal))
    assert shares(freed, goal)[48:].max() == 0.0


def test_a_joint_that_lags_or_starts_late_is_not_blocked():
    ramp = np.linspace(0.0, 2.0, 100)
    assert shares(ramp - 0.25, ramp).max() == 0.0
    # A goal jumps, and the joint stands for 0.2 s before it moves.
    late = np.clip(0.03 * (np.arange(60) - 30), 0.0, 0.3)
    assert shares(late, np.where(np.arange(60) < 20, 0.0, 0.3)).max() < 1.0
    # What it stood off in free motion is none, against its weight more than with it.
    stands = np.zeros(60)
    assert shares(stands, stands + 0.13).max() < 1.0
    assert shares(stands, stands - 0.13).max() >= 1.0
    assert shares(stands, stands - 0.13, load=0.0).max() < 1.0


def test_more_weight_holds_a_joint_farther_off_and_a_motor_without_torque_says_nothing():
    stands = np.zeros(40)
    assert shares(stands, stands + 0.2).max() >= 1.0
    assert shares(stands, stands + 0.2, load=1.5).max() < 1.0
    assert shares(stands, stands + 0.2, held=1.2).max() < 1.0
    assert shares(stands, stands + 0.2, effort=0.0).max() == 0.0
    unknown = replace(ONE, off_with=np.zeros(1))
    assert shares(stands, stands + 2.0, unknown).max() == 0.0
    follows = NotFollowing(ONE, 1.25)
    assert not follows.update(10**9, np.zeros(1), None, np.ones(1), np.ones(1)).any()
    assert shares(stands, np.full(40, np.nan)).max() == 0.0


def test_a_gear_that_holds_by_its_load_may_stand_until_its_motor_overcomes_it():
    """Weight and friction of 0.3 + 0.1 N m let it break away at 1 N m; 1.25 N m is 0.156 rad."""
    stands = np.zeros(40)
    share = np.full(1, 0.6)
    holds = replace(ONE, rest=np.full(1, 0.1), load_rest=share, load_friction=0.5 * share)
    assert shares(stands, stands + 0.153).max() >= 1.0
    assert shares(stands, stands + 0.153, holds).max() == 0.0
    assert shares(stands, stands + 0.158, holds).max() >= 1.0
    # More weight, or an object in the gripper, is overcome later; weight that drives is no load.
    assert shares(stands, stands + 0.158, holds, load=0.4).max() == 0.0
    assert shares(stands, stands + 0.158, holds, held=0.1).max() == 0.0
    assert shares(stands, stands - 0.08, holds).max() >= 1.0
    # Friction at rest that no load shows is what a joint was seen to hold: it bounds nothing, nor
    # does a share of a motor that never brakes, which no motion shows.
    assert shares(stands, stands + 0.153, replace(ONE, rest=np.full(1, 3.0))).max() >= 1.0
    assert shares(stands, stands + 0.153, replace(ONE, load_rest=share)).max() >= 1.0
    locked = replace(holds, load_rest=np.full(1, 1.0))
    assert shares(stands, stands + 2.0, locked).max() == 0.0


class Weight:
    """Of a joint that holds 0.3 N m, and of one that holds none."""

    def gravity(self, q):
        return np.array([0.3, 0.0])


def test_bounds_are_the_largest_distances_of_slow_motion(tmp_path):
    """Up in steps that leave the joint 0.1 rad behind for 1 s, down 0.03 rad behind; and fast, far
    behind.
    """
    error = np.concatenate((np.full(300, 0.1), np.full(300, -0.03), np.full(100, 0.5)))
    q = np.concatenate((np.full(600, 0.2), np.linspace(0.2, 4.0, 100)))
    stamps = 10**9 + PERIOD * np.arange(700)
    positions, errors = np.stack((q, q), axis=1), np.stack((error, 0.4 * error), axis=1)
    motors = MotorModel('arm', ('loaded', 'light'), effort_scale=np.full(2, 2.0),
                        coulomb=np.full(2, 0.1))  # fmt: skip
    recording = recording_of(
        motors.joint_names, stamps, positions, np.zeros((700, 2)), 4.0 * errors, positions + errors
    )
    found = free_distances(motors, Weight(), recording)
    np.testing.assert_allclose(found['off_against'], [0.1, 0.04])
    np.testing.assert_allclose(found['off_with'], [0.03, 0.04])
    np.testing.assert_allclose(found['stiffness'], [8.0, 8.0])
    np.testing.assert_allclose(found['off_weight'], [0.3, 0.0])
    known = replace(motors, **found)
    save_motors(known, tmp_path / 'motors.yaml')
    np.testing.assert_allclose(load_motors(tmp_path / 'motors.yaml').off_against, [0.1, 0.04])
    assert not known.as_generic().off_against.any() and not known.as_generic().off_with.any()
    assert free_distances(motors, Weight(), replace(recording, commands=None)) == {}
    sensed = replace(motors, coulomb=np.zeros(2))
    assert free_distances(sensed, Weight(), recording) == {}
    # Slow motion for less than 2 s shows nothing: then all motion counts.
    fast = JointRecording(motors.joint_names, stamps[500:], positions[500:], None,
                          recording.efforts[500:], recording.commands[500:])  # fmt: skip
    np.testing.assert_allclose(free_distances(motors, Weight(), fast)['off_against'], [0.5, 0.2])


def test_commands_at_samples_are_the_newest_before_them():
    stamps, sent = np.array([1, 2, 3, 4]), np.array([2, 4])
    found = newest_commands(stamps, sent, np.array([[0.1], [0.2]]))
    np.testing.assert_array_equal(found[:, 0], [np.nan, 0.1, 0.1, 0.2])
    assert newest_commands(stamps, sent[:0], np.zeros((0, 1))) is None


@pytest.mark.parametrize('is_blocked', [True, False])
def test_a_blocked_elbow_is_felt_where_friction_may_hold_all_torque(is_blocked):
    """No torque reaches a threshold."""
    robot = load_robot('so101')
    joints = np.ones(5)
    motors = MotorModel(
        'so101', robot.joint_names, effort_scale=joints, coulomb=0.1 * joints, rest=3.0 * joints,
        threshold_base=5.0 * joints, viscous=2.4 * joints, off_against=0.1 * joints,
        off_with=0.1 * joints, off_weight=joints, stiffness=STIFFNESS * joints,
    )  # fmt: skip
    dynamics = dynamics_for(robot, motors)
    detector, found = JointContact(dynamics, motors=motors), []
    goals = np.tile(HOME, (150, 1))
    goals[:, 2] += np.clip(0.01 * (np.arange(150) - 50), 0.0, 0.25)
    for row, goal in enumerate(goals):
        # 0.15 rad behind, by the losses of its speed, or not moving at all.
        behind = 50 if is_blocked else max(row - 15, 1)
        q, dq = goals[min(row, behind)], np.zeros(5)
        if not is_blocked:
            dq = 50.0 * (goals[behind] - goals[behind - 1])
        effort = dynamics.gravity(q) + STIFFNESS * (goal - q)
        found.append(detector.update(10**9 + row * PERIOD, q, dq, effort, goal))
    felt = [each for each in found if each.is_contact]
    assert bool(felt) is is_blocked
    if is_blocked:
        assert (np.abs(felt[0].residuals) < felt[0].thresholds).all()
        assert detector.joint_names[int(detector.blocked.argmax())] == 'elbow_flex'
        assert {each.link for each in felt} <= set(dynamics.bodies[2:])
