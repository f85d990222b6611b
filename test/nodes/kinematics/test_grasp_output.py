# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The decision on the grasp, which the kinematics node takes and publishes; the node is polled."""

import math
import time
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

import rclpy
from sensor_msgs.msg import JointState

from frame_ros.core.time import MILLISECOND, SECOND, stamp_ns
from frame_ros.msg import ContactState, GraspState
from frame_ros.nodes.kinematics.node import KinematicsNode
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.polled import PolledSubscription

START = 1_700_000_000 * SECOND
UNKNOWN, EMPTY, HELD = GraspState.UNKNOWN, GraspState.EMPTY, GraspState.HELD


class Bench:
    """The node in this process, and a node that feeds and hears it."""

    def __init__(self, parameters):
        arguments = [part for each in parameters for part in ('-p', each)]
        rclpy.init(args=['--ros-args', *arguments])
        self.kinematics = KinematicsNode()
        self.node = rclpy.create_node('bench', use_global_arguments=False)
        make = self.node.create_publisher
        self.joints = make(JointState, 'joint_states', 500)
        self.hand = make(JointState, 'hand/joint_states', 500)
        self.contact = make(ContactState, 'contact', 500)
        self.input = PolledSubscription(self.node, GraspState, 'grasp', 1000)
        self.found = []
        self.until(lambda: self.joints.get_subscription_count() == 1)
        heard = next(p for p in self.kinematics.publishers if p.topic_name == '/grasp')
        self.until(heard.get_subscription_count)

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.found
            self.poll()
            time.sleep(0.001)

    def poll(self):
        self.kinematics.poll()
        self.found += [message for message, _ in self.input.take(1000)]

    def send(self, publisher, message, stamp):
        message.header.stamp = time_message(stamp)
        publisher.publish(message)

    def move(self, stamp, position, effort=0.0, names=('gripper',), publisher=None):
        """A joint state; returns once it was handled."""
        count = self.kinematics.joint_states.received
        message = JointState(name=list(names), position=[position] * len(names))
        message.effort = [effort] * len(names)
        self.send(publisher or self.joints, message, stamp)
        if publisher is None:
            self.until(lambda: self.kinematics.joint_states.received > count)

    def decisions(self):
        """All messages so far, once the newest has come: (ms since START, state)."""
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            self.poll()
            time.sleep(0.005)
        stamps = [stamp_ns(message.header.stamp) - START for message in self.found]
        return [(at / MILLISECOND, m.state) for at, m in zip(stamps, self.found)]

    def close(self):
        self.node.destroy_node()
        self.kinematics.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture()
def bench(ros_domain):
    made = []

    def make(*parameters):
        made.append(Bench(parameters))
        return made[-1]

    yield make
    for each in made:
        each.close()
    rclpy.try_shutdown()


def test_a_change_is_said_at_once_and_what_stays_fifty_times_a_second(bench):
    arm = bench('grasp.debounce:=0.0')
    for i in range(101):
        arm.move(START + i * MILLISECOND, 0.1 if 33 <= i < 77 else 0.5, 0.3)
    found = arm.decisions()
    stamps = [at for at, _ in found]
    assert all(next_one - at <= 20 for at, next_one in zip(stamps, stamps[1:])) and len(found) <= 9
    assert [(at, state) for at, state in found if at in (33, 77)] == [(33, HELD), (77, EMPTY)]
    assert all((state == HELD) == (33 <= at < 77) for at, state in found)
    message = arm.found[stamps.index(33)]
    assert (message.source, message.position, message.effort, message.reason) == (
        'position', 0.1, 0.3, '',
    )  # fmt: skip


def test_messages_without_the_gripper_carry_the_newest_decision(bench):
    arm = bench()
    arm.move(START, 0.1, names=('wheel',))
    arm.move(START + 10 * MILLISECOND, 0.1)
    arm.move(START + 400 * MILLISECOND, 0.7, names=('wheel',))
    arm.move(START + 600 * MILLISECOND, 0.7, names=('wheel',))
    found = arm.decisions()
    assert found == [(0, UNKNOWN), (10, HELD), (400, HELD), (600, UNKNOWN)]
    assert arm.found[-1].reason == 'the state of gripper has not been known for 0.5 s'
    assert math.isnan(arm.found[-1].position)


def test_the_gripper_may_have_a_topic_of_its_own(bench):
    arm = bench('gripper_topic:=hand/joint_states')
    arm.until(arm.hand.get_subscription_count)
    arm.move(START, 0.1, publisher=arm.hand)
    other = arm.kinematics._grasp._inputs[0]
    arm.until(lambda: other.received)
    arm.move(START + 20 * MILLISECOND, 0.7, names=('wheel',))
    assert arm.decisions() == [(20, HELD)]


def test_contacts_of_two_links_with_one_thing_may_show_it(bench):
    arm = bench('grasp.source:=contact', 'grasp.debounce:=0.0')
    arm.until(arm.contact.get_subscription_count)
    given = arm.kinematics._grasp._inputs[0]
    states = []
    for i, links in enumerate((['jaw'], ['jaw', 'finger'])):
        touching = ContactState(
            in_contact=True, links=links, others=['cube'] * len(links),
            is_expected=[True] * len(links), reasons=[''] * len(links),
        )  # fmt: skip
        stamp = START + i * 20 * MILLISECOND
        arm.send(arm.contact, touching, stamp)
        arm.until(lambda i=i: given.received == i + 1)
        arm.move(stamp, 0.5)
        states.append(arm.decisions()[-1])
    assert states == [(0, EMPTY), (20, HELD)] and arm.found[-1].source == 'contact'
    arm.send(arm.contact, ContactState(unavailable='silent'), START + 500 * MILLISECOND)
    arm.until(lambda: given.received == 3)
    arm.move(START + 600 * MILLISECOND, 0.5)
    assert arm.decisions()[-1] == (600, UNKNOWN)
    assert arm.found[-1].reason == 'contact has not been known for 0.5 s'


def test_none_is_a_choice_and_says_so(bench):
    arm = bench('grasp.source:=none')
    arm.move(START, 0.1)
    assert arm.decisions() == [(0, UNKNOWN)]
    assert (arm.found[0].source, arm.found[0].reason) == ('none', 'grasp.source is none')


def test_a_description_is_no_robot_of_the_package(bench):
    urdf = Path(__file__).resolve().parents[3] / 'urdf' / 'so101.urdf'
    arm = bench(f'robot_description:={urdf}')  # whose gripper may be another than its name says
    arm.move(START, 0.1)
    assert arm.decisions() == [(0, UNKNOWN)]
    assert 'is not known: set grasp.joint' in arm.found[0].reason


def test_stamps_that_cannot_be_are_left_out_and_a_reset_clock_goes_on(bench):
    arm = bench('grasp.debounce:=0.0')
    for at in (0, 20, -400, 20, 90_000, 40):
        arm.move(START + at * MILLISECOND, 0.1)
    for at in range(3):
        arm.move(START - 60 * SECOND + at * MILLISECOND, 0.5)
    found = arm.decisions()
    assert found == [(0, HELD), (20, HELD), (40, HELD), (-59998, EMPTY)]
