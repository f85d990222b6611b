# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts by joint efforts: pushes whose joint torques are computed from Jacobians."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motor_motion import HOME, efforts_of, swing

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import Payload
from frame_ros.sensing.contact.joints.detector import (
    JointContact,
    JointContactOptions,
    dynamics_for,
)
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.source import ContactSource

ROBOT = load_robot('so101')
MOTORS = MotorModel(
    'so101',
    ROBOT.joint_names,
    effort_scale=np.full(5, 1.1),
    coulomb=np.full(5, 0.05),
    armature=np.full(5, 0.02),
    threshold_base=np.full(5, 0.05),
    threshold_reversal=np.full(5, 0.02),
    threshold_velocity=np.full(5, 0.02),
    presliding=0.004,
)
RATE = 50.0


class Push:
    """A force on the tip of a link, from a time on; joint torques at a row."""

    def __init__(self, link: str, force: list[float], begin: float = 2.0, end: float = 3.0):
        self._link, self._force, self._begin, self._end = link, np.array(force), begin, end
        self._dynamics = dynamics_for(ROBOT, MOTORS)

    def at(self, times: np.ndarray, q: np.ndarray):
        def torque(row: int) -> np.ndarray:
            if not self._begin <= times[row] < self._end:
                return np.zeros(5)
            return self._dynamics.link_jacobian(self._link, q[row])[:3].T @ self._force

        return torque


def detections(
    push: Push | None = None, settings: JointContactOptions | None = None,
    motors: MotorModel = MOTORS, seconds: float = 4.0, has_command: bool = False,
):  # fmt: skip
    times = np.arange(round(seconds * RATE)) / RATE
    motion = swing(times, 0.4)
    dynamics = dynamics_for(ROBOT, motors)
    external = push.at(times, motion[0]) if push else (lambda row: np.zeros(5))
    efforts = efforts_of(dynamics, MOTORS, motion, external)
    detector = JointContact(dynamics, settings, motors)
    return times, [
        detector.update(10**9 + round(time * 1e9), q, dq, effort, q + 0.3 if has_command else None)
        for time, q, dq, effort in zip(times, *motion[:2], efforts, strict=True)
    ]


def test_free_motion_is_no_contact():
    times, found = detections()
    assert found[0].is_contact is None and 'first samples' in found[0].unavailable
    assert found[5].is_contact is None and 'just begun' in found[5].unavailable
    assert all(d.is_contact is False for d in found[20:])
    last = found[-1]
    assert last.source == ContactSource.JOINT_EFFORT and last.joint_names == ROBOT.joint_names
    assert last.link == '' and np.isfinite(last.residuals).all()
    assert (last.thresholds >= 0.05).all()


@pytest.mark.parametrize(
    ('pushed', 'force', 'link'),
    [
        ('gripper_frame_link', [2.0, 4.0, 3.0], 'gripper_link'),
        ('wrist_link', [2.0, 3.0, 5.0], 'lower_arm_link'),
        ('lower_arm_link', [3.0, 4.0, 4.0], 'upper_arm_link'),
    ],
)
def test_a_push_is_found_at_the_outermost_joint_that_feels_it(pushed, force, link):
    """A force at a link's origin has no lever about that link's own joint."""
    times, found = detections(Push(pushed, force))
    assert not any(d.is_contact for d in found[20 : round(2.0 * RATE)])
    during = [d for t, d in zip(times, found, strict=True) if 2.2 <= t < 3.0]
    assert all(d.is_contact for d in during)
    assert {d.link for d in during} <= {link, 'gripper_link'}
    assert during[-1].link == link
    begin = next(t for t, d in zip(times, found, strict=True) if d.is_contact)
    assert begin - 2.0 < 0.1
    assert not any(d.is_contact for t, d in zip(times, found, strict=True) if t > 3.4)


def sensitive_direction(detector, q):
    """Of the force at the tip that is felt best by all joints together."""
    lever = detector.dynamics.link_jacobian(ROBOT.tip_link, q)[:3]
    return np.linalg.svd(lever / detector.threshold)[0][:, 0]


