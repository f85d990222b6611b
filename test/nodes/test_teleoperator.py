# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The teleoperator node over real rclpy, with LeRobot's SO-101 leader on a simulated bus."""

import re
import threading

import numpy as np
import pytest
from patience import spin_until

pytest.importorskip('rclpy')
pytest.importorskip('lerobot')
pytest.importorskip('scservo_sdk')

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from frame_ros.core.errors import FrameRosError
from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.nodes.teleoperator.node import TeleoperatorNode
from frame_ros.robots import find_urdf
from frame_ros.scenes import JOINT_NAMES
from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

ANSWER_TIMEOUT = 1.0  # s for an answer: the machine that runs this may be busy
HERE = (0.2, -1.3, 1.2, 0.8, 0.1, 0.5)  # rad, of the leader


class Bench:
    """A leader arm that somebody holds, the node on it, and one for the robot and the gate."""

    def __init__(self, folder):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.arm = SimulatedSo101()
        self.arm.hand = HERE
        self.arm.write_calibration(folder, 'leader')
        self.bus = SimulatedBus(self.arm.servos, self.arm.advance, link=folder / 'port')
        self.bus.start()
        self.values = {'port': self.bus.port, 'teleoperator_id': 'leader'}
        self.values |= {'calibration_dir': str(folder), 'answer_timeout': ANSWER_TIMEOUT}
        self.executor = SingleThreadedExecutor(context=self.context)
        self.node = Node('probe', context=self.context)
        self.executor.add_node(self.node)
        self.teleoperator = None
        self.commands, self.recorded, self.takeovers = [], [], []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for kind, topic, found, qos in (
            (JointState, 'teleop_commands', self.commands, 10),
            (JointState, 'joint_commands', self.recorded, 10),
            (Bool, 'takeover', self.takeovers, latched),
        ):
            self.node.create_subscription(kind, topic, found.append, qos)
        self.states = self.node.create_publisher(JointState, 'joint_states', 10)
        self.service = self.node.create_client(SetBool, 'teleoperator/takeover')

    def start(self, is_deferred=False, **parameters):
        overrides = [Parameter(name, value=v) for name, v in {**self.values, **parameters}.items()]
        self.teleoperator = TeleoperatorNode(
            context=self.context, parameter_overrides=overrides, is_deferred=is_deferred
        )
        self.executor.add_node(self.teleoperator)

    def until(self, condition, action=None):
        """Spins until the condition holds, repeating the action now and then."""
        spin_until(self.executor, condition, action)

    def robot_at(self, positions):
        """The robot says where it is."""
        message = JointState(name=list(JOINT_NAMES), position=[float(p) for p in positions])
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.states.publish(message)

    def position(self):
        """Positions of the teleoperator as the node has them now; NaN: it has not read them."""
        position = self.teleoperator._position
        return np.full(len(JOINT_NAMES), np.nan) if position is None else position

    def take_over(self, is_wanted):
        self.until(self.service.service_is_ready)
        future = self.service.call_async(SetBool.Request(data=is_wanted))
        self.until(future.done)
        return future.result()

    def close(self):
        if self.teleoperator is not None:
            self.teleoperator.destroy_node()
        self.bus.close()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture()
