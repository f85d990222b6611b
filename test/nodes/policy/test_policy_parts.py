# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's parts without its threads: ticks, episodes, images, parameters."""

import threading

import numpy as np
import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from types import SimpleNamespace  # noqa: E402

from rclpy.clock import ROSClock  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from rclpy.time import Time  # noqa: E402
from sensor_msgs.msg import Image, JointState  # noqa: E402

from frame_ros.core.errors import CheckpointError, PolicyError, SetupError  # noqa: E402
from frame_ros.core.events import EventType  # noqa: E402
from frame_ros.core.name_values import parse_pairs  # noqa: E402
from frame_ros.core.repeated_warnings import RepeatedWarnings  # noqa: E402
from frame_ros.msg import EpisodeEvent, PolicyHeartbeat  # noqa: E402
from frame_ros.nodes.policy.control import ControlLoop, Health  # noqa: E402
from frame_ros.nodes.policy.inputs import (  # noqa: E402
    image_reader,
    rgb_of,
)
from frame_ros.nodes.policy.node import PolicyNode  # noqa: E402
from frame_ros.nodes.policy.problems import Problems  # noqa: E402
from frame_ros.nodes.runtime.fitting_subscription import DAMAGED  # noqa: E402
from frame_ros.nodes.runtime.ticks import Ticks  # noqa: E402
from frame_ros.policies.episode_gate import Boundary, EpisodeGate  # noqa: E402
from frame_ros.policies.execution.action_queue import ActionQueue  # noqa: E402


def test_ticks_of_simulated_time_are_neither_shifted_nor_made_up_for():
    clock = ROSClock()
    clock._set_ros_time_is_active(True)

    def set_time(seconds: float) -> None:
        clock.set_ros_time_override(Time(seconds=seconds, clock_type=clock.clock_type))

    set_time(100.0)
    stop = threading.Event()
    ticks = Ticks(0.1, clock, True, stop)
    for time_, missed in ((100.0, 0), (100.15, 0), (100.2, 0), (100.55, 2), (100.6, 2)):
        set_time(time_)
        assert ticks.wait()
        assert ticks.missed == missed
    set_time(5.0)  # set back, as at the restart of a simulation
    assert ticks.wait()
    stop.set()
    assert not ticks.wait()


def test_simulated_time_begins_with_the_first_message_on_clock():
    clock = ROSClock()
    clock._set_ros_time_is_active(True)
    stop = threading.Event()
    ticks = Ticks(0.1, clock, True, stop)
    waiting = threading.Thread(target=ticks.wait)
    waiting.start()
    waiting.join(0.02)
    assert waiting.is_alive() and not ticks.lateness
    clock.set_ros_time_override(Time(seconds=1e9, clock_type=clock.clock_type))
    waiting.join(PATIENCE)
    assert (ticks.missed, list(ticks.lateness)) == (0, [0])


def test_the_gate_opens_and_closes_at_the_stamps():
    gate = EpisodeGate()
    gate.add(Boundary(200, EventType.END, 'a'))
    gate.add(Boundary(100, EventType.START, 'a', 'pick', 5))
    assert not gate.advance(99) and gate.episode is None
    assert gate.advance(100)
    assert (gate.episode.episode_id, gate.episode.instruction, gate.episode.seed) == (
        'a',
        'pick',
        5,
    )
    assert not gate.advance(199)
    assert gate.advance(200) and gate.episode is None


def test_the_end_of_another_episode_does_not_close_the_gate():
    gate = EpisodeGate()
    gate.add(Boundary(100, EventType.START, 'b'))
    gate.add(Boundary(150, EventType.END, 'a'))
    gate.advance(160)
    assert gate.episode.episode_id == 'b'
    gate.add(Boundary(170, EventType.STOP))
    assert gate.advance(180) and gate.episode is None


def test_a_late_joiner_replays_past_episodes_and_joins_the_running_one():
    gate = EpisodeGate()
    for stamp, kind, name in ((1, 1, 'a'), (2, 2, 'a'), (3, 1, 'b')):
        gate.add(Boundary(stamp, EventType(kind), name))
    assert gate.advance(1000)
    assert (gate.episode.episode_id, gate.episode.number) == ('b', 1)


def test_a_start_has_one_name_through_takeovers_and_for_a_node_that_joins_late():
    def names(*stamps):
        gate = EpisodeGate()
        gate.add(Boundary(100, EventType.START, 'a'))
        gate.add(Boundary(200, EventType.INTERVENTION_START, 'a'))
        gate.add(Boundary(300, EventType.INTERVENTION_END, 'a'))
        gate.add(Boundary(400, EventType.START, 'a'))
        for stamp in stamps:
            gate.advance(stamp)
            yield gate.acting.start

    first, taken_over, second = names(100, 300, 400)
    assert first == taken_over != second
    assert list(names(350, 450)) == [first, second]
    assert EpisodeGate(acts_always=True).episode.start == ''


