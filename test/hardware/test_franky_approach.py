# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities towards the ends of the joints' ranges, by the figures of a Franka Research 3."""

import numpy as np
import pytest

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.franky.approach import SOON, Approach

# Lower and upper end (rad), largest velocity (rad/s), deceleration (rad/s^2) and offset (rad/s).
FR3 = (
    (-2.7501, 2.7501, 2.62, 6.0, 0.30),
    (-1.7918, 1.7918, 2.62, 2.585, 0.20),
    (-2.9065, 2.9065, 2.62, 3.5, 0.20),
    (-3.0481, -0.1458, 2.62, 4.0, 0.30),
    (-2.8101, 2.8101, 5.26, 17.0, 0.35),
    (0.54092, 4.5205, 4.18, 5.5, 0.35),
    (-3.0196, 3.0196, 5.26, 17.0, 0.35),
)
JOINT = (
    '<joint name="fr3_joint{}" type="revolute"><limit lower="{}" upper="{}" velocity="{}"/>'
    '<position_based_velocity_limits deceleration_limit="{}" velocity_offset="{}"/></joint>'
)
RESTING = np.zeros((2, 7))
FIXED = '<joint name="fr3_joint8" type="fixed"/>'


def urdf(joints=FR3):
    parts = [JOINT.format(i + 1, *figures) for i, figures in enumerate(joints)]
    return f'<robot name="fr3">{"".join(parts)}{FIXED}</robot>'


def allowed(positions):
    """The largest velocities (7,) at positions (7,), as the arm's interface defines them."""
    _, upper, most, deceleration, offset = np.array(FR3).T
    left = np.maximum(0.0, upper - positions)
    return np.clip(np.sqrt(2.0 * deceleration * left) - offset, 0.0, most)


@pytest.mark.parametrize('share', [0.1, 0.3, 1.0])
@pytest.mark.parametrize('late', [0, 5])
def test_a_joint_sent_beyond_its_end_stays_within_what_the_arm_allows(share, late):
    """Every 4 ms a velocity, which counts `late` ms later and is reached within the motion's
    acceleration.
    """
    accelerations = np.full(7, share * 10.0)
    most = 0.98 * share * np.array([2.175] * 4 + [2.61] * 3)
    approach = Approach(urdf(), accelerations)
    positions, velocities = np.array(FR3)[:, 1] - 1.0, np.zeros(7)
    wanted = [np.zeros(7)] * (late + 1)
    for count in range(20_000):
        if count % 4 == 0:
            newest = np.minimum(most, approach.bounds(positions, velocities, velocities)[1])
        wanted = [*wanted[1:], newest]
        change = np.clip(wanted[0] - velocities, -1e-3 * accelerations, 1e-3 * accelerations)
        velocities = velocities + change
        positions = positions + 1e-3 * velocities
        assert (velocities <= allowed(positions) + 1e-12).all()
    assert (positions > np.array(FR3)[:, 1] - 0.02).all()


@pytest.mark.parametrize('share', [0.3, 1.0])
@pytest.mark.parametrize('reversing', [0, 3, 6])
def test_a_joint_that_reverses_keeps_no_other_from_braking(share, reversing):
    """All joints change their velocity in the same time, that of the one which takes longest."""
    accelerations = np.full(7, share * 10.0)
    most = 0.98 * share * np.array([2.175] * 4 + [2.61] * 3)
    approach = Approach(urdf(), accelerations)
    positions, velocities = np.array(FR3)[:, 1] - 1.0, np.zeros(7)
    others = np.arange(7) != reversing
    for count in range(6_000):
        positions[reversing] = np.mean(np.array(FR3)[reversing, :2])
        if count % 4 == 0:
            wanted = most * np.where(others | (count // 700 % 2 == 0), 1.0, -1.0)
            least, largest = approach.bounds(positions, velocities, velocities)
            newest = np.minimum(np.maximum(wanted, least), largest)
        left = (np.abs(newest - velocities) / accelerations).max()
        velocities = velocities + (newest - velocities) * min(1.0, 1e-3 / max(left, 1e-3))
        positions = positions + 1e-3 * velocities
        assert (velocities <= allowed(positions) + 1e-12)[others].all()
    assert (positions > np.array(FR3)[:, 1] - 0.02)[others].all()


def test_no_joint_is_given_more_to_change_than_it_can_soon():
    commanded = np.linspace(-0.5, 0.5, 7)
    approach = Approach(urdf(), np.full(7, 3.0))
    least, largest = approach.bounds(np.mean(np.array(FR3)[:, :2], axis=1), commanded, commanded)
    assert least == pytest.approx(commanded - 3.0 * SOON)
    assert largest == pytest.approx(commanded + 3.0 * SOON)


def test_both_ends_are_alike():
    approach = Approach(urdf(), np.full(7, 90.0))
    lower, upper = np.array(FR3).T[:2]
    least, _ = approach.bounds(lower + 0.1, *RESTING)
    _, largest = approach.bounds(upper - 0.1, *RESTING)
    assert least == pytest.approx(-largest)
    assert (largest > 0.2).all()


def test_a_joint_beyond_its_end_is_led_back_slowly():
    approach = Approach(urdf(), np.full(7, 90.0))
    least, largest = approach.bounds(np.array(FR3)[:, 1] + 0.01, *RESTING)
    assert (largest < -0.01).all() and (largest >= -0.05).all() and (least < -1.0).all()


@pytest.mark.parametrize('text', ['', '<robot><joint name="panda_joint1"><limit/></joint></robot>'])
def test_an_arm_that_names_no_such_limits_has_none(text):
    least, largest = Approach(text, np.full(7, np.inf)).bounds(np.full(7, 9.0), *RESTING)
    assert (least == -np.inf).all() and (largest == np.inf).all()


@pytest.mark.parametrize(
    'text', ['<robot>', urdf([(-1.0, 'x', 1.0, 1.0, 0.1)]), urdf([(-1.0, 'inf', 1.0, 1.0, 0.1)])]
)
def test_figures_that_are_none_are_refused(text):
    with pytest.raises(DeviceError, match='the URDF that the arm hands out'):
        Approach(text, np.full(7, 3.0))


@pytest.mark.parametrize(('place', 'value'), [(3, 0.0), (3, -4.0), (4, -0.1), (3, 'nan')])
def test_figures_that_bound_nothing_are_refused(place, value):
    joints = [list(figures) for figures in FR3]
    joints[2][place] = value
    with pytest.raises(DeviceError, match='fr3_joint3 has no finite limits'):
        Approach(urdf(joints), np.full(7, 5.0))
