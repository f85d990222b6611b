# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Gears that stick and slip, against hand-worked cases of one joint of 0.05 kg m^2."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.simulation.gear_friction import (
    DRY008,
    FRICTION_SETS,
    ID004,
    ID008,
    SAGE,
    StickSlip,
    friction_scales,
    friction_set,
)

STEP, INERTIA = 0.002, 0.05


def moved(gear, torque, seconds=1.0, motor=0.0, gears=None, velocity=0.0):
    """Position rad, speed rad/s after a torque N m that has risen over the first 0.3 s, and the
    gears; gears given have borne it before.
    """
    rise = 0.0 if gears else 0.3
    gears = gears or StickSlip(gear, np.ones(1))
    place = 0.0
    for row in range(round(seconds / STEP)):
        friction = gears.step(np.array([velocity]), np.array([motor]), STEP)[0]
        now = torque * min(1.0, row * STEP / rise) if rise else torque
        velocity += STEP * (now + friction) / INERTIA
        place += STEP * velocity
    return place, velocity, gears


def test_limits_are_those_of_the_fits():
    gears = StickSlip(ID004, np.ones(2))
    rest = gears.limit(np.zeros(2), np.array([0.0, 1.0]))
    np.testing.assert_allclose(rest, [0.084, 0.084 + 0.289 + 0.299])
    fast = gears.limit(np.full(2, 5.0), np.array([0.0, -1.0]))
    np.testing.assert_allclose(fast, [1e-4, 0.289], atol=1e-3)
    half = StickSlip(ID008, np.array([0.5])).limit(np.zeros(1), np.array([2.0]))
    np.testing.assert_allclose(half, 0.5 * (0.0379 + 0.0684 + 2.0 * (0.198 + 0.0374)))


@pytest.mark.parametrize(('share', 'breaks'), [(0.9, False), (1.1, True)])
@pytest.mark.parametrize('motor', [0.0, 1.0])
def test_a_joint_holds_below_stiction_and_breaks_away_above(share, breaks, motor):
    limit = StickSlip(ID004, np.ones(1)).limit(np.zeros(1), np.array([motor]))[0]
    place, velocity, gears = moved(ID004, share * limit, motor=motor)
    if breaks:
        assert place > 0.1 and velocity > 0.1
    else:
        # It gives by the torque over the stiffness and a little more, and does not creep.
        assert share * limit / 800.0 < place < 1.5 * share * limit / 800.0
        assert abs(velocity) < 1e-6
        assert gears.bristles[0] == pytest.approx(share * limit, rel=0.01)
        later, _, _ = moved(ID004, share * limit, 5.0, motor, gears)
        assert abs(later) < 1e-5


def test_a_sliding_joint_stops_and_keeps_what_it_holds():
    gears = StickSlip(DRY008, np.ones(1))
    place, velocity, _ = moved(DRY008, 0.0, gears=gears, velocity=1.0)
    # 0.198 N m and more, of 0.05 kg m^2 and 1 rad/s: at most 0.25 s and 0.126 rad.
    assert 0.05 < place < 0.126
    assert abs(velocity) < 1e-3


def test_a_standing_servo_hides_a_push_within_its_stiction():
    """Neither position nor motor torque of a proportional control changes; above they do."""
    servo, gears = ID008.servo(), StickSlip(ID008, np.ones(1))
    assert servo.stiffness == pytest.approx(16 * 0.165 * 12.1 * 2.5 / 4.499)
    place, velocity, steps = 0.0, 0.0, []
    for push in (0.0, 0.09, 0.4):
        for _ in range(500):
            motor = -servo.stiffness * place - servo.damping * velocity
            friction = gears.step(np.array([velocity]), np.array([motor]), STEP)[0]
            velocity += STEP * (motor + push + friction) / INERTIA
            place += STEP * velocity
        steps.append(round(place / (2.0 * np.pi / 4096)))
    assert steps[:2] == [0, 0]
    assert steps[2] >= 5


def test_the_recorded_arm_bears_its_links_by_friction_alone():
    servo, gears = SAGE.servo(), StickSlip(SAGE, np.ones(1))
    # N m/rad, and the data sheet's 2.94 N m with what friction takes.
    assert servo.stiffness == pytest.approx(12.5, rel=0.001)
    assert servo.torque - 0.0641 - 0.572 * 2.94 == pytest.approx(2.94, rel=0.03)
    assert servo.damping == pytest.approx(4.645 / 5.02)
    place, velocity, weight = 0.0, 0.0, 0.25
    for _ in range(1000):
        motor = -servo.stiffness * place - servo.damping * velocity
        friction = gears.step(np.array([velocity]), np.array([motor]), STEP, np.array([weight]))[0]
        velocity += STEP * (motor + weight + friction) / INERTIA
        place += STEP * velocity
    assert place < 0.003 and gears.bristles[0] == pytest.approx(weight, rel=0.03)
    assert gears.limit(np.zeros(1), np.zeros(1))[0] == pytest.approx(0.1538 + 0.572 * weight)
    gears.step(np.zeros(1), np.zeros(1), STEP)
    assert gears.limit(np.zeros(1), np.zeros(1))[0] == pytest.approx(0.1538)


def test_the_arm_exerts_weight_and_pushes_on_its_gears():
    pytest.importorskip('mujoco')
    from frame_ros.robots import load_robot
    from frame_ros.robots.dynamics import RobotDynamics
    from frame_ros.scenes import PickPlaceSimulation

    scene, given = PickPlaceSimulation(friction='sage'), []
    step = scene.gears.step
    scene.gears.step = lambda *each: given.append(each[3].copy()) or step(*each)
    scene.step(None, 250)
    dynamics = RobotDynamics(load_robot('so101'))
    weight = dynamics.gravity(scene.joint_state().positions[:5])
    np.testing.assert_allclose(given[-1], weight, atol=0.01)
    assert abs(scene.gears.bristles[2]) > 0.8 * abs(weight[2]) > 0.3  # the elbow's gear bears it
    scene.apply_force(scene.robot.tip_link, scene.tip_position(), (0.0, 0.0, -3.0))
    before = given[-1]
    scene.step(None, 3)
    pushed = scene.external().torques
    np.testing.assert_allclose(given[-1] - before, -pushed, atol=0.02)


def test_arms_differ_by_seed_and_unknown_sets_are_refused():
    one, other = friction_scales(5, 0), friction_scales(5, 1)
    assert (one != other).all() and (np.abs(one - 1.0) <= 0.3).all()
    assert set(FRICTION_SETS) == {'id004', 'id008', 'dry004', 'dry008', 'sage'}
    with pytest.raises(ValueRangeError, match='known: id004'):
        friction_set('id005')


def test_the_scene_has_the_servos_of_the_set():
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    scene = PickPlaceSimulation(friction='id004')
    assert scene.robot.servos[0] == ID004.servo()
    assert scene.robot.servos[-1] == PickPlaceSimulation().robot.servos[-1]
    scene.step(None, 250)
    first = scene.joint_state().positions
    scene.step(None, 50)
    assert np.abs(scene.joint_state().positions - first)[:5].max() < 1e-4
    link, tip = scene.robot.tip_link, scene.tip_position()
    scene.apply_force(link, tip, (0.0, 0.1, 0.0))
    scene.step(None, 250)
    # 0.1 N at 0.2 m: a joint that stands holds it.
    assert np.abs(scene.joint_state().positions - first)[:5].max() < 1e-3
    with pytest.raises(ValueRangeError, match='measures torque behind'):
        PickPlaceSimulation(robot='fr3', friction='id004')
