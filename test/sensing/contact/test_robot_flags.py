# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from a robot's own flags and external wrench, whose offset depends on the posture."""

import numpy as np
import pytest
from attrs import evolve

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.robot_flags import RobotContact, RobotContactOptions, RobotFlags
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.wrench_offset import PostureOffset

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
RANDOM = np.random.default_rng(5)
WEIGHTS = RANDOM.normal(size=(6, 14)) * np.array([[0.7]] * 3 + [[0.1]] * 3)


def flags(contact=(), collision=()):
    joint, cartesian = np.zeros((2, 7), bool), np.zeros((2, 6), bool)
    for row, names in enumerate((contact, collision)):
        joint[row, list(names)] = True
    return RobotFlags(joint[0], joint[1], cartesian[0], cartesian[1])


def offset(q):
    """The external wrench (6,) in free space."""
    return WEIGHTS @ np.concatenate([np.sin(q), np.cos(q)])


def posture(time):
    return HOME + 0.4 * np.sin(np.arange(1, 8) * 0.21 * time + np.arange(7))


class Arm:
    """A robot at 100 Hz that tells external wrenches in libfranka's sign."""

    def __init__(self, contact, seed=0):
        self.contact, self.tick = contact, 0
        self.random = np.random.default_rng(seed)

    def run(self, seconds, pushed=(0.0,) * 6, is_still=False, **values):
        found = []
        for _ in range(int(100 * seconds)):
            self.tick += 0 if is_still else 1
            self.stamp = getattr(self, 'stamp', 0) + 10 * MILLISECOND
            q = posture(self.tick * 0.01)
            external = offset(q) + self.random.normal(size=6) * [0.1] * 6 * np.array(
                [1, 1, 1, 0.1, 0.1, 0.1]
            )
            external = external - np.array(pushed)
            found.append(self.contact.update(self.stamp, q, external, **values))
        return found


@pytest.fixture(scope='module')
def taught():
    """An arm that has moved freely for a while; do not change it but by what it gives back."""
    arm = Arm(RobotContact(RobotContactOptions()))
    seen = arm.run(30)
    return arm, seen


def test_free_motion_is_no_contact_and_the_offset_is_learnt(taught):
    arm, seen = taught
    assert not any(d.is_contact for d in seen)
    assert seen[0].is_contact is False and np.isnan(seen[0].force)  # the offset is not known yet
    assert arm.contact.spread < 0.5
    late = np.array([d.force for d in seen[-500:]])
    plain = [np.linalg.norm(offset(posture(t))[:3]) for t in np.arange(35, 40, 0.1)]
    assert np.nanmedian(late) < 0.5 * np.median(plain)


def test_a_push_is_seen_and_lasts(taught):
    arm, _ = taught
    before = arm.contact.offset.samples
    for is_still in (True, False):
        pushed = arm.run(4, (0, 7.0, 0, 0, 0, 0), is_still)
        assert all(d.is_contact for d in pushed[10:])
        np.testing.assert_allclose(pushed[-1].wrench[:3], [0, 7.0, 0], atol=1.5)
        assert pushed[-1].normal[1] > 0.9 and pushed[-1].source == ContactSource.ROBOT
    assert arm.contact.offset.samples - before < 10
    after = arm.run(2)
    assert not after[-1].is_contact


def test_standing_still_teaches_once():
    arm = Arm(RobotContact(RobotContactOptions()))
    arm.run(5, is_still=True)
    assert arm.contact.offset.samples == 1
    arm.run(5, (0, 2.0, 0, 0, 0, 0), is_still=True)
    assert arm.contact.offset.samples == 1


def test_nothing_is_learnt_while_holding_or_of_postures_right_before_a_contact():
    arm = Arm(RobotContact(RobotContactOptions()))
    arm.run(3, is_holding=True)
    assert arm.contact.offset.samples == 0
    arm.run(0.25)
    arm.run(0.2, flags=flags(contact=[2]))
    assert arm.contact.offset.samples == 0