def test_always_goes_on_after_an_end_but_not_after_a_stop():
    gate = EpisodeGate(acts_always=True)
    first = gate.episode
    gate.add(Boundary(100, EventType.START, 'a'))
    gate.add(Boundary(200, EventType.END, 'a'))
    assert gate.advance(250) and gate.episode not in (None, first)
    gate.add(Boundary(300, EventType.STOP))
    assert gate.advance(300) and gate.episode is None


def test_a_stop_is_obeyed_when_it_is_heard_although_its_clock_is_ahead():
    gate = EpisodeGate()
    gate.add(Boundary(100, EventType.START, 'a'))
    assert gate.advance(110)
    gate.add(Boundary(90_000, EventType.STOP, 'a'))
    assert gate.advance(111) and gate.episode is gate.acting is None
    gate.add(Boundary(200, EventType.START, 'b'))
    assert gate.advance(200) and gate.episode.episode_id == 'b'


@pytest.mark.parametrize(('stopped', 'begins'), [('b', False), ('', False), ('a', True)])
def test_a_stop_calls_off_a_start_that_was_announced_before_it(stopped, begins):
    gate = EpisodeGate()
    gate.advance(50)
    gate.add(Boundary(100, EventType.START, 'b'))
    gate.add(Boundary(60, EventType.STOP, stopped))
    assert not gate.advance(99)
    assert gate.advance(100) == begins
    gate.add(Boundary(150, EventType.START, 'c'))
    assert gate.advance(150) and gate.acting.episode_id == 'c'


def test_trouble_is_noted_once_an_episode_and_floods_nothing(ros_context):
    node, log = Node('troubled'), []
    heard, events = [], node.create_publisher(EpisodeEvent, 'episode_events', 500)
    node.create_subscription(EpisodeEvent, 'episode_events', heard.append, 500)
    logger = SimpleNamespace(error=log.append)
    problems = Problems(RepeatedWarnings(logger), node.get_clock(), events)
    for k in range(3):
        problems.report(f'<Thing object at 0x7f{k}ab> failed after {k}.5 s', 'a')
        problems.report('another', 'b')
    for k in range(1000):  # every one of another kind
        problems.report('x' * k, 'c')
    for _ in range(200):
        rclpy.spin_once(node, timeout_sec=0.05)
        if len(heard) == 22:
            break
    assert [event.episode_id for event in heard] == ['a', 'b', *['c'] * 20]
    assert 2 < len(log) <= 23  # the rest are one subject
    for k in range(50):
        problems.report('another', f'e{k}')
    assert len(problems._noted) <= 8
    node.destroy_node()


def test_a_clock_that_is_set_back_ends_no_motion(ros_context):
    """The control loop's ticks at given times, without its thread."""
    node, heard = Node('controlling'), {'command': [], 'beat': []}
    node.create_subscription(JointState, 'c', heard['command'].append, 50)
    node.create_subscription(PolicyHeartbeat, 'h', heard['beat'].append, 50)
    queue, gate = ActionQueue(0.1), EpisodeGate(acts_always=True)
    loop = ControlLoop(
        period=0.1,
        queue=queue,
        gate=gate,
        clock=node.get_clock(),
        is_simulated=False,
        commands=node.create_publisher(JointState, 'c', 50),
        heartbeats=node.create_publisher(PolicyHeartbeat, 'h', 50),
        on_change=lambda: None,
        health=Health,
    )
    loop.names = ('a',)
    queue.open(gate.acting)
    queue.push(queue.request(), np.arange(4.0)[:, None], 0.1)
    for second in (1000, 1001, 3, 4):
        loop._tick(second * 10**9)
    for _ in range(200):
        rclpy.spin_once(node, timeout_sec=0.05)
        if len(heard['command']) == len(heard['beat']) == 4:
            break
    assert [message.position[0] for message in heard['command']] == [0, 1, 2, 3]
    assert [message.header.stamp.sec for message in heard['command']] == [1000, 1001, 3, 4]
    assert all(beat.is_acting for beat in heard['beat'])
    node.destroy_node()


def image(encoding: str, data: bytes, step: int, height: int = 2, width: int = 2):
    message = Image(height=height, width=width, encoding=encoding, step=step, data=data)
    message.header.stamp.sec, message.header.stamp.nanosec = 5, 6
    return image_reader().image(serialize_message(message))


