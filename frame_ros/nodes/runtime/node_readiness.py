# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every node publishes whether it is ready on node_readiness, and how it is on /diagnostics."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from frame_ros.core.health import Status
from frame_ros.core.time import stamp_ns
from frame_ros.msg import NodeInput, NodeOutput, NodeReadiness
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import fill_fields, time_message
from frame_ros.nodes.runtime.node_inputs import inputs_of
from frame_ros.nodes.runtime.topics import DIAGNOSTICS, READINESS
from frame_ros.sensing.stream_health.node_health import InputHealth
from frame_ros.sensing.stream_health.readiness import (
    READINESS_PERIOD,
    InputState,
    NodeState,
    OutputState,
)

LOOK_PERIOD = 0.5  # s between two looks: a change is published at the next
DIAGNOSTICS_PERIOD = 1.0  # s
LOGGED_AFTER = 5.0  # s for which a required input is missing
# What every node of ROS has, or has of this.
NOT_COUNTED = ('/rosout', '/parameter_events', DIAGNOSTICS.name)


class Readiness:
    """Publishes, by a timer of the node, its readiness and its health.

    Args:
        hardware_id: robot, serial number or port that the node works for; no folder of this
            machine, as it is recorded (`robots.profiles.public_name`).
        problem: why the node is not ready, apart from its inputs; '' if it is.
        parts: statuses of what it looks after.
        inputs: of those that are no FittingSubscription.
    """

    def __init__(
        self,
        node: Node,
        hardware_id: str = '',
        problem: Callable[[], str] = lambda: '',
        parts: Callable[[], Iterable[Status]] = tuple,
        inputs: Callable[[], Iterable[InputState]] = tuple,
    ) -> None:
        self.hardware_id = hardware_id
        self._node, self._problem, self._parts, self._inputs = node, problem, parts, inputs
        self._publisher = node.create_publisher(*published(READINESS))
        self._diagnostics = node.create_publisher(*published(DIAGNOSTICS))
        self._health = InputHealth()
        self._published_key: tuple[object, ...] | None = None
        self._next = self._next_diagnostics = 0.0
        self._waiting = WaitingLog(node.get_logger().info)
        self._timer = node.create_timer(
            LOOK_PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def state(self) -> NodeState:
        """Returns how the node is now."""
        node = self._node
        return NodeState(
            node=node.get_fully_qualified_name(),
            stamp=node.get_clock().now().nanoseconds,
            hardware_id=self.hardware_id,
            problem=self._problem(),
            inputs=(*(each.state() for each in tuple(inputs_of(node))), *self._inputs()),
            outputs=tuple(self._outputs()),
        )

    def _outputs(self) -> Iterator[OutputState]:
        for publisher in tuple(self._node.publishers):
            # A transition that fails in a thread of its own ends publishers meanwhile.
            with contextlib.suppress(rclpy_implementation.InvalidHandle):
                topic = publisher.topic_name
                if topic not in NOT_COUNTED and publisher is not self._publisher:
                    yield OutputState(topic, publisher.get_subscription_count())

    def look(self) -> None:
        """Looks at all inputs, and publishes what is due. In the executor's thread."""
        for each in tuple(inputs_of(self._node)):
            each.look()
        now, state = time.monotonic(), self.state()
        self._waiting.take(state, now)
        if state.key != self._published_key or now >= self._next:
            self.publish(state)
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + DIAGNOSTICS_PERIOD
            self._diagnostics.publish(self._diagnostics_message(state, now))

    def publish(self, state: NodeState | None = None) -> None:
        """Publishes how the node is, due or not."""
        state = state or self.state()
        self._published_key, self._next = state.key, time.monotonic() + READINESS_PERIOD
        self._publisher.publish(readiness_message(state))

    def _diagnostics_message(self, state: NodeState, now: float) -> DiagnosticArray:
        own = self._health.status(state, time.time_ns(), now)
        message = DiagnosticArray(status=[self._status(part) for part in (own, *self._parts())])
        message.header.stamp = time_message(state.stamp)
        return message

    def _status(self, status: Status) -> DiagnosticStatus:
        name = self._node.get_fully_qualified_name().lstrip('/')
        return DiagnosticStatus(
            level=bytes([status.level]),
            name=f'{name}: {status.name or "node"}',
            message=status.message,
            hardware_id=status.hardware_id or self.hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in status.values.items()],
        )


class WaitingLog:
    """Logs what a node waits for: a topic of another name, or a driver that does not run, would
    otherwise show nowhere but in topics. At level info: where all nodes start at once, some wait.
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._lacking = self._logged = ''
        self._since = 0.0

    def take(self, state: NodeState, now: float) -> None:
        """Takes how the node is. now: s."""
        problems = [each.problem for each in state.inputs if each.is_required]
        lacking = '; '.join(dict.fromkeys(filter(None, problems)))
        if lacking != self._lacking:
            self._lacking, self._since = lacking, now
        if lacking and lacking != self._logged and now >= self._since + LOGGED_AFTER:
            self._log(f'waiting: {lacking}')
            self._logged = lacking
        elif self._logged and not lacking:
            self._log('what it waited for is there')
            self._logged = ''


def readiness_message(state: NodeState) -> NodeReadiness:
    """The message of a state."""
    message = NodeReadiness(
        inputs=[fill_fields(NodeInput(), each) for each in state.inputs],
        outputs=[fill_fields(NodeOutput(), each) for each in state.outputs],
    )
    message.header.stamp = time_message(state.stamp)
    return fill_fields(message, state)


def _input_state(message: NodeInput) -> InputState:
    values = {field.name: getattr(message, field.name) for field in fields(InputState)}
    times = {name: stamp_ns(value) for name, value in values.items() if isinstance(value, Time)}
    return InputState(**values | times)


def state_of(message: NodeReadiness) -> NodeState:
    """Returns the state in a message."""
    inputs = tuple(_input_state(each) for each in message.inputs)
    of_inputs = {each.problem for each in inputs}
    own = [part for part in message.reason.split('; ') if part not in of_inputs]
    return NodeState(
        node=message.node,
        stamp=stamp_ns(message.header.stamp),
        hardware_id=message.hardware_id,
        problem='; '.join(own),
        inputs=inputs,
        outputs=tuple(OutputState(each.topic, each.matched) for each in message.outputs),
    )
