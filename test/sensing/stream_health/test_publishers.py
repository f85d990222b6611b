# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Several publishers of one topic: parts of a robot, relays, and two that contradict each other."""

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.sensing.stream_health.publishers import DOUBTED, PublisherCheck, TopicPublishers
from frame_ros.sensing.stream_health.streams import StreamHealth

STEP = SECOND // 250
ARM, GRIPPER = ('a', 'b', 'c'), ('finger',)
NOTHING = np.zeros(0)


def moving(i):
    """Positions (3,) of an arm in motion."""
    return np.array([0.002 * i, 0.001 * i, 0.0])


def noise(seed=0):
    return np.random.default_rng(seed).normal(0.0, 0.05, (200, 6))


def wrenches(check, streams, count=100, begin=0):
    """Feeds wrenches of publishers in turns; returns all problems that were reported.

    streams: publisher -> (frame, its value i, delay of its stamps in ns).
    """
    said = []
    for i in range(begin, begin + count):
        for row, (publisher, (frame, values, late)) in enumerate(streams.items()):
            arrival = SECOND + i * STEP + row * STEP // 4
            check.wrench('wrench', publisher, arrival, arrival - late, frame, values(i))
            said.append(check.problem('wrench'))
    return said


def test_one_publisher_is_no_problem():
    check, read = PublisherCheck(), noise()
    assert set(wrenches(check, {'/driver': ('ft', lambda i: read[i], 0)})) == {''}
    assert check.warnings == () and check.statuses() == []


def test_another_publisher_of_zeros_is_found_at_its_first_message():
    check, read = PublisherCheck(), noise() + 5.0
    driver = {'/driver': ('ft', lambda i: read[i], 0)}
    assert set(wrenches(check, driver, 20)) == {''}
    said = wrenches(check, {**driver, '/fake': ('ft', lambda i: np.zeros(6), 0)}, 100, 20)
    assert all(said[1:])
    assert 'comes from /driver and /fake, whose values alternate by' in said[-1]
    (status,) = check.statuses()
    assert status.name == 'publishers of wrench' and status.message == said[-1]


@pytest.mark.parametrize('away', [0.0, 0.5])
def test_a_joint_that_turns_without_end_is_compared_by_the_short_way(away):
    """Two drivers of one arm that turns slowly through pi; one of them counts on."""
    check, said = PublisherCheck({'b'}), []
    for i in range(300):
        angle = np.pi - 0.1 + 0.001 * i
        wrapped = (angle + away + np.pi) % (2 * np.pi) - np.pi
        for row, (publisher, at) in enumerate((('/driver', wrapped), ('/other', angle))):
            arrival = SECOND + i * STEP + row * STEP // 4
            check.joints('joints', publisher, arrival, arrival, ARM, np.array([0.0, at, 0.0]))
            said.append(check.problem('joints'))
    assert said[-1] == '' if not away else 'whose values alternate by' in said[-1]


def test_another_frame_is_found_at_its_first_message():
    check, read = PublisherCheck(), noise()
    said = wrenches(
        check, {n: (n, lambda i: read[i], 0) for n in ('ft_left', 'ft_right')}, 2
    )  # fmt: skip
    assert said[0] == '' and "in the frames 'ft_left' and 'ft_right'" in said[1]


