# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the contact node: wrenches and Franka's flags from bytes, mounts, joint arrays."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from scipy.spatial.transform import Rotation

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message

from frame_ros.bags.franka_flags import IndicatorReader, StateFlagReader
from frame_ros.bags.message_readers import WrenchReader
from frame_ros.core.errors import RobotError, SetupError
from frame_ros.core.options import from_values
from frame_ros.msg import ContactState
from frame_ros.nodes.contact.franka import contact_state
from frame_ros.nodes.contact.inputs import Pause
from frame_ros.nodes.contact.options import ContactOptions
from frame_ros.nodes.runtime.fitting_subscription import DAMAGED
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.composition.inputs import Sample, Waiting, silence_of
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.robot_sensor import RobotSensor
from frame_ros.sensing.contact.sensor_mount import SensorFrames, SensorMount, given_mount
from frame_ros.sensing.contact.wrench_sensor import tip_in_sensor, weight_point_in_sensor

STREAMS = ('commands', 'joints', 'wrench')


def stamps(samples):
    return [(sample.stamp, sample.stream) for sample in samples]


@pytest.mark.parametrize(
    ('is_led', 'ages', 'is_waited_for'),
    [
        (True, (0.0, 0.0), True),  # joint efforts only
        (False, (0.01, 9.0), False),  # a wrench may come at any moment
        (False, (9.0, 0.01), False),
        (False, (9.0, 9.0), True),  # idle
    ],
)
def test_a_node_waits_for_joint_states_where_nothing_else_is_judged(is_led, ages, is_waited_for):
    waits = []
    streams = {
        name: SimpleNamespace(
            age=lambda now, age=age: age,
            subscription=SimpleNamespace(wait=lambda longest, n=name: waits.append((n, longest))),
        )
        for name, age in zip(('joints', 'wrench'), ages, strict=True)
    }
    pause = Pause(streams, 'joints', 1e-4, is_led)
    for _ in range(2):
        pause.wait(0.02)
    assert waits == 2 * is_waited_for * [('joints', 0.02)]


def test_samples_wait_for_the_joint_states_of_their_time():
    waiting = Waiting(STREAMS, 'joints', 0.2)
    wrenches = [Sample(stamp, 'wrench', None) for stamp in (4, 8, 12)]
    assert stamps(waiting.take([Sample(2, 'joints', None), *wrenches], 1.0)) == [(2, 'joints')]
    found = waiting.take([Sample(10, 'joints', None)], 1.1)
    assert stamps(found) == [(4, 'wrench'), (8, 'wrench'), (10, 'joints')]
    assert waiting.take([Sample(16, 'wrench', None)], 1.15) == []
    assert stamps(waiting.take([], 1.21)) == [(12, 'wrench')]  # not for ever
    assert stamps(waiting.take([], 1.4)) == [(16, 'wrench')]
    assert stamps(waiting.take([Sample(9, 'wrench', None)], 1.5)) == [(9, 'wrench')]
    waiting.take([Sample(30, 'wrench', None)], 1.5)
    assert stamps(waiting.rest()) == [(30, 'wrench')] and waiting.rest() == []
    waiting.take([Sample(40, 'wrench', None)], 1.6)
    waiting.reset()
    assert waiting.take([], 9.0) == []
    assert stamps(Waiting(STREAMS, 'joints', 0.0).take(wrenches, 1.0)) == stamps(wrenches)


def test_what_waits_for_a_joint_state_of_its_stamp_is_judged_with_it():
    waiting = Waiting(STREAMS, 'joints', 0.2)
    assert waiting.take([Sample(4, 'commands', None), Sample(4, 'wrench', None)], 1.0) == []
    found = waiting.take([Sample(4, 'joints', None)], 1.1)
    assert [sample.stream for sample in found] == ['commands', 'joints', 'wrench']


texts = st.text(st.characters(min_codepoint=1, max_codepoint=0x2FF), max_size=9)
numbers = st.floats(allow_nan=False, width=64)

# Of franka_msgs, what is read and what comes before and behind it.
COLLISION_INDICATORS = """
geometry_msgs/Vector3 is_cartesian_linear_collision
geometry_msgs/Vector3 is_cartesian_angular_collision
geometry_msgs/Vector3 is_cartesian_linear_contact
geometry_msgs/Vector3 is_cartesian_angular_contact
float64[7] is_joint_collision
float64[7] is_joint_contact
"""
ROBOT_STATE = """
std_msgs/Header header
CollisionIndicators collision_indicators
sensor_msgs/JointState measured_joint_state
"""