def test_images_of_every_encoding_are_decoded():
    rgb = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    alpha = np.full((2, 2, 1), 255, np.uint8)
    cases = {
        'rgb8': rgb,
        'bgr8': rgb[:, :, ::-1],
        'rgba8': np.concatenate([rgb, alpha], axis=2),
        'bgra8': np.concatenate([rgb[:, :, ::-1], alpha], axis=2),
    }
    for encoding, pixels in cases.items():
        padded = np.pad(pixels.reshape(2, -1), ((0, 0), (0, 3)))
        np.testing.assert_array_equal(
            rgb_of('c', image(encoding, padded.tobytes(), padded.shape[1])), rgb
        )
    grey = rgb_of('c', image('mono8', bytes([1, 2, 3, 4]), 2))
    np.testing.assert_array_equal(grey, np.repeat([[1, 2], [3, 4]], 3).reshape(2, 2, 3))
    wide = rgb_of('c', image('mono16', bytes([9, 1, 9, 2, 9, 3, 9, 4]), 4))
    assert np.array_equal(wide, grey)
    assert image('mono8', bytes(4), 2).stamp == 5_000_000_006


@pytest.mark.parametrize('frame_id', ['', 'a', 'ab', 'abc', 'camera_front_optical_frame'])
@pytest.mark.parametrize('encoding', ['rgb8', 'mono8', '16UC1', ''])
def test_a_serialised_image_is_read_as_ros_reads_it(frame_id, encoding):
    message = Image(height=3, width=5, encoding=encoding, step=15, data=bytes(range(45)))
    message.header.frame_id = frame_id
    found = image_reader().image(serialize_message(message))
    assert (found.height, found.width, found.step, found.encoding) == (3, 5, 15, encoding)
    assert found.data.tobytes() == bytes(range(45))
    with pytest.raises(DAMAGED):
        image_reader().image(serialize_message(message)[:-5])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (
            ('bayer_rggb16', bytes(4), 2),
            "camera c: image encoding 'bayer_rggb16' is not known; known are rgb8",
        ),
        (
            ('rgb8', bytes(11), 6),
            'camera c: an image of 2x2 rgb8 needs rows of 6 bytes; it has 11 bytes in rows of 6',
        ),
        (('rgb8', bytes(8), 4), 'it has 8 bytes in rows of 4'),
        (('rgb8', b'', 0, 0, 0), 'it has 0 bytes'),
        (('16UC1', bytes(8), 4), "encoding '16UC1', which is no colour"),
    ],
)
def test_images_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(PolicyError, match=message):
        rgb_of('c', image(*arguments))


def test_pairs():
    assert parse_pairs('p', ['a=b', '', ' c = d=e ']) == {'a': 'b', 'c': 'd=e'}
    for texts in (['a'], ['=b'], ['a='], ['a=b', 'a=c']):
        with pytest.raises(SetupError, match='parameter p holds'):
            parse_pairs('p', texts)


@pytest.mark.parametrize(
    ('parameters', 'error', 'message'),
    [
        ({'policy': 'lerobot'}, SetupError, 'checkpoint of the policy lerobot is empty'),
        (
            {'policy': 'lerobot', 'checkpoint': '/nowhere'},
            CheckpointError,
            'no checkpoint folder /nowhere',
        ),
        ({'policy': 'magic'}, PolicyError, "no policy 'magic'"),
        (
            {'policy': 'hold', 'control_rate': 0.0},
            SetupError,
            'control_rate is 0.0; it must be above 0 and at most 1000 Hz',
        ),
        ({'policy': 'hold', 'control_rate': 1e10}, SetupError, 'control_rate is 10000000000.0'),
        (
            {'policy': 'hold', 'run_on': 'sunday'},
            SetupError,
            "run_on is 'sunday'; it must be episode or always",
        ),
        ({'samples': 1}, SetupError, 'samples is 1; it must be 0, or at least 2'),
        (
            {'policy': 'hold', 'samples': 8, 'device': 'cuda'},
            PolicyError,
            "'hold' does not take the parameter samples, the parameter device; it takes: horizon",
        ),
        ({'pose_topics': ['object']}, SetupError, "pose_topics holds 'object'"),
        ({'pose_topics': ['object=a']}, SetupError, r"needs the poses \['goal'\]"),
    ],
)
def test_wrong_parameters_are_told(ros_context, parameters, error, message):
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    with pytest.raises(error, match=message):
        PolicyNode(parameter_overrides=overrides)
