# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated FR3 against pinocchio's dynamics of its URDF, and against hand-worked loads."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip('mujoco')

from frame_ros.core.errors import RobotError, ShapeError, ValueRangeError
from frame_ros.robots import ROBOT_NAMES, find_urdf, load_robot
from frame_ros.robots.profiles import simulated_robots
from frame_ros.scenes import PickPlaceSimulation, TaskState, scene_robot

FR3 = scene_robot('fr3')
HAND_MASS = 0.6544 + 2 * 0.0291  # kg, hand and fingers in the URDF
CUBE_WEIGHT = FR3.table.cube_mass * 9.81  # N
TURNED = (0.5, -0.3, -0.4, -2.2, 0.6, 2.1, 0.3, 0.02)


@pytest.fixture(scope='module')
def shared():
    return PickPlaceSimulation(robot='fr3')


@pytest.fixture()
def simulation(shared):
    shared.clear_forces()
    shared.reset(0)
    return shared


@pytest.fixture(scope='module')
def dynamics():
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(find_urdf('fr3')))
    data = model.createData()

    def torques(positions, velocities, accelerations):
        """(7,) N m of the arm, by inverse dynamics; both fingers move alike."""
        vectors = []
        for values in (positions, velocities, accelerations):
            vector = np.zeros(model.nv)
            for name, value in zip(FR3.joint_names, values, strict=True):
                vector[model.joints[model.getJointId(name)].idx_v] = value
            vector[model.joints[model.getJointId('fr3_finger_joint2')].idx_v] = values[-1]
            vectors.append(vector)
        return pinocchio.rnea(model, data, *vectors)[:7]

    return torques


def settle(simulation, target, steps=1500):
    simulation.step(target, steps)


def test_there_are_two_robots():
    assert PickPlaceSimulation().robot.name == 'so101'
    with pytest.raises(RobotError, match=f'ur5.*{", ".join(ROBOT_NAMES)}'):
        PickPlaceSimulation(robot='ur5')
    with pytest.raises(ValueRangeError, match=f'panda.*{", ".join(simulated_robots())}'):
        PickPlaceSimulation(robot='panda')


def test_the_seed_gives_the_same_bits(simulation):
    def run():
        simulation.reset(4)
        for index in range(30):
            simulation.step(np.array(FR3.home) + 0.1 * math.sin(index), 1 + index % 7)
        return simulation.data.qpos.tobytes() + np.concatenate(simulation.wrench()).tobytes()

    first = run()
    simulation.reset(5)
    simulation.step(TURNED, 50)
    assert run() == first


def test_gravity_is_compensated(simulation):
    simulation.step(None, 2000)
    joints = simulation.joint_state()
    assert joints.positions == pytest.approx(FR3.home, abs=1e-6)
    settle(simulation, TURNED)
    # What is left is dry friction, within the control's stiffness.
    assert simulation.joint_state().positions == pytest.approx(TURNED, abs=1e-3)
    with pytest.raises(ShapeError, match='fr3_finger_joint1'):
        simulation.step(FR3.home[:7])


def test_the_arm_does_not_overshoot(simulation):
    target = np.array(FR3.home) + 0.1
    target[-1] = 0.04
    highest = np.full(7, -np.inf)
    for _ in range(80):
        simulation.step(target, 10)
        highest = np.maximum(highest, simulation.joint_state().positions[:-1])
    assert (highest < target[:-1] + 0.005).all()
    assert simulation.joint_state().positions[:-1] == pytest.approx(target[:-1], abs=2e-3)


def test_efforts_at_rest_are_the_torques_that_bear_the_links(simulation, dynamics):
    settle(simulation, TURNED)
    joints = simulation.joint_state()
    expected = dynamics(joints.positions, np.zeros(8), np.zeros(8))
    assert np.abs(expected).max() > 10.0
    assert joints.efforts[:-1] == pytest.approx(expected, abs=5e-3)


