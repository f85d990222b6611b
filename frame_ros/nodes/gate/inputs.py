# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node's subscriptions: its own thread takes from them, so that no executor can keep it
waiting, and takes what stops the arm first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rclpy.node import Node

from frame_ros.core.time import stamp_ns
from frame_ros.gate.command_gate import POLICY, TELEOPERATOR
from frame_ros.gate.watchdogs import Heartbeat
from frame_ros.nodes.gate.command_intake import CommandIntake
from frame_ros.nodes.gate.event_intake import EventIntake, HeardEvent
from frame_ros.nodes.gate.state_intake import StateIntake
from frame_ros.nodes.gate.topics import HEARTBEAT, POLICY_COMMANDS, TAKEOVER, TELEOP_COMMANDS
from frame_ros.nodes.gate.wake_set import WakeSet
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.polled_service import PolledService
from frame_ros.nodes.runtime.qos import EVENTS

BEAT_DEPTH = 5
CROWDED = 0.005  # s between two looks at commands of which some must be left out
MOST = 50  # messages taken at once of one topic
COMMAND_TOPICS = {POLICY: POLICY_COMMANDS, TELEOPERATOR: TELEOP_COMMANDS}


class GateInputs:
    """All that the gate reads, until `close`. For one thread.

    services: wake it too. own_events: the GID of the gate's publisher of episode_events.
    rate_limit: commands per second of one topic, more of which are a flood; 0: any.
    """

    def __init__(
        self, node: Node, services: Sequence[PolledService], own_events: bytes, rate_limit: float
    ) -> None:
        self._services = services
        self.commands = {
            source: CommandIntake(node, topic, rate_limit)
            for source, topic in COMMAND_TOPICS.items()
        }
        self._heartbeats = FittingSubscription(
            node, HEARTBEAT, depth=BEAT_DEPTH, reliability=BEST_EFFORT,
            is_live=True, is_steady=True,
        )  # fmt: skip
        self.joint_states = StateIntake(node)
        self._events = EventIntake(node, own_events)
        # Some who take over may latch it, and others not, or not even be reliable; it is heard of
        # all, and twice means the same.
        self._takeovers = (
            FittingSubscription(node, TAKEOVER, depth=BEAT_DEPTH, is_live=True),
            PolledSubscription(node, *endpoint(TAKEOVER), EVENTS),
        )
        self._urgent = [*self._events.subscriptions, *self._takeovers]
        self._wake_set = WakeSet(node, len(self._urgent) + 1, len(services))

    def wait(self, source: str, timeout: float, at: int) -> bool:
        """Waits for what is urgent or a command of `source`, at most `timeout` s; returns whether
        anything urgent came.

        Where more commands come than are looked at they wake nobody: the newest are taken every
        CROWDED s, in a flood after `timeout`. at: now, monotonic, ns.
        """
        commands = self.commands[source]
        is_flooded = commands.flow.is_flooded(at)
        driving = () if is_flooded or commands.is_crowded else (commands.subscription,)
        if commands.is_crowded and not is_flooded:
            timeout = min(timeout, CROWDED)
        ready = self._wake_set.wait((*self._urgent, *driving), self._services, timeout)
        return any(each is not commands.subscription for each in ready)

    def events(self) -> Iterator[HeardEvent]:
        """Events of others, of each at most MOST."""
        return self._events.take(MOST)

    def takeovers(self) -> Iterator[bool]:
        """Yields whether the user has taken over."""
        for subscription in self._takeovers:
            for message, _ in subscription.take(MOST):
                yield message.data

    def heartbeats(self) -> Iterator[tuple[Heartbeat, int]]:
        """(heartbeat of the policy node, when it was received)."""
        for message, info in self._heartbeats.take(MOST):
            beat = Heartbeat(
                message.is_acting,
                message.is_stalled,
                stamp_ns(message.observation_stamp),
                message.problem,
            )
            yield beat, info['received_timestamp']

    def close(self) -> None:
        """Ends the subscriptions."""
        intakes: list[Any] = [*self.commands.values(), self.joint_states, self._events]
        for intake in intakes:
            intake.close()
        for subscription in (self._heartbeats, *self._takeovers):
            subscription.destroy()
        self._wake_set.destroy()