@given(st.lists(st.tuples(texts, st.lists(numbers, min_size=6, max_size=6)), min_size=1))
def test_a_wrench_read_from_bytes_is_what_the_message_holds(sent):
    reader = WrenchReader()
    for k, (frame, values) in enumerate([*sent, *sent[-1:]]):
        message = WrenchStamped()
        message.header.frame_id, message.header.stamp.sec = frame, k
        message.header.stamp.nanosec = 9
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = values
        found = reader.wrench(serialize_message(message))
        assert (found.stamp, found.frame) == (k * 10**9 + 9, frame)
        assert list(found.values) == values


@pytest.fixture(scope='module')
def franka():
    store = get_typestore(Stores.ROS2_JAZZY)
    types = get_types_from_msg(COLLISION_INDICATORS, 'franka_msgs/msg/CollisionIndicators')
    types |= get_types_from_msg(ROBOT_STATE, 'franka_msgs/msg/FrankaRobotState')
    store.register(types)
    return store


def robot_state(store, raised, frame='fr3_link0'):
    """raised: field of the indicators -> indices of its flags."""
    vector = store.types['geometry_msgs/msg/Vector3']
    fields = {}
    for name in ('linear_collision', 'angular_collision', 'linear_contact', 'angular_contact'):
        flags = [float(i in raised.get(name, ())) for i in range(3)]
        fields[f'is_cartesian_{name}'] = vector(*flags)
    for name in ('joint_collision', 'joint_contact'):
        flags = [float(i in raised.get(name, ())) for i in range(7)]
        fields[f'is_{name}'] = np.array(flags)
    stamp = store.types['builtin_interfaces/msg/Time'](sec=3, nanosec=4)
    header = store.types['std_msgs/msg/Header'](stamp=stamp, frame_id=frame)
    joints = store.types['sensor_msgs/msg/JointState'](
        header=header, name=['fr3_joint1'], position=np.ones(1), velocity=np.ones(1),
        effort=np.ones(1),
    )  # fmt: skip
    return store.types['franka_msgs/msg/FrankaRobotState'](
        header=header,
        collision_indicators=store.types['franka_msgs/msg/CollisionIndicators'](**fields),
        measured_joint_state=joints,
    )


@pytest.mark.parametrize('frame', ['fr3_link0', '', 'base'])
@pytest.mark.parametrize(
    ('raised', 'field', 'expected'),
    [
        ({'joint_contact': (2, 6)}, 'joint_contact', (2, 6)),
        ({'joint_collision': (0,)}, 'joint_collision', (0,)),
        ({'linear_contact': (1,)}, 'cartesian_contact', (1,)),
        ({'angular_contact': (2,)}, 'cartesian_contact', (5,)),
        ({'linear_collision': (0,), 'angular_collision': (0,)}, 'cartesian_collision', (0, 3)),
    ],
)
def test_flags_of_a_robot_state_are_read_from_its_bytes(franka, frame, raised, field, expected):
    message = robot_state(franka, raised, frame)
    data = bytes(franka.serialize_cdr(message, message.__msgtype__))
    found = IndicatorReader(franka.fielddefs).read(data)
    assert found.stamp == 3 * 10**9 + 4
    for name, flags in found.flags._asdict().items():
        assert np.flatnonzero(flags).tolist() == list(expected if name == field else ())


def test_bytes_that_are_cut_off_are_not_read(franka):
    message = robot_state(franka, {})
    data = bytes(franka.serialize_cdr(message, message.__msgtype__))
    for size in (0, 3, 14, 100):
        with pytest.raises(DAMAGED):
            IndicatorReader(franka.fielddefs).read(data[:size])


@given(texts, texts, st.booleans(), st.booleans(), st.integers(0, 9))
def test_flags_of_a_contact_state_are_what_the_message_holds(frame, why, touches, hits, count):
    message = ContactState(unavailable=why, in_contact=touches, in_collision=hits)
    message.header.frame_id, message.header.stamp.sec, message.header.stamp.nanosec = frame, 7, 8
    message.links = ['link'] * count
    data = bytes(serialize_message(message))
    found = StateFlagReader(contact_state).read(data)
    assert (found is None) == bool(why)
    if found is not None:
        assert found.stamp == 7 * 10**9 + 8
        assert (found.flags.joint_contact.any(), found.flags.joint_collision.any()) == (
            touches, hits,
        )  # fmt: skip
    for size in (0, 3, 14, 18):
        with pytest.raises(DAMAGED):
            StateFlagReader(contact_state).read(data[:size])


