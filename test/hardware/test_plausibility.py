# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibrations and encoders that contradict the limits of the joints."""

from types import SimpleNamespace

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.hardware.feetech.emulator.registers import put
from frame_ros.hardware.lerobot.plausibility import check_turns, range_notes
from frame_ros.robots import load_robot

LIMITS = load_robot('so101').joint_limits
JOINTS = {name: name for name in LIMITS}
BOUNDS = np.array(list(LIMITS.values()))
# Steps of an arm as it is built, somewhat beyond the limits of the URDF.
RANGES = {
    'shoulder_pan': (730, 3400),
    'shoulder_lift': (820, 3200),
    'elbow_flex': (857, 3074),
    'wrist_flex': (842, 3236),
    'wrist_roll': (0, 4095),
    'gripper': (2026, 3499),
}


def notes(**ranges):
    entries = {
        name: SimpleNamespace(range_min=low, range_max=high)
        for name, (low, high) in {**RANGES, **ranges}.items()
    }
    return range_notes(entries, JOINTS, BOUNDS, 4096)


def test_ranges_as_arms_have_them_say_nothing():
    assert notes() == []


def test_a_joint_that_was_not_moved_to_its_stops():
    (note,) = notes(shoulder_lift=(1500, 2640))  # 100 of 200 degrees
    assert note.startswith('shoulder_lift was calibrated over 100 of 200 degrees')
    assert 'wrong by up to 50 degrees' in note


def test_a_joint_whose_encoder_passed_its_end():
    (note,) = notes(elbow_flex=(3, 4090))
    assert 'elbow_flex was calibrated over 359 of' in note and 'passed its end' in note


def test_positions_a_turn_away():
    within = np.array([1.0, -1.74, 1.69, 0.0, 2.9, 1.8])
    check_turns(tuple(LIMITS), within, BOUNDS)
    check_turns(tuple(LIMITS), BOUNDS[:, 0] - 0.3, BOUNDS)  # beyond, but this turn's
    with pytest.raises(SetupError, match='elbow_flex reads -263 degrees, a turn away'):
        check_turns(tuple(LIMITS), within - 2.0 * np.pi * (np.arange(6) == 2), BOUNDS)


def test_a_joint_without_limits_is_at_no_turn_and_has_no_range():
    bounds = np.array([[-np.inf, np.inf], [-1.0, 1.0]])
    check_turns(('wheel', 'lift'), np.array([9.0, 0.5]), bounds)
    with pytest.raises(SetupError, match='lift reads'):
        check_turns(('wheel', 'lift'), np.array([9.0, 6.0]), bounds)
    entries = {'wheel': SimpleNamespace(range_min=0, range_max=4095)}
    assert range_notes(entries, {'wheel': 'wheel'}, bounds[:1], 4096) == []


def test_an_arm_whose_motor_counts_turns_is_not_connected(bench):
    arm, bus, make = bench
    robot = make()
    with bus.lock:
        put(arm.servos[0].memory, 'Phase', 0x1C)
        arm.servos[0].mechanics.upper = np.inf
        arm.servos[0].angle += 2.0 * np.pi
    with pytest.raises(SetupError, match='shoulder_pan reads'):
        robot.connect()
    assert not any(servo.has_torque for servo in arm.servos)


def test_notes_of_an_arm(bench):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    assert robot.calibration_notes() == []
    robot.close()