def test_stamps_that_go_back_and_forth_are_found():
    check, read = PublisherCheck(), noise()
    said = wrenches(
        check,
        {'/a': ('ft', lambda i: read[i], 0), '/b': ('ft', lambda i: read[i], SECOND // 10)},
    )
    assert 'whose stamps go back and forth' in said[-1]


def test_two_that_agree_are_used_and_named():
    check, first, second = PublisherCheck(), noise(1), noise(2)
    said = wrenches(
        check, {'/a': ('ft', lambda i: first[i], 0), '/b': ('ft', lambda i: second[i], 0)}
    )
    assert 'being compared' in said[1] and set(said[20:]) == {''}
    assert check.warnings == ('wrench comes from /a and /b, whose messages agree',)
    (status,) = check.statuses()
    assert status.level > 0 and '/a and /b' in status.message


@pytest.mark.parametrize('behind', [0, 3])
def test_a_relay_is_no_problem(behind):
    """The same messages again, at once or late."""
    check, read = PublisherCheck(), noise() + np.arange(200)[:, None]
    for i in range(100):
        stamp = SECOND + i * STEP
        check.wrench('wrench', '/driver', stamp, stamp, 'ft', read[i])
        assert check.problem('wrench') == ''
        k = i - behind
        if k >= 0:
            check.wrench('wrench', '/relay', stamp + 1, SECOND + k * STEP, 'ft', read[k])
            assert check.problem('wrench') == ''
    assert '/driver and /relay' in check.warnings[0]


def test_what_one_publisher_sends_is_used_again_once_the_other_is_silent():
    check, read = PublisherCheck(), noise() + 5.0
    driver = {'/driver': ('ft', lambda i: read[i % 200], 0)}
    assert wrenches(check, {**driver, '/fake': ('ft', lambda i: np.zeros(6), 0)}, 50)[-1]
    said = wrenches(check, driver, 700, 50)
    first = next(i for i, text in enumerate(said) if not text)
    assert first * STEP <= DOUBTED + 2 * STEP and set(said[first:]) == {''}
    assert check.statuses() == []


def test_a_publisher_that_sends_seldom_is_not_forgotten_between_its_messages():
    check, read = PublisherCheck(), noise() + 5.0
    fake = {'/fake': ('ft', lambda i: np.zeros(6), 0)}
    driver = {'/driver': ('ft', lambda i: read[i % 200], 0)}
    said = []
    for second in range(4):
        begin = 250 * second
        wrenches(check, fake, 1, begin)
        said += wrenches(check, driver, 249, begin + 1)
    assert all(said[250:])


def test_a_driver_that_was_restarted_takes_over():
    check, read = PublisherCheck(), noise()
    wrenches(check, {'/driver': ('ft', lambda i: read[i], 0)}, 50)
    said = wrenches(check, {'/driver again': ('ft', lambda i: read[i % 200] + 9.0, 0)}, 50, 300)
    assert set(said) == {''}


def joints(check, states):
    """states: (publisher, names, positions), one after the other."""
    for i, (publisher, names, positions) in enumerate(states):
        at = SECOND + i * STEP // 2
        check.joints('joint_states', publisher, at, at, names, np.asarray(positions, float))
        yield check.problem('joint_states')


def test_arm_and_gripper_of_two_publishers_are_parts():
    check = PublisherCheck()
    states = (
        ('/gripper', GRIPPER, [0.04]) if i % 3 == 0 else ('/arm', ARM, moving(i))
        for i in range(300)
    )
    assert set(joints(check, states)) == {''} and check.warnings == ()


def test_one_publisher_may_send_parts_that_overlap():
    check = PublisherCheck()
    states = (('/arm', ARM[i % 2 :], moving(i)[i % 2 :]) for i in range(200))
    assert set(joints(check, states)) == {''}


def test_a_joint_that_two_measure_otherwise_is_found_in_any_order_of_names():
    check, home = PublisherCheck(), np.zeros(3)
    states = (
        ('/other', ARM[::-1], home) if i % 2 else ('/arm', ARM, moving(i)) for i in range(200)
    )
    said = list(joints(check, states))
    assert 'joint_states' not in said[-1] and '/arm and /other, whose values' in said[-1]


def test_two_that_measure_the_same_joints_agree_in_motion():
    check = PublisherCheck()
    states = ((f'/{i % 2}', ARM[:: 1 - 2 * (i % 2)], moving(i)[:: 1 - 2 * (i % 2)])
              for i in range(200))  # fmt: skip
    assert set(list(joints(check, states))[20:]) == {''}
    assert '/0 and /1, whose messages agree' in check.warnings[0]


def test_two_cameras_on_one_topic_are_found():
    check = PublisherCheck()
    for i in range(5):
        for row, camera in enumerate(('/front', '/wrist')):
            at = SECOND + i * 8 * STEP + row * STEP
            check.image('front', camera, at, at, 'optical')
    assert 'comes from /front and /wrist, with different stamps' in check.problem('front')


def test_images_that_are_relayed_are_no_problem():
    check = PublisherCheck()
    for i in range(20):
        at = SECOND + i * 8 * STEP
        for camera in ('/front', '/relay'):
            check.image('front', camera, at, at, 'optical')
            assert check.problem('front') == ''
    assert check.warnings


def test_a_stream_of_two_publishers_is_not_used_and_nothing_is_learnt_of_it():
    health = StreamHealth()
    for i in range(300):
        for row, (publisher, q) in enumerate((('/arm', moving(i)), ('/fake', np.zeros(3)))):
            at = SECOND + i * STEP + row * STEP // 2
            health.publishers.joints('joint_states', publisher, at, at, ARM, q)
            found, _ = health.on_joints(at, ARM, q, NOTHING, NOTHING)
    assert '/arm and /fake' in found.unavailable
    check = health.streams['joint_states'].check
    (fault,) = check.faults
    assert fault.kind == 'publishers' and not check.is_judged_moving
    assert health.motion.is_moving(at) is None
    assert [each.name for each in health.statuses()] == [
        'stream joint_states', 'publishers of joint_states'
    ]  # fmt: skip
    wrench = noise()
    for i in range(10):
        for row in range(2):
            at = 4 * SECOND + i * STEP + row * STEP // 2
            health.publishers.wrench('wrench', f'/{row}', at, at, f'{row}', wrench[i])
            found = health.on_wrench(at, wrench[i].tolist())
    assert "in the frames '0' and '1'" in found.unavailable


def test_publishers_of_many_kinds_of_messages_leave_nothing_behind():
    topic = TopicPublishers(0.01)
    for row in range(200):
        for publisher, value in (('a', 0.0), ('b', 1.0)):
            names = ('x', 'y', f'{publisher}{row % 10}')
            arrival = row * 20 * MILLISECOND
            topic.add(publisher, arrival, arrival, '', names, np.full(3, value + 0.01 * row))
    assert topic.problem
    # The second is gone: what is left is one publisher's.
    for row in range(200, 1200):
        arrival = row * 20 * MILLISECOND
        topic.add('a', arrival, arrival, '', ('x', 'y', f'a{row % 10}'), np.full(3, 0.01 * row))
    assert topic.problem == topic.warning == ''
