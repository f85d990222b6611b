# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints that follow poses of the tip: how exactly, and within which limits."""

import math
import subprocess
import sys

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytest.importorskip('pink')
pytest.importorskip('daqp')

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.differential_ik import (
    FULL_POSE,
    POSITION_FIRST,
    DifferentialInverseKinematics,
    tracking_preset,
)
from frame_ros.robots.profiles import find_profile, packaged_profiles

DT = 0.05


@pytest.fixture(scope='module')
def arms():
    """Robot at its TCP and a solver, by robot name."""
    return {
        name: (load_robot(name, 'tcp'), DifferentialInverseKinematics(load_robot(name)))
        for name in ('so101', 'fr3')
    }


def inside(robot, generator, margin=0.1):
    span = robot.upper - robot.lower
    return generator.uniform(robot.lower + margin * span, robot.upper - margin * span)


def poses_along(robot, start, end, steps=25):
    path = start + np.linspace(0, 1, steps + 1)[1:, None] * (end - start)
    return np.array([np.concatenate(robot.forward(row)) for row in path])


def turn_between(first, second):
    return (Rotation.from_quat(first) * Rotation.from_quat(second).inv()).magnitude()


@pytest.mark.parametrize('name', ['so101', 'fr3'])
def test_the_result_reaches_the_poses(arms, name):
    robot, solver = arms[name]
    generator = np.random.default_rng(1)
    for _ in range(12):
        start = inside(robot, generator)
        move = generator.uniform(-0.5, 0.5, len(start))
        targets = poses_along(robot, start, np.clip(start + move, robot.lower, robot.upper))
        found = solver.track(start, targets, DT)
        poses = np.array([np.concatenate(robot.forward(row)) for row in found.joints])
        positions, quaternions = poses[:, :3], poses[:, 3:]
        distances = np.linalg.norm(positions - targets[:, :3], axis=1)
        turns = turn_between(targets[:, 3:], quaternions)
        np.testing.assert_allclose(found.residuals, np.column_stack((distances, turns)), atol=1e-7)
        assert distances.max() < 1e-4
        # With five joints the reachable orientation is found as well, only less exactly.
        assert turns.max() < (1e-3 if name == 'fr3' else 0.02)


def test_with_five_joints_the_position_comes_first(arms):
    robot, solver = arms['so101']
    start = np.array((0.2, -0.3, 0.4, 0.5, 0.1))
    position, quaternion = robot.forward(start)
    turned = (Rotation.from_rotvec((0, 0, 0.4)) * Rotation.from_quat(quaternion)).as_quat()
    found = solver.track(start, np.tile(np.r_[position, turned], (30, 1)), DT)
    assert found.residuals[-1, 0] < 5e-4
    assert 0.01 < found.residuals[-1, 1] < 0.5


def test_joints_stay_inside_their_limits_and_below_their_velocities(arms):
    @settings(max_examples=25)
    @given(
        seed=st.integers(0, 2**32 - 1),
        name=st.sampled_from(['so101', 'fr3']),
        reach=st.floats(0.05, 3.0),
        dt=st.sampled_from([0.01, 0.05, 0.2]),
    )
    def holds(seed, name, reach, dt):
        robot, solver = arms[name]
        generator = np.random.default_rng(seed)
        start = inside(robot, generator, margin=0.0)
        position, _ = robot.forward(start)
        places = position + np.cumsum(generator.normal(0, reach / 3, (6, 3)), axis=0)
        turns = generator.normal(0, 1, (6, 4))  # quaternions of any length
        found = solver.track(start, np.hstack((places, turns)), dt)
        assert np.isfinite(found.joints).all() and np.isfinite(found.residuals).all()
        assert (found.joints >= robot.lower).all() and (found.joints <= robot.upper).all()
        steps = np.abs(np.diff(np.vstack((start, found.joints)), axis=0))
        assert (steps <= robot.velocity_limits * dt * (1 + 1e-9)).all()

    holds()


@pytest.mark.parametrize('name', ['so101', 'fr3'])
def test_an_arm_comes_to_rest_before_a_target_out_of_reach(arms, name):
    robot, solver = arms[name]
    start = robot.lower + 0.55 * (robot.upper - robot.lower)
    position, quaternion = robot.forward(start)
    away = np.tile(np.r_[position * 4.0, quaternion], (120, 1))
    found = solver.track(start, away, DT)
    assert found.residuals[-1, 0] > 0.2
    assert (np.diff(found.residuals[:, 0]) < 1e-3).all()  # it never swings back
    assert np.abs(np.diff(found.joints[-20:], axis=0)).max() < 5e-3


def test_a_stretched_arm_leaves_and_meets_the_singularity_smoothly(arms):
    robot, solver = arms['fr3']
    start = np.array((0.0, 0.3, 0.0, -0.2, 0.0, 0.6, 0.0))  # all but straight
    position, quaternion = robot.forward(start)
    shift = np.zeros((80, 3))
    shift[:, 2] = 0.1 * np.sin(np.linspace(0, 4 * np.pi, 80))
    found = solver.track(start, np.hstack((position + shift, np.tile(quaternion, (80, 1)))), DT)
    accelerations = np.diff(np.vstack((start, found.joints)), n=2, axis=0)
    assert np.abs(accelerations).max() < 0.15
    assert np.isfinite(found.joints).all()


