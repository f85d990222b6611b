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

from frame_ros.bags import fields
from frame_ros.bags.message_readers import JointStateReader
from frame_ros.nodes.runtime.fitting_subscription import DAMAGED
from frame_ros.robots.joint_state_merge import JointMerger

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
        found, message = reader.positions(data), deserialize_message(data, JointState)
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
        found, message = reader.full(data), deserialize_message(data, JointState)
        assert (found.stamp, list(found.names)) == (k * 10**9 + 7, list(message.name))
        for values, expected in (
            (found.positions, message.position),
            (found.velocities, message.velocity),
            (found.efforts, message.effort),
        ):
            assert same(values.tolist(), expected.tolist())


joints = st.permutations(['a', 'b', 'c', 'wheel', 'gripper'])
usual = st.floats(-3, 3) | st.sampled_from([math.nan, math.inf, -0.0])


@st.composite
def robot_states(draw):
    """Joints in any order, some too many or missing, values that are not there or not numbers."""
    names = draw(joints)[: draw(st.integers(0, 5))]
    size = st.sampled_from([len(names)] * 4 + [0, len(names) + 1])
    position, velocity, effort = (
        draw(st.lists(usual, min_size=count, max_size=count)) for count in (draw(size),) * 3
    )
    if draw(st.booleans()):
        velocity = effort = []
    values = {'position': position, 'velocity': velocity, 'effort': effort}
    return {'frame_id': 'base', 'name': names, **values}


@given(st.lists(robot_states(), min_size=1, max_size=12))
def test_states_are_merged_from_bytes_as_from_messages(sent):
    reader, of_bytes, of_messages = JointStateReader(), JointMerger('abc'), JointMerger('abc')
    for k, state in enumerate([*sent, *sent]):
        data = serialised(state, seconds=1, nanoseconds=1000 * k)
        stamp, *values = reader.full(data)
        found = of_bytes.update(stamp, *values)
        message = deserialize_message(data, JointState)
        wanted = of_messages.update(
            10**9 + 1000 * k, message.name, message.position, message.velocity, message.effort
        )
        assert (of_bytes.stamp, of_bytes.problem) == (of_messages.stamp, of_messages.problem)
        assert (found is None) == (wanted is None)
        for one, other in zip(found or (), wanted or (), strict=True):
            assert (one is None) == (other is None)
            assert one is None or same(one.tolist(), other.tolist())
    assert of_bytes.counts == of_messages.counts


@given(states, st.data())
def test_damaged_bytes_raise_what_is_expected_or_are_read(state, data):
    """None of them does more, whether the reader knows the layout or not."""
    whole, reader = serialised(state), JointStateReader()
    if data.draw(st.booleans()):
        reader.full(whole)
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 3))):
        if damaged:
            place = data.draw(st.integers(0, len(damaged) - 1))
            damaged[place] = data.draw(st.sampled_from([0, 1, 127, 128, 255]))
    try:
        found = reader.full(bytes(damaged))
    except DAMAGED:
        found = None
    assert found is None or found.stamp < 2**31 * 10**9
    assert list(reader.full(whole).names) == state['name']  # it learned nothing wrong


def test_a_command_that_comes_again_is_handed_on_by_its_bytes():
    reader, state = JointStateReader(), {'frame_id': '', 'name': ['a', 'b'], 'position': [1.0, 2.0]}
    assert reader.positions(serialised(state)).data == serialised(state)
    state['position'] = [3.0, -4.0]
    data = serialised(state, seconds=9)
    found = reader.positions(data)
    assert found.data == data and found.positions.tolist() == [3.0, -4.0]
    state['velocity'] = [0.0, 0.0]
    assert reader.positions(serialised(state)).data is None


def test_publishers_that_take_turns_are_each_learned_once(monkeypatch):
    learned, trace = [], fields.trace
    monkeypatch.setattr(fields, 'trace', lambda *given: learned.append(given[1]) or trace(*given))
    reader = JointStateReader()
    for step in range(20):
        for names in (['a', 'b'], ['gripper']):
            message = JointState(name=names, position=[0.1 * step] * len(names))
            message.header.stamp.sec = step
            found = reader.full(serialize_message(message))
            assert found.names == tuple(names) and found.stamp == step * 10**9
            assert found.positions.tolist() == [0.1 * step] * len(names)
    assert len(learned) == 2
