# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node with joints in other units, and with two publishers of one topic."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

import rclpy
from proximity_bench import JOINTS, POSE, SECOND, START, Bench, image_message
from sensor_msgs.msg import Image, JointState
from test_proximity_node import FRONT, SURFACE, picture

from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.publisher_identity import CAN_IDENTIFY

needs_identity = pytest.mark.skipif(not CAN_IDENTIFY, reason='publishers are not known')
STEP = SECOND // 10


@pytest.fixture()
def bench(ros_domain):
    made = Bench(rclpy, extrinsics=[FRONT], **SURFACE)
    yield made
    made.close()


@pytest.fixture()
def stranger(bench):
    """Makes a second publisher that the node hears."""
    node = rclpy.create_node('stranger', use_global_arguments=False)

    def make(kind, topic):
        publisher = node.create_publisher(kind, topic, 100)
        bench.until(publisher.get_subscription_count)
        return publisher

    yield make
    node.destroy_node()


def statuses(bench):
    return {each.name: each.message for each in bench.node._statuses()}


def test_a_robot_whose_joints_are_in_degrees_is_not_drawn(bench):
    assert not bench.see(START, picture()).unavailable
    message = bench.see(START + STEP, picture(), positions=np.degrees(POSE))
    assert math.isnan(message.distance)
    assert 'positions outside of the limits of so101' in message.unavailable
    assert 'they look like degrees' in message.unavailable
    assert 'outside of the limits' in statuses(bench)['stream /joint_states']
    assert not bench.see(START + 2 * STEP, picture()).unavailable


@needs_identity
def test_joint_states_of_another_publisher_are_not_mixed_in(bench, stranger):
    publisher = stranger(JointState, 'joint_states')
    assert not bench.see(START, picture()).unavailable
    for i in range(4):
        stamp = START + (i + 1) * STEP
        fake = JointState(name=list(JOINTS), position=[0.0] * len(JOINTS))
        fake.header.stamp = time_message(stamp - STEP // 2)
        publisher.publish(fake)
        bench.see(stamp, picture())
    message = bench.heard.proximity[-1]
    assert math.isnan(message.distance)
    assert 'comes from /stranger and /tester, whose values alternate' in message.unavailable
    assert 'publishers of /joint_states' in statuses(bench)


@needs_identity
def test_images_of_another_camera_on_the_topic_are_not_used(bench, stranger):
    publisher = stranger(Image, 'front/depth/image_raw')
    assert not bench.see(START, picture()).unavailable
    other = picture(boxes=())
    for i in range(4):
        stamp = START + (i + 1) * STEP
        count = bench.node._cameras[0].images.received
        publisher.publish(image_message(other, stamp - STEP // 2, 'front_optical'))
        bench.until(lambda count=count: bench.node._cameras[0].images.received > count)
        bench.see(stamp, picture())
    message = bench.heard.proximity[-1]
    assert math.isnan(message.distance)
    assert 'comes from /stranger and /tester, with different stamps' in message.unavailable
