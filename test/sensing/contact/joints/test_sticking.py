# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction of joints that stick and slide, and an arm that stands by its commands, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.sensing.contact.joints.giving_way import GivingWay
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.standing import StandingArm
from frame_ros.sensing.contact.joints.sticking import StickingFriction, StickWatch

MOTORS = MotorModel(
    'arm', ('joint',), effort_scale=np.ones(1), coulomb=np.full(1, 0.1),
    stribeck=np.full(1, 0.1), load_friction=np.full(1, 0.2), load_stribeck=np.full(1, 0.1),
    presliding=0.004, stribeck_velocity=0.1,
)  # fmt: skip
DT = 0.02


def one(value):
    return np.array([float(value)])


def test_a_joint_sticks_within_a_step_of_its_encoder_for_a_time():
    watch = StickWatch(1)
    states = []
    for q in [0.0, 0.0015, 0.003, 0.0045, 0.0045, 0.0045, 0.0045, 0.0045, 0.0045]:
        watch.update(one(q), DT)
        states.append(bool(watch.is_stuck[0]))
    # It leaves 0 at 0.003, of which all has then been moved, and stands 70 ms later.
    assert states == [True, True, False, False, False, False, True, True, True]


def test_dry_friction_at_rest_and_in_motion():
    rest = MOTORS.dry_friction(one(0.0), one(1.0), one(0.0))[0]
    assert rest == pytest.approx(0.1 + 0.1 + 0.2 + 0.1)
    assert MOTORS.dry_friction(one(5.0), one(1.0), one(0.0))[0] == pytest.approx(0.3)
    assert MOTORS.has_friction
    assert not MotorModel('arm', ('joint',), effort_scale=np.ones(1)).has_friction


def stuck_with(motor, weight, external=0.0):
    friction = StickingFriction(MOTORS, 15.0)
    friction.update(one(0), one(0), one(motor), one(weight), one(external), np.nan)
    return friction, friction.update(one(0), one(0), one(motor), one(weight), one(external), DT)[0]


def test_a_stuck_joint_balances_motor_and_weight_up_to_its_limit():
    friction, found = stuck_with(0.5, 0.3)
    assert found == pytest.approx(0.2)
    # 1.25 of 0.1 + 0.1 + 0.3 of 0.5 N m.
    assert friction.limit[0] == pytest.approx(1.25 * 0.35)
    _, found = stuck_with(0.5, -0.5)
    assert found == pytest.approx(1.25 * 0.35)


def test_what_was_unexplained_before_a_joint_stuck_fades_as_the_observer_follows():
    _, found = stuck_with(0.5, 0.4, 0.1)
    kept = np.exp(-15.0 * DT)
    # Then the observer's next residual is the last one times exp(-dt / 0.25 s).
    held = found - 0.1
    assert kept * 0.1 + (1.0 - kept) * held == pytest.approx(0.1 * np.exp(-DT / 0.25))


def test_friction_turns_round_with_the_motion():
    friction = StickingFriction(MOTORS, 15.0)
    friction.update(one(0), one(0), one(0), one(0), one(0), np.nan)
    for row in range(1, 6):
        up = friction.update(one(0.01 * row), one(0.5), one(0.0), one(0), one(0), DT)[0]
    assert up == pytest.approx(0.1)
    down = friction.update(one(0.045), one(-0.5), one(0.0), one(0), one(0), DT)[0]
    # 5 mm rad back are more than the presliding, from +1 to -0.25.
    assert down == pytest.approx(-0.025)


def test_a_joint_that_pauses_has_what_opposes_its_last_motion():
    friction = StickingFriction(MOTORS, 15.0)
    friction.update(one(0), one(0), one(0), one(0), one(0), np.nan)
    friction.update(one(0.01), one(0.5), one(0), one(0), one(0), DT)
    creeps = friction.update(one(0.0105), one(0.0), one(0.15), one(0), one(0), DT)[0]
    # In its direction, up to 1.25 (0.1 + 0.1 + 0.3 of 0.15 N m); what pulls it back is no friction.
    assert creeps == pytest.approx(0.15)
    assert friction.update(one(0.0105), one(0.0), one(-0.1), one(0), one(0), DT)[0] == 0.0
    assert not friction.is_stuck[0]