def test_efforts_in_motion_are_those_of_inverse_dynamics(simulation, dynamics):
    sway = np.array((0.4, 0.2, 0.3, 0.3, 0.5, 0.4, 0.6, 0.0))
    fastest = 0.0
    for index in range(60):
        simulation.step(np.array(FR3.home) + sway * math.sin(index * 0.08), 20)
        joints = simulation.joint_state()
        accelerations = simulation.data.qacc[simulation._dofs]
        expected = dynamics(joints.positions, joints.velocities, accelerations)
        assert joints.efforts[:-1] == pytest.approx(expected, abs=0.01)
        fastest = max(fastest, np.abs(joints.velocities).max())
    assert fastest > 1.0


def test_the_wrench_at_rest_is_the_weight_of_the_hand(simulation):
    settle(simulation, TURNED)
    force, torque = simulation.wrench()
    rotation = simulation.data.body('fr3_hand').xmat.reshape(3, 3)
    # The flange holds the hand up.
    assert rotation @ force == pytest.approx((0.0, 0.0, HAND_MASS * 9.81), abs=1e-3)
    centre = np.zeros(3)
    for link, mass in (
        ('fr3_hand', 0.6544),
        ('fr3_leftfinger', 0.0291),
        ('fr3_rightfinger', 0.0291),
    ):
        centre += mass * simulation.data.body(link).xipos / HAND_MASS
    lever = rotation.T @ (centre - simulation.data.body('fr3_hand').xpos)
    assert torque == pytest.approx(np.cross(lever, force), abs=1e-3)


def test_a_push_shows_as_external_torque_in_efforts_and_at_the_wrist(simulation, dynamics):
    settle(simulation, TURNED)
    before = np.concatenate(simulation.wrench())
    force = np.array((3.0, -5.0, 8.0))
    point = simulation.tip_position() + (0.01, 0.02, 0.0)
    simulation.apply_force('fr3_hand_tcp', point, force)
    simulation.step(None, 1500)
    joints, external = simulation.joint_state(), simulation.external()
    robot = load_robot('fr3', 'tcp')
    contact = next(c for c in simulation.contacts() if c.other == 'applied force')
    lever = contact.position - simulation.tip_position()
    wrench = np.concatenate((force, np.cross(lever, force)))
    assert external.wrench == pytest.approx(wrench, abs=1e-9)
    assert external.torques == pytest.approx(robot.jacobian(joints.positions[:-1]).T @ wrench)
    assert simulation.tip_wrench(external.torques) == pytest.approx(wrench, abs=1e-6)
    # The joints bear the weight and hold against the push.
    weight = dynamics(joints.positions, np.zeros(8), np.zeros(8))
    assert joints.efforts[:-1] == pytest.approx(weight - external.torques, abs=0.01)
    rotation = simulation.data.body('fr3_hand').xmat.reshape(3, 3)
    felt = rotation @ (np.concatenate(simulation.wrench()) - before)[:3]
    assert felt == pytest.approx(-force, abs=0.1)  # the hand has turned a little
    assert (contact.link, contact.force) == ('fr3_hand_tcp', pytest.approx(np.linalg.norm(force)))
    assert not contact.is_expected
    simulation.clear_forces()
    simulation.step(None, 1)
    assert simulation.contacts() == []
    assert not simulation.external().torques.any()


def test_a_push_moves_with_its_link_and_keeps_its_direction(simulation):
    point = simulation.tip_position()
    simulation.apply_force('fr3_link4', simulation.data.body('fr3_link4').xpos, (0.0, 4.0, 0.0))
    for _ in range(20):
        simulation.step(TURNED, 20)
    contact = simulation.contacts()[0]
    assert contact.position == pytest.approx(simulation.data.body('fr3_link4').xpos)
    assert contact.normal == pytest.approx((0.0, 1.0, 0.0))
    assert contact.duration == pytest.approx(0.38)
    assert contact.impulse == pytest.approx(4.0 * 0.38)
    assert not np.allclose(point, simulation.tip_position(), atol=0.05)


def test_what_cannot_be_pushed_is_refused(simulation):
    with pytest.raises(ValueRangeError, match='fr3_link9'):
        simulation.apply_force('fr3_link9', (0, 0, 0), (1, 0, 0))
    with pytest.raises(ValueRangeError, match='nan'):
        simulation.apply_force('fr3_hand', (0, 0, 0), (1, 0, float('nan')))


