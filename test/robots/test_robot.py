# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics, Jacobian and limits of the robots known by name, and of any URDF."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import RobotError
from frame_ros.robots import ROBOT_NAMES, find_urdf, load_robot

sys.path.insert(0, str(Path(__file__).parent))
from urdf_chain import franka_flange, quaternions_of, urdf_pose

TIPS = [('so101', None), ('so101', 'moving_jaw_so101_v1_link'), ('so101', 'gripper')]
TIPS += [
    (arm, tip) for arm in ('fr3', 'panda') for tip in (None, 'hand', 'tcp', f'{arm}_leftfinger')
]

ODD_ARM = """
<robot name="odd">
  <link name="a"/> <link name="b"/> <link name="c"/> <link name="d"/> <link name="e"/>
  <joint name="spin" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 -0.8"/></joint>
  <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
    <origin xyz="0 0.1 0" rpy="1 0 0"/><axis xyz="-1 0 0"/><limit lower="-1" upper="1" effort="5"
    velocity="2"/></joint>
  <joint name="fixed" type="fixed"><parent link="c"/><child link="d"/><origin xyz="0 0 1" rpy="0 0
  2"/></joint> <joint name="hinge" type="revolute"><parent link="d"/><child link="e"/>
    <origin xyz="0.3 0 0" rpy="0 -1 0"/><axis xyz="0 0 -1"/><limit lower="-2" upper="2" effort="1"
    velocity="1"/></joint>
</robot>"""


def samples(robot, count=200, seed=0):
    generator = np.random.default_rng(seed)
    return generator.uniform(
        np.maximum(robot.lower, -6), np.minimum(robot.upper, 6), (count, len(robot.joint_names))
    )


@pytest.mark.parametrize(('name', 'tip'), TIPS)
def test_forward_agrees_with_the_chain_of_matrices(name, tip):
    robot = load_robot(name, tip)
    for q in samples(robot):
        expected = urdf_pose(
            find_urdf(name), robot.tip_link, dict(zip(robot.joint_names, q, strict=True))
        )
        position, quaternion = robot.forward(q)
        np.testing.assert_allclose(position, expected[:3, 3], atol=1e-12)
        same = quaternions_of(expected)
        assert quaternion[3] >= 0
        assert min(abs(quaternion - same).max(), abs(quaternion + same).max()) < 1e-9


def test_any_urdf_with_continuous_and_prismatic_joints(tmp_path):
    path = tmp_path / 'odd.urdf'
    path.write_text(ODD_ARM)
    for robot in (load_robot(path), load_robot(ODD_ARM, 'e')):
        assert (robot.name, robot.base_link, robot.tip_link) == ('odd', 'a', 'e')
        assert robot.joint_names == ('spin', 'slide', 'hinge')
        np.testing.assert_array_equal(robot.lower, [-math.inf, -1, -2])
        np.testing.assert_array_equal(robot.velocity_limits, [math.inf, 2, 1])
        q = samples(robot)
        for row in q:
            position, quaternion = robot.forward(row)
            expected = urdf_pose(path, 'e', dict(zip(robot.joint_names, row, strict=True)))
            np.testing.assert_allclose(position, expected[:3, 3], atol=1e-12)
            assert abs(abs(quaternion @ quaternions_of(expected)) - 1) < 1e-12


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_mujoco_agrees(name):
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_path(str(find_urdf(name)))
    data, robot = mujoco.MjData(model), load_robot(name)
    addresses = [model.joint(joint).qposadr[0] for joint in robot.joint_names]
    for q in samples(robot, 50):
        data.qpos[addresses] = q
        mujoco.mj_kinematics(model, data)
        position, quaternion = robot.forward(q)
        np.testing.assert_allclose(position, data.body(robot.tip_link).xpos, atol=1e-9)
        matrix = data.body(robot.tip_link).xmat.reshape(3, 3)
        np.testing.assert_allclose(Rotation.from_quat(quaternion).as_matrix(), matrix, atol=1e-9)


def test_so101_tip_at_zero():
    robot = load_robot('so101')
    assert robot.joint_names == (
        'shoulder_pan',
        'shoulder_lift',
        'elbow_flex',
        'wrist_flex',
        'wrist_roll',
    )
    assert robot.all_joint_names == (*robot.joint_names, 'gripper')
    assert (robot.base_link, robot.tip_link) == ('base_link', 'gripper_frame_link')
    np.testing.assert_allclose(robot.forward(np.zeros(5))[0], [0.39136, 0, 0.22647], atol=1.5e-5)
    np.testing.assert_allclose(robot.lower, [-1.91986, -1.74533, -1.69, -1.65806, -2.74385])
    np.testing.assert_allclose(robot.upper, [1.91986, 1.74533, 1.69, 1.65806, 2.84121])


@pytest.mark.parametrize('name', ['fr3', 'panda'])
def test_franka_has_its_denavit_hartenberg_parameters(name):
    flange, tcp = load_robot(name), load_robot(name, 'tcp')
    offset = np.eye(4)
    offset[:3, :3] = Rotation.from_euler('z', -np.pi / 4).as_matrix()
    offset[2, 3] = 0.1034
    for q in samples(flange, 100):
        expected = franka_flange(q)
        np.testing.assert_allclose(flange.forward(q)[0], expected[:3, 3], atol=1e-12)
        rotation = Rotation.from_quat(flange.forward(q)[1]).as_matrix()
        np.testing.assert_allclose(rotation, expected[:3, :3], atol=1e-9)
        beyond = expected @ offset
        np.testing.assert_allclose(tcp.forward(q)[0], beyond[:3, 3], atol=1e-12)
        np.testing.assert_allclose(
            Rotation.from_quat(tcp.forward(q)[1]).as_matrix(), beyond[:3, :3], atol=1e-9
        )


