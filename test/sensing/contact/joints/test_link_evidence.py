# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The body of an arm that is touched, by the evidence of the residuals over time."""

import math

import numpy as np
import pytest

from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joints.detector import dynamics_for
from frame_ros.sensing.contact.joints.link_evidence import LinkEvidence
from frame_ros.sensing.contact.joints.motor_model import load_motors

MOTORS = load_motors('so101')
DYNAMICS = dynamics_for(load_robot('so101'), MOTORS)
PERIOD = 20_000_000
Q = np.array((-0.419, 0.453, -0.207, 1.335, 0.298))
THRESHOLDS = np.array((0.32, 0.44, 0.47, 0.33, 0.44))
# Residuals, N m, of a cube between the fingers that drag it over the table, every 20 ms, recorded
# in a demo of quality 0.5; the elbow feels a little less than what would speak for the hand.
GRASP = (
    (-0.368, -0.551, -0.196, 0.115, 0.136),
    (-0.405, -0.556, -0.236, 0.115, 0.044),
    (-0.388, -0.523, -0.280, 0.094, 0.015),
    (-0.426, -0.511, -0.242, 0.096, 0.073),
    (-0.414, -0.411, -0.127, 0.122, 0.091),
    (-0.373, -0.322, -0.096, 0.109, 0.087),
    (-0.222, -0.262, -0.138, 0.005, 0.057),
    (-0.191, -0.316, -0.243, -0.091, 0.035),
)


def named(rows, period=PERIOD):
    evidence = LinkEvidence(DYNAMICS, MOTORS.gain)
    return [
        DYNAMICS.bodies[evidence.update(period * row, Q, np.array(residuals), THRESHOLDS)]
        for row, residuals in enumerate(rows)
    ]


def of_push(link, force, rows=25, period=PERIOD):
    """Residuals of a constant force on the middle of a link, as the observer follows it."""
    (shape, *_) = DYNAMICS.robot.link_capsules[link]
    body = next(b for b, links in DYNAMICS.links_of_bodies.items() if link in links)
    jacobian = DYNAMICS.link_jacobian(link, Q, 0.5 * (shape.start + shape.end))[:3].copy()
    jacobian[:, DYNAMICS.bodies.index(body) + 1 :] = 0.0
    torques = jacobian.T @ np.array(force)
    return [(1.0 - math.exp(-MOTORS.gain * period * 1e-9 * (row + 1))) * torques
            for row in range(rows)]  # fmt: skip


def test_a_grasp_that_drags_is_the_hand_all_the_time():
    assert set(named(GRASP)) == {DYNAMICS.bodies[-1]}


@pytest.mark.parametrize('period', [PERIOD // 4, PERIOD])
@pytest.mark.parametrize('force', [(0.0, 8.0, 4.0), (6.0, 0.0, 6.0), (-5.0, 5.0, 5.0)])
def test_a_push_on_the_upper_arm_is_none_of_the_hand(force, period):
    pushed = of_push('upper_arm_link', force, 25 * PERIOD // period, period)
    names = named(pushed, period)
    assert names[0] == DYNAMICS.bodies[-1]  # nothing is known yet
    assert names[-1] in ('shoulder_link', 'upper_arm_link', 'lower_arm_link')


@pytest.mark.parametrize('force', [(0.0, 8.0, 4.0), (6.0, 0.0, 6.0), (0.0, 0.0, -9.0)])
def test_a_push_on_the_hand_is_the_hand(force):
    assert set(named(of_push('gripper_link', force))) == {DYNAMICS.bodies[-1]}


def test_what_fades_is_no_evidence():
    arm = of_push('upper_arm_link', (0.0, 3.0, 3.0), 1)[0]
    fading = [3.0 * arm * math.exp(-MOTORS.gain * 0.02 * row) for row in range(40)]
    assert set(named(fading)) == {DYNAMICS.bodies[-1]}


def test_a_joint_that_is_not_judged_changes_nothing():
    thresholds = np.where(np.arange(5) == 2, np.inf, THRESHOLDS)
    found = []
    for stray in (0.0, 20.0):
        evidence, residuals = LinkEvidence(DYNAMICS, MOTORS.gain), np.array(GRASP[1])
        residuals[2] = stray
        found.append([evidence.update(PERIOD * k, Q, residuals, thresholds) for k in range(25)])
    assert found[0] == found[1]
