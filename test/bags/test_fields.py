# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of serialised messages are where the definition puts them, in whatever order."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags import fields
from frame_ros.bags.definitions import find_definition, parse_fields, typestore_of
from frame_ros.bags.fields import FieldReader, FieldWriter
from frame_ros.core.errors import BagError

CONTACT = 'frame_ros/msg/ContactState'
JAZZY = get_typestore(Stores.ROS2_JAZZY)
WANTED = ('header.stamp', 'unavailable', 'in_contact', 'in_collision', 'force', 'links', 'forces')


def reordered(text, seed):
    """A definition whose own fields come in another order."""
    own, *others = text.split('=' * 80 + '\n')
    lines = [line for line in own.splitlines() if line.split('#')[0].strip()]
    random.Random(seed).shuffle(lines)
    return ('=' * 80 + '\n').join(['\n'.join(lines) + '\n', *others])


def empty(store, name):
    """A message of zeros and empty texts and sequences."""
    values = {}
    for field, (kind, detail) in store.fielddefs[name][1]:
        if kind == 1:
            values[field] = {'string': '', 'bool': False}.get(detail[0], 0)
        elif kind == 2:
            values[field] = empty(store, detail)
        else:
            (inner, element), count = detail
            is_number = inner == 1 and element[0] != 'string'
            size = count if kind == 3 else 0
            values[field] = np.zeros(size, element[0]) if is_number else []
    return store.types[name](**values)


def contact_state(store, reason, links):
    message = empty(store, CONTACT)
    message.header.stamp.sec, message.header.stamp.nanosec = 3, 4
    message.header.frame_id, message.unavailable = 'base', reason
    message.in_contact, message.in_collision, message.force = True, False, 2.5
    message.links, message.forces = links, np.arange(len(links), dtype=float)
    return bytes(store.serialize_cdr(message, CONTACT))


@given(st.integers(0, 99), st.text('ab\u00e9', max_size=5), st.lists(st.text('xyz'), max_size=3))
def test_fields_are_read_in_whatever_order_the_definition_has_them(seed, reason, links):
    text = reordered(find_definition(CONTACT).text, seed)
    store, types = typestore_of(CONTACT, text), parse_fields(CONTACT, text)
    reader = FieldReader(CONTACT, WANTED, types)
    for _ in range(2):  # learned, and known
        *found, forces = reader.read(contact_state(store, reason, links))
        assert found == [3 * 10**9 + 4, reason, True, False, 2.5, tuple(links)]
        assert forces.tolist() == list(range(len(links)))


def test_flags_of_a_robot_survive_a_reordered_contact_state(monkeypatch):
    pytest.importorskip('rclpy')
    from frame_ros.bags.franka_flags import StateFlagReader
    from frame_ros.nodes.contact.franka import contact_state

    known = find_definition(CONTACT)
    data = set()
    for seed in range(5):
        text = reordered(known.text, seed)
        monkeypatch.setattr(
            fields, 'find_definition', lambda name, text=text: replace(known, text=text)
        )
        store = typestore_of(CONTACT, text)
        message = empty(store, CONTACT)
        message.header.stamp.sec, message.header.frame_id = 5, 'base'
        data.add(bytes(store.serialize_cdr(message, CONTACT)))
        found = StateFlagReader(contact_state).read(bytes(store.serialize_cdr(message, CONTACT)))
        assert found.stamp == 5 * 10**9 and not found.flags.joint_contact.any()
    assert len(data) > 1, 'the orders differ in the bytes'


def test_a_message_that_differs_in_a_text_only_is_read_anew():
    kind, types = 'sensor_msgs/msg/JointState', JAZZY.fielddefs
    reader = FieldReader(kind, ('name', 'position', 'effort'), types)
    for names in (['a1', 'a2'], ['a2', 'a1'], ['a1', 'a2']):
        message = empty(JAZZY, kind)
        message.name, message.position = names, np.array([1.0, 2.0])
        found = reader.read(bytes(JAZZY.serialize_cdr(message, kind)))
        assert found[0] == tuple(names) and found[1].tolist() == [1.0, 2.0] and not len(found[2])


@pytest.mark.parametrize('is_little_endian', [True, False])
def test_both_byte_orders_are_read_and_written(is_little_endian):
    kind = 'geometry_msgs/msg/PoseStamped'
    data = bytes(JAZZY.serialize_cdr(empty(JAZZY, kind), kind, little_endian=is_little_endian))
    back = [f'pose.orientation.{axis}' for axis in 'wxyz']
    writer = FieldWriter(kind, data + bytes(3), ('pose.position.y',), back)
    written = writer.data(7 * 10**9 + 8, np.array([2.0]), np.array([3.0, 4.0, 5.0, 6.0]))
    assert len(written) == len(data)
    message = JAZZY.deserialize_cdr(written, kind)
    place, turn = message.pose.position, message.pose.orientation
    assert (place.x, place.y, place.z) == (0.0, 2.0, 0.0)
    assert (turn.w, turn.x, turn.y, turn.z) == (3.0, 4.0, 5.0, 6.0)
    found = FieldReader(kind, ('header.stamp', 'pose.position.y', *back)).read(written)
    assert found == [7 * 10**9 + 8, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_numbers_written_in_place_are_in_the_next_message():
    kind = 'geometry_msgs/msg/PoseStamped'
    data = bytes(JAZZY.serialize_cdr(empty(JAZZY, kind), kind))
    place, apart = [f'pose.position.{axis}' for axis in 'xyz'], ('pose.orientation.w',)
    writer = FieldWriter(kind, data, place, (*apart, 'pose.position.x'))
    before = writer.stamped(8)
    writer.part(0)[1:] = 5.0, 6.0
    reader = FieldReader(kind, ('header.stamp', *place))
    assert reader.read(writer.stamped(3 * 10**9 + 9)) == [3 * 10**9 + 9, 0.0, 5.0, 6.0]
    assert reader.read(before) == [8, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match='apart'):
        writer.part(1)


def test_what_is_damaged_or_not_there_is_named():
    kind = 'geometry_msgs/msg/PoseStamped'
    data = bytes(JAZZY.serialize_cdr(empty(JAZZY, kind), kind))
    with pytest.raises(BagError, match='no field pose.place'):
        FieldReader(kind, ('pose.place',)).read(data)
    with pytest.raises(BagError, match='shorter than its definition'):
        FieldReader(kind, ('pose.position.x',)).read(data[:-9])
    late = bytearray(data)
    late[8:12] = b'\xff' * 4
    with pytest.raises(ValueError, match='4294967295 ns'):
        FieldReader(kind, ('header.stamp',)).read(bytes(late))


def test_an_array_that_runs_past_a_later_message_is_named():
    kind = 'sensor_msgs/msg/CompressedImage'
    message = empty(JAZZY, kind)
    message = replace(message, data=np.arange(40, dtype=np.uint8))
    data = bytes(JAZZY.serialize_cdr(message, kind))
    reader = FieldReader(kind, ('data',))
    assert len(reader.read(data)[0]) == 40
    with pytest.raises(BagError, match='a length of 40 runs over'):
        reader.read(data[:-9])
