# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities at which a Franka arm does not stop itself: its end effector, and its own links."""

from xml.etree import ElementTree

import numpy as np
import pytest

from frame_ros.hardware.franky.approach import BRAKING
from frame_ros.hardware.franky.guard import TIP_SPEED, VelocityGuard
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.clearance import ClearanceCheck

FR3, HAND = load_robot('fr3'), load_robot('fr3', 'tcp')
CHECK = ClearanceCheck(FR3, FR3.joint_names)
HOME = np.array((0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785))
REACHING = np.array((0.0, 1.2, 0.0, -0.1, 0.0, 3.0, 0.8))
FOLDED = np.array((0.6, 1.5, -0.7, -2.9, -0.8, 0.7, -0.1))
PERIOD = 0.004
REST = np.zeros(7)
ENDS = np.array([FR3.joint_limits[name] for name in FR3.joint_names]).T


def distance(positions):
    """m between the links that may come near one another."""
    return CHECK.at(positions).selves.min()


def test_the_end_effector_is_kept_below_the_speed_that_the_arm_allows():
    guard = VelocityGuard(FR3, 0.0)
    rates = np.array((2.1, 2.1, 0.0, -2.1, 0.0, -2.6, 0.0))
    fast, _ = guard.bounded(rates, REACHING, REST, np.full(7, 9.8), ENDS)
    step = 1e-6  # s, of a difference that knows nothing of the Jacobian
    way = HAND.forward(REACHING + step * rates)[0] - HAND.forward(REACHING)[0]
    assert np.linalg.norm(way) / step > 3.0
    way = HAND.forward(REACHING + step * fast)[0] - HAND.forward(REACHING)[0]
    assert np.linalg.norm(way) / step == pytest.approx(TIP_SPEED, rel=1e-3)
    assert fast == pytest.approx(rates * fast[0] / rates[0])  # all joints alike
    slow, near = guard.bounded(0.3 * rates, REACHING, REST, np.full(7, 3.0), ENDS)
    assert (slow == 0.3 * rates).all() and near == ''


@pytest.mark.parametrize('share', [0.3, 0.98])
def test_an_arm_that_is_led_into_itself_comes_to_rest_before(share):
    """Each velocity is reached within the acceleration, as the arm does."""
    guard, accelerations = VelocityGuard(FR3, 0.07), np.full(7, 10.0 * share)
    positions, velocities, least = HOME, REST, np.inf
    seen = set()
    for count in range(int(3.0 / share / PERIOD)):
        left = FOLDED - positions
        wanted = left / max(np.abs(left).max() / (2.0 * share), 0.1)
        bounded, near = guard.bounded(wanted, positions, velocities, accelerations, ENDS)
        seen.add(near)
        most = PERIOD * accelerations
        velocities = velocities + np.clip(bounded - velocities, -most, most)
        positions = positions + PERIOD * velocities
        if count % 10 == 0:
            least = min(least, distance(positions))
    assert distance(FOLDED) < 0.0 and np.abs(positions - HOME).max() > 0.5
    assert 0.06 < least < 0.12
    assert np.abs(velocities).max() < 0.02
    assert any('fr3_link' in names for names in seen)


@pytest.mark.parametrize('share', [0.3, 0.98])
def test_a_joint_at_its_end_carries_no_link_away(share):
    """Joint 5 is sent outward at its end, where it stays; joint 4 leads the arm into itself."""
    guard, accelerations = VelocityGuard(FR3, 0.07), np.full(7, 10.0 * share)
    positions = np.array((-1.626, -1.702, -2.218, -1.217, 2.801, 4.452, -0.402))
    ends = ENDS.copy()
    ends[1, 4] = positions[4]
    wanted = share * np.array((0.0, 0.0, 0.0, -2.175, 2.61, 0.0, 0.0))
    velocities, least = REST, distance(positions)
    assert least > 0.09 and distance(positions - 1.0 * np.eye(7)[3]) < 0.0
    for _ in range(int(1.0 / share / PERIOD)):
        bounded, _ = guard.bounded(wanted, positions, velocities, accelerations, ends)
        bounded = np.where(np.arange(7) == 4, 0.0, bounded)
        most = PERIOD * accelerations
        velocities = velocities + np.clip(bounded - velocities, -most, most)
        positions = positions + PERIOD * velocities
        least = min(least, distance(positions))
    assert 0.06 < least < 0.08


def test_links_that_are_too_near_may_come_apart_and_no_nearer():
    shares = np.linspace(0.0, 1.0, 200)
    inside = next(q for q in HOME + shares[:, None] * (FOLDED - HOME) if distance(q) < 0.05)
    guard, accelerations = VelocityGuard(FR3, 0.07), np.full(7, 3.0)
    apart = 0.2 * (HOME - inside)
    found, near = guard.bounded(apart, inside, REST, accelerations, ENDS)
    assert (found == apart).all() and near == ''
    found, near = guard.bounded(-apart, inside, REST, accelerations, ENDS)
    assert not found.any() and near
    found, _ = VelocityGuard(FR3, 0.0).bounded(-apart, inside, REST, accelerations, ENDS)
    assert (found == -apart).all()


