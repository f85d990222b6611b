# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that the node published, and those that `frame-ros sense` makes of its inputs."""

import pytest

pytest.importorskip('rclpy')

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from test_contact_node import (
    FRANKA,
    STEP,
    WRENCH,
    Q,
    bench,
    franka_state,
    motors_file,
    stamp_of,
    step,
)

from frame_ros.bags.cdr import trace
from frame_ros.bags.definitions import find_definition, parse_fields
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter
from frame_ros.cli import main
from frame_ros.core.time import MILLISECOND
from frame_ros.msg import ContactEvent, ContactState
from frame_ros.robots.dynamics import RobotDynamics

__all__ = ['bench', 'motors_file']  # fixtures
KINDS = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'joint_commands': 'sensor_msgs/msg/JointState',
    'wrench': 'geometry_msgs/msg/WrenchStamped',
    f'{FRANKA}/external_wrench_in_base_frame': 'geometry_msgs/msg/WrenchStamped',
    f'{FRANKA}/contact': 'frame_ros/msg/ContactState',
}


def serialised(message, kind):
    """The bytes as they come over the network: rclpy adds some behind."""
    data = serialize_message(message)
    types = parse_fields(kind, find_definition(kind).text)
    return data[: trace(types, kind, np.frombuffer(data, np.uint8)).size]


def kept(arm):
    """Keeps what the arm sends from now on: topic, stamp and bytes."""
    sent, send = [], arm.send

    def keep(topic, message, stamp=None, frame=''):
        send(topic, message, stamp, frame)
        sent.append((topic, stamp_of(message), serialised(message, KINDS[topic])))

    arm.send = keep
    return sent


def written(folder, sent):
    """A bag of it, received 1 ms after the stamps."""
    with BagWriter(folder) as writer:
        channels = {}
        for topic, at, data in sent:
            if topic not in channels:
                definition = find_definition(KINDS[topic])
                channels[topic] = writer.add_topic(f'/{topic}', KINDS[topic], definition)
            writer.write(channels[topic], at + MILLISECOND, data)
    return folder


def by_stamp(messages):
    return {stamp_of(message): str(message) for message in messages}


def recorded(folder, topic, kind):
    return [deserialize_message(data.tobytes(), kind) for _, data in Bag(folder).raw(topic)]


def check_same(arm, sent, folder, parameters):
    """All states and events are those of the node, to the last digit, but for those of before the
    first message, whose stamps are those of the machine's clock.
    """
    given = [f'--parameter={each.replace(":=", "=", 1)}' for each in parameters]
    path = written(folder / 'recording', sent)
    assert main(['sense', str(path), '-o', str(folder / 'sensed'), '-q', *given]) == 0
    first = min(stamp for _, stamp, _ in sent)
    live = {at: m for at, m in by_stamp(arm.found['contact']).items() if at >= first}
    sensed = by_stamp(recorded(folder / 'sensed', '/contact', ContactState))
    ours = [at for at in live if at <= max(stamp for _, stamp, _ in sent)]
    assert len(ours) > 10
    assert [at for at in ours if live[at] != sensed.get(at)] == []
    events = recorded(folder / 'sensed', '/contact_events', ContactEvent)
    assert by_stamp(arm.found['contact_events']) == by_stamp(events)
    return events


def test_contact_by_wrench_is_that_of_the_node(bench, tmp_path):
    arm = bench(*WRENCH)
    sent = kept(arm)
    arm.at_rest(150)
    arm.at_rest(300, step(50, 150, (0.0, 4.0, 3.0)))
    arm.at_rest(100, step(20, 60, (9.0, 0.0, 0.0)))
    assert len(check_same(arm, sent, tmp_path, WRENCH)) == 4


def test_contact_by_joint_efforts_is_that_of_the_node(bench, motors_file, tmp_path):
    parameters = (
        'sources:=[joint_effort]', f'joints.motors_file:={motors_file}', 'max_sensor_age:=60.0',
    )  # fmt: skip
    arm = bench(*parameters)
    sent, dynamics, names = kept(arm), RobotDynamics(arm.robot), arm.robot.joint_names
    hold = dynamics.gravity(Q)
    pushed = dynamics.link_jacobian('lower_arm_link', Q, (-0.07, 0.0, 0.0))[:3].T @ [0, 0, -10.0]
    for count, push in ((250, 0.0), (150, pushed), (150, 0.0)):
        for _ in range(count):
            arm.send('joint_commands', JointState(name=list(names), position=list(Q)))
            arm.joints(Q, effort=(hold - push).tolist())
            arm.stamp += STEP
        arm.arrive()
    assert len(check_same(arm, sent, tmp_path, parameters)) == 4


def test_contact_by_the_flags_of_a_franka_is_that_of_the_node(bench, tmp_path):
    parameters = ('robot:=fr3', 'sources:=[robot]', 'max_sensor_age:=60.0')
    arm = bench(*parameters)
    sent, q = kept(arm), ((arm.robot.lower + arm.robot.upper) / 2).tolist()
    for count, flags in ((50, ()), (30, (3,)), (50, ())):
        for _ in range(count):
            arm.joints(q)
            arm.wrench(np.zeros(6), frame='', topic=f'{FRANKA}/external_wrench_in_base_frame')
            arm.send(f'{FRANKA}/contact', franka_state(flags))
            arm.stamp += STEP
        arm.arrive()
    assert len(check_same(arm, sent, tmp_path, parameters)) == 2
