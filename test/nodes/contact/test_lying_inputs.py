# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node with joints in other units, and with two publishers of one topic."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

import rclpy
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from test_contact_node import BIAS, STEP, WRENCH, Q, bench, weight

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.publisher_identity import CAN_IDENTIFY

needs_identity = pytest.mark.skipif(not CAN_IDENTIFY, reason='publishers are not known')
__all__ = ['bench']  # a fixture


@pytest.fixture()
def stranger(bench):
    """Makes a node with a second publisher that the contact node hears."""
    made = []

    def make(arm, kind, topic):
        node = rclpy.create_node('stranger', use_global_arguments=False)
        made.append(node)
        publisher = node.create_publisher(kind, topic, 500)
        arm.until(publisher.get_subscription_count)
        return publisher

    yield make
    for node in made:
        node.destroy_node()


def stamped(message, stamp, frame=''):
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    message.header.frame_id = frame
    return message


def between(arm, publisher, make, count=60):
    """Samples at rest, each followed by one of the stranger."""
    own = weight(Q)
    for _ in range(count):
        arm.joints()
        arm.wrench(BIAS + own)
        publisher.publish(stamped(*make(arm.stamp + STEP // 2)))
        arm.sent += 1
        arm.arrive()
        arm.stamp += STEP


def statuses(arm):
    return {each.name: each for each in arm.contact.sensing.trusted.statuses()}


def test_joints_in_degrees_are_no_contact(bench):
    arm = bench(*WRENCH)
    arm.at_rest(150)
    assert arm.state.unavailable == ''
    for _ in range(20):
        arm.joints(np.degrees([0.3, -1.2, 1.1, 0.4, 0.2]))
        arm.wrench(BIAS + weight())
        arm.stamp += STEP
    arm.arrive()
    state = arm.state
    assert not state.in_contact and np.isnan(state.force)
    assert 'shoulder_lift at -68.75 rad (limits -1.745 to 1.745)' in state.unavailable
    assert 'they look like degrees' in state.unavailable
    assert 'shoulder_lift' in statuses(arm)['stream joint_states'].message
    arm.at_rest(60)
    assert arm.state.unavailable == '' and not arm.found['contact_events']


@needs_identity
def test_wrenches_of_another_publisher_are_not_mixed_in(bench, stranger):
    arm = bench(*WRENCH)
    arm.at_rest(150)
    publisher = stranger(arm, WrenchStamped, 'wrench')
    between(arm, publisher, lambda stamp: (WrenchStamped(), stamp, 'gripper_link'))
    state = arm.state
    assert 'comes from /bench and /stranger, whose values alternate' in state.unavailable
    assert not state.in_contact and not arm.found['contact_events']
    assert statuses(arm)['publishers of wrench'].message in state.unavailable


@needs_identity
def test_joint_states_of_another_publisher_are_not_mixed_in(bench, stranger):
    arm = bench(*WRENCH)
    arm.at_rest(150)
    names, home = list(arm.robot.joint_names), [0.0] * 5
    publisher = stranger(arm, JointState, 'joint_states')
    between(arm, publisher, lambda stamp: (JointState(name=names, position=home), stamp))
    assert 'joint_states comes from /bench and /stranger' in arm.state.unavailable
    assert not arm.found['contact_events']


@needs_identity
def test_a_gripper_of_another_publisher_is_a_part(bench, stranger):
    arm = bench(*WRENCH)
    arm.at_rest(150)
    publisher = stranger(arm, JointState, 'joint_states')
    between(arm, publisher, lambda stamp: (JointState(name=['gripper'], position=[0.4]), stamp))
    assert arm.state.unavailable == '' and not arm.state.warnings
    assert 'publishers of joint_states' not in statuses(arm)


def test_a_wrench_in_another_frame_has_its_own_tare_with_a_mount(bench):
    arm = bench(*WRENCH, 'wrench.mount_link:=gripper_link')
    own = weight()

    def read(frame, count):
        for _ in range(count):
            arm.joints()
            arm.wrench(BIAS + own, frame=frame)
            arm.stamp += STEP
        arm.arrive()

    read('sensor', 150)
    first = arm.contact.sensing.wrench.detector
    assert arm.state.unavailable == ''
    read('another', 20)
    assert 'not tared yet' in arm.state.unavailable
    assert arm.contact.sensing.wrench.detector is not first
    read('sensor', 60)
    assert arm.contact.sensing.wrench.detector is first and arm.state.unavailable == ''
