# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics: identities, another implementation (MuJoCo), and bad descriptions."""

from __future__ import annotations

import re

import numpy as np
import pytest

from frame_ros.core.errors import RobotError
from frame_ros.robots import find_urdf, load_robot
from frame_ros.robots.dynamics import Payload, RobotDynamics
from frame_ros.robots.link_inertia import link_inertias

ROBOTS = ('so101', 'fr3', 'panda')
STEP = 1e-6


def drawn(dynamics: RobotDynamics, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = len(dynamics.joint_names)
    return rng.uniform(-1, 1, count), rng.standard_normal(count), rng.standard_normal(count)


@pytest.mark.parametrize('name', ROBOTS)
def test_the_equation_of_motion_holds_in_all_its_forms(name):
    dynamics = RobotDynamics(load_robot(name), armature=0.05)
    q, dq, ddq = drawn(dynamics)
    mass, weight, still = dynamics.mass_matrix(q), dynamics.gravity(q), np.zeros_like(q)
    np.testing.assert_allclose(mass, mass.T, atol=1e-14)
    assert (np.linalg.eigvalsh(mass) > 0.0).all()
    coriolis = dynamics.inverse_dynamics(q, dq, still) - weight
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, dq, ddq), mass @ ddq + coriolis + weight, atol=1e-12
    )
    # dM/dt = C + C^T, by a difference along dq.
    ahead, behind = (dynamics.mass_matrix(q + sign * STEP * dq) for sign in (1, -1))
    terms = dynamics.momentum_terms(q, dq)
    turned = terms.drift + weight
    np.testing.assert_allclose((ahead - behind) @ dq / (2 * STEP), coriolis + turned, atol=1e-7)
    np.testing.assert_allclose(terms.momentum, mass @ dq, atol=1e-12)


@pytest.mark.parametrize('name', ROBOTS)
def test_power_goes_into_kinetic_energy_and_weight(name):
    dynamics = RobotDynamics(load_robot(name), armature=0.02)
    q, dq, ddq = drawn(dynamics, 1)
    power = dq @ (dynamics.inverse_dynamics(q, dq, ddq) - dynamics.gravity(q))
    energies = []
    for sign in (1, -1):
        later = dq + sign * STEP * ddq
        energies.append(0.5 * later @ dynamics.mass_matrix(q + sign * STEP * dq) @ later)
    assert (energies[0] - energies[1]) / (2 * STEP) == pytest.approx(power, rel=1e-6)


@pytest.mark.parametrize('name', ROBOTS)
def test_jacobians_of_points_are_derivatives_of_where_they_are(name):
    dynamics = RobotDynamics(load_robot(name))
    q, dq, _ = drawn(dynamics, 2)
    point = np.array([0.1, -0.02, 0.03])
    for link in (dynamics.bodies[2], dynamics.robot.tip_link):
        places = []
        for sign in (1, -1):
            rotation, translation = dynamics.link_pose(link, q + sign * STEP * dq)
            places.append(rotation @ point + translation)
        moved = (places[0] - places[1]) / (2 * STEP)
        np.testing.assert_allclose(
            dynamics.link_jacobian(link, q, point)[:3] @ dq, moved, atol=1e-8
        )
    np.testing.assert_allclose(
        dynamics.link_jacobian(dynamics.robot.tip_link, q), dynamics.robot.jacobian(q), atol=1e-12
    )
    assert not dynamics.link_jacobian(dynamics.robot.base_link, q).any()


@pytest.mark.parametrize('name', ROBOTS)
def test_mujoco_computes_the_same_from_the_same_urdf(name):
    mujoco = pytest.importorskip('mujoco')
    robot = load_robot(name)
    names = list(robot.joint_limits)
    text = re.sub(r'<mujoco>.*?</mujoco>', '', find_urdf(name).read_text(), flags=re.DOTALL)
    text = re.sub(r'<mimic[^>]*/>', '', text)
    spec = mujoco.MjSpec.from_string(
        text.replace(
            '</robot>',
            '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco></robot>',
        )
    )
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # no limits, no contacts
    data = mujoco.MjData(model)
    dynamics = RobotDynamics(robot, names)
    rows = [model.joint(each).dofadr[0] for each in names]
    q, dq, ddq = drawn(dynamics, 3)
    data.qpos[rows], data.qvel[rows] = q, dq
    for follower, (leader, factor, offset) in robot.mimics.items():
        row = model.joint(follower).dofadr[0]
        data.qpos[row] = 0.0  # held there, as by RobotDynamics
        assert leader in names and factor and offset == 0.0
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, dq, np.zeros_like(q)), data.qfrc_bias[rows], atol=1e-4
    )
    data.qacc[:] = 0.0
    data.qacc[rows] = ddq
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, dq, ddq),
        data.qfrc_inverse[rows],
        atol=2e-4,
    )


