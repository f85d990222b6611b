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
from typing import NamedTuple

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from frame_ros.bags.message_readers import StampedNumbers, WrenchReader
from frame_ros.bags.motion_bag import MotionBag
from frame_ros.core.errors import SetupError
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.message_parts import header_message
from frame_ros.nodes.runtime.node_inputs import inputs_of
from frame_ros.nodes.runtime.topics import (
    JOINT_COMMANDS,
    JOINT_STATES,
    POLICY_COMMANDS,
    WRENCH,
)
from frame_ros.robots.joint_state_merge import FullJointState, JointMerger
from frame_ros.robots.profile import Topics
from frame_ros.sensing.contact.joints.fitting.recording import (
    JointRecording,
    newest_commands,
    recording_of,
)

Array = NDArray[np.float64]
DEPTH = 10
POLL_PERIOD, MOST_MESSAGES = 0.005, 500  # s; between two looks, and at one
OLDEST_STATE = 0.5  # s without a joint state, in motion, that end it
NO_STATES = f'no joint_states for {OLDEST_STATE} s'
OLDEST_PART = 0.1  # s, that a part of a state may be older than another
HOLD_TIME = 0.5  # s for which an arm is commanded to stay, at the end of a motion
FARTHEST_BEHIND, LONGEST_BEHIND = 0.35, 0.4  # rad (m), s
FARTHEST_START = 0.1  # rad (m) from where the arm is to the first command
OUR_TOPICS = Topics()
DISCOVERY, SETTLING = 5.0, 0.5  # s in which publishers are looked for, and then the other name's


@dataclass(frozen=True)
class _State:
    stamp: int
    positions: Array
    velocities: Array
    efforts: Array
    arrival: float


