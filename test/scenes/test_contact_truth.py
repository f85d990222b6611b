# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that the simulator counts as meant: fingers on the object, by gripper and force."""

import attrs
import numpy as np
import pytest

from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.contact_interval import ContactInterval
from frame_ros.scenes.simulation.contacts import Contact

CUBE, FINGER = 'cube', 'fr3_leftfinger'


def put_cube(simulation, place, speed=0.0):
    """The cube's middle at a place (3,) m, with its axes along the base's; speed: m/s upwards."""
    address = simulation.model.joint('cube_free').qposadr[0]
    simulation.data.qpos[address : address + 3] = place
    simulation.data.qpos[address + 3 : address + 7] = (1.0, 0.0, 0.0, 0.0)
    simulation.data.qvel[simulation.model.joint('cube_free').dofadr[0] + 2] = speed
    simulation._derive()


@pytest.fixture
def simulation():
    """An FR3 at home, its cube between the open fingers, and nothing pulling it down."""
    made = PickPlaceSimulation(3, robot='fr3')
    made.model.opt.gravity[:] = 0.0
    made.step(made.targets.copy(), 5)
    return made


def fingers_on_cube(simulation):
    return [c for c in simulation.contacts() if c.other == CUBE and 'finger' in c.link]


def test_a_grasp_is_expected_and_stays_so(simulation):
    put_cube(simulation, simulation.tip_position())
    target = simulation.targets.copy()
    target[-1] = 0.0
    simulation.step(target, 1500)
    found = fingers_on_cube(simulation)
    assert len(found) == 2 and all(contact.is_expected for contact in found)
    assert min(contact.force for contact in found) > 20.0  # they squeeze; little is left over
    target[-1] = simulation.upper[-1]
    for _ in range(20):
        simulation.step(target, 10)
        assert all(contact.is_expected for contact in fingers_on_cube(simulation))


@pytest.mark.parametrize('grows', [False, True])
def test_a_gripper_closes_as_its_profile_says(simulation, grows):
    robot = simulation.robot
    ends = robot.gripper_ends[::-1] if grows else robot.gripper_ends
    simulation.robot = attrs.evolve(robot, gripper_ends=ends)
    for share, closes in ((0.0, True), (1.0, False)):
        target = simulation.targets.copy()
        simulation.data.qpos[simulation._qpos[-1]] = sum(ends) / 2
        simulation.data.ctrl[simulation._actuators[-1]] = ends[0] + share * (ends[1] - ends[0])
        assert simulation._is_closing(simulation.data) is closes
        simulation.data.ctrl[simulation._actuators] = target


def test_an_open_finger_on_the_object_is_a_collision(simulation):
    fingertip = simulation.data.body(FINGER).xpos + (0.0, 0.0, -0.045)
    simulation.step(None, 700)  # longer than a gripper's motion explains
    put_cube(simulation, fingertip + np.array((0.0, 0.0, -0.025)))
    found = fingers_on_cube(simulation)
    assert found and not any(contact.is_expected for contact in found)
    assert 'does not close' in found[0].reason


def test_closing_fingers_may_push_the_object_but_not_hard(simulation):
    target = simulation.targets.copy()
    target[-1] = 0.0
    simulation.step(target, 1)
    fingertip = simulation.data.body(FINGER).xpos + (0.0, 0.0, -0.045)
    verdicts = {}
    for speed in np.arange(0.0, 6.0, 0.25):
        put_cube(simulation, fingertip + np.array((0.0, 0.0, -0.025)), speed)
        found = simulation.contacts()
        push = np.linalg.norm(sum((contact.net_force for contact in found), np.zeros(3)))
        for contact in fingers_on_cube(simulation):
            verdicts[float(push)] = (contact.is_expected, contact.reason)
    assert min(verdicts) < 20.0 < max(verdicts)
    assert all(verdict[0] == (push <= 20.0) for push, verdict in verdicts.items())
    assert 'push the object to pick by' in verdicts[max(verdicts)][1]


def touch(force, is_expected=True, link='jaw'):
    push = np.array((0.0, 0.0, force))
    return Contact(
        link, CUBE, is_expected, 'meant' if is_expected else 'not meant', force, np.zeros(3),
        np.array((0.0, 0.0, 1.0)), push, np.zeros(3),
    )  # fmt: skip


def test_an_interval_has_what_happened_between_two_readings():
    interval = ContactInterval()
    for contacts in ([], [touch(8.0, False)], [touch(2.0)], []):
        interval.add(contacts)
    found = interval.take()
    (contact,) = found.contacts
    assert (contact.force, contact.peak_force) == (2.0, 8.0)
    assert not contact.is_expected and contact.reason == 'not meant'
    assert found.force.tolist() == [0.0, 0.0, 2.5]
    assert interval.take().contacts == ()
    interval.add([touch(1.0)])
    assert interval.take().contacts[0].peak_force == 1.0