def test_a_push_that_no_joint_feels_alone_is_felt_by_all_together():
    def felt(settings):
        times, found = detections(Push('gripper_frame_link', [0.2, 0.2, 0.2]), settings)
        shares = np.array([np.abs(d.residuals) / d.thresholds for d in found[20:]])
        assert shares.max() < 1.0
        return {t for t, d in zip(times, found, strict=True) if d.is_contact}

    assert felt(JointContactOptions(combined_threshold=np.inf)) == set()
    together = felt(JointContactOptions())
    assert together and min(together) > 2.0 and max(together) < 3.2


@pytest.mark.parametrize(('share', 'is_felt'), [(0.9, False), (1.15, True)])
def test_the_sensitivity_is_the_least_force_that_counts(share, is_felt):
    q, still = np.array(HOME), np.zeros(5)
    # Without friction: joints at rest that have some hold a part, see below.
    motors = replace(MOTORS, coulomb=np.zeros(5))
    detector = JointContact(dynamics_for(ROBOT, motors), None, motors)
    assert np.isnan(detector.sensitivity.force)

    def pushed(force, begin):
        """After 1 s at rest under a force at the tip."""
        torque = detector.dynamics.link_jacobian(ROBOT.tip_link, q)[:3].T @ force
        motion = (q[None], still[None], still[None])
        effort = efforts_of(detector.dynamics, motors, motion, lambda row: torque)[0]
        for time in begin + np.arange(round(RATE)) / RATE:
            found = detector.update(10**9 + round(time * 1e9), q, still, effort)
        return found.is_contact

    assert pushed(np.zeros(3), 0.0) is False
    bound = detector.sensitivity
    assert bound.response_time == pytest.approx(3.0 / MOTORS.gain + 0.02)
    assert pushed(share * bound.force * sensitive_direction(detector, q), 1.0) is is_felt


def test_the_force_at_the_tip_is_estimated_as_far_as_it_is_felt():
    push = [2.0, 5.0, 3.0]
    _, found = detections(Push('gripper_frame_link', push))
    last = found[round(2.9 * RATE)]
    assert last.force == pytest.approx(np.linalg.norm(last.wrench[:3]))
    direction = np.array(push) / np.linalg.norm(push)
    assert last.normal @ direction > 0.8
    assert 0.5 < last.force / np.linalg.norm(push) < 1.2
    assert np.linalg.norm(last.normal) == pytest.approx(1.0)
    # The torques that the estimate explains are those that were measured.
    times = np.arange(round(4.0 * RATE)) / RATE
    q = swing(times, 0.4)[0][round(2.9 * RATE)]
    jacobian = dynamics_for(ROBOT, MOTORS).link_jacobian(ROBOT.tip_link, q)
    np.testing.assert_allclose(jacobian.T @ last.wrench, last.residuals, atol=0.05)


def test_a_force_that_no_joint_feels_is_none():
    """Down onto the shoulder, above the pan joint's axis: only the bearings feel it."""
    _, found = detections(Push('shoulder_link', [0.0, 0.0, -50.0]))
    assert not any(d.is_contact for d in found)


def test_thresholds_are_wider_near_limits_and_with_an_object():
    dynamics = dynamics_for(ROBOT, MOTORS)
    detector = JointContact(dynamics, None, MOTORS)
    q, still = HOME.copy(), np.zeros(5)
    q[1] = ROBOT.lower[1] + 0.005
    weight = dynamics.gravity(q) / 1.1
    for row in range(40):
        found = detector.update((row + 1) * 20_000_000, q, still, weight)
    assert np.isinf(found.thresholds[1]) and np.isfinite(found.thresholds[[0, 2, 3, 4]]).all()
    held = detector.update(41 * 20_000_000, q, still, weight, None, True)
    lever = np.abs(dynamics.link_jacobian(ROBOT.tip_link, q)[2])
    np.testing.assert_allclose(
        held.thresholds[2:] - found.thresholds[2:], (0.05 * 9.81 * lever)[2:], atol=1e-3
    )