def test_mounts_by_link_by_parameters_and_by_fixed_transforms():
    robot = load_robot('so101')
    frames = SensorFrames(robot)
    assert frames.find('/gripper_link').link == 'gripper_link'
    assert frames.find('ft_sensor') is None
    assert "'ft_sensor'" in frames.problem('ft_sensor') and 'wrist_link' in frames.problem('')
    turn = Rotation.from_euler('xyz', [0.1, 0.2, 0.3])
    frames.add('ft_sensor', 'ft_optical', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    assert frames.find('ft_optical') is None
    frames.add('wrist_link', 'ft_sensor', (0.1, 0.0, -0.2), turn.as_quat())
    found = frames.find('ft_optical')
    assert found.link == 'wrist_link'
    np.testing.assert_allclose(found.rotation, turn.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(found.translation, [0.1, 0.0, -0.2])
    told = SensorFrames(robot, given_mount('wrist_link', (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)))
    np.testing.assert_allclose(told.find('anything').rotation, turn.as_matrix(), atol=1e-12)
    with pytest.raises(RobotError, match='hand'):
        SensorFrames(robot, given_mount('hand', (0.0,) * 3, (0.0,) * 3))


def test_the_tip_in_the_sensor_is_that_of_the_kinematics():
    mount = SensorMount(
        'fr3_link7', Rotation.from_euler('z', 0.4).as_matrix(), np.array([0, 0, 0.1])
    )
    robot, sensor = load_robot('fr3', 'tcp'), load_robot('fr3', 'fr3_link7')
    q = (robot.lower + robot.upper) / 2
    tip, _ = robot.forward(q)
    place, turn = sensor.forward(q)
    rotation = Rotation.from_quat(turn).as_matrix()
    origin = place + rotation @ mount.translation
    expected = (rotation @ mount.rotation).T @ (tip - origin)
    np.testing.assert_allclose(tip_in_sensor(robot, mount), expected, atol=1e-12)
    with pytest.raises(SetupError, match='fr3_joint7'):
        tip_in_sensor(robot, SensorMount('fr3_link6', np.eye(3), np.zeros(3)))


@pytest.mark.parametrize('name', ['fr3', 'panda'])
@pytest.mark.parametrize('tip', ['', 'hand', 'tcp'])
def test_weights_are_expected_at_the_tool_centre_point_whatever_the_tip_is(name, tip):
    robot, mount = (
        load_robot(name, tip or None),
        SensorMount(f'{name}_hand', np.eye(3), np.zeros(3)),
    )
    found = weight_point_in_sensor(robot, mount)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.1034], atol=1e-9)


def test_weights_are_expected_at_the_tip_of_a_robot_without_a_tool_centre_point():
    robot = load_robot(
        '<robot name="x"><link name="base"/><link name="arm"/><link name="pin"/>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        '<joint name="f" type="fixed"><parent link="arm"/><child link="pin"/>'
        '<origin xyz="0 0.2 0"/></joint></robot>',
        'pin',
    )
    mount = SensorMount('arm', np.eye(3), np.array([0.0, 0.0, 0.1]))
    np.testing.assert_allclose(weight_point_in_sensor(robot, mount), [0.0, 0.2, -0.1], atol=1e-12)


@pytest.mark.parametrize('point', ['tip', 'base'])
@pytest.mark.parametrize(('frame', 'given'), [('fr3_link0', ''), ('?', 'fr3_link0'), ('base', '')])
def test_an_external_wrench_in_a_frame_fixed_to_the_base_is_turned_to_it(frame, given, point):
    text = load_robot('fr3').urdf
    mount = (
        '<link name="base"/><joint name="mount" type="fixed"><parent link="base"/>'
        '<child link="fr3_link0"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0 1.5"/></joint></robot>'
    )
    robot = load_robot(text[: text.rindex('</robot>')] + mount, 'fr3_hand')
    assert robot.base_link == 'base'
    joints = JointArrays(tuple(robot.joint_limits))
    settings = from_values(
        ContactOptions,
        {
            'robot_contact.wrench_frame': given,
            'robot_contact.wrench_point': point,
            'robot_contact.offset_force': 0.1,
            'robot_contact.offset_torque': 0.1,
        },
    )
    sensor = RobotSensor(settings, robot, joints)
    q = (robot.lower + robot.upper) / 2
    state = FullJointState(1, robot.joint_names, q, np.zeros(7), np.zeros(7))
    sensor.on_joints(1, joints.take(state))
    tip, _ = robot.forward(q)
    turn, origin = np.eye(3), np.zeros(3)
    if 'fr3_link0' in (frame, given):
        turn, origin = (
            Rotation.from_euler('xyz', [0.4, 0, 1.5]).as_matrix(),
            np.array([0.1, 0.2, 0.3]),
        )
    force, torque = np.array([1.0, -2.0, 30.0]), np.array([0.1, 0.2, -0.3])
    about = torque + (np.cross(tip - origin, force) if point == 'base' else 0.0)
    # As libfranka tells it: what the robot does to its surroundings.
    values = -np.concatenate((turn.T @ force, turn.T @ about))
    found = sensor.on_wrench(2, frame, values.tolist(), None)
    np.testing.assert_allclose(found.wrench, [*force, *torque], atol=1e-9)
    settings = from_values(ContactOptions, {'robot_contact.wrench_frame': 'fr3_link1'})
    found = RobotSensor(settings, robot, joints).on_wrench(2, frame, values.tolist(), None)
    assert found.is_contact is None and 'unknown frame' in found.unavailable
    assert 'set robot_contact.wrench_frame' in found.unavailable