def moved_to_rest(motor_then, motor_now, external=0.0, is_gap=False, motor_before=0.0):
    """A joint slides up to 0.01 rad while its motor has `motor_then`, and pauses there."""
    friction = StickingFriction(MOTORS, 15.0)
    friction.update(one(0), one(0), one(0), one(0), one(0), np.nan)
    friction.update(one(0.005), one(0.5), one(motor_before), one(0), one(0), DT)
    friction.update(
        one(0.01),
        one(0.5),
        one(motor_then),
        one(0),
        one(external),
        (3 if is_gap else 1) * DT,
        is_gap,
    )
    return friction, friction.update(one(0.01), one(0), one(motor_now), one(0), one(external), DT)[
        0
    ]


def test_a_gear_that_its_own_motor_moved_holds_it_when_it_turns_round():
    assert moved_to_rest(0.15, -0.1)[1] == pytest.approx(-0.1)
    # Up to 1.25 (0.1 + 0.1 + 0.3 of 0.5 N m).
    assert moved_to_rest(0.15, -0.5)[1] == pytest.approx(-1.25 * 0.35)
    # What moved it against its motor pushes it still.
    assert moved_to_rest(-0.15, -0.2)[1] == 0.0


def braked_to_rest(goal, samples):
    """A joint slides on by 5 mrad a sample while its motor brakes it, and pauses."""
    friction = StickingFriction(MOTORS, 15.0)
    friction.update(one(0), one(0), one(0), one(0), one(0), np.nan)
    for row in range(1, samples + 1):
        q = one(0.005 * row)
        friction.update(q, one(0.25), one(-0.05), one(0), one(0), DT, goal=goal)
    friction.update(q, one(0), one(-0.2), one(0), one(0), DT, goal=one(-1.0))
    assert not friction.is_stuck[0]
    return friction.friction[0]


def test_a_gear_holds_a_joint_that_its_motor_braked_on_the_way_to_its_goal():
    assert braked_to_rest(one(0.1), 8) == pytest.approx(-0.2)
    # Pushed beyond its goal, or where no goal is known.
    assert braked_to_rest(one(0.01), 8) == 0.0
    assert braked_to_rest(None, 8) == 0.0
    # Pushed from rest towards its goal.
    assert braked_to_rest(one(0.1), 4) == 0.0


def test_thresholds_are_of_what_a_motor_that_turns_round_leaves_unexplained():
    found = []
    for holds in (True, False):
        friction = StickingFriction(MOTORS, 15.0, holds)
        friction.update(one(0), one(0), one(0), one(0), one(0), np.nan)
        friction.update(one(0.01), one(0.5), one(0.15), one(0), one(0), DT)
        found.append(friction.update(one(0.01), one(0), one(-0.1), one(0), one(0), DT)[0])
    assert found == [pytest.approx(-0.1), 0.0]


def test_across_missing_samples_the_motor_may_have_turned_round_on_the_way():
    assert moved_to_rest(-0.15, -0.2, motor_before=0.15)[1] == 0.0
    assert moved_to_rest(-0.15, -0.2, motor_before=0.15, is_gap=True)[1] == pytest.approx(-0.2)


def after_sticking(friction, external):
    for _ in range(4):
        found = friction.update(one(0.01), one(0), one(0.05), one(0), one(external), DT)[0]
    assert friction.is_stuck[0]
    return found


def test_what_was_unexplained_as_a_joint_came_to_rest_unseen_is_not_held():
    seen, unseen = (moved_to_rest(0.05, 0.05, 0.1, is_gap)[0] for is_gap in (False, True))
    assert after_sticking(seen, 0.1) > 0.06
    # So the observer comes to what balances motor and links alone.
    assert after_sticking(unseen, 0.1) == pytest.approx(0.05)
    # Until the joint is seen to move again.
    unseen.update(one(0.02), one(0.5), one(0.05), one(0), one(0.1), DT)
    for _ in range(5):
        found = unseen.update(one(0.02), one(0), one(0.05), one(0), one(0.1), DT)[0]
    assert found > 0.06


def test_a_standing_joint_that_moves_while_samples_are_missing_is_pushed():
    friction, _ = stuck_with(0.0, 0.0)
    for _ in range(5):
        friction.update(one(0), one(0), one(0), one(0), one(0), DT)
    friction.update(one(0.01), one(0.5), one(-0.1), one(0), one(0.1), 3 * DT, True)
    for _ in range(5):
        found = friction.update(one(0.01), one(0), one(-0.1), one(0), one(0.1), DT)[0]
    kept = np.exp(-15.0 * DT)
    assert kept * 0.1 + (1.0 - kept) * (found + 0.1) == pytest.approx(0.1 * np.exp(-DT / 0.25))


