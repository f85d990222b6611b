# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Goals that are gone to at once and rested at."""

import numpy as np
import pytest

from frame_ros.hardware.franky.approach import AHEAD
from frame_ros.hardware.franky.servo import RestServo

LARGEST = np.array((0.6, 0.6, 1.5))
BRAKING = np.full(3, 2.0)
PERIOD = 0.004


def driven(servo, positions, seconds):
    """Positions and velocities on the way, of joints that go as they are sent."""
    places, rates = [positions], []
    for _ in range(int(seconds / PERIOD)):
        rates.append(servo.rates(places[-1]))
        places.append(places[-1] + PERIOD * rates[-1])
    return np.array(places), np.array(rates)


@pytest.fixture
def servo():
    return RestServo(0.1, LARGEST, BRAKING)


def test_without_a_goal_it_stands(servo):
    assert not servo.rates(np.ones(3)).any()
    servo.take(np.zeros(3))
    assert servo.rates(np.ones(3)).any()
    servo.reset()
    assert not servo.rates(np.ones(3)).any()


def test_it_goes_as_fast_as_it_may_and_rests_at_the_goal(servo):
    goal = np.array((1.2, -0.3, 0.6))
    servo.take(goal)
    places, rates = driven(servo, np.zeros(3), 4.0)
    assert np.abs(places[-1] - goal).max() < 1e-3
    assert (np.abs(rates) <= LARGEST + 1e-12).all()
    assert np.abs(rates).max(axis=0)[0] == pytest.approx(0.6)
    # 1.2 rad at 0.6 rad/s, and what braking and settling take.
    assert np.flatnonzero(np.abs(places[:, 0] - goal[0]) < 0.01)[0] * PERIOD < 2.0 + 0.6
    assert (np.diff(np.abs(places - goal), axis=0) <= 1e-12).all()


def test_all_joints_arrive_together_on_a_straight_line(servo):
    goal = np.array((1.2, -0.3, 0.6))
    servo.take(goal)
    places, _ = driven(servo, np.zeros(3), 4.0)
    shares = places / goal
    assert np.ptp(shares, axis=1).max() < 1e-9


def test_it_brakes_no_harder_than_it_may(servo):
    servo.take(np.array((1.5, 1.5, 1.5)))
    _, rates = driven(servo, np.zeros(3), 5.0)
    changes = np.diff(rates, axis=0) / PERIOD
    assert changes.min() > -2.0 * 1.05


def test_a_new_goal_is_gone_to_from_where_the_joints_are(servo):
    servo.take(np.ones(3))
    places, _ = driven(servo, np.zeros(3), 0.8)
    assert 0.1 < places[-1][0] < 0.9
    servo.take(np.zeros(3))
    back, rates = driven(servo, places[-1], 4.0)
    assert rates[0][0] < 0.0 and np.abs(back[-1]).max() < 1e-3


@pytest.mark.parametrize('share', [0.3, 0.98])
def test_a_joint_that_follows_late_rests_at_its_goal_however_short_it_settles(share):
    """It follows two periods late, within its acceleration, and is looked at ahead."""
    most = 10.0 * share
    servo = RestServo(0.01, np.array((2.175 * share,)), np.array((0.7 * most,)))
    servo.take(np.array((0.5,)))
    position = velocity = 0.0
    sent, velocities = [0.0] * 2, []
    for _ in range(int(3.0 / PERIOD)):
        sent.append(float(servo.rates(np.array((position + AHEAD * velocity,)))[0]))
        velocity += np.clip(sent[-3] - velocity, -PERIOD * most, PERIOD * most)
        position += PERIOD * velocity
        velocities.append(velocity)
    assert abs(position - 0.5) < 1e-6
    assert np.ptp(velocities[-100:]) < 1e-4