def test_the_binding_limits_are_named(arms):
    robot, solver = arms['fr3']
    start = (robot.lower + robot.upper) / 2
    position, quaternion = robot.forward(start)
    far = np.r_[position + (0.0, 0.6, -0.3), quaternion]
    found = solver.track(start, np.tile(far, (2, 1)), 0.01)
    assert found.limits[0] and all(text.endswith(' velocity') for text in found.limits[0])
    assert found.residuals[0, 0] > 0.5

    robot, solver = arms['so101']
    start = np.array((1.5, 0.0, 0.3, 0.3, 0.0))
    behind = Rotation.from_rotvec((0, 0, -0.7)).apply(robot.forward(start)[0])
    found = solver.track(start, np.tile(np.r_[behind, 0, 0, 0, 1], (60, 1)), DT)
    assert 'shoulder_pan upper' in found.limits[-1]


def test_a_joint_outside_its_limits_comes_back_at_its_velocity(arms):
    robot, solver = arms['fr3']
    start = (robot.lower + robot.upper) / 2
    start[0] = robot.upper[0] + 0.2
    position, quaternion = robot.forward(start)
    found = solver.track(start, np.tile(np.r_[position, quaternion], (4, 1)), 0.02)
    step = robot.velocity_limits[0] * 0.02
    expected = np.maximum(start[0] - step * np.arange(1, 5), robot.upper[0])
    np.testing.assert_allclose(found.joints[:, 0], expected, atol=1e-12)


def test_no_change_is_no_movement(arms):
    for robot, solver in arms.values():
        start = inside(robot, np.random.default_rng(3))
        found = solver.track(start, np.tile(np.hstack(robot.forward(start)), (10, 1)), DT)
        np.testing.assert_allclose(found.joints, np.tile(start, (10, 1)), atol=1e-6)
        assert found.limits == ((),) * 10


def test_free_movements_are_drawn_to_the_posture(arms):
    robot, _ = arms['fr3']
    start = np.array((0.3, 0.2, -0.5, -2.0, 0.2, 2.2, 0.7))
    solver = DifferentialInverseKinematics(robot)
    solver.posture = start + np.array((-0.4, 0, 0.5, 0, 0, 0, 0))
    targets = np.tile(np.hstack(robot.forward(start)), (40, 1))
    found = solver.track(start, targets, DT)
    before = np.linalg.norm(start - solver.posture)
    assert np.linalg.norm(found.joints[-1] - solver.posture) < before - 0.05
    assert found.residuals[:, 0].max() < 1e-3


def test_both_signs_of_a_quaternion_are_one_orientation(arms):
    robot, solver = arms['fr3']
    start = inside(robot, np.random.default_rng(5))
    target = np.hstack(robot.forward(start))
    other = target * np.r_[1, 1, 1, -3, -3, -3, -3]
    for pose in (target, other):
        found = solver.track(start, [pose], DT)
        np.testing.assert_allclose(found.joints[0], start, atol=1e-6)


def test_less_velocity_on_demand(arms):
    robot, _ = arms['fr3']
    slow = DifferentialInverseKinematics(robot, velocity_scale=0.25)
    start = (robot.lower + robot.upper) / 2
    position, quaternion = robot.forward(start)
    found = slow.track(start, [np.r_[position + 0.5, quaternion]], DT)
    moved = np.abs(found.joints[0] - start) / (robot.velocity_limits * DT)
    assert moved.max() == pytest.approx(0.25)


def test_presets():
    for profile in packaged_profiles():
        assert tracking_preset(load_robot(profile.name)) is profile.tracking
    # Another URDF of the same arm is known by its end effector's link.
    named = load_robot('so101').urdf.replace('<robot name="so101"', '<robot name="so101_new_calib"')
    assert tracking_preset(load_robot(named)) is find_profile('so101').tracking
    other = named.replace('gripper_frame_link', 'pinch')
    assert load_robot(other).joint_names[-1] == 'gripper'
    assert tracking_preset(load_robot(other)) == evolve(POSITION_FIRST, tip='gripper_link')
    assert tracking_preset(load_robot(other, 'pinch')) is POSITION_FIRST
    seven = load_robot('fr3').urdf.replace('fr3_hand_tcp', 'pinch')
    assert tracking_preset(load_robot(seven, 'pinch')) is FULL_POSE
    assert math.isinf(POSITION_FIRST.orientation_tolerance)
    assert DifferentialInverseKinematics(load_robot('fr3')).tip_link == 'fr3_hand_tcp'


def test_refusals(arms):
    robot, solver = arms['so101']
    start = np.zeros(5)
    pose = np.hstack(robot.forward(start))
    with pytest.raises(RobotError, match=r'\(4,\).*shoulder_pan'):
        solver.track(start[:4], [pose], DT)
    with pytest.raises(RobotError, match=r'\(steps, 7\)'):
        solver.track(start, [pose[:6]], DT)
    with pytest.raises(RobotError, match='finite'):
        solver.track(start, [pose * math.nan], DT)
    with pytest.raises(RobotError, match='quaternion 0'):
        solver.track(start, [pose * np.r_[1, 1, 1, 0, 0, 0, 0]], DT)
    with pytest.raises(ValueRangeError, match='dt is 0'):
        solver.track(start, [pose], 0)
    with pytest.raises(ValueRangeError, match='velocity_scale'):
        DifferentialInverseKinematics(robot, velocity_scale=0.0)
    with pytest.raises(RobotError, match='no_such_link'):
        DifferentialInverseKinematics(robot, 'no_such_link')


def test_without_pink_the_extra_is_named():
    code = (
        'import sys\n'
        'sys.modules["pink"] = None\n'
        'from frame_ros.core.errors import MissingExtraError\n'
        'from frame_ros.robots import load_robot\n'
        'from frame_ros.robots.differential_ik import DifferentialInverseKinematics\n'
        'try:\n'
        '    DifferentialInverseKinematics(load_robot("so101"))\n'
        'except MissingExtraError as error:\n'
        '    print(error)\n'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert "pip install 'pin-pink>=" in done.stdout