def test_joints_may_come_in_any_order_and_some_may_be_left_out():
    robot = load_robot('so101')
    plain = RobotDynamics(robot)
    q, dq, ddq = drawn(plain)
    order = [3, 0, 4, 1, 2]
    mixed = RobotDynamics(robot, [plain.joint_names[i] for i in order], armature=0.01)
    expected = plain.inverse_dynamics(q, dq, ddq)[order] + 0.01 * ddq[order]
    np.testing.assert_allclose(
        mixed.inverse_dynamics(q[order], dq[order], ddq[order]), expected, atol=1e-12
    )
    tip = robot.tip_link
    np.testing.assert_allclose(
        mixed.link_jacobian(tip, q[order]), plain.link_jacobian(tip, q)[:, order], atol=1e-12
    )
    terms = mixed.momentum_terms(q[order], dq[order])
    np.testing.assert_allclose(terms.momentum, mixed.mass_matrix(q[order]) @ dq[order], atol=1e-12)
    held = RobotDynamics(robot, ['shoulder_lift'], held={'elbow_flex': 1.0})
    other = np.array([0.0, 0.4, 1.0, 0.0, 0.0])
    assert held.gravity([0.4])[0] == pytest.approx(plain.gravity(other)[1], abs=1e-12)


def test_a_payload_weighs_by_its_lever_and_can_be_put_down():
    dynamics = RobotDynamics(load_robot('so101'))
    q, dq, ddq = drawn(dynamics)
    before = dynamics.inverse_dynamics(q, dq, ddq)
    point = (0.01, 0.0, 0.02)
    dynamics.set_payload(Payload('gripper_frame_link', 0.2, point))
    jacobian = dynamics.link_jacobian('gripper_frame_link', q, point)[:3]
    with_it = dynamics.gravity(q)
    dynamics.set_payload(None)
    np.testing.assert_allclose(
        with_it - dynamics.gravity(q), jacobian.T @ np.array([0, 0, 0.2 * 9.81]), atol=1e-12
    )
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, dq, ddq), before, atol=1e-14)


def test_mass_scales_scale_what_their_body_needs():
    robot = load_robot('so101')
    plain = RobotDynamics(robot)
    inertia = link_inertias(robot)['lower_arm_link']
    half = Payload('lower_arm_link', inertia.mass / 2, inertia.centre_of_mass, inertia.inertia / 2)
    loaded = RobotDynamics(robot, tool=half)
    heavier = RobotDynamics(robot, mass_scales={'lower_arm_link': 1.5})
    q, dq, ddq = drawn(plain)
    expected = loaded.inverse_dynamics(q, dq, ddq)
    np.testing.assert_allclose(heavier.inverse_dynamics(q, dq, ddq), expected, atol=1e-12)
    assert np.abs(expected - plain.inverse_dynamics(q, dq, ddq)).max() > 0.005


def test_what_cannot_be_is_told():
    robot = load_robot('so101')
    with pytest.raises(RobotError, match="no joint 'wheel'"):
        RobotDynamics(robot, ['wheel'])
    with pytest.raises(RobotError, match='each once'):
        RobotDynamics(robot, ['elbow_flex', 'elbow_flex'])
    with pytest.raises(RobotError, match='none may be negative'):
        RobotDynamics(robot, armature=-1.0)
    with pytest.raises(RobotError, match="no link 'tail'"):
        RobotDynamics(robot, tool=Payload('tail', 1.0))
    with pytest.raises(RobotError, match='-1.0 kg'):
        Payload('gripper_link', -1.0)
    massless = re.sub(r'<inertial>.*?</inertial>', '', robot.urdf, flags=re.DOTALL)
    with pytest.raises(RobotError, match='gives no mass to what shoulder_pan moves'):
        RobotDynamics(load_robot(massless))
    bad = robot.urdf.replace('<mass value="0.103"/>', '<mass value="heavy"/>')
    with pytest.raises(RobotError, match='<inertial> of upper_arm_link cannot be read'):
        RobotDynamics(load_robot(bad))
    negative = robot.urdf.replace('izz="0.000142487"', 'izz="-1"')
    assert negative != robot.urdf
    with pytest.raises(RobotError, match='upper_arm_link has an inertia of -1 kg'):
        RobotDynamics(load_robot(negative))
    with pytest.raises(RobotError, match='payload at gripper_link has an inertia of -1 kg'):
        RobotDynamics(robot, tool=Payload('gripper_link', 1.0, inertia=np.diag([1.0, 1.0, -1.0])))
    dynamics = RobotDynamics(robot)
    with pytest.raises(RobotError, match='must be finite'):
        dynamics.gravity([0, 0, np.nan, 0, 0])
    with pytest.raises(RobotError, match=r'needs \(5,\)'):
        dynamics.gravity([0, 0])


def test_a_rod_without_inertia_about_its_axis_may_lie_in_any_direction():
    for angles in np.random.default_rng(5).uniform(-3.0, 3.0, (200, 3)):
        text = ' '.join(map(str, angles))
        rod = (
            '<robot name="r"><link name="a"/><link name="b"><inertial>'
            f'<origin xyz="0 0 0" rpy="{text}"/><mass value="1"/>'
            '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="0"/></inertial></link>'
            '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
        )
        assert RobotDynamics(load_robot(rod)).mass_matrix([0.0]) <= 1.0 + 1e-9
