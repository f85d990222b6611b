# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The exciting motion keeps to its limits, above the table, and begins and ends at rest."""

from __future__ import annotations

import numpy as np
import pytest
from turning_arm import kinova

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.robots import find_urdf, load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.shapes.clearance import ClearanceCheck
from frame_ros.sensing.contact.identification_options import ExcitationOptions
from frame_ros.sensing.contact.joints.fitting.excitation import (
    plan_excitation,
    plan_poses,
)

STARTS = {
    'so101': [0.0, -1.35, 1.25, 0.85, 0.0],
    'fr3': [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785],
}
RATE = 50.0


@pytest.fixture(scope='module', params=STARTS)
def planned(request):
    dynamics = RobotDynamics(load_robot(request.param))
    settings = ExcitationOptions(candidates=3)
    return dynamics, plan_excitation(dynamics, np.array(STARTS[request.param]), settings)


def test_it_keeps_to_limits_and_clear_of_the_table(planned):
    dynamics, excitation = planned
    settings, robot = excitation.settings, dynamics.robot
    positions = excitation.positions(RATE)
    limits = np.array([robot.joint_limits[name] for name in dynamics.joint_names])
    assert (positions >= limits[:, 0]).all() and (positions <= limits[:, 1]).all()
    phases = np.linspace(0.0, 1.0, 2000)
    _, dq, ddq = excitation.series.at(phases)
    assert np.abs(dq).max() <= settings.fastest * 1.001
    assert np.abs(ddq).max() <= settings.acceleration * 1.001
    check = ClearanceCheck(robot, dynamics.joint_names)
    least = check.at(excitation.start).floor.clip(max=settings.clearance) - 0.01
    floors = np.array([check.at(q).floor for q in positions[::20]])
    assert (floors >= least).all()


def test_it_begins_and_ends_at_rest_where_the_arm_is(planned):
    dynamics, excitation = planned
    positions = excitation.positions(RATE)
    np.testing.assert_array_equal(positions[-1], excitation.start)
    assert np.abs(positions[0] - excitation.start).max() < 1e-3
    q, dq, ddq = excitation.series.at(np.array([0.0, 1.0]))
    np.testing.assert_allclose(q[0], q[1], atol=1e-12)
    np.testing.assert_allclose(dq, 0.0, atol=1e-12)
    np.testing.assert_allclose(ddq, 0.0, atol=1e-10)


def test_its_velocities_are_the_derivatives_of_its_positions(planned):
    _, excitation = planned
    phases = np.linspace(0.0, 1.0, 4001)
    q, dq, ddq = excitation.series.at(phases)
    times = phases * excitation.series.period
    np.testing.assert_allclose(np.gradient(q, times, axis=0)[5:-5], dq[5:-5], atol=1e-4)
    np.testing.assert_allclose(np.gradient(dq, times, axis=0)[5:-5], ddq[5:-5], atol=1e-3)


def test_half_the_speed_takes_twice_the_time(planned):
    _, excitation = planned
    full, slow = (len(excitation.positions(RATE, scale)) for scale in (1.0, 0.5))
    assert 1.7 < slow / full < 2.0  # the pauses stay
    with pytest.raises(ValueRangeError, match='scale is 0'):
        excitation.positions(RATE, 0.0)


def test_more_candidates_are_at_least_as_good():
    dynamics = RobotDynamics(load_robot('so101'))
    start = np.array(STARTS['so101'])
    told = []
    best = plan_excitation(
        dynamics, start, ExcitationOptions(candidates=4), lambda *row: told.append(row)
    )
    assert [number for number, _ in told] == [1, 2, 3, 4]
    conditions = [condition for _, condition in told]
    assert conditions == sorted(conditions, reverse=True) and conditions[-1] == best.condition
    assert best.condition < 20.0


def test_poses_are_reached_one_after_the_other():
    dynamics = RobotDynamics(load_robot('so101'))
    tour = plan_poses(dynamics, np.array(STARTS['so101']), ExcitationOptions(candidates=4), 6)
    assert tour.poses.shape == (6, 5)
    others = np.vstack([tour.start, tour.poses])
    apart = np.abs(others[:, None] - others[None]).max(axis=2)
    assert (apart[~np.eye(7, dtype=bool)] >= 0.3).all()
    positions = tour.positions(RATE, 1.0, 2.0)
    still = (np.diff(positions, axis=0) == 0.0).all(axis=1)
    assert still.sum() >= 6 * 2.0 * RATE
    np.testing.assert_array_equal(positions[-1], tour.start)