def test_what_a_gear_held_with_nobody_pushing_it_can_hold_until_it_moves():
    friction, found = stuck_with(0.5, -0.5)
    assert found == pytest.approx(1.25 * 0.35)
    friction.settle()
    assert friction.update(one(0), one(0), one(0.5), one(-0.5), one(0), DT)[0] == pytest.approx(1.0)
    friction.update(one(0.01), one(0.5), one(0.5), one(-0.5), one(0), DT)
    assert friction.limit[0] == pytest.approx(1.25 * 0.35)


def stand(arm, stamp, command, residual=0.0, is_stuck=True):
    return arm.update(stamp, command, one(residual), one(0.1), is_stuck)


def test_an_arm_stands_while_its_command_stays_the_same():
    arm, at = StandingArm(), 10**9
    quiet = [stand(arm, at + row * 20_000_000, one(0.5)) for row in range(20)]
    assert not any(quiet[:15]) and all(quiet[15:])
    # A push moves it: it still stands by its command.
    assert stand(arm, at + 400_000_000, one(0.5), is_stuck=False)
    assert not stand(arm, at + 420_000_000, one(0.51))
    assert not stand(arm, at + 440_000_000, one(0.51))
    assert not stand(arm, at + 2_000_000_000, None)
    assert not stand(arm, at + 2_020_000_000, one(0.51))


def test_a_joint_that_swings_in_the_play_of_its_gear_does_not_stand():
    watch, arms = StickWatch(1), {play: StandingArm(play) for play in (0.0, 0.0175)}
    stands = {play: [] for play in arms}
    for row in range(200):
        time = 0.02 * row
        # It swings at 5 Hz, by less and less.
        watch.update(one(0.005 * np.exp(-time) * np.cos(2.0 * np.pi * 5.0 * time)), 0.02)
        for play, arm in arms.items():
            stamp, is_stuck = 10**9 + row * 20_000_000, bool(watch.is_stuck[0])
            stands[play].append(stand(arm, stamp, one(0.0), is_stuck=is_stuck))
    first = {play: 0.02 * found.index(True) for play, found in stands.items()}
    # It swings by more than 2 mrad to each side until 0.92 s.
    assert first[0.0] < 0.92 < first[0.0175] < 2.2, first


def test_an_error_that_stays_the_same_is_steady_and_a_push_is_not():
    arm, at = StandingArm(), 10**9
    for row in range(20):
        assert not stand(arm, at + row * 20_000_000, one(0.5), residual=0.3)
    assert arm.is_steady
    arm = StandingArm()
    for row in range(20):
        stand(arm, at + row * 20_000_000, one(0.5), residual=0.06 * row)
    assert not arm.is_steady


def test_a_standing_joint_that_gives_way_is_a_witness_until_it_goes_back():
    giving, stuck, free = GivingWay(1), np.array([True]), np.array([False])
    assert giving.update(one(0.3), stuck)[0] == 0.0
    # A step of the encoder is none.
    assert giving.update(one(0.3015), stuck)[0] == 0.0
    assert giving.update(one(0.3055), free)[0] == pytest.approx(1.0)
    assert giving.update(one(0.3095), free)[0] == pytest.approx(2.0)
    # It has come to rest: what was felt may end.
    assert giving.update(one(0.3095), stuck)[0] == 0.0
    assert giving.update(one(0.303), free)[0] == 0.0
    assert giving.update(one(0.3155), free)[0] == pytest.approx(1.5)


def test_motion_within_the_play_of_a_gear_is_no_sign_of_contact():
    plain, loose = GivingWay(1), GivingWay(1, play=0.0175)
    stuck, free = np.array([True]), np.array([False])
    for giving in (plain, loose):
        giving.update(one(0.0), stuck)
    # A recorded shoulder swung by 11 mrad.
    assert plain.update(one(0.011), free)[0] > 1.0 > loose.update(one(0.011), free)[0]
    assert loose.update(one(0.022), free)[0] > 1.0
    assert MOTORS.as_generic().play == 0.0175 and MOTORS.play == 0.0
