# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact by the wrench while something is carried: the load is none, a push is."""

import copy

import numpy as np
import pytest
from attrs import evolve

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.expectation import (
    AllowedRegion,
    ContactContext,
    ContactExpectations,
)
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.tracker import ContactTracker
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY, Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion

PERIOD = 4  # ms between samples
TOOL = Tool(0.73, (0.01, -0.005, 0.05))
HELD_AT = (0.0, 0.0, 0.1)  # in the sensor's axes, which are those of the base here
OPEN, HELD, TABLE = 0.04, 0.0215, 0.0225  # m: gripper, gripper, height of the tip at the grasp
TURNED = 0.7  # of a diagonal
EXPECTATIONS = ContactExpectations(finger_links=('left', 'right'))


class Arm:
    """An arm that carries a force-torque sensor of 250 Hz, with noise; what the classes make of it.

    load: kg of what is held, as far as the gripper bears it. tip: m, height.
    """

    def __init__(self, expectations=EXPECTATIONS):
        self.contact = WrenchContact(WrenchOptions(tip=HELD_AT), TOOL)
        self.tracker = ContactTracker(expectations)
        self.random = np.random.default_rng(5)
        self.time, self.load, self.tip, self.gripper, self.is_grasped = 0, 0.0, 0.3, OPEN, False
        self.events = []

    def run(self, time, push=(0.0, 0.0, 0.0), acceleration=(0.0, 0.0, 0.0)):
        """time: ms. push: N on the hand. acceleration: m/s^2 of it."""
        rest = np.zeros(3)
        motion = ToolMotion(np.eye(3), np.array(acceleration), rest, rest, any(acceleration))
        carried = ToolLoad(TOOL.with_payload(self.load, HELD_AT))
        row = np.eye(3).ravel().tolist()
        clean = np.add(carried.weight(carried.gravity(row)), carried.inertial(row, motion))
        clean[:3] += push
        clean[3:] += np.cross(HELD_AT, push)
        noise = self.random.normal(size=(time // PERIOD, 6)) * [0.1, 0.1, 0.1, 0.004, 0.004, 0.004]
        for reading in clean + noise:
            self.time += PERIOD
            stamp = self.time * MILLISECOND
            found = self.contact.update(stamp, reading, motion, self.is_grasped)
            self.events += self.tracker.update([found], self.context())[1]

    def context(self):
        weighed = self.contact.payload.mass * GRAVITY or np.nan
        return ContactContext(
            self.time * MILLISECOND, self.gripper, is_grasped=self.is_grasped,
            tip_position=np.array([0.4, 0.0, self.tip]), held_weight=weighed,
        )  # fmt: skip

    def grasp(self):
        self.run(560)
        assert self.contact.bias is not None
        self.tip = TABLE
        self.run(50)
        for step in range(20):
            self.gripper = OPEN + (HELD - OPEN) * (step + 1) / 20
            self.run(4)
        self.is_grasped = True
        self.run(600)  # longer than a grasp explains by itself

    def lift(self, mass):
        for step in range(10):
            self.load = mass * (step + 1) / 10
            self.tip += 0.001
            self.run(4)
        for acceleration in (2.0, -2.0):
            for _ in range(5):
                self.tip += 0.02
                self.run(20, acceleration=(0.5 * acceleration, 0.0, acceleration))

    def set_down_and_let_go(self):
        """The surface takes the weight; the fingers open, and tell so late."""
        self.load = 0.0
        self.run(200)
        for step in range(50):
            self.gripper = HELD + (OPEN - HELD) * (step + 1) / 50
            self.run(4)
        self.is_grasped = False
        self.run(300)

    @property
    def reasons(self):
        return ' '.join(event.reason for event in self.events)


@pytest.fixture(scope='module')
def grasped():
    """An arm that has grasped something on the table; tests take a copy."""
    arm = Arm()
    arm.grasp()
    return arm


@pytest.mark.parametrize('mass', [0.08, 0.4, 1.0])
def test_what_is_held_makes_no_collision_from_grasp_to_release(grasped, mass):
    arm = copy.deepcopy(grasped)
    arm.run(60, push=(1.7, 0.2, 0.9))  # it sits askew, and rubs on the table
    arm.run(60, push=(-4.5, -3.0, 5.2))
    arm.run(100)
    arm.lift(mass)
    arm.run(600)
    assert arm.contact.payload.mass == pytest.approx(mass, abs=0.02)
    count = len(arm.events)
    for acceleration in (3.0, -3.0):
        arm.run(150, acceleration=(acceleration, 0.0, acceleration))
    assert len(arm.events) == count  # its inertia is taken off with its weight
    arm.tip = 0.1
    arm.set_down_and_let_go()
    assert arm.tracker.collisions == 0 and arm.events
    assert 'surface that it lay on' in arm.reasons
    assert ('is a weight' in arm.reasons) == ('supports the weight' in arm.reasons) == (mass > 0.2)


PUSHES = {
    'ahead': (8.0, 0.0, 0.0),
    'aside': (0.0, -8.0, 0.0),
    'up': (0.0, 0.0, 8.0),
    'up and aside': (0.0, 8.0 * TURNED, 8.0 * TURNED),
    'down and ahead': (8.0 * TURNED, 0.0, -8.0 * TURNED),
}


def assert_it_collides(arm, push):
    before = arm.tracker.collisions
    arm.run(50, push)
    assert arm.tracker.collisions == before + 1 and arm.tracker.in_collision
    (contact,) = arm.tracker.contacts
    assert not contact.is_expected and contact.peak_force > 5.0


@pytest.mark.parametrize('push', PUSHES.values(), ids=PUSHES)
@pytest.mark.parametrize('mass', [0.08, 0.4])
def test_a_push_while_carrying_is_a_collision(grasped, mass, push):
    arm = copy.deepcopy(grasped)
    arm.lift(mass)
    arm.run(600)
    assert arm.contact.payload.mass and not arm.tracker.contacts
    assert_it_collides(arm, push)


@pytest.mark.parametrize('name', ['ahead', 'aside', 'up'])
def test_a_push_before_the_load_is_weighed_is_a_collision(grasped, name):
    arm = copy.deepcopy(grasped)
    arm.lift(0.4)
    (weight,) = arm.tracker.contacts  # the load itself, expected
    assert weight.is_expected and not arm.contact.payload.mass
    assert_it_collides(arm, np.add(PUSHES[name], (0.0, 0.0, 4.0 if name == 'up' else 0.0)))


@pytest.mark.parametrize('name', ['ahead', 'aside'])
def test_a_push_aside_at_the_height_of_the_grasp_is_a_collision(grasped, name):
    arm = copy.deepcopy(grasped)
    assert_it_collides(arm, PUSHES[name])


def test_there_is_a_largest_force_of_what_is_held(grasped):
    arm = copy.deepcopy(grasped)
    arm.run(50, push=(0.0, 0.0, 12.0))
    assert arm.tracker.collisions == 0
    arm.run(50, push=(0.0, 0.0, 24.0))
    assert arm.tracker.collisions == 1 and 'more than the 20 N' in arm.tracker.contacts[0].reason


def test_what_is_held_may_touch_a_region_that_it_reaches():
    table = AllowedRegion('table', (0.0, -1.0, -0.1), (1.0, 1.0, 0.01), 15.0, held_only=True)
    arm = Arm(evolve(EXPECTATIONS, regions=(table,), held_reach=0.08))
    arm.grasp()
    arm.lift(0.08)
    arm.run(600)
    arm.tip = 0.085
    arm.run(50, push=(8.0, 0.0, 8.0))
    assert arm.tracker.collisions == 0 and "region 'table'" in arm.reasons
    arm.run(100)
    arm.tip = 0.095
    assert_it_collides(arm, (8.0, 0.0, 8.0))


@pytest.mark.parametrize('link', ['elbow', 'hand'])
def test_a_link_that_is_pushed_while_something_is_held_is_a_collision(grasped, link):
    arm = copy.deepcopy(grasped)
    arm.lift(0.08)
    stamp = arm.time * MILLISECOND + 1
    wrench = np.array([0.0, 0.0, -8.0, 0.0, 0.0, 0.0])
    pushed = Detection(stamp, int(ContactSource.JOINT_EFFORT), True, 8.0, wrench, link)
    arm.tracker.update([pushed], arm.context())
    assert arm.tracker.collisions == 1
