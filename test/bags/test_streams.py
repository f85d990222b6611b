# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The same values live (rclpy messages), offline one by one (rosbags), and offline in columns."""

import math
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from bag_making import STORE, T0, event, message, serialised, stamp, write_bag

from frame_ros.bags.cdr import decode
from frame_ros.bags.definitions import parse_fields
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.contacts import GRASP_CONTACT, grasp_contact_samples
from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.grasp import IS_HELD, decided_grasp, gripper_samples, state_of
from frame_ros.bags.streams.inference import inference_samples
from frame_ros.bags.streams.table import FED_ROLES, STREAMS, pipeline_values, read_stream
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.sensing.contact.grasp import GraspOptions


def live_message(content):
    """The same message as an rclpy object, by way of its bytes."""
    pytest.importorskip('rclpy')
    import importlib

    from rclpy.serialization import deserialize_message

    package, kind, name = content.__msgtype__.split('/')
    message_class = getattr(importlib.import_module(f'{package}.{kind}'), name)
    return deserialize_message(serialised(content), message_class)


def plain(value):
    """Nested values as something that compares, NaN as text."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [plain(item) for item in value]
    return 'nan' if isinstance(value, float) and math.isnan(value) else value


@pytest.mark.parametrize('role', FED_ROLES)
def test_live_offline_and_columns_agree(tmp_path, role):
    rng = np.random.default_rng(3)
    sent = [message(STREAMS[role].message_type, rng) for _ in range(100)]
    if role == 'inference':
        object.__setattr__(sent[5], 'request_stamp', stamp(0))
        object.__setattr__(sent[6], 'latency', math.nan)
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0 + i, m) for i, m in enumerate(sent)]))
    stream = read_stream(bag, role, '/t')
    columns = pipeline_values(role, stream)
    function = STREAMS[role].from_message
    for index, (content, (_, offline)) in enumerate(zip(sent, bag.messages('/t'))):
        live = live_message(content)
        assert plain(function(live)) == plain(function(offline)) == plain(columns[index])
        assert stamp_ns(live.header.stamp) == stream.stamps[index]


@pytest.mark.parametrize('peaks', [[], [3.0, 7.0, math.nan], [math.nan]])
@pytest.mark.parametrize('reason', ['', 'the wrench is stale'])
def test_a_contact_that_is_not_known_is_so_live_and_in_columns(tmp_path, peaks, reason):
    content = message(
        'frame_ros/msg/ContactState', in_contact=True, in_collision=True, force=5.0,
        peak_forces=np.array(peaks), unavailable=reason, links=['hand'], others=['cube'],
        is_expected=np.array([True]),
    )  # fmt: skip
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0, content)]))
    (column,) = pipeline_values('contact', read_stream(bag, 'contact', '/t'))
    (grip,) = grasp_contact_samples(read_stream(bag, 'gripper', '/t').values)
    assert plain(STREAMS['contact'].from_message(live_message(content))) == plain(column)
    assert plain(GRASP_CONTACT.from_message(live_message(content))) == plain(grip)
    if reason:
        assert plain(column) == [None, False, 'nan', 'nan', 'nan', 'nan']
        assert plain(grip) == ['nan', 'nan']
    else:
        assert plain(column)[:4] == [True, True, 5.0, 7.0 if 7.0 in peaks else 'nan']
        assert grip[0] == 1.0


def test_forces_of_unexpected_contacts_are_told_apart_live_and_in_columns(tmp_path):
    rows = [([40.0, 3.0], [50.0, 4.0], [True, False]), ([40.0], [50.0], [True]), ([], [], []),
            ([1.0, math.nan, 2.0], [], [False]), ([6.0], [7.0, 9.0], [True])]  # fmt: skip
    sent = [
        message(
            'frame_ros/msg/ContactState', in_contact=True, force=5.0, forces=np.array(forces),
            peak_forces=np.array(peaks), is_expected=np.array(meant, bool),
        )
        for forces, peaks, meant in rows
    ]  # fmt: skip
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0 + i, m) for i, m in enumerate(sent)]))
    columns = pipeline_values('contact', read_stream(bag, 'contact', '/t'))
    live = [STREAMS['contact'].from_message(live_message(content)) for content in sent]
    assert plain(live) == plain(columns)
    nan = 'nan'
    assert [row[3:] for row in plain(live)] == [
        [50.0, 3.0, 4.0], [50.0, nan, nan], [nan, nan, nan], [nan, 2.0, nan], [9.0, nan, 9.0],
    ]  # fmt: skip


@pytest.mark.parametrize('effort', [[0.1, 0.2], [0.1], []])
def test_the_joint_of_a_gripper_is_found_by_its_name(tmp_path, effort):
    kind = STREAMS['gripper'].message_type
    lists = (['a', 'jaw'], ['jaw'], ['b'], [])
    sent = [
        message(kind, name=n, position=np.arange(len(n)) + 0.5, effort=np.array(effort))
        for n in lists
    ]
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0 + i, m) for i, m in enumerate(sent)]))
    found = gripper_samples(read_stream(bag, 'gripper', '/t').values, 'jaw')
    second, first = [effort[i] if i < len(effort) else 'nan' for i in (1, 0)]
    assert plain(found) == [[1.5, second], [0.5, first], None, None]


@pytest.mark.parametrize('source', ['position', 'effort', 'contact'])
def test_without_decisions_the_grasp_follows_from_the_evidence(tmp_path, source):
    """At a kilohertz, of which a sample in 5 ms is taken, and anew with every episode."""
    held = [500 <= i < 1500 for i in range(2000)]
    if source == 'contact':
        links = [['finger', 'jaw'] if is_held else ['jaw'] for is_held in held]
        sent = [
            message(
                'frame_ros/msg/ContactState', in_contact=True, links=names,
                others=['cube'] * len(names), is_expected=np.ones(len(names), bool),
            )
            for names in links
        ]  # fmt: skip
    else:
        sent = [
            message(
                'sensor_msgs/msg/JointState', name=['jaw'],
                position=np.array([0.1 if is_held or source == 'effort' else 0.5]),
                effort=np.array([0.9 if is_held else 0.1]),
            )
            for is_held in held
        ]  # fmt: skip
    stamps = [T0 + i * SECOND // 1000 for i in range(2000)]
    for at, content in zip(stamps, sent):
        object.__setattr__(content.header, 'stamp', stamp(at))
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', at, m) for at, m in zip(stamps, sent)]))
    options = GraspOptions(source, 'jaw', closed=0.2, opened=0.25, debounce=0.1)
    again = T0 + 1530 * SECOND // 1000  # within the debounce of the release
    grasp = decided_grasp(read_stream(bag, 'gripper', '/t'), options, [T0, again])
    assert grasp.stamps.tolist() == stamps[::5] and len(grasp.received) == 400
    found = [is_held for is_held, _ in pipeline_values('grasp', grasp)]
    assert found == [600 <= 5 * i < 1530 for i in range(400)]


def test_our_states_of_a_grasp_are_those_of_the_message():
    constants = {name: value for name, _, value in STORE.fielddefs['frame_ros/msg/GraspState'][0]}
    assert constants == {'UNKNOWN': 0, 'EMPTY': 1, 'HELD': 2}
    assert {constants['EMPTY']: False, constants['HELD']: True} == IS_HELD
    assert [state_of(is_held) for is_held in (None, False, True)] == [0, 1, 2]


def test_stamps_are_integers_without_loss():
    assert stamp_ns(stamp(1_700_000_000_123_456_789)) == 1_700_000_000_123_456_789


def test_observation_age_is_the_time_since_the_oldest_input():
    content = message(
        'frame_ros/msg/PolicyInference',
        request_stamp=stamp(T0 + 250_000_000),
        observation_stamp=stamp(T0),
    )
    assert STREAMS['inference'].from_message(content)['observation_age'] == 0.25
    object.__setattr__(content, 'observation_stamp', stamp(0))
    assert math.isnan(STREAMS['inference'].from_message(content)['observation_age'])


def test_features_are_the_same_live_and_from_a_bag(tmp_path):
    kind = 'frame_ros/msg/PolicyInference'
    rows = [np.arange(3.0), np.zeros(0), np.array([1.0, np.nan])]
    sent = [message(kind, features=row, feature_source=f'source {len(row)}') for row in rows]
    bag = Bag(write_bag(tmp_path / 'bag', [('/t', T0 + i, m) for i, m in enumerate(sent)]))
    live = [STREAMS['inference'].from_message(each) for each in sent]
    read = inference_samples(read_stream(bag, 'inference', '/t').values)
    for found in (live, read):
        for values, row in zip(found, rows, strict=True):
            np.testing.assert_array_equal(values['features'], row)
            assert values['feature_source'] == f'source {len(row)}'


def test_event_keeps_its_texts_as_attributes():
    pair = message('diagnostic_msgs/msg/KeyValue', key='seed', value='7')
    content = event(
        T0, EventType.START, policy='p', instruction='pick', attributes=[pair], text='note'
    )
    got = event_of(content)
    assert got == event_of(live_message(content))
    assert got.attributes == {'policy': 'p', 'instruction': 'pick', 'seed': '7'}
    assert (got.stamp, got.type, got.text, got.outcome) == (
        T0,
        EventType.START,
        'note',
        Outcome.UNKNOWN,
    )


def test_an_unknown_kind_of_event_is_an_error():
    with pytest.raises(ValueRangeError, match='type 99'):
        event_of(message('frame_ros/msg/EpisodeEvent', type=99))


def test_our_constants_are_those_of_the_message():
    constants = {name: value for name, _, value in STORE.fielddefs['frame_ros/msg/EpisodeEvent'][0]}
    assert {kind.name: kind.value for kind in EventType} == {
        name: value for name, value in constants.items() if not name.startswith('OUTCOME_')
    }
    assert {f'OUTCOME_{o.name}': o.value for o in Outcome} == {
        name: value for name, value in constants.items() if name.startswith('OUTCOME_')
    }


def test_a_contact_without_its_expectation_shows_a_grasp_as_unexpected():
    values = {
        'in_contact': np.array([True]), 'in_collision': np.array([False]),
        'unavailable_reason': np.array(['']), 'links_count': np.array([2.0]),
        'links': np.array([['finger', 'jaw']]), 'others': np.array([['cube', 'cube']]),
    }  # fmt: skip
    without = grasp_contact_samples(values)
    assert without == grasp_contact_samples({**values, 'is_expected': np.zeros((1, 2))})


def test_a_time_of_other_fields_is_left_out():
    types = parse_fields(
        'a/msg/A', 'builtin_interfaces/Time stamp\n' + '=' * 80
        + '\nMSG: builtin_interfaces/Time\nfloat64 secs\n'
    )  # fmt: skip
    data = np.frombuffer(b'\x00\x01\x00\x00' + struct.pack('<d', 2.5), np.uint8)
    messages = SimpleNamespace(
        lengths=np.array([len(data)]),
        data=lambda index: data,
        rows=lambda indices, size: data[None, :size],
    )
    _, columns = decode(types, 'a/msg/A', messages, paths=['stamp', 'stamp.secs'])
    assert columns['stamp.secs'].tolist() == [2.5] and 'stamp' not in columns