def test_a_contact_flag_clears_and_a_collision_flag_latches():
    contact = RobotContact(RobotContactOptions())
    assert contact.update(0, HOME, flags=flags()).is_contact is False
    found = contact.update(10 * MILLISECOND, HOME, flags=flags(contact=[3]))
    assert found.is_contact is True and np.isnan(found.force)
    assert contact.update(20 * MILLISECOND, HOME, flags=flags()).is_contact is False
    hit = flags(contact=[3], collision=[3])
    assert contact.update(30 * MILLISECOND, HOME, flags=hit).is_contact is True
    latched = flags(collision=[3])
    assert contact.update(130 * MILLISECOND, HOME, flags=latched).is_contact is True
    assert contact.update(131 * MILLISECOND, HOME, flags=latched).is_contact is False
    assert contact.collisions == ('joint 4',) and contact.collision_since == 30 * MILLISECOND
    contact.update(140 * MILLISECOND, HOME, flags=flags(collision=[3, 5]))
    assert contact.collision_since == 140 * MILLISECOND
    contact.update(150 * MILLISECOND, HOME, flags=flags())
    assert contact.collisions == () and contact.collision_since is None


def test_a_collision_of_before_is_told_and_is_no_contact_now():
    contact = RobotContact(RobotContactOptions())
    old = flags(collision=[3])
    assert contact.update(0, HOME, flags=old).is_contact is False
    assert contact.collisions == ('joint 4',) and contact.collision_since is None
    assert contact.update(10 * MILLISECOND, HOME, flags=flags(collision=[3, 5])).is_contact is True
    contact.reset()
    assert contact.update(0, HOME, flags=old).is_contact is False
    assert (
        contact.update(MILLISECOND, HOME, flags=flags(contact=[3], collision=[3])).is_contact
        is True
    )


def test_without_flags_and_wrench_nothing_is_known():
    contact = RobotContact(RobotContactOptions())
    found = contact.update(0, HOME)
    assert found.is_contact is None and 'neither flags nor' in found.unavailable
    found = contact.update(MILLISECOND, HOME, np.full(6, np.nan))
    assert found.is_contact is None
    assert contact.update(2 * MILLISECOND, HOME, np.full(6, np.nan), flags()).is_contact is False


def test_late_samples():
    contact = RobotContact(RobotContactOptions())
    first = contact.update(100 * MILLISECOND, HOME, flags=flags())
    assert (
        contact.update(50 * MILLISECOND, HOME, flags=flags(contact=[1])) is first
        and contact.late == 1
    )
    assert contact.update(-2000 * MILLISECOND, HOME, flags=flags(contact=[1])).is_contact is True


def test_spread_is_small_only_near_what_was_seen():
    learnt = PostureOffset(7, np.array([4.0, 1.0]), noise=0.1)
    prior = learnt.predict(HOME)[1]
    np.testing.assert_allclose(prior, [4.0, 1.0], rtol=0.25)
    for _ in range(20):
        learnt.learn(HOME, np.array([3.0, -0.5]))
    value, near = learnt.predict(HOME)
    np.testing.assert_allclose(value, [3.0, -0.5], atol=0.05)
    assert near[0] < 0.15 < 1.0 < learnt.predict(HOME + 1.2)[1][0]


def test_bad_input():
    contact = RobotContact(RobotContactOptions())
    with pytest.raises(ShapeError):
        contact.update(0, np.zeros(6))
    with pytest.raises(ShapeError):
        contact.update(0, HOME, np.zeros(5))
    for values in [{'force_on': 0.0}, {'hysteresis': 1.2}, {'speed_gain': -1.0}]:
        with pytest.raises(ValueRangeError):
            evolve(RobotContactOptions(), **values)
    with pytest.raises(ValueRangeError):
        PostureOffset(7, np.array([0.0]), 0.1)
