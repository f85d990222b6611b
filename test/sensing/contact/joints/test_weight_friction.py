# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Gears that lose by what holds the links: found from a motion, held while a joint stands, kept in
a file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import efforts_of, swing

from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.fitting import identification
from frame_ros.sensing.contact.joints.fitting.breakaway import FEWEST, friction_at_rest
from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.motor_model import MotorModel, load_motors, save_motors
from frame_ros.sensing.contact.joints.sticking import BAND, StickingFriction

NAMES = load_robot('so101').joint_names
LIFT, ELBOW, WRIST = 1, 2, 3
SHARE = 0.8
TRUE = MotorModel(
    'so101',
    NAMES,
    effort_scale=np.full(5, 1.2),
    coulomb=np.full(5, 0.08),
    viscous=np.full(5, 0.1),
    weight_friction=np.full(5, SHARE),
    armature=np.full(5, 0.02),
    presliding=0.006,
)


def recorded(motors: MotorModel, size: float = 0.6, seconds: float = 40.0) -> JointRecording:
    times = np.arange(round(seconds * 50.0)) / 50.0
    motion = swing(times, size)
    efforts = efforts_of(RobotDynamics(load_robot('so101'), armature=TRUE.armature), motors, motion)
    efforts += 0.004 * np.random.default_rng(0).standard_normal(efforts.shape)
    if motors.is_supply_current:
        # Of a motor without back EMF the supply's current goes with the square.
        efforts = np.sign(efforts) * efforts**2
    stamps = 10**9 + np.rint(times * 1e9).astype(np.int64)
    return JointRecording(NAMES, stamps, motion[0], motion[1], efforts)


def identified(recording: JointRecording, kind: str = 'motor') -> MotorModel:
    settings = IdentificationOptions(effort_kind=kind)
    return identify_joints(RobotDynamics(load_robot('so101')), recording, settings).motors


def test_losses_by_weight_are_found_where_the_motor_hardly_ever_brakes():
    motors = identified(recorded(TRUE))
    bearing = [LIFT, ELBOW, WRIST]
    np.testing.assert_allclose(motors.weight_friction[bearing], SHARE, atol=0.06)
    np.testing.assert_allclose(motors.coulomb[bearing], 0.08, atol=0.03)
    np.testing.assert_allclose(motors.effort_scale[bearing], 1.2, rtol=0.04)
    assert not motors.load_friction.any() and not motors.load_rest.any()
    # Pan and roll bear nothing: gears of one arm are of one kind.
    assert motors.weight_friction[0] == pytest.approx(SHARE, abs=0.06)


def test_losses_by_the_motors_torque_are_no_losses_by_weight():
    # With little other friction the motor brakes, and shows which of the two it is.
    true = replace(
        TRUE, weight_friction=np.zeros(5), load_friction=np.full(5, 0.25),
        coulomb=np.full(5, 0.02), viscous=np.full(5, 0.02),
    )  # fmt: skip
    motors = identified(recorded(true))
    assert not motors.weight_friction.any() and not motors.weight_rest.any()
    np.testing.assert_allclose(motors.load_friction[[LIFT, ELBOW]], 0.25, atol=0.04)


def test_the_same_motion_leaves_several_times_as_much_without_the_term(monkeypatch):
    recording = recorded(TRUE)
    own = identified(recording)
    monkeypatch.setattr(identification, 'CLEARLY_BETTER', 0.0)
    without = identified(recording)
    assert own.weight_friction.any() and not without.weight_friction.any()
    assert own.residual_rms[LIFT] < 0.4 * without.residual_rms[LIFT]
    assert own.threshold_base[LIFT] < 0.5 * without.threshold_base[LIFT]


def test_a_gear_that_bears_its_links_is_known_to_hold_them():
    without = replace(TRUE, weight_friction=np.zeros(5))
    held = StickingFriction(TRUE, 15.0), StickingFriction(without, 15.0)
    assert standing(held[0], 0.0, 0.5) == pytest.approx(-0.5)
    assert standing(held[1], 0.0, 0.5) == pytest.approx(-BAND * 0.08)


