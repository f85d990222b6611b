# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states read from their bytes: the same as by a message, whatever is in them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from frame_ros.nodes.joint_state_bytes import JointStateReader

numbers = st.floats(allow_nan=True, allow_infinity=True)
texts = st.text(st.characters(min_codepoint=1, max_codepoint=0x2FF), max_size=9)
states = st.builds(
    dict,
    frame_id=texts,
    name=st.lists(texts, max_size=4),
    position=st.lists(numbers, max_size=4),
    velocity=st.lists(numbers, max_size=2),
    effort=st.lists(numbers, max_size=2),
)


def serialised(state, seconds=5, nanoseconds=7):
    message = JointState(**{key: value for key, value in state.items() if key != 'frame_id'})
    message.header.frame_id = state['frame_id']
    message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
    return serialize_message(message)


def same(a, b):
    return len(a) == len(b) and all(
        x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b, strict=True)
    )


@given(st.lists(states, min_size=1, max_size=4))
def test_what_is_read_is_what_a_message_holds(sent):
    reader = JointStateReader()
    for k, state in enumerate([*sent, *sent[-1:] * 2]):
        data = serialised(state, seconds=k)
        found, message = reader.read(data), deserialize_message(data, JointState)
        assert found.stamp == k * 10**9 + 7
        assert list(found.names) == list(message.name)
        assert same(found.positions.tolist(), message.position.tolist())
        if found.data is not None:
            assert found.data == data and not message.velocity and not message.effort


@given(st.lists(states, min_size=1, max_size=4))
def test_velocities_and_efforts_are_read_with_them(sent):
    reader = JointStateReader()
    for k, state in enumerate([*sent, *sent[-1:] * 2]):
        data = serialised(state, seconds=k)
        found, message = reader.read_all(data), deserialize_message(data, JointState)
        assert (found.stamp, list(found.names)) == (k * 10**9 + 7, list(message.name))
        for values, expected in (
            (found.positions, message.position),
            (found.velocities, message.velocity),
            (found.efforts, message.effort),
        ):
            assert same(values.tolist(), expected.tolist())


def test_a_command_that_comes_again_is_handed_on_by_its_bytes():
    reader, state = JointStateReader(), {'frame_id': '', 'name': ['a', 'b'], 'position': [1.0, 2.0]}
    assert reader.read(serialised(state)).data is None  # the first is learnt from
    state['position'] = [3.0, -4.0]
    data = serialised(state, seconds=9)
    found = reader.read(data)
    assert found.data == data and found.positions.tolist() == [3.0, -4.0]
    state['velocity'] = [0.0, 0.0]
    assert reader.read(serialised(state)).data is None


def test_publishers_that_take_turns_are_each_learned_once(monkeypatch):
    from frame_ros.nodes import joint_state_bytes

    learned = []
    deserialize = joint_state_bytes.deserialize_message

    def counting(data, kind):
        learned.append(kind)
        return deserialize(data, kind)

    monkeypatch.setattr(joint_state_bytes, 'deserialize_message', counting)
    reader = joint_state_bytes.JointStateReader()
    for step in range(20):
        for names in (['a', 'b'], ['gripper']):
            message = JointState(name=names, position=[0.1 * step] * len(names))
            message.header.stamp.sec = step
            found = reader.read_all(serialize_message(message))
            assert found.names == tuple(names) and found.stamp == step * 10**9
            assert found.positions.tolist() == [0.1 * step] * len(names)
    assert len(learned) == 2