def test_the_clearance_of_a_box_is_that_of_its_lowest_corner():
    robot = load_robot('so101')
    check = ClearanceCheck(robot, robot.joint_names)
    rng = np.random.default_rng(0)
    from frame_ros.robots.link_frames import LinkFrames

    frames = LinkFrames(robot, robot.joint_names)
    for q in rng.uniform(-1.0, 1.0, (10, 5)):
        rotations, translations = frames.compute(q)
        for link, floor in zip(check.links, check.at(q).floor, strict=True):
            row = frames.index(link)
            corners = [
                rotations[row] @ (shape.translation + shape.rotation @ (0.5 * signs * shape.size))
                + translations[row]
                for shape in robot.collision_geometry[link]
                for signs in np.array(np.meshgrid(*[[-1, 1]] * 3)).T.reshape(-1, 3)
            ]
            assert floor == pytest.approx(min(corner[2] for corner in corners), abs=1e-12)


def test_where_nothing_is_possible_it_says_so():
    dynamics = RobotDynamics(load_robot('so101'))
    start = np.array(STARTS['so101'])
    with pytest.raises(RobotError, match='outside of the limits'):
        plan_excitation(dynamics, start + 5.0)
    with pytest.raises(RobotError, match='one position of each joint'):
        plan_excitation(dynamics, start[:3])
    with pytest.raises(ValueRangeError, match='harmonics'):
        ExcitationOptions(harmonics=1)
    with pytest.raises(ValueRangeError, match='range_share'):
        ExcitationOptions(range_share=1.5)


@pytest.mark.parametrize('turns', [-2, 0, 1])
def test_a_joint_without_limits_moves_about_the_turn_that_it_is_in(turns):
    text = find_urdf('fr3').read_text()
    text = text.replace('name="fr3_joint1" type="revolute"', 'name="fr3_joint1" type="continuous"')
    dynamics = RobotDynamics(load_robot(text, 'fr3_link8'))
    start = np.array(STARTS['fr3']) + [2.0 * np.pi * turns, 0, 0, 0, 0, 0, 0]
    settings = ExcitationOptions(candidates=1)
    positions = plan_excitation(dynamics, start, settings).positions(RATE)
    np.testing.assert_allclose(positions[0], start, atol=1e-3)
    assert np.abs(positions[:, 0] - start[0]).max() <= np.pi + 1e-3
    assert np.ptp(positions[:, 0]) > 0.5


JACO = np.array([0.0, 3.6, 1.6, 0.5, 2.2, 3.0])


def jaco() -> RobotDynamics:
    """An arm of others: joints with limits beyond half a turn, or none, that go 0.63 rad/s."""
    return RobotDynamics(load_robot(str(kinova())))


def test_joints_may_have_their_limits_beyond_half_a_turn():
    dynamics = jaco()
    excitation = plan_excitation(dynamics, JACO, ExcitationOptions(candidates=2))
    limits = np.array([dynamics.robot.joint_limits[name] for name in dynamics.joint_names])
    positions = excitation.positions(RATE)
    assert (positions >= limits[:, 0]).all() and (positions <= limits[:, 1]).all()
    assert positions[:, 1].max() > np.pi + 0.2
    # Of a joint that turns further than once, the turn that it is in is used.
    away = JACO + [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * np.pi]
    turned = plan_excitation(dynamics, away, ExcitationOptions(candidates=2)).positions(RATE)
    np.testing.assert_allclose(turned[:, 5], positions[:, 5] + 2.0 * np.pi, atol=1e-9)
    with pytest.raises(RobotError, match=r'limits \(rad\): j2s6s200_joint_2 at 0\.20, 0\.82 to'):
        plan_excitation(dynamics, np.array([0.0, 0.2, 1.6, 0.5, 2.2, 3.0]))


def test_no_joint_is_faster_than_its_robot_allows(tmp_path):
    (tmp_path / 'jaco.yaml').write_text(
        f'urdf: {kinova()}\nrates: {{j2s6s200_joint_1: {{acceleration: 0.4}}}}\n'
    )
    dynamics = RobotDynamics(load_robot(str(tmp_path / 'jaco.yaml')))
    fastest = dynamics.robot.velocity_limits
    settings = ExcitationOptions(candidates=2)
    excitation = plan_excitation(dynamics, JACO, settings)
    _, dq, ddq = excitation.series.at(np.linspace(0.0, 1.0, 4000))
    assert fastest.max() < settings.fastest
    assert (np.abs(dq).max(axis=0) <= 1.002 * fastest).all()
    assert np.abs(ddq[:, 0]).max() <= 0.4 * 1.001
    assert np.abs(ddq).max() <= settings.acceleration
    # It goes as far as a fast arm, so that it shows as much, and takes longer.
    assert np.ptp(excitation.positions(RATE), axis=0).min() > 0.9
    assert excitation.series.period > settings.period
    tour = plan_poses(dynamics, JACO, settings, 4).positions(RATE, 1.0, 2.0)
    assert (np.abs(np.diff(tour, axis=0)).max(axis=0) * RATE <= 1.01 * fastest).all()
    assert np.abs(np.diff(tour[:, 0], 2)).max() * RATE**2 <= 0.4 * 1.05