FRANKA_LIMITS = {
    'panda': (
        [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973],
        [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973],
        [2.175] * 4 + [2.61] * 3,
    ),
    'fr3': (
        [-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159],
        [2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159],
        [2.62] * 4 + [5.26, 4.18, 5.26],
    ),
}


@pytest.mark.parametrize('name', ['fr3', 'panda'])
def test_franka_limits_and_names(name):
    robot, (lower, upper, velocity) = load_robot(name), FRANKA_LIMITS[name]
    np.testing.assert_array_equal(robot.lower, lower)
    np.testing.assert_array_equal(robot.upper, upper)
    np.testing.assert_array_equal(robot.velocity_limits, velocity)
    np.testing.assert_array_equal(robot.effort_limits, [87.0] * 4 + [12.0] * 3)
    assert robot.joint_names == tuple(f'{name}_joint{i}' for i in range(1, 8))
    assert (robot.base_link, robot.tip_link) == (f'{name}_link0', f'{name}_link8')
    assert robot.mimics == {f'{name}_finger_joint2': (f'{name}_finger_joint1', 1.0, 0.0)}


@pytest.mark.parametrize(('name', 'tip'), TIPS)
def test_jacobian_is_the_derivative_of_forward(name, tip):
    robot, step = load_robot(name, tip), 1e-6
    for q in samples(robot, 10):
        jacobian = robot.jacobian(q)
        for column, unit in enumerate(np.eye(len(q)) * step):
            (ahead, turn_ahead), (behind, turn_behind) = (
                robot.forward(q + unit),
                robot.forward(q - unit),
            )
            turn = Rotation.from_quat(turn_ahead) * Rotation.from_quat(turn_behind).inv()
            expected = np.concatenate((ahead - behind, turn.as_rotvec())) / (2 * step)
            np.testing.assert_allclose(jacobian[:, column], expected, atol=1e-7)


def test_results_are_not_overwritten_by_the_next_call():
    robot = load_robot('fr3')
    first, second = samples(robot, 2)
    kept = [part.copy() for part in (*robot.forward(first), robot.jacobian(first))]
    results = [*robot.forward(first), robot.jacobian(first)]
    robot.forward(second)
    robot.jacobian(second)
    for before, after in zip(kept, results, strict=True):
        np.testing.assert_array_equal(before, after)


@settings(deadline=None, max_examples=60)
@given(
    joint=st.integers(0, 7),
    bad=st.sampled_from([math.nan, math.inf, -math.inf]),
    tip=st.sampled_from(TIPS),
)
def test_values_that_are_not_finite_are_refused_and_named(joint, bad, tip):
    robot = load_robot(*tip)
    q = samples(robot, 1)[0]
    joint %= len(q)
    q[joint] = bad
    for call in (robot.forward, robot.jacobian):
        with pytest.raises(RobotError, match=robot.joint_names[joint]):
            call(q)


def test_wrong_lengths_are_refused():
    robot = load_robot('so101')
    with pytest.raises(RobotError, match=r'\(6,\).*needs \(5,\).*wrist_roll'):
        robot.forward(np.zeros(6))
    with pytest.raises(RobotError, match=r'\(\)'):
        robot.jacobian(0.0)


def test_unknown_robots_and_tips_are_refused_with_what_there_is():
    with pytest.raises(RobotError, match=f'ur5.*{", ".join(ROBOT_NAMES)}'):
        load_robot('ur5')
    with pytest.raises(RobotError, match='nowhere.*gripper_frame_link'):
        load_robot('so101', 'nowhere')
    with pytest.raises(RobotError, match='no joint moves'):
        load_robot('fr3', 'fr3_link0')
    with pytest.raises(RobotError, match='fr3_finger_joint2.*follows.*fr3_finger_joint1'):
        load_robot('fr3', 'fr3_rightfinger')


def test_link_poses_make_the_same_chain():
    robot = load_robot('fr3', 'fr3_leftfinger')
    q = samples(robot, 1)[0]
    poses = robot.link_poses(dict(zip(robot.joint_names, q, strict=True)))
    assert set(poses) == set(robot.links) - {'fr3_link0'}
    for tip in ('fr3_leftfinger', 'fr3_rightfinger'):
        position, rotation, link = np.zeros(3), Rotation.identity(), tip
        while link != 'fr3_link0':
            translation, quaternion = poses[link]
            turn = Rotation.from_quat(quaternion)
            position, rotation = translation + turn.apply(position), turn * rotation
            link = robot.parent_of(link)
        named = {**dict(zip(robot.joint_names, q, strict=True)), 'fr3_finger_joint2': q[-1]}
        np.testing.assert_allclose(
            position, urdf_pose(find_urdf('fr3'), tip, named)[:3, 3], atol=1e-12
        )


def test_urdfs_are_found_in_the_share_folder_of_a_workspace(tmp_path, monkeypatch):
    from frame_ros.core import shared_files

    folder = tmp_path / 'share' / 'frame_ros' / 'urdf'
    folder.mkdir(parents=True)
    (folder / 'so101.urdf').write_text(find_urdf('so101').read_text())
    monkeypatch.setattr(shared_files, 'CHECKOUT', tmp_path / 'lib')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nonexistent:{tmp_path}')
    assert find_urdf('so101') == folder / 'so101.urdf'
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nonexistent')
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    assert find_urdf('so101') == folder / 'so101.urdf'
    with pytest.raises(RobotError, match='looked in'):
        find_urdf('panda')