def test_a_known_payload_is_no_contact():
    motors = replace(MOTORS, coulomb=np.zeros(5))
    dynamics = dynamics_for(ROBOT, motors)
    detector = JointContact(dynamics, None, motors)
    dynamics.set_payload(Payload(ROBOT.tip_link, 0.3))
    loaded = dynamics.gravity(HOME) / 1.1
    dynamics.set_payload(None)
    still = np.zeros(5)
    for row in range(60):
        found = detector.update((row + 1) * 20_000_000, HOME, still, loaded)
    assert found.is_contact
    detector.set_payload(Payload(ROBOT.tip_link, 0.3))
    for row in range(60, 120):
        found = detector.update((row + 1) * 20_000_000, HOME, still, loaded)
    assert found.is_contact is False


def test_a_joint_that_stands_holds_what_its_friction_can():
    """Motor and weight may differ by up to the friction; more of it is felt."""
    detector = JointContact(dynamics_for(ROBOT, MOTORS), None, MOTORS)
    weight = detector.dynamics.gravity(HOME)
    still = np.zeros(5)
    found = {}
    for row in range(180):
        more = 0.0 if row < 60 else 0.06 if row < 120 else 0.06 + 0.3
        effort = (weight + [0.0, more, 0.0, 0.0, 0.0]) / 1.1
        found[row] = detector.update((row + 1) * 20_000_000, HOME, still, effort)
    assert [found[row].is_contact for row in (59, 119, 170)] == [False, False, True]
    assert abs(found[119].residuals[1]) < 0.01
    assert found[170].residuals[1] == pytest.approx(-0.3, abs=0.03)


def test_a_standing_arm_says_what_its_friction_hides():
    strong = replace(MOTORS, coulomb=np.full(5, 3.0))
    for motors, is_hidden in ((MOTORS, False), (strong, True)):
        detector = JointContact(dynamics_for(ROBOT, motors), None, motors)
        weight = detector.dynamics.gravity(HOME) / 1.1
        for row in range(60):
            detector.update((row + 1) * 20_000_000, HOME, np.zeros(5), weight)
        np.testing.assert_allclose(
            detector.needed, np.maximum(detector.threshold, 1.25 * motors.coulomb)
        )
        least = detector.least_forces()
        assert (least['gripper_link'] > 15.0) is is_hidden
        assert least['gripper_link'] < least['upper_arm_link']


def test_a_stall_is_told_with_the_contact():
    detector = JointContact(dynamics_for(ROBOT, MOTORS), None, MOTORS)
    still, effort = np.zeros(5), detector.dynamics.gravity(HOME) / 1.1
    effort[2] += 2.5
    for row in range(60):
        found = detector.update((row + 1) * 20_000_000, HOME, still, effort, HOME + 0.3)
    assert found.is_contact and found.is_stalled == (False, False, True, False, False)


def test_what_is_missing_is_said():
    detector = JointContact(dynamics_for(ROBOT, MOTORS), None, MOTORS)
    still = np.zeros(5)

    def why(stamp, q=HOME, effort=still):
        found = detector.update(stamp, q, still, effort)
        assert found.is_contact is None and np.isnan(found.force)
        return found.unavailable

    assert 'no effort of elbow_flex' in why(10**9, effort=np.array([0, 0, np.nan, 0, 0]))
    assert 'not finite' in why(10**9, q=np.full(5, np.inf))
    assert '3 positions' in why(10**9, q=np.zeros(3))
    assert 'first samples' in why(10**9)
    assert 'not later' in why(10**9)
    assert 'first samples' in why(5 * 10**9)  # a gap
    with pytest.raises(SetupError, match='frame-ros identify joints'):
        JointContact(detector.dynamics)
    bare = JointContact(
        detector.dynamics,
        JointContactOptions(least_threshold=0.0),
        replace(MOTORS, threshold_base=still, threshold_reversal=still, threshold_velocity=still),
    )
    assert 'has no thresholds' in bare.update(10**9, HOME, still, still).unavailable
    other = MotorModel('arm', ('a', 'b'), np.ones(2))
    with pytest.raises(SetupError, match='the motor model is of a, b'):
        dynamics_for(ROBOT, other)


@pytest.mark.parametrize(
    'settings', [{'margin': 0.0}, {'release': 1.5}, {'held_mass': -1.0}, {'max_gap': 0.0}]
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueRangeError):
        JointContactOptions(**settings)
