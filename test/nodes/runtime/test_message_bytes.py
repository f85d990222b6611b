# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages written as bytes against the messages themselves."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from frame_ros.bags.fields import FieldWriter
from frame_ros.core.time import SECOND
from frame_ros.msg import ContactState
from frame_ros.nodes.runtime import message_bytes
from frame_ros.nodes.runtime.message_bytes import (
    SerialisingWriter,
    joint_state_writer,
    pose_writer,
    sender_of,
    wrench_writer,
    writer_of,
)

STAMP = 17 * SECOND + 23
NAMES = [*(f'fr3_joint{i}' for i in range(1, 8)), 'fr3_finger_joint1']
UNUSUAL = (math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308)


def same_bits(found, wanted):
    """Bit for bit: NaN is NaN, and -0 is not 0."""
    return np.array(found).tobytes() == np.array(wanted, float).tobytes()


def joints(frame=''):
    """A JointState as the driver's first is."""
    zeros = [0.0] * len(NAMES)
    message = JointState(name=NAMES, position=zeros, velocity=zeros, effort=zeros)
    message.header.frame_id = frame
    return message


def joint_writer_of(make):
    groups = (('position',), ('velocity',), ('effort',))
    return writer_of('sensor_msgs/msg/JointState', make, *groups)


@pytest.mark.parametrize('frame', ['', 'a', 'ab', 'abc', 'abcd', 'left/fr3_link0', 'x' * 255])
@pytest.mark.parametrize('count', [1, 2, 7, 8])
def test_bytes_are_those_of_the_message_field_by_field(frame, count):
    writer = joint_state_writer(NAMES[:count], frame)
    assert isinstance(writer, FieldWriter), 'the middleware of the tests writes plain CDR'
    values = np.random.default_rng(count).normal(size=(3, count))
    message = JointState(name=NAMES[:count])
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = 17, 23
    message.position, message.velocity, message.effort = (row.tolist() for row in values)
    found = deserialize_message(writer.data(STAMP, *values), JointState)
    for name in message.get_fields_and_field_types():
        assert getattr(found, name) == getattr(message, name), name


def test_unusual_numbers_stay_what_they_are_bit_for_bit():
    values = np.array(UNUSUAL)
    writer = joint_state_writer(NAMES[: len(values)])
    other = SerialisingWriter(deserialize_message(writer.stamped(0), JointState), *writer_groups())
    for each in (writer, other):
        found = deserialize_message(each.data(STAMP, values, values[::-1], -values), JointState)
        assert same_bits(found.position, values) and same_bits(found.velocity, values[::-1])
        assert same_bits(found.effort, -values)


def writer_groups():
    return ('position',), ('velocity',), ('effort',)


def test_a_number_that_is_not_written_stays_as_it_was_before():
    writer = joint_state_writer(NAMES)
    positions = [writer.part(group) for group in range(3)][0]
    positions[7] = 0.02
    first = writer.stamped(STAMP)
    positions[:7] = np.arange(7.0)
    found = deserialize_message(writer.stamped(STAMP + 1), JointState)
    assert found.position.tolist() == [*range(7), 0.02] and found.header.stamp.nanosec == 24
    assert not any(found.velocity) and not any(found.effort)
    assert deserialize_message(first, JointState).position.tolist() == [0.0] * 7 + [0.02]


def damage_encapsulation(data):
    return bytes((0, 7)) + data[2:]  # XCDR2


def damage_order(data):
    return bytes((0, 0)) + data[2:]  # big endian it says, and is not


def damage_place(data):
    return data[:4] + bytes(8) + data[4:]


@pytest.mark.parametrize('damage', [damage_encapsulation, damage_order, damage_place])
def test_where_the_middleware_s_bytes_are_others_each_message_is_serialised(monkeypatch, damage):
    monkeypatch.setattr(
        message_bytes,
        'serialize_message',
        lambda message: damage(bytes(serialize_message(message))),
    )
    writer = joint_writer_of(joints)
    assert isinstance(writer, SerialisingWriter)
    monkeypatch.setattr(message_bytes, 'serialize_message', serialize_message)
    values = np.arange(24.0).reshape(3, 8)
    found = deserialize_message(writer.data(STAMP, *values), JointState)
    assert np.array_equal((found.position, found.velocity, found.effort), values)
    assert list(found.name) == NAMES and found.header.stamp.sec == 17


def test_bytes_that_the_middleware_cannot_read_are_not_sent(monkeypatch):
    def refuse(data, kind):
        raise message_bytes.rclpy_implementation.RMWError('malformed')

    monkeypatch.setattr(message_bytes, 'deserialize_message', refuse)
    assert isinstance(joint_state_writer(['a']), SerialisingWriter)


def test_a_value_in_another_place_is_noticed(monkeypatch):
    """Bytes that can be read, with the numbers of two groups exchanged."""
    data = FieldWriter.data

    def exchanged(self, stamp, *values):
        return data(self, stamp, *values[::-1])

    monkeypatch.setattr(FieldWriter, 'data', exchanged)
    assert isinstance(joint_writer_of(joints), SerialisingWriter)


def test_both_writers_give_the_same_of_every_kind():
    vector, turn = np.arange(6.0) + 0.5, np.array((0.1, 0.2, 0.3, 0.9))
    pose, wrench = pose_writer('base'), wrench_writer('base')
    paths = [f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz']
    contact_groups = ('force',), paths, ('joint_residuals',)

    def contact():
        message = ContactState(joint_names=NAMES[:7], joint_residuals=[0.0] * 7)
        message.joint_thresholds = [20.0] * 7
        return message

    fast = writer_of('frame_ros/msg/ContactState', contact, *contact_groups)
    slow = SerialisingWriter(contact(), *contact_groups)
    values = np.array((3.0,)), vector, np.arange(7.0)
    assert isinstance(fast, FieldWriter)
    one, other = (
        deserialize_message(each.data(STAMP, *values), ContactState) for each in (fast, slow)
    )
    assert one == other and one.force == 3.0 and one.joint_thresholds.tolist() == [20.0] * 7
    found = deserialize_message(pose.data(STAMP, vector[:3], turn), PoseStamped)
    groups = (
        [f'pose.position.{axis}' for axis in 'xyz'],
        [f'pose.orientation.{axis}' for axis in 'xyzw'],
    )
    message = PoseStamped()
    message.header.frame_id = 'base'
    slow = SerialisingWriter(message, *groups)
    assert deserialize_message(slow.data(STAMP, vector[:3], turn), PoseStamped) == found
    assert isinstance(pose, FieldWriter) and isinstance(wrench, FieldWriter)


def test_a_message_is_no_part_of_the_next():
    """Those of a tick are made first and published then."""
    slow = SerialisingWriter(joints(), *writer_groups())
    values = np.ones((3, 8))
    first = slow.data(STAMP, *values)
    slow.data(STAMP + 5, *(values * 2.0))
    assert deserialize_message(first, JointState).position.tolist() == [1.0] * 8


class Handle:
    """A publisher's, of an rclpy that has `publish_raw`."""

    def __init__(self):
        self.raw = []
        self.publish_raw = self.raw.append


class Publisher:
    """A publisher of rclpy, as far as it is used."""

    def __init__(self, handle):
        self.handle, self.checked = handle, []
        self.publish = self.checked.append


def test_bytes_are_sent_without_checks_where_rclpy_can():
    able, unable = Publisher(Handle()), Publisher(object())
    for publisher in (able, unable):
        sender_of(publisher)(b'bytes')
    assert able.handle.raw == unable.checked == [b'bytes'] and not able.checked
