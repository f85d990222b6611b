# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node's subscriptions: its own thread takes from them, so that no executor can keep it
waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from frame_ros.msg import EpisodeEvent, PolicyHeartbeat
from frame_ros.nodes.fitting_subscription import BEST_EFFORT, FittingSubscription
from frame_ros.nodes.joint_state_bytes import JointStateReader, ReadJointState
from frame_ros.nodes.polled import PolledSubscription
from frame_ros.robots.command_gate import POLICY, TELEOPERATOR
from frame_ros.robots.gate_watch import Heartbeat

SECOND = 10**9
SOURCE = 'gate'  # of the events that the gate publishes itself
COMMAND_DEPTH, STATE_DEPTH, EVENT_DEPTH = 10, 5, 50
EVENT_QOS = QoSProfile(depth=EVENT_DEPTH, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
MOST = 50  # messages taken at once of one topic


class GateInputs:
    """All that the gate reads, until `close`. For one thread."""

    def __init__(self, node: Node) -> None:
        def subscribe(
            kind: Any, topic: str, depth: int, is_steady: bool = False, **options: Any
        ) -> FittingSubscription:
            # Of streams only the newest counts, so that best effort does; nothing latched counts.
            return FittingSubscription(
                node, kind, topic, depth=depth, reliability=BEST_EFFORT, is_live=True,
                is_steady=is_steady, **options,
            )  # fmt: skip

        self._commands = {
            POLICY: subscribe(JointState, 'policy_commands', COMMAND_DEPTH, raw=True),
            TELEOPERATOR: subscribe(JointState, 'teleop_commands', COMMAND_DEPTH, raw=True),
        }
        self._readers = {source: JointStateReader() for source in self._commands}
        self._joints_reader = JointStateReader()
        self._heartbeats = subscribe(PolicyHeartbeat, 'policy_heartbeat', STATE_DEPTH, True)
        self._joints = subscribe(
            JointState, 'joint_states', STATE_DEPTH, True, raw=True, is_required=True
        )
        self._events = FittingSubscription(
            node, EpisodeEvent, 'episode_events', depth=EVENT_DEPTH, is_latched=True
        )
        # Some who take over may latch it, and others not, or not even be reliable; it is heard of
        # all, and twice means the same.
        self._takeovers = (
            FittingSubscription(node, Bool, 'takeover', depth=STATE_DEPTH, is_live=True),
            PolledSubscription(node, Bool, 'takeover', EVENT_QOS),
        )

    def wait(self, source: str, timeout: float) -> None:
        """Waits for a command of `source`, at most `timeout` s."""
        self._commands[source].wait(timeout)

    def commands(self) -> Iterator[tuple[str, ReadJointState, int]]:
        """(source, command, when it was received), oldest first; times are ns of the system clock.

        One is handed on before the next is looked for.
        """
        for source, subscription in self._commands.items():
            for _ in range(MOST):
                taken = subscription.take(1)
                if not taken:
                    break
                data, info = taken[0]
                yield source, self._readers[source].read(data), info['received_timestamp']

    def joint_states(self) -> Iterator[tuple[ReadJointState, int]]:
        """(measured joints, when they were received)."""
        for data, info in self._joints.take(MOST):
            yield self._joints_reader.read(data), info['received_timestamp']

    def heartbeats(self) -> Iterator[tuple[Heartbeat, int]]:
        """(heartbeat of the policy node, when it was received)."""
        for message, info in self._heartbeats.take(MOST):
            beat = Heartbeat(
                message.is_acting,
                message.is_stalled,
                nanoseconds(message.observation_stamp),
                message.problem,
            )
            yield beat, info['received_timestamp']

    def events(self) -> Iterator[EpisodeEvent]:
        """Events of others."""
        return (event for event, _ in self._events.take(MOST) if event.source != SOURCE)

    def takeovers(self) -> Iterator[bool]:
        """Whether a person has taken over."""
        for subscription in self._takeovers:
            for message, _ in subscription.take(MOST):
                yield message.data

    def close(self) -> None:
        """Ends the subscriptions."""
        everything = (self._heartbeats, self._joints, self._events)
        for subscription in (*self._commands.values(), *everything, *self._takeovers):
            subscription.destroy()


def nanoseconds(stamp: Any) -> int:
    """A builtin_interfaces/Time in ns."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)
