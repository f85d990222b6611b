# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The example robots outside of the package: their figures, and what reads their profiles."""

import math
from pathlib import Path

import numpy as np
import pytest

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.hardware.controllers import controller_layout
from frame_ros.robots import load_robot
from frame_ros.robots.differential_ik import DifferentialInverseKinematics
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.grasp import GraspOptions

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'robots'
FILES = {path.stem: path for path in FOLDER.glob('*/*.yaml')}
# a (m), d (m), alpha (rad), offset of theta (rad) of each joint, as the makers publish them.
DH = {
    'ur5e': [
        (0.0, 0.1625, math.pi / 2, 0.0), (-0.425, 0.0, 0.0, 0.0), (-0.3922, 0.0, 0.0, 0.0),
        (0.0, 0.1333, math.pi / 2, 0.0), (0.0, 0.0997, -math.pi / 2, 0.0), (0.0, 0.0996, 0.0, 0.0),
    ],
    'xarm6': [
        (0.0, 0.267, -math.pi / 2, 0.0), (0.28948866, 0.0, 0.0, -1.3849179),
        (0.0775, 0.0, -math.pi / 2, 1.3849179), (0.0, 0.3425, math.pi / 2, 0.0),
        (0.076, 0.0, -math.pi / 2, 0.0), (0.0, 0.097, 0.0, 0.0),
    ],
}  # fmt: skip
# Between the base link and the base of the makers' figures: UR's is turned by half a turn.
BASE_YAW = {'ur5e': math.pi, 'xarm6': 0.0}


def turned(axis: str, angle: float) -> np.ndarray:
    cos, sin = math.cos(angle), math.sin(angle)
    frame = np.eye(4)
    rows = (1, 2) if axis == 'x' else (0, 1)
    frame[np.ix_(rows, rows)] = [[cos, -sin], [sin, cos]]
    return frame


def published_pose(name: str, q: np.ndarray) -> np.ndarray:
    """(4, 4) of the flange, by the makers' Denavit-Hartenberg parameters."""
    frame = turned('z', BASE_YAW[name])
    for (a, d, alpha, offset), angle in zip(DH[name], q, strict=True):
        moved = np.eye(4)
        moved[:3, 3] = a, 0.0, d
        frame = frame @ turned('z', angle + offset) @ moved @ turned('x', alpha)
    return frame


def test_there_are_two():
    assert set(FILES) == set(DH)


@pytest.mark.parametrize('name', DH)
def test_the_flange_is_where_the_published_figures_put_it(name):
    robot = load_robot(FILES[name], 'flange')
    rng = np.random.default_rng(3)
    for q in rng.uniform(robot.lower, robot.upper, (20, 6)):
        position, quaternion = robot.forward(q)
        pose = published_pose(name, q)
        np.testing.assert_allclose(position, pose[:3, 3], atol=1e-5)
        x, y, z, w = quaternion
        along = (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y))
        np.testing.assert_allclose(along, pose[:3, 2], atol=1e-5)


@pytest.mark.parametrize('name', DH)
def test_a_profile_is_enough_for_limits_outputs_and_kinematics(name):
    robot = load_robot(FILES[name])
    limits = limits_of(robot)
    assert set(robot.profile.postures['home']) == set(limits.names)
    (output,) = robot.profile.controllers
    layout = controller_layout(output, robot, 0.02)
    assert layout.kind == 'trajectory' and layout.joints == robot.joint_names
    home = np.array([robot.profile.postures['home'][joint] for joint in robot.joint_names])
    target = np.concatenate(robot.forward(home + 0.05))
    found = DifferentialInverseKinematics(robot).track(home, [target] * 40, 0.05)
    assert found.residuals[-1] == pytest.approx((0.0, 0.0), abs=1e-3)
    # The arm's weight is borne by its shoulder.
    weight = RobotDynamics(robot).gravity(home + (0.0, 0.9, 0.0, 0.0, 0.0, 0.0))
    assert 3.0 < abs(weight[1]) < 80.0 and abs(weight[0]) < 1e-6


def test_the_process_table_has_the_topics_of_the_profile(tmp_path, monkeypatch):
    settings = ArmOptions(
        robot=str(FILES['ur5e']), policy='hold', output='scaled_joint_trajectory',
        contact_sources=('wrench',),
    )  # fmt: skip
    processes = {process.name: process for process in arm_processes(settings)}
    for name in ('kinematics', 'metrics', 'markers', 'gate', 'policy', 'contact'):
        assert processes[name].parameters['robot'] == str(FILES['ur5e'])
    assert processes['gate'].parameters['output'] == 'scaled_joint_trajectory'
    assert processes['contact'].remappings['wrench'] == 'force_torque_sensor_broadcaster/wrench'
    # By its name alone, from any folder.
    monkeypatch.setenv('FRAME_ROS_ROBOTS', str(FOLDER))
    monkeypatch.chdir(tmp_path)
    assert ArmOptions(robot='ur5e').robot_source == str(FILES['ur5e'])


def test_a_gripper_whose_joint_grows_as_it_closes():
    grasp = GraspOptions().of(find_profile(FILES['xarm6']))
    assert grasp.joint == 'drive_joint' and not grasp.smaller_is_closed
    assert grasp.closed > grasp.opened
    assert GraspOptions().of(find_profile('so101')).smaller_is_closed
