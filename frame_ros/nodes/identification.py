# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of `frame-ros identify`: moves the running robot and listens to it."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from frame_ros.errors import SetupError
from frame_ros.nodes.gate_inputs import nanoseconds
from frame_ros.nodes.simulator_messages import header_message
from frame_ros.sensing.joint_recording import JointRecording, recording_of

Array = NDArray[np.float64]
STATES_QOS = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
DEPTH = 10
OLDEST_STATE = 0.5  # s without a joint state, in motion, that end it
HOLD_TIME = 0.5  # s for which an arm is told to stay where it is, at the end of a motion
DISCOVERY = 1.0  # s in which a gate shows itself
FARTHEST_BEHIND, LONGEST_BEHIND = 0.35, 0.4  # rad (m), s


@dataclass(frozen=True)
class _State:
    stamp: int
    positions: Array
    velocities: Array
    efforts: Array
    arrival: float


class IdentificationNode(Node):
    """Subscribes: joint_states, wrench. Publishes: policy_commands, where a gate listens to it;
    else joint_commands.

    joint_names: the joints that are recorded, in this order. counts: messages that were left out.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        wrench_topic: str = '',
        context: rclpy.Context | None = None,
    ) -> None:
        """wrench_topic: '' listens to none."""
        super().__init__('identification', context=context)
        self.joint_names = tuple(joint_names)
        self._lock = threading.Lock()
        self._states: list[_State] = []
        self._wrenches: list[tuple[int, Array]] = []
        self.counts = {'incomplete': 0, 'not_later': 0}
        self.create_subscription(JointState, 'joint_states', self._on_joints, STATES_QOS)
        if wrench_topic:
            self.create_subscription(WrenchStamped, wrench_topic, self._on_wrench, STATES_QOS)
        self._publishers_by_topic = {
            topic: self.create_publisher(JointState, topic, DEPTH)
            for topic in ('policy_commands', 'joint_commands')
        }

    def _on_joints(self, message: JointState) -> None:
        rows = {name: i for i, name in enumerate(message.name)}
        if any(name not in rows for name in self.joint_names):
            self.counts['incomplete'] += 1
            return
        order = [rows[name] for name in self.joint_names]

        def column(values: array) -> Array:
            if len(values) != len(message.name):
                return np.full(len(order), math.nan)
            return np.array(values, np.float64)[order]

        state = _State(
            nanoseconds(message.header.stamp),
            column(message.position),
            column(message.velocity),
            column(message.effort),
            time.monotonic(),
        )
        with self._lock:
            if self._states and state.stamp <= self._states[-1].stamp:
                self.counts['not_later'] += 1
            else:
                self._states.append(state)

    def _on_wrench(self, message: WrenchStamped) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        values = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        with self._lock:
            self._wrenches.append((nanoseconds(message.header.stamp), values))

    def newest(self) -> _State | None:
        """The newest joint state; None: there is none."""
        with self._lock:
            return self._states[-1] if self._states else None

    def clear(self) -> None:
        """Forgets what was recorded but the newest state."""
        with self._lock:
            del self._states[:-1], self._wrenches[:]

    def take(self) -> tuple[list[tuple[int, Array]], list[tuple[int, Array]]]:
        """(stamp, positions) and (stamp, wrench) since the last call, oldest first."""
        with self._lock:
            states = [(state.stamp, state.positions) for state in self._states]
            wrenches = list(self._wrenches)
            del self._states[:-1], self._wrenches[:]
        return states[1:], wrenches

    def wait_for_joints(self, timeout: float, stop: threading.Event) -> Array:
        """(N,) rad where the joints are.

        Raises:
            SetupError: no joint state with all joints, finite, comes in time.
        """
        end = time.monotonic() + timeout
        while time.monotonic() < end and not stop.is_set():
            state = self.newest()
            if state is not None and np.isfinite(state.positions).all():
                return state.positions
            time.sleep(0.02)
        raise SetupError(
            f'no joint_states with {", ".join(self.joint_names)} within {timeout:g} s '
            f'({self.counts["incomplete"]} messages without one of them): does the driver run, and '
            'is this its namespace and ROS_DOMAIN_ID?'
        )

    def recording(self, joint_names: Sequence[str]) -> JointRecording:
        """What was recorded of some joints.

        Raises:
            SetupError: there are no efforts. ShapeError: too few samples.
        """
        with self._lock:
            states = list(self._states)
        rows = [self.joint_names.index(name) for name in joint_names]
        return recording_of(
            joint_names,
            np.array([state.stamp for state in states], np.int64),
            np.array([state.positions[rows] for state in states]),
            np.array([state.velocities[rows] for state in states]),
            np.array([state.efforts[rows] for state in states]),
        )

    @property
    def command_topic(self) -> str:
        """Where commands go."""
        has_gate = self.count_subscribers('policy_commands') > 0
        return 'policy_commands' if has_gate else 'joint_commands'

    def command(self, topic: str, positions: Array) -> None:
        """Publishes one command for all joints, (N,) rad."""
        message = JointState(name=list(self.joint_names), position=array('d', positions.tobytes()))
        message.header = header_message(self.get_clock().now().nanoseconds)
        self._publishers_by_topic[topic].publish(message)


def play(
    node: IdentificationNode,
    positions: Array,
    rate: float,
    stop: threading.Event,
    is_told: Callable[[float], None] = lambda share: None,
) -> str:
    """Commands (T, N) rad one by one at `rate` Hz; then, however it ends, the arm is told for
    HOLD_TIME to stay at the last of them that it got. Returns why it ended early, or ''.

    It ends when `stop` is set, when no joint states come, or when a joint is FARTHEST_BEHIND away
    from its command for LONGEST_BEHIND: blocked, held by the gate, or without torque. is_told:
    called once a second with the share that is done.
    """
    topic, period = node.command_topic, 1.0 / rate
    following = time.monotonic()
    last, behind_since, why = None, None, ''
    for row, target in enumerate(positions):
        now = time.monotonic()
        if stop.wait(max(0.0, following - now)):
            why = 'stopped'
            break
        # What was late is not made up for: the motion takes longer, and never jumps.
        following = max(following + period, time.monotonic())
        behind, why = _distance(node, last)
        behind_since = (behind_since or now) if behind > FARTHEST_BEHIND else None
        if behind_since is not None and now - behind_since > LONGEST_BEHIND:
            why = f'a joint is {behind:.2f} rad from where it was told to be'
        if why:
            break
        node.command(topic, target)
        last = target
        if row % max(1, round(rate)) == 0:
            is_told(row / len(positions))
    _hold(node, topic, last, bool(why), rate)
    return why


def _distance(node: IdentificationNode, target: Array | None) -> tuple[float, str]:
    """rad from the newest joint state to a command; and what is wrong with the state."""
    state = node.newest()
    if state is None or time.monotonic() - state.arrival > OLDEST_STATE:
        return 0.0, f'no joint_states for {OLDEST_STATE} s'
    if target is None:
        return 0.0, ''
    return float(np.abs(state.positions - target).max()), ''


def _hold(
    node: IdentificationNode, topic: str, last: Array | None, is_early: bool, rate: float
) -> None:
    """After an early end where the arm is, for it may be pressing against something."""
    state = node.newest()
    target = state.positions if is_early and state is not None else last
    if target is None or last is None:
        return
    for _ in range(round(HOLD_TIME * rate)):
        node.command(topic, target)
        time.sleep(1.0 / rate)


@contextlib.contextmanager
def identification_node(
    joint_names: Sequence[str], wrench_topic: str = '', namespace: str = ''
) -> Iterator[IdentificationNode]:
    """The node, spinning in a thread for the length of a `with` block."""
    arguments = ['--ros-args', '-r', f'__ns:={namespace}'] if namespace else []
    context = rclpy.Context()
    rclpy.init(args=arguments, context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = IdentificationNode(joint_names, wrench_topic, context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=_spin, args=(executor,), name='ros', daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def _spin(executor: SingleThreadedExecutor) -> None:
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()