def standing(friction: StickingFriction, motor: float, weight: float) -> float:
    """Returns N m that the lift's gear is taken to hold of its links' weight."""
    zeros, motors, links = np.zeros(5), np.zeros(5), np.zeros(5)
    motors[LIFT], links[LIFT] = motor, weight
    friction.update(zeros, zeros, motors, links, zeros, np.nan)
    return float(friction.update(zeros, zeros, motors, links, zeros, 0.02)[LIFT])


def test_a_gear_that_bears_its_links_holds_more_the_more_they_weigh():
    motors = replace(TRUE, rest=np.full(5, 0.1), weight_rest=np.full(5, 0.9))
    friction = StickingFriction(motors, 15.0)
    standing(friction, 0.0, 0.5)
    assert friction.limit[LIFT] == pytest.approx(BAND * (0.1 + 0.9 * 0.5))
    assert friction.limit[0] == pytest.approx(BAND * 0.1)


class Weights:
    """Of one joint in several postures."""

    def gravity(self, q):
        return np.array([0.2 + 0.1 * np.floor(q[0] + 1e-9)])


@pytest.mark.parametrize('way', [1.0, -1.0])
def test_what_it_holds_at_rest_is_found_from_its_breaking_away(way):
    share, rest = 0.6, 0.15
    motors = MotorModel('arm', ('joint',), effort_scale=np.ones(1), weight_friction=np.ones(1))
    rows, efforts = [], []
    for posture in range(FEWEST + 1):
        at = posture if way > 0.0 else FEWEST - posture
        weight = 0.2 + 0.1 * at
        breaks = weight + way * (rest + share * weight)
        rows += [[float(at)]] * 50
        efforts += [[weight + part * (breaks - weight)] for part in np.linspace(0.0, 1.0, 50)]
    stamps = 10**9 + 20_000_000 * np.arange(len(rows))
    recording = JointRecording(('joint',), stamps, np.array(rows), None, np.array(efforts))
    found = friction_at_rest(motors, Weights(), recording, [True], 0.25)
    assert found['rest'][0] == pytest.approx(rest, abs=1e-6)
    assert found['weight_rest'][0] == pytest.approx(share, abs=1e-6)
    assert 'load_rest' not in found


def test_the_terms_come_back_from_a_file_and_are_none_in_an_old_one(tmp_path):
    path = tmp_path / 'motors.yaml'
    save_motors(replace(TRUE, weight_rest=np.full(5, 0.9)), path)
    again = load_motors(path)
    np.testing.assert_array_equal(again.weight_friction, np.full(5, SHARE))
    np.testing.assert_array_equal(again.weight_rest, np.full(5, 0.9))
    lines = [line for line in path.read_text().splitlines() if 'weight_' not in line]
    path.write_text('\n'.join(lines))
    old = load_motors(path)
    assert not old.weight_friction.any() and not old.weight_rest.any()


def test_a_supplys_current_has_no_offset_so_that_the_weight_itself_shows_the_motor():
    # By so small a motion the weight hardly varies: an offset would take its place.
    true = replace(TRUE, is_supply_current=True)
    motors = identified(recorded(true, size=0.15), 'supply')
    assert motors.is_supply_current and not motors.offset.any()
    np.testing.assert_allclose(motors.effort_scale[[LIFT, ELBOW]], 1.2, rtol=0.1)


@pytest.mark.parametrize(('way', 'push'), [(1.0, 0.1), (1.0, -0.1), (-1.0, 0.1), (-1.0, -0.1)])
def test_a_push_on_a_moving_joint_counts_more_against_its_weight_and_less_with_it(way, push):
    share, weight = 0.57, 0.5
    motors = MotorModel(
        'arm', ('joint',), effort_scale=np.ones(1), weight_friction=np.full(1, share)
    )
    held = weight - push
    motor = held + way * share * abs(held)
    found = motor - weight - way * motors.dry_friction(np.ones(1), np.zeros(1), np.full(1, weight))
    assert -found[0] == pytest.approx((1.0 + way * share) * push)