def joint_state(names, positions, velocities=(), efforts=()):
    values = [np.array(v, dtype=np.float64) for v in (positions, velocities, efforts)]
    return FullJointState(1, tuple(names), *values)


def test_joint_states_in_parts_and_any_order_fill_the_arrays():
    arrays = JointArrays(('a', 'b', 'c'))
    wanted = arrays.rows(('c', 'a'))
    assert arrays.missing_of(wanted) == ('a', 'c')
    assert arrays.take(joint_state('xa', [9, 1], [9, 2], [9, 3])) == {'a'}
    assert arrays.sample(wanted) is None and arrays.missing_of(wanted) == ('c',)
    assert arrays.take(joint_state('cb', [5, 6], [7, 8])) == {'b', 'c'}
    found = arrays.sample(wanted)
    assert found.positions.tolist() == [5, 1] and found.velocities.tolist() == [7, 2]
    assert np.isnan(found.efforts[0]) and found.efforts[1] == 3
    arrays.take(joint_state('a', [4]))
    assert arrays.sample(wanted).velocities is None
    assert arrays.position_of('a') == 4
    assert arrays.oldest(wanted) == 1
    arrays.take(joint_state('a', [4])._replace(stamp=9))
    assert arrays.oldest(wanted) == 1 and arrays.oldest(arrays.rows('a')) == 9
    arrays.forget()
    assert arrays.oldest(wanted) == 0 and arrays.missing_of(wanted) == ('a', 'c')


@pytest.mark.parametrize(
    ('state', 'kind'),
    [
        (joint_state('ab', [1]), 'wrong_length'),
        (joint_state('ab', [1, 2], [1]), 'wrong_length'),
        (joint_state('ab', [1, 2], [], [1, 2, 3]), 'wrong_length'),
        (joint_state('aa', [1, 2]), 'wrong_length'),
        (joint_state('xy', [1, 2]), 'unknown_joints_only'),
        (joint_state('ab', [1, np.inf]), 'non_finite'),
    ],
)
def test_joint_states_that_cannot_be_used_are_counted_and_change_nothing(state, kind):
    arrays = JointArrays(('a', 'b'))
    arrays.take(joint_state('ab', [3, 4]))
    assert arrays.take(state) == frozenset()
    assert arrays.counts[kind] == 1 and sum(arrays.counts.values()) == 1
    assert arrays.problem and arrays.position_of('b') == 4


def test_names_with_a_prefix_are_shown_shortened():
    arrays = JointArrays(('fr3_joint1', 'fr3_joint2'))
    names = (*(f'left_fr3_joint{i}' for i in range(1, 8)), 'x' * 500)
    zeros = np.zeros(8)
    assert not arrays.take(FullJointState(1, names, zeros, zeros, zeros))
    shown = 'a message with left_fr3_joint1, left_fr3_joint2, left_fr3_joint3 and 5 more'
    assert arrays.problem == f'none of the joints fr3_joint1, fr3_joint2 in {shown}'
    assert not arrays.take(FullJointState(2, names[-1:], zeros[:1], zeros[:1], zeros[:1]))
    assert len(arrays.problem) < 120


class _Stream:
    def __init__(self, age):
        self._age = age
        self.received, self.used, self.problem = 5, 5, ''
        self.subscription = SimpleNamespace(topic_name='/joint_states', silence=lambda: '')

    def age(self, now):
        return self._age


def test_a_stream_that_pauses_is_silent_though_its_newest_message_was_not_judged():
    # At 1 kHz and 250 Hz of judged samples the newest message is some ms younger.
    silent = silence_of([_Stream(0.496)], 0.501, 0.0, 0.5, 'none of the joints')
    assert silent == 'nothing on /joint_states for 0.50 s'
    comes = silence_of([_Stream(0.02)], 0.501, 0.0, 0.5, 'none of the joints')
    assert comes == '/joint_states comes, but without contact: none of the joints'
