# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint goals for poses of a Franka's end effector, against its forward kinematics."""

import attrs
import numpy as np
import pytest

pytest.importorskip('pink')

from frame_ros.core.errors import SetupError
from frame_ros.hardware.franky.pose_goals import PoseGoals
from frame_ros.robots import Robot, load_robot

ROBOT = load_robot('fr3')
HAND = load_robot('fr3', 'tcp')
START = np.array((0.0, -0.78, 0.0, -2.36, 0.0, 1.57, 0.785))
PERIOD = 0.02
LARGEST = ROBOT.velocity_limits


def circle(count, speed=0.1, radius=0.06):
    """Poses (count, 7) of a circle in the plane across the arm, one per period."""
    position, quaternion = HAND.forward(START)
    angles = speed / radius * PERIOD * np.arange(count)
    way = radius * np.stack((np.zeros(count), np.sin(angles), np.cos(angles) - 1.0), axis=1)
    return np.hstack((position + way, np.tile(quaternion, (count, 1))))


def followed(goals, poses, start=START, largest=LARGEST):
    """The goals (H, 7) for joints that are where the goal before was, and which are reached."""
    found, positions = [], start
    for i, pose in enumerate(poses):
        positions, is_reached = goals.find(pose, 10.0 + i * PERIOD, positions, largest)
        found.append((positions, is_reached))
    return np.array([joints for joints, _ in found]), np.array([reached for _, reached in found])


def test_the_goals_are_at_the_poses_and_stay_near_the_first_posture():
    poses = circle(1000)
    joints, are_reached = followed(PoseGoals(ROBOT, 1.0), poses)
    for q, pose in zip(joints, poses, strict=True):
        position, quaternion = HAND.forward(q)
        assert np.linalg.norm(position - pose[:3]) < 1e-4
        assert abs(quaternion @ pose[3:]) > 1.0 - 1e-6
    assert are_reached.all()
    # Five rounds: the seventh freedom does not drift.
    turn = round(2.0 * np.pi * 0.06 / 0.1 / PERIOD)
    assert np.abs(joints[turn] - joints[5 * turn]).max() < 0.03


@pytest.mark.parametrize('share', [0.1, 1.0])
def test_goals_keep_to_the_share_of_the_velocities(share):
    poses = circle(60, speed=3.0)
    joints, are_reached = followed(PoseGoals(ROBOT, share), poses)
    rates = np.diff(joints, axis=0) / PERIOD
    limits = ROBOT.velocity_limits[:7] * share
    assert (np.abs(rates) <= limits * 1.001).all()
    if share < 1.0:
        assert not are_reached.all()


def test_goals_keep_to_what_the_arm_follows_and_catch_up():
    """The library allows less than an FR3's limits; what it does not allow is not reached."""
    largest = np.array([2.175] * 4 + [2.61] * 3) / 2.0
    poses = np.concatenate((circle(20, speed=1.5), np.tile(circle(20, speed=1.5)[-1], (60, 1))))
    joints, are_reached = followed(PoseGoals(ROBOT, 1.0), poses, largest=largest)
    rates = np.diff(joints, axis=0) / PERIOD
    assert (np.abs(rates) <= largest * 1.001).all() and (np.abs(rates) > largest * 0.999).any()
    assert not are_reached[1:20].all() and are_reached[-20:].all()
    assert np.linalg.norm(HAND.forward(joints[-1])[0] - poses[-1, :3]) < 1e-4


def test_poses_of_a_link_that_other_joints_move_are_refused():
    preset = attrs.evolve(ROBOT.profile.tracking, tip='fr3_leftfinger')
    robot = Robot(ROBOT.urdf, ROBOT.tip_link, attrs.evolve(ROBOT.profile, tracking=preset))
    with pytest.raises(SetupError, match='poses are of fr3_leftfinger'):
        PoseGoals(robot, 1.0)


def test_a_pose_out_of_reach_comes_to_rest_within_the_limits():
    far = circle(1)[0] + (2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    joints, are_reached = followed(PoseGoals(ROBOT, 1.0), [far] * 300)
    assert not are_reached.any()
    assert np.abs(joints[-1] - joints[-50]).max() < 0.02
    lower, upper = (np.array([ROBOT.joint_limits[n][i] for n in ROBOT.joint_names]) for i in (0, 1))
    assert ((joints >= lower[:7] - 1e-9) & (joints <= upper[:7] + 1e-9)).all()


def test_after_a_pause_or_a_reset_goals_begin_where_the_joints_are():
    goals = PoseGoals(ROBOT, 1.0)
    pose = circle(1)[0]
    goals.find(pose, 1.0, START, LARGEST)
    moved = START + 0.4
    still = np.concatenate(HAND.forward(moved))
    for time in (1.02, 5.0):
        if time < 5.0:
            goals.reset()
        found, is_reached = goals.find(still, time, moved, LARGEST)
        assert is_reached and np.abs(found - moved).max() < 1e-3
        goals.find(pose, time + 0.02, moved, LARGEST)
