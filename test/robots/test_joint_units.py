# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions in LeRobot's units, against LeRobot's own formulas in encoder steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.joint_units import approximate_ranges, calibrated_ranges, joint_units

NAMES = ('shoulder_pan', 'wrist_roll', 'gripper')
CALIBRATION = {
    'shoulder_pan': {'id': 1, 'drive_mode': 0, 'range_min': 823, 'range_max': 3301},
    'wrist_roll': {'id': 5, 'drive_mode': 0, 'range_min': 0, 'range_max': 4095},
    'gripper': {'id': 6, 'drive_mode': 0, 'range_min': 2030, 'range_max': 3500},
}
GRIPPER = {'gripper': (-0.17, 1.75)}


def steps(name, radians):
    """The encoder's reading at an angle, whose zero is the middle of the calibrated range."""
    entry = CALIBRATION[name]
    if name == 'gripper':
        share = (radians + 0.17) / 1.92
        return entry['range_min'] + share * (entry['range_max'] - entry['range_min'])
    return (entry['range_min'] + entry['range_max']) / 2 + radians * 4095 / (2 * math.pi)


def normalised(name, radians, lower, upper):
    """Position as LeRobot reads it: `_normalize` of its motors_bus.py."""
    low, high = CALIBRATION[name]['range_min'], CALIBRATION[name]['range_max']
    return (steps(name, radians) - low) / (high - low) * (upper - lower) + lower


@given(st.floats(-1.8, 1.8), st.floats(-3.0, 3.0), st.floats(0.0, 1.7))
def test_normalised_joints_are_what_lerobot_reads(pan, roll, gripper):
    units = joint_units('range_m100_100', NAMES, GRIPPER, calibrated_ranges(CALIBRATION))
    found = units.to_policy(np.array((pan, roll, gripper)))
    expected = (
        normalised('shoulder_pan', pan, -100, 100),
        normalised('wrist_roll', roll, -100, 100),
        normalised('gripper', gripper, 0, 100),
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(units.to_radians(found), (pan, roll, gripper), atol=1e-12)


@given(st.floats(-1.8, 1.8), st.floats(0.0, 1.7))
def test_degrees_are_what_lerobot_reads(pan, gripper):
    units = joint_units('degrees', ('shoulder_pan', 'gripper'), GRIPPER)
    middle = (823 + 3301) / 2
    expected = (steps('shoulder_pan', pan) - middle) * 360 / 4095
    found = units.to_policy(np.array((pan, gripper)))
    np.testing.assert_allclose(found, (expected, normalised('gripper', gripper, 0, 100)), atol=1e-9)


def test_a_reversed_joint():
    reversed_pan = {'shoulder_pan': {**CALIBRATION['shoulder_pan'], 'drive_mode': 1}}
    units = joint_units('range_m100_100', ['shoulder_pan'], {}, calibrated_ranges(reversed_pan))
    half = (3301 - 823) / 2 * 2 * math.pi / 4095
    np.testing.assert_allclose(units.to_policy(np.array([half])), [-100])


def test_ranges_without_a_calibration():
    limits = load_robot('so101').joint_limits
    ranges = approximate_ranges(limits)
    assert ranges['elbow_flex'] == limits['elbow_flex']
    # LeRobot calibrates this joint to a full turn, beyond its mechanical limits.
    assert ranges['wrist_roll'] == (-math.pi, math.pi)
    units = joint_units('range_m100_100', tuple(limits), {'gripper': limits['gripper']}, ranges)
    upper = np.array([limit[1] for limit in limits.values()])
    expected = [100, 100, 100, 100, limits['wrist_roll'][1] / math.pi * 100, 100]
    np.testing.assert_allclose(units.to_policy(upper), expected)


def test_radians_stay():
    values = np.array((0.1, 0.2, 0.3))
    units = joint_units('rad', NAMES)
    assert units.to_policy(values) is values and units.to_radians(values) is values


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('deg', NAMES), "units are 'deg'; known: rad, degrees, range_m100_100"),
        (('degrees', NAMES), r'gripper_limits has \[\].*missing: .*gripper'),
        (('degrees', NAMES, {'gripper': (1.0, 1.0)}), 'two angles are needed'),
        (('degrees', NAMES, {'gripper': (0.0, math.inf)}), 'two angles are needed'),
        (('range_m100_100', NAMES, GRIPPER), 'must also name shoulder_pan'),
        (
            ('range_m100_100', NAMES, GRIPPER, dict.fromkeys(NAMES, (0.5, 0.5))),
            'shoulder_pan goes from 0.5 to 0.5',
        ),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueRangeError, match=message):
        joint_units(*arguments)


@pytest.mark.parametrize(
    ('entry', 'message'),
    [
        ({'range_min': 10}, r"has \['range_min'\]; range_min and range_max are needed"),
        ({'range_min': 10, 'range_max': 10}, 'from 10 to 10'),
    ],
)
def test_calibrations_that_cannot_be_used(entry, message):
    with pytest.raises(ValueRangeError, match=message):
        calibrated_ranges({'elbow_flex': entry})
