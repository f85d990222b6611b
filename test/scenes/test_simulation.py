# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated arm and what is true about it, against hand-worked values."""

import itertools

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.scenes import JOINT_NAMES, PickPlaceSimulation, TaskState
from frame_ros.scenes.simulation.simulation import HOME

OVER_TABLE = (1.6, 0.2, 0.0, 1.2, 0.0, 0.3)  # turned away from all things, fingers down, some cm up
INTO_TABLE = (1.6, 0.75, 0.0, 1.2, 0.0, 0.3)


@pytest.fixture(scope='module')
def shared():
    return PickPlaceSimulation()


@pytest.fixture()
def simulation(shared):
    shared.reset(0)
    return shared


def trajectory(simulation, seed):
    simulation.reset(seed)
    rows = []
    for target in (OVER_TABLE, INTO_TABLE, HOME):
        for _ in range(20):
            simulation.step(target)
            rows.append(simulation.data.qpos.copy())
    return np.array(rows)


def place_cube(simulation, position):
    address = simulation.model.joint('cube_free').qposadr[0]
    simulation.data.qpos[address : address + 3] = position


def test_the_same_seed_gives_the_same_bits_even_after_another(simulation):
    first = trajectory(simulation, 5)
    other = trajectory(simulation, 6)
    again = trajectory(simulation, 5)
    assert first.tobytes() == again.tobytes()
    assert not np.array_equal(first[0], other[0])
    assert trajectory(PickPlaceSimulation(seed=9), 5).tobytes() == first.tobytes()


def test_the_arm_goes_where_it_is_told_and_the_kinematics_agree(simulation):
    for _ in range(100):
        simulation.step(OVER_TABLE)
    joints = simulation.joint_state()
    assert np.abs(joints.positions - OVER_TABLE).max() < 0.03
    assert np.abs(joints.velocities).max() < 0.01
    robot = load_robot('so101')
    arm = [joints.positions[JOINT_NAMES.index(name)] for name in robot.joint_names]
    assert simulation.tip_position() == pytest.approx(robot.forward(arm)[0], abs=1e-6)


def test_targets_stay_when_none_come_and_are_clipped_to_the_limits(simulation):
    simulation.step(OVER_TABLE)
    simulation.step()
    assert simulation.targets == pytest.approx(OVER_TABLE)
    simulation.step(np.full(6, 9.0))
    assert simulation.targets == pytest.approx(simulation.upper)


def test_bad_targets_are_refused(simulation):
    with pytest.raises(ShapeError, match='6|shoulder_pan'):
        simulation.step([0.0] * 5)
    with pytest.raises(ValueRangeError, match='nan'):
        simulation.step([0.0] * 5 + [float('nan')])


def test_a_timestep_out_of_range_is_refused():
    with pytest.raises(ValueRangeError, match='timestep'):
        PickPlaceSimulation(timestep=0.1)


def test_the_wrench_at_rest_is_the_weight_of_the_gripper(simulation):
    for _ in range(100):
        simulation.step(HOME)
    weight = (0.087 + 0.012) * 9.81  # gripper_link and the moving jaw, from the URDF
    force, torque = simulation.wrench()
    assert np.linalg.norm(force) == pytest.approx(weight, rel=1e-2)
    assert 0 < np.linalg.norm(torque) < weight * 0.1


def test_efforts_at_rest_balance_gravity(simulation):
    """The servo's torque is minus the gradient of the arm's potential energy, but for friction."""
    for _ in range(150):
        simulation.step(OVER_TABLE)
    assert simulation.joint_state().efforts == pytest.approx(gravity_torques(simulation), abs=0.06)


def gravity_torques(simulation):
    import pinocchio

    model = pinocchio.buildModelFromXML(load_robot('so101').urdf)
    q = np.zeros(model.nq)
    positions = simulation.joint_state().positions
    indices = [model.joints[model.getJointId(name)].idx_q for name in JOINT_NAMES]
    q[indices] = positions
    torques = pinocchio.computeGeneralizedGravity(model, model.createData(), q)
    return torques[indices]


def test_pressing_on_the_table_is_a_collision(simulation):
    for _ in range(60):
        simulation.step(OVER_TABLE)
    assert simulation.contacts() == []
    assert simulation.distance().distance > 0.01
    for _ in range(60):
        simulation.step(INTO_TABLE)
        simulation.contacts()
    pressed = [contact for contact in simulation.contacts() if contact.other == 'table']
    assert {contact.link for contact in pressed} <= {'gripper_link', 'moving_jaw_so101_v1_link'}
    assert pressed
    for contact in pressed:
        assert not contact.is_expected
        assert 'table' in contact.reason
        assert contact.normal == pytest.approx((0, 0, 1), abs=1e-6)
        assert abs(contact.position[2]) < 1e-3
        assert contact.net_force[2] == pytest.approx(contact.force, rel=1e-6)
        assert contact.duration > 0.2
        assert contact.impulse > 0.5 * contact.force * 0.2
    assert simulation.distance().distance == pytest.approx(0.0, abs=1e-3)


def lowest_corner(simulation, link):
    """The least height of the corners of a link's collision boxes: its distance to the table."""
    model, data = simulation.model, simulation.data
    body = model.body(link).id
    heights = []
    for geom in np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype > 0)):
        corners = np.array(list(itertools.product((-1, 1), repeat=3))) * model.geom_size[geom]
        heights.append(
            (corners @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])[:, 2]
        )
    return np.min(heights)