def test_links_that_stay_as_near_as_they_are_stop_nothing():
    """A turn of the first joint alone changes no distance of links behind it but by rounding."""
    random, guard, rates = np.random.default_rng(1), VelocityGuard(FR3, 0.07), 0.2 * np.eye(7)[0]
    postures = ENDS[0] + (ENDS[1] - ENDS[0]) * random.random((400, 7))
    behind = guard._levers[:, 0] == 0.0
    apart = np.array([guard._check.at(q).selves for q in postures])
    postures = postures[((apart > 0.0) & ((apart > 0.07) | behind)).all(1) & (apart < 0.07).any(1)]
    assert len(postures) > 5
    for posture in postures:
        for angle in np.linspace(-1.0, 1.0, 20):
            posture[0] = angle
            found, near = guard.bounded(rates, posture, REST, np.full(7, 5.0), ENDS)
            assert (found == rates).all() and near == ''


def test_links_that_are_too_near_let_no_others_come_as_near():
    """A finger is 1 mm from link 2; the hand, 60 mm from link 1, would come to 27 mm."""
    inside = np.array((1.3926, 0.5402, 1.9102, -2.6891, -0.3853, 0.8553, -1.7703))
    wanted = np.array((-0.315, -0.559, -0.245, -0.583, -0.272, 0.274, 0.515))
    guard, accelerations = VelocityGuard(FR3, 0.07), np.full(7, 3.0)
    apart = dict(zip(CHECK.pairs, CHECK.at(inside).selves, strict=True))
    assert apart['fr3_link2', 'fr3_leftfinger'] < 0.002 < 0.06 < apart['fr3_link1', 'fr3_hand']
    found, near = guard.bounded(wanted, inside, REST, accelerations, ENDS)
    rest = inside + found * np.abs(found).max() / (2.0 * BRAKING * accelerations)
    assert (CHECK.at(rest).selves >= np.minimum(CHECK.at(inside).selves, 0.07) - 1e-9).all()
    assert near == 'fr3_link1 and fr3_hand'


def without_shapes(*kept):
    """The FR3 without the collision geometry of links that are not kept."""
    urdf = ElementTree.fromstring(FR3.urdf)
    for link in urdf.findall('link'):
        for shape in link.findall('collision') if link.get('name') not in kept else ():
            link.remove(shape)
    return load_robot(ElementTree.tostring(urdf, encoding='unicode'), 'fr3_link8')


def test_links_without_primitives_are_named_and_stop_nothing():
    assert VelocityGuard(FR3, 0.07).unchecked == ()
    guard = VelocityGuard(without_shapes(), 0.07)
    assert {'fr3_link1', 'fr3_link7', 'fr3_hand'} <= {*guard.unchecked}
    found, near = guard.bounded(np.full(7, 0.3), HOME, REST, np.full(7, 3.0), ENDS)
    assert (found == 0.3).all() and near == ''
    some = VelocityGuard(without_shapes('fr3_link0', 'fr3_link5', 'fr3_link7'), 0.07)
    assert 'fr3_link6' in some.unchecked and 'fr3_link7' not in some.unchecked
    some.bounded(np.full(7, 0.3), FOLDED, REST, np.full(7, 3.0), ENDS)
    assert VelocityGuard(without_shapes(), 0.0).unchecked == ()


def test_what_is_skipped_as_far_is_far():
    """A guard that looks seldom finds the same as one that has never looked before."""
    guard, random, positions = VelocityGuard(FR3, 0.07), np.random.default_rng(0), HOME
    rates = random.uniform(-1.0, 1.0, 7)
    for count in range(500):
        if count % 50 == 0:
            rates = random.uniform(-1.0, 1.0, 7)
        positions = np.clip(positions + 0.01 * rates, *ENDS)
        fresh = VelocityGuard.__new__(VelocityGuard)
        fresh.__dict__.update(guard.__dict__, _apart=np.full_like(guard._apart, -np.inf))
        wanted = fresh.bounded(rates, positions, REST, np.full(7, 3.0), ENDS)[0]
        assert (guard.bounded(rates, positions, REST, np.full(7, 3.0), ENDS)[0] == wanted).all()


def with_long_finger():
    """The FR3 with a finger that stands 0.3 m away where the other is closed."""
    urdf = ElementTree.fromstring(FR3.urdf)
    urdf.find('joint/mimic').set('offset', '0.3')
    return load_robot(ElementTree.tostring(urdf, encoding='unicode'), 'fr3_link8')


@pytest.mark.parametrize(
    'robot', [FR3, load_robot('panda'), with_long_finger()], ids=['fr3', 'panda', 'long finger']
)
def test_no_pair_of_links_comes_nearer_than_its_levers_say(robot):
    random = np.random.default_rng(0)
    check, levers = ClearanceCheck(robot, robot.joint_names), VelocityGuard(robot, 0.07)._levers
    low, high = np.array([robot.joint_limits[joint] for joint in robot.joint_names]).T
    largest = np.zeros(len(check.pairs))
    for count in range(3000):
        start = random.uniform(low, high)
        turned = random.uniform(-0.3, 0.3, 7)
        if count % 2:  # one joint alone, where a bound that is too small shows the most
            turned = turned * np.eye(7)[random.integers(7)]
        nearer = check.at(start).selves - check.at(np.clip(start + turned, low, high)).selves
        bound = levers @ np.abs(turned)
        assert (nearer <= bound + 1e-9).all()
        largest = np.maximum(largest, nearer / np.maximum(bound, 1e-9))
    assert largest.max() > 0.97