class IdentificationNode(Node):
    """Subscribes: joint_states, wrench. Publishes: policy_commands, where a gate listens to it;
    else joint_commands. Names are those of `topics`, of states and wrench where nobody publishes
    under ours.

    joint_names: the joints that are recorded, in this order. counts: messages that were left out:
    incomplete (without one of the joints, or a position that is not finite), not_later (stamps).
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        wrench_topic: str = '',
        context: rclpy.Context | None = None,
        continuous: Sequence[str] = (),
        topics: Topics = OUR_TOPICS,
    ) -> None:
        """wrench_topic: '' listens to none. continuous: joints that turn without end. topics: of
        the arm's driver.
        """
        super().__init__('identification', context=context)
        self.joint_names = tuple(joint_names)
        self._lock = threading.Lock()
        self._states: list[_State] = []
        self._sent: list[tuple[int, Array]] = []
        self._wrenches: list[tuple[int, Array]] = []
        self._is_recording = False
        self._bag: MotionBag | None = None
        self._continuous = tuple(continuous)
        self._is_continuous = continuous_among(self.joint_names, continuous)
        # The newest positions, counted on over the turns of joints that turn without end.
        self._turned: Array | float = math.nan
        self._joints = JointMerger(self.joint_names, OLDEST_PART, continuous=continuous)
        self.counts = {'incomplete': 0, 'not_later': 0}
        # A kilohertz of both is more than an executor takes.
        states = [self._published(JOINT_STATES.name, topics.joint_states)]
        if topics.gripper and states[0] != JOINT_STATES.name:
            states.append(topics.gripper)
        self._joint_inputs = [JointStateInput(self, JOINT_STATES.at(name)) for name in states]
        if wrench_topic == WRENCH.name:
            wrench_topic = self._published(wrench_topic, topics.wrench)
        self._wrench_input = (
            FittingSubscription(self, WRENCH.at(wrench_topic), read=WrenchReader().wrench)
            if wrench_topic
            else None
        )
        self._joint_commands = JOINT_COMMANDS.at(topics.joint_commands)
        self._publishers_by_topic = {
            topic.name: self.create_publisher(*published(topic, DEPTH))
            for topic in (POLICY_COMMANDS, self._joint_commands)
        }

    def _published(self, ours: str, theirs: str) -> str:
        """Returns the name under which somebody publishes; `ours` if both, or neither in time."""
        end = time.monotonic() + DISCOVERY
        while theirs != ours and time.monotonic() < end and not self.count_publishers(ours):
            if self.count_publishers(theirs):
                time.sleep(SETTLING)
                return ours if self.count_publishers(ours) else theirs
            time.sleep(0.05)
        return ours

    def poll(self, timeout: float) -> None:
        """Waits for joint states, at most `timeout` s, and takes all that has come."""
        for each in inputs_of(self):
            each.look()
        self._joint_inputs[0].wait(timeout)
        for joint_input in self._joint_inputs:
            for state, _ in joint_input.take(MOST_MESSAGES):
                self._on_joints(state)
        if self._wrench_input is not None:
            for wrench, _ in self._wrench_input.take(MOST_MESSAGES):
                self._on_wrench(wrench)

    def _on_joints(self, message: FullJointState) -> None:
        joints = self._joints
        merged = joints.update(*message)
        if merged is None:
            if joints.problem or joints.missing:
                is_late = bool(joints.problem) and joints.kind == 'stamp'
                self.counts['not_later' if is_late else 'incomplete'] += 1
            return
        positions, velocities, efforts = merged
        self._turned = nearest_turn(positions, self._turned, self._is_continuous)
        unknown = np.full(len(self.joint_names), math.nan)
        state = _State(
            joints.stamp,
            self._turned,
            unknown if velocities is None else velocities,
            unknown if efforts is None else efforts,
            time.monotonic(),
        )
        with self._lock:
            if joints.is_reset and not self._is_recording:
                self._states.clear()
            if self._states and state.stamp <= self._states[-1].stamp:
                self.counts['not_later'] += 1
            else:
                if not self._is_recording:
                    self._states.clear()
                self._states.append(state)
                if self._bag is not None:
                    self._bag.add_joints(
                        'joint_states', state.stamp, self.joint_names, state.positions,
                        state.velocities, state.efforts,
                    )  # fmt: skip

    def _on_wrench(self, message: StampedNumbers) -> None:
        with self._lock:
            if self._is_recording:
                values = np.array(message.values)
                self._wrenches.append((message.stamp, values))
                if self._bag is not None:
                    self._bag.add_wrench('wrench', message.stamp, values)

    def newest(self) -> _State | None:
        """The newest joint state; None: there is none."""
        with self._lock:
            return self._states[-1] if self._states else None

    def record(self, bag: MotionBag | None = None) -> None:
        """Keeps from now on all that comes, not the newest joint state alone; in a bag, too."""
        with self._lock:
            self._is_recording, self._bag = True, bag

    def take(self) -> tuple[list[tuple[int, Array]], list[tuple[int, Array]]]:
        """(stamp, positions) and (stamp, wrench) since the last call, oldest first."""
        with self._lock:
            states = [(state.stamp, state.positions) for state in self._states]
            wrenches = list(self._wrenches)
            del self._states[:-1], self._wrenches[:]
        return states[1:], wrenches

    def wait_for_joints(self, timeout: float, stop: threading.Event) -> Array:
        """(N,) rad where the joints are, by a joint state that is not older than OLDEST_STATE.

        Raises:
            SetupError: no joint state with all joints, finite, comes in time.
        """
        end = time.monotonic() + timeout
        while time.monotonic() < end and not stop.is_set():
            state = self.newest()
            if state is not None and not _is_stale(state):
                return state.positions
            time.sleep(0.02)
        if stop.is_set():
            raise SetupError('stopped before joint_states came')
        listened = ' or '.join(each.topic_name for each in self._joint_inputs)
        raise SetupError(
            f'no joint_states with {", ".join(self.joint_names)} within {timeout:g} s on '
            f'{listened} ({self.counts["incomplete"]} messages without one of them): does the '
            'driver run, and are this its namespace and ROS_DOMAIN_ID? Another '
            "topic's name stands in `topics` of the robot's profile"
        )

    def recording(self, joint_names: Sequence[str]) -> JointRecording:
        """Returns what was recorded of some joints.

        Raises:
            SetupError: there are no efforts. ShapeError: too few samples.
        """
        with self._lock:
            states, sent = list(self._states), list(self._sent)
        rows = [self.joint_names.index(name) for name in joint_names]
        stamps = np.array([state.stamp for state in states], np.int64)
        return recording_of(
            joint_names,
            stamps,
            np.array([state.positions[rows] for state in states]),
            np.array([state.velocities[rows] for state in states]),
            np.array([state.efforts[rows] for state in states]),
            newest_commands(
                stamps,
                np.array([stamp for stamp, _ in sent], np.int64),
                np.array([positions[rows] for _, positions in sent]),
            ),
            self._continuous,
        )

    @property
    def command_topic(self) -> str:
        """The topic of the commands."""
        has_gate = self.count_subscribers(POLICY_COMMANDS.name) > 0
        return (POLICY_COMMANDS if has_gate else self._joint_commands).name

    def command(self, topic: str, positions: Array) -> None:
        """Publishes one command for all joints, (N,) rad."""
        message = JointState(name=list(self.joint_names), position=array('d', positions.tobytes()))
        stamp = self.get_clock().now().nanoseconds
        message.header = header_message(stamp)
        with self._lock:
            if self._is_recording:
                self._sent.append((stamp, positions.copy()))
                if self._bag is not None:
                    self._bag.add_joints('joint_commands', stamp, self.joint_names, positions)
        self._publishers_by_topic[topic].publish(message)


class Played(NamedTuple):
    """The end of a motion. why: early; '' if it did not. sent: commands, without those of the hold.
    is_silent: it ended because the joint states stopped.
    """

    why: str
    sent: int
    is_silent: bool = False


def play(
    node: IdentificationNode,
    positions: Array,
    rate: float,
    stop: threading.Event,
    report: Callable[[float], None] = lambda share: None,
) -> Played:
    """Sends commands (T, N) rad one by one at `rate` Hz; then, however it ends, repeats the last of
    them for HOLD_TIME.

    It ends when `stop` is set, when no joint states come, or when a joint is FARTHEST_BEHIND away
    from its command for LONGEST_BEHIND: blocked, held by the gate, or without torque. It does not
    begin where the first command is FARTHEST_START from the arm. report: called once a second with
    the share that is done.
    """
    topic = node.command_topic
    if (state := node.newest()) is None or _is_stale(state):
        return Played(NO_STATES, 0, is_silent=True)
    if why := _start_problem(state, positions[0]):
        return Played(why, 0)
    playing = _Playing(node, topic, rate, stop)
    try:
        playing.run(positions, report)
    finally:
        _hold(node, topic, playing.last, not playing.is_done, rate)
    return Played(playing.why, playing.sent, playing.why == NO_STATES)


class _Playing:
    """One motion. last: the newest command, if there is one. sent: their number. why: it ended
    early.
    """

    def __init__(
        self, node: IdentificationNode, topic: str, rate: float, stop: threading.Event
    ) -> None:
        self._node, self._topic, self._rate, self._stop = node, topic, rate, stop
        self.last: Array | None = None
        self.is_done, self.why, self.sent = False, '', 0
        self._behind_since: float | None = None

    def run(self, positions: Array, report: Callable[[float], None]) -> None:
        following = time.monotonic()
        for row, target in enumerate(positions):
            if self._stop.wait(max(0.0, following - time.monotonic())):
                self.why = 'stopped'
            else:
                self.why = self._problem()
            if self.why:
                return
            # What was late is not made up for: the motion takes longer, and never jumps.
            following = max(following + 1.0 / self._rate, time.monotonic())
            self._node.command(self._topic, target)
            self.last, self.sent = target, row + 1
            if row % max(1, round(self._rate)) == 0:
                report(row / len(positions))
        self.is_done = True

    def _problem(self) -> str:
        state, now = self._node.newest(), time.monotonic()
        if _is_stale(state):
            return NO_STATES
        if state is None or self.last is None:
            return ''
        behind = float(np.abs(state.positions - self.last).max())
        if behind <= FARTHEST_BEHIND:
            self._behind_since = None
            return ''
        if self._behind_since is None:
            self._behind_since = now
        if now - self._behind_since <= LONGEST_BEHIND:
            return ''
        return f'a joint is {behind:.2f} rad from its command'


def _start_problem(state: _State, first: Array) -> str:
    away = float(np.abs(state.positions - first).max())
    if away > FARTHEST_START:
        return f'the arm is {away:.2f} rad from where the motion begins: it was moved meanwhile'
    return ''


def _is_stale(state: _State | None) -> bool:
    return state is None or time.monotonic() - state.arrival > OLDEST_STATE


def _hold(
    node: IdentificationNode, topic: str, last: Array | None, is_early: bool, rate: float
) -> None:
    """Holds the arm, after an early end where it is, since it may be pressing against something;
    at its last command if its place is not known.
    """
    if last is None:
        return
    state = node.newest()
    target = last
    if is_early and state is not None and not _is_stale(state):
        target = state.positions
    for _ in range(max(1, round(HOLD_TIME * rate))):
        node.command(topic, target)
        time.sleep(1.0 / rate)


@contextlib.contextmanager
def identification_node(
    joint_names: Sequence[str],
    wrench_topic: str = '',
    namespace: str = '',
    continuous: Sequence[str] = (),
    topics: Topics = OUR_TOPICS,
) -> Iterator[IdentificationNode]:
    """The node, polled in a thread for the length of a `with` block.

    namespace: with or without the first slash. continuous, topics: as of IdentificationNode.

    Raises:
        SetupError: it cannot be one.
    """
    name = f'/{namespace.strip("/")}'
    arguments = ['--ros-args', '-r', f'__ns:={name}'] if namespace else []
    context = rclpy.Context()
    try:
        rclpy.init(args=arguments, context=context, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # rclpy's own class for it is not public
        raise SetupError(f'--namespace {namespace!r} cannot be one: {error}') from error
    node = IdentificationNode(joint_names, wrench_topic, context, continuous, topics)
    ending = threading.Event()
    thread = threading.Thread(target=_spin, args=(node, ending), name='ros', daemon=True)
    thread.start()
    try:
        yield node
    finally:
        ending.set()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def _spin(node: IdentificationNode, ending: threading.Event) -> None:
    while not ending.is_set():
        node.poll(0.1)
        # Several at once: each waking costs more than a message.
        ending.wait(POLL_PERIOD)