def test_pressing_on_the_table_shows_in_external_torques(simulation):
    robot = load_robot('fr3', 'tcp')
    above = reach(robot, FR3.home[:7], (0.1, 0.5, 0.05), 1.4)
    into = reach(robot, above, (0.1, 0.5, -0.02), 1.4)
    for share in np.linspace(0.0, 1.0, 30):
        simulation.step(np.append(np.array(FR3.home[:7]) * (1 - share) + above * share, 0.0), 50)
    simulation.step(np.append(into, 0.0), 1000)
    contacts = simulation.contacts()
    assert {c.other for c in contacts} == {'table'}
    assert {c.link for c in contacts} == {'fr3_leftfinger', 'fr3_rightfinger'}
    external = simulation.external()
    assert external.wrench[2] == pytest.approx(sum(c.net_force[2] for c in contacts))
    assert external.wrench[2] > 5.0
    jacobian = robot.jacobian(simulation.joint_state().positions[:-1])
    assert external.torques == pytest.approx(jacobian.T @ external.wrench, abs=0.02)


def reach(robot, start, position, yaw):
    """Joint positions with the hand pointing down at a place, by damped least squares."""
    q = np.array(start)
    wanted = Rotation.from_euler('z', yaw) * Rotation.from_euler('x', math.pi)
    for _ in range(60):
        place, quaternion = robot.forward(q)
        turn = (wanted * Rotation.from_quat(quaternion).inv()).as_rotvec()
        error = np.concatenate((np.array(position) - place, turn))
        jacobian = robot.jacobian(q)
        q = q + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
    return q


def test_the_cube_is_grasped_carried_and_put_into_the_bin(simulation):
    robot = load_robot('fr3', 'tcp')
    target, goal = simulation.layout.target, simulation.layout.bin
    cube = np.array(target.position)
    above = reach(robot, FR3.home[:7], cube + (0, 0, 0.1), target.yaw)
    at = reach(robot, above, cube, target.yaw)
    over = reach(robot, FR3.home[:7], (*goal.position[:2], 0.16), goal.yaw)
    path = [(FR3.home[:7], above, 0.04, 60), (above, at, 0.04, 40), (at, at, 0.0, 30),
            (at, above, 0.0, 40)]  # fmt: skip
    follow(simulation, path)
    assert {(c.link, c.other, c.is_expected) for c in simulation.contacts()} == {
        ('fr3_leftfinger', 'cube', True),
        ('fr3_rightfinger', 'cube', True),
    }
    simulation.step(None, 500)
    assert simulation.object_pose()[2] > 0.1
    assert simulation.external().wrench[:3] == pytest.approx((0, 0, -CUBE_WEIGHT), abs=0.02)
    assert np.linalg.norm(simulation.wrench()[0]) == pytest.approx(
        HAND_MASS * 9.81 + CUBE_WEIGHT, abs=0.02
    )
    follow(simulation, [(above, over, 0.0, 70), (over, over, 0.04, 60)])
    assert simulation.task_state is TaskState.SUCCESS


def follow(simulation, path):
    for start, end, gripper, count in path:
        for share in np.linspace(0.0, 1.0, count):
            smooth = share * share * (3 - 2 * share)
            joints = np.array(start) * (1 - smooth) + np.array(end) * smooth
            simulation.step(np.append(joints, gripper), 20)


def test_the_fingers_move_together(simulation):
    settle(simulation, (*FR3.home[:7], 0.01), 800)
    fingers = [simulation.data.joint(f'fr3_finger_joint{i}').qpos[0] for i in (1, 2)]
    assert fingers[0] == pytest.approx(0.01, abs=1e-3)
    assert fingers[1] == pytest.approx(fingers[0], abs=1e-5)


def test_single_steps_and_many_at_once_agree(simulation):
    simulation.step(TURNED, 60)
    many = simulation.data.qpos.copy()
    simulation.reset(0)
    simulation.step(TURNED, 1)
    for _ in range(59):
        simulation.step(None, 1)
    assert simulation.data.qpos == pytest.approx(many, abs=1e-9)
    assert simulation.time == pytest.approx(0.06)