def bench(ros_domain, tmp_path):
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def test_taking_over_and_giving_back(bench):
    bench.start()
    bench.until(lambda: np.isfinite(bench.position()).all())
    refused = bench.take_over(True)
    assert not refused.success and 'no joint state' in refused.message
    far = np.array(HERE) - (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(3):
        bench.robot_at(far)
        bench.until(lambda: bench.teleoperator._state is not None)
    refused = bench.take_over(True)
    assert not refused.success and 'shoulder_pan is +1.00 rad' in refused.message
    assert not bench.commands
    bench.teleoperator._state = None
    bench.until(lambda: bench.teleoperator._state is not None, lambda: bench.robot_at(HERE))
    assert bench.take_over(True).success
    bench.until(lambda: bench.commands and bench.takeovers[-1].data)
    assert tuple(bench.commands[-1].name) == JOINT_NAMES
    np.testing.assert_allclose(bench.commands[-1].position, HERE, atol=0.01)
    assert bench.take_over(False).success
    bench.until(lambda: not bench.takeovers[-1].data)
    bench.commands.clear()
    bench.until(lambda: len(bench.takeovers) == 2)
    assert not bench.commands and not bench.recorded


def test_a_joint_that_turns_without_end_begins_on_the_robots_turn(bench, tmp_path):
    own = find_urdf('so101').read_text()
    urdf = re.sub('(joint name="wrist_roll" type=)"revolute"', r'\1"continuous"', own)
    (tmp_path / 'endless.urdf').write_text(urdf)
    (tmp_path / 'endless.yaml').write_text('urdf: endless.urdf')
    bench.start(robot=str(tmp_path / 'endless.yaml'))
    bench.until(lambda: np.isfinite(bench.position()).all())
    there = np.array(HERE) + (0.0, 0.0, 0.0, 0.0, 2 * np.pi, 0.0)
    bench.until(lambda: bench.teleoperator._state is not None, lambda: bench.robot_at(there))
    taken = bench.take_over(True)
    assert taken.success, taken.message
    bench.until(lambda: bench.commands, lambda: bench.robot_at(there))
    np.testing.assert_allclose(bench.commands[-1].position, there, atol=0.01)
    # It stays on it where the robot says the same place by another turn, as drivers do over pi.
    state = bench.teleoperator._state
    bench.until(
        lambda: abs(bench.teleoperator._state[1][4] - state[1][4]) > 6.0,
        lambda: bench.robot_at(HERE),
    )
    bench.commands.clear()
    bench.until(lambda: len(bench.commands) > 2, lambda: bench.robot_at(HERE))
    np.testing.assert_allclose(bench.commands[-1].position, there, atol=0.01)


def test_who_begins_episodes_is_told_when_it_is_ready(bench):
    watch = ReadinessWatch(bench.node, ['teleoperator'])
    assert watch.missing() == ['/teleoperator: it is not running']
    bench.start()
    bench.until(lambda: watch.missing() == [], lambda: bench.robot_at(HERE))
    bench.bus.unplug()
    bench.until(lambda: 'has not been read' in ''.join(watch.missing()))


def test_the_arm_stays_with_the_person_when_robot_or_teleoperator_are_gone(bench, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.teleoperator.node.OLDEST_STATE', 0.2)
    bench.start(mode='always')
    bench.until(lambda: bench.commands, lambda: bench.robot_at(HERE))
    bench.until(lambda: not bench.teleoperator._is_driving)  # the robot says nothing more
    bench.arm.hand = (1.0, *HERE[1:])
    bench.until(lambda: bench.position()[0] > 0.9)
    bench.commands.clear()
    for _ in range(5):  # it is where the person was: no jump
        bench.robot_at(HERE)
        bench.executor.spin_once(timeout_sec=0.02)
    assert not bench.commands
    bench.until(lambda: bench.commands, lambda: bench.robot_at((1.0, *HERE[1:])))
    bench.teleoperator.destroy_node()
    bench.teleoperator = None
    bench.start()  # as after a crash
    bench.until(lambda: np.isfinite(bench.position()).all())
    assert [message.data for message in bench.takeovers if not message.data] == []


def test_a_leader_without_power_is_named(bench):
    bench.start()
    bench.until(lambda: np.isfinite(bench.position()).all())
    bench.bus.faults.silent = set(range(1, 7))
    bench.until(lambda: 'no motor answers: is the power' in bench.teleoperator.problem())
    assert 'no motor answers' in bench.take_over(True).message
    bench.bus.faults.silent = set()
    bench.until(lambda: bench.teleoperator.problem() == '')


def test_reference_runs_begin_when_the_leader_is_aligned_and_stop_when_it_is_gone(bench):
    bench.start(mode='record')
    bench.until(lambda: bench.teleoperator._state is not None, lambda: bench.robot_at([0.0] * 6))
    assert not bench.recorded
    bench.until(lambda: bench.recorded, lambda: bench.robot_at(HERE))
    beyond = np.array(HERE) + (0.0, 0.0, 0.0, 0.0, 0.0, 5.0)
    bench.arm.hand = tuple(beyond)
    limit = (*HERE[:-1], 1.74533)
    bench.until(
        lambda: abs(bench.recorded[-1].position[-1] - limit[-1]) < 0.01,
        lambda: bench.robot_at(limit),  # it follows
    )
    assert not bench.takeovers or not any(m.data for m in bench.takeovers)
    losses = bench.teleoperator.counts['losses']
    bench.bus.unplug()
    bench.until(lambda: bench.teleoperator.counts['losses'] > losses)
    bench.arm.hand = HERE
    bench.bus.plug()
    count = len(bench.recorded)
    bench.until(lambda: len(bench.recorded) > count, lambda: bench.robot_at(HERE))


@pytest.mark.parametrize(
    ('parameters', 'text'),
    [
        ({'teleoperator_id': 'nobody'}, 'lerobot-calibrate --teleop.type=so101_leader'),
        ({'teleoperator_type': 'joystick'}, "LeRobot has no teleoperator 'joystick'"),
        ({'mode': 'play'}, 'mode is'),
    ],
)
def test_what_cannot_start_says_why(bench, parameters, text):
    with pytest.raises(FrameRosError) as caught:
        bench.start(**parameters)
    assert text in str(caught.value)


def test_a_port_that_is_not_there_leaves_it_unconfigured_with_the_reason_until_it_comes(
    bench, monkeypatch
):
    monkeypatch.setattr('frame_ros.nodes.runtime.managed.RETRIES', (0.05,))
    bench.bus.unplug()
    watch = ReadinessWatch(bench.node, ['teleoperator'])
    bench.start(is_deferred=True)
    stop = threading.Event()
    starter = threading.Thread(target=bench.teleoperator.start_when_spinning, args=(stop,))
    starter.start()
    bench.until(lambda: 'could not be configured: so101_leader on' in ''.join(watch.missing()))
    assert starter.is_alive()
    bench.bus.plug()
    bench.until(lambda: watch.missing() == [], lambda: bench.robot_at(HERE))
    starter.join()
    assert bench.teleoperator.exit_code is None


def test_a_port_may_be_set_while_it_is_unconfigured(bench):
    port = bench.values.pop('port')
    stop = threading.Event()
    bench.start(is_deferred=True)
    node = bench.teleoperator
    node.start_when_spinning(stop)  # ends at once: nothing comes by itself
    assert node.exit_code is None
    assert node.problem() == (
        'it could not be configured: so101_leader needs its port, which only you know: none is '
        'given'
    )
    (result,) = node.set_parameters([Parameter('port', value=port)])
    assert result.successful
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    (result,) = node.set_parameters([Parameter('port', value='/dev/other')])
    assert not result.successful and 'clean it up first' in result.reason
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    bench.until(lambda: np.isfinite(bench.position()).all())