def test_distances_to_the_table_match_the_lowest_corners(simulation):
    rng = np.random.default_rng(0)
    seen = 0
    for _ in range(40):
        set_posture(simulation, rng.uniform(0.6 * simulation.lower, 0.6 * simulation.upper))
        least = simulation.distance()
        heights = {link: lowest_corner(simulation, link) for link in simulation.robot.watched_links}
        if min(heights.values()) < 0.002:
            continue
        for link, height in heights.items():
            assert least.link_distances[link] <= height + 1e-6
        assert least.distance == min(least.link_distances.values())
        if least.obstacle == 'table':
            seen += 1
            assert least.distance == pytest.approx(heights[least.link], abs=1e-6)
            assert least.point_on_obstacle[2] == pytest.approx(0, abs=1e-6)
            gap = least.point_on_robot - least.point_on_obstacle
            assert np.linalg.norm(gap) == pytest.approx(least.distance, abs=1e-6)
    assert seen > 5


def set_posture(simulation, positions):
    import mujoco

    for name, position in zip(JOINT_NAMES, positions, strict=True):
        simulation.data.joint(name).qpos[0] = position
    mujoco.mj_forward(simulation.model, simulation.data)


def test_pruning_the_distances_changes_nothing(simulation):
    import mujoco

    model, data = simulation.model, simulation.data
    rng = np.random.default_rng(1)
    obstacles = [model.body(name).id for name in ('table', 'bin', 'can', 'block')]
    solid = np.flatnonzero(model.geom_contype > 0)
    for _ in range(15):
        set_posture(simulation, rng.uniform(simulation.lower, simulation.upper))
        for link, distance in simulation.distance().link_distances.items():
            own = [g for g in solid if model.geom_bodyid[g] == model.body(link).id]
            others = [g for g in solid if model.geom_bodyid[g] in obstacles]
            all_pairs = [
                mujoco.mj_geomDistance(model, data, a, b, 9.0, None) for a in own for b in others
            ]
            assert distance == pytest.approx(max(min(all_pairs), 0.0), abs=1e-6)


def test_the_cube_is_no_obstacle(simulation):
    for _ in range(60):
        simulation.step(OVER_TABLE)
    before = simulation.distance()
    place_cube(simulation, simulation.tip_position() + (0.0, 0.1, 0.0))
    set_posture(simulation, simulation.joint_state().positions)
    assert simulation.distance().distance == before.distance


def test_a_cube_at_rest_in_the_bin_is_success_only_after_a_while(simulation):
    place_cube(simulation, simulation.goal_pose()[:3] + (0.0, 0.0, 0.02))
    simulation.step()
    assert simulation.task_state is TaskState.RUNNING
    for _ in range(60):
        simulation.step()
    assert simulation.task_state is TaskState.SUCCESS
    simulation.restart_task()
    assert simulation.task_state is TaskState.RUNNING


@pytest.mark.parametrize('offset', [(0.0, 0.0, 0.08), (0.07, 0.0, 0.03)])
def test_a_cube_over_or_beside_the_bin_is_no_success(simulation, offset):
    place_cube(simulation, simulation.goal_pose()[:3] + offset)
    simulation.step()
    assert simulation.task_state is TaskState.RUNNING


def test_a_cube_off_the_table_is_failure_and_stays_so(simulation):
    place_cube(simulation, (0.3, 0.47, 0.02))
    for _ in range(40):
        simulation.step()
    assert simulation.task_state is TaskState.FAILURE
    place_cube(simulation, simulation.goal_pose()[:3] + (0.0, 0.0, 0.02))
    for _ in range(60):
        simulation.step()
    assert simulation.task_state is TaskState.FAILURE


def test_poses_are_those_of_the_layout(simulation):
    layout = simulation.layout
    assert simulation.object_pose()[:3] == pytest.approx(layout.target.position)
    assert simulation.goal_pose()[:2] == pytest.approx(layout.bin.position[:2])
    x, y, z, w = simulation.object_pose()[3:]
    assert (x, y) == pytest.approx((0, 0))
    assert 2 * np.arctan2(z, w) == pytest.approx(layout.target.yaw)


def test_a_push_on_the_arm_is_a_contact_and_shows_in_external_torques(simulation):
    simulation.step(OVER_TABLE, 400)
    force = np.array((0.0, 2.0, 3.0))
    simulation.apply_force('gripper_frame_link', simulation.tip_position(), force)
    simulation.step(None, 400)
    joints, external = simulation.joint_state(), simulation.external()
    contact = simulation.contacts()[0]
    assert (contact.link, contact.other) == ('gripper_frame_link', 'applied force')
    assert contact.net_force == pytest.approx(force)
    arm = joints.positions[:-1]
    jacobian = load_robot('so101').jacobian(arm)
    assert external.torques == pytest.approx(jacobian[:3].T @ force, abs=1e-9)
    assert external.wrench == pytest.approx((*force, 0.0, 0.0, 0.0), abs=1e-9)
    # The servos bear what is left: the weight, less the push.
    weight = gravity_torques(simulation)[:-1]
    assert joints.efforts[:-1] == pytest.approx(weight - external.torques, abs=0.06)
    simulation.reset(0)
    assert simulation.contacts() == []
