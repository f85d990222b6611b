# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publications of the gate node: commands first, then its interventions and state."""

from __future__ import annotations

import math
import time
from array import array
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import KeyValue
from numpy.typing import NDArray
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState

from frame_ros.core.errors import RobotError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import CommandGate
from frame_ros.gate.full_command import FullCommand
from frame_ros.gate.lasting_interventions import LastingInterventions
from frame_ros.gate.records import Act, Intervention, Moment, Output, Reason
from frame_ros.msg import EpisodeEvent, GateIntervention, GateState
from frame_ros.nodes.gate import topics
from frame_ros.nodes.gate.options import GateOptions
from frame_ros.nodes.gate.output_watch import OutputWatch
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import fill_fields, time_message
from frame_ros.nodes.runtime.publisher_identity import identity_of
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS, JOINT_COMMANDS
from frame_ros.robots import Robot

Array = NDArray[np.float64]
SOURCE = 'gate'  # of its events
LAST_WAIT = 0.5  # s
ANNOUNCED = {
    'stop': EpisodeEvent.STOP,
    'takeover_start': EpisodeEvent.INTERVENTION_START,
    'takeover_end': EpisodeEvent.INTERVENTION_END,
}
SPOKEN = {  # acts that have an event of their own and are not noted besides
    Act.STOPPED,
    Act.TAKEOVER,
}


class GateOutputs:
    """The publishers. What is no command waits until `flush`.

    events_identity: the GID of the publisher of episode_events.
    """

    def __init__(
        self, node: Node, settings: GateOptions, robot: Robot, names: Sequence[str]
    ) -> None:
        """names: the joints that can be commanded, (D,)."""
        self._node = node
        self._commands = node.create_publisher(*published(JOINT_COMMANDS))
        self._interventions = node.create_publisher(*published(topics.INTERVENTIONS))
        self._state = node.create_publisher(*published(topics.STATE))
        self._events = node.create_publisher(*published(EPISODE_EVENTS))
        self.events_identity = identity_of(self._events)
        self._watch = OutputWatch(node, identity_of(self._commands))
        self._controller = self._make_controller(node, settings, robot)
        self._waiting: deque[tuple[Any, Any]] = deque()
        self._last_stamp = self._set_backs = 0
        self._last: Output | None = None
        self._full = FullCommand(names, robot.joint_names, settings.limits.longest_period)
        self._warnings = RepeatedWarnings(node.get_logger())
        self._lasting = LastingInterventions()
        self._shown = -1
        self.set_state_rate(settings.state_rate)

    def set_state_rate(self, rate: float) -> None:
        """Sets the rate of gate_state, Hz; the next is due at once."""
        self._state_period = 1.0 / rate
        self._next_state = 0.0

    def _make_controller(self, node: Node, settings: GateOptions, robot: Robot) -> Any:
        if settings.output == 'none':
            return None
        from frame_ros.core.name_values import parse_options
        from frame_ros.nodes.gate.controller_outputs import ControllerOutput

        options = parse_options('output_options', settings.output_options)
        controller = ControllerOutput(node, settings.output, robot, settings.period, **options)
        own = self._commands.topic_name
        if any(node.resolve_topic_name(topic) == own for topic in controller.topics):
            controller.close()  # the commands go there as they are
            return None
        node.get_logger().info(f'{settings.output}: {", ".join(controller.topics)}')
        return controller

    @property
    def topic(self) -> str:
        """The topic of the commands."""
        return self._commands.topic_name

    def other_publisher(self) -> bytes | None:
        """The GID of another node that has published commands since the last call."""
        return self._watch.other()

    def send(
        self, output: Output, measured: Array, data: bytes | None = None, set_backs: int = 0
    ) -> None:
        """A command to the arm, at once. Stamps rise, also where a hold came in between.

        measured: (D,) positions. data: the command as it came, if it passes as it was and holds
        nothing else. set_backs: number of times that the clock was set back: stamps begin again.
        """
        stamp = output.stamp
        if set_backs != self._set_backs:
            self._set_backs, self._last_stamp = set_backs, 0
        if 0 <= self._last_stamp - stamp < SECOND:
            stamp, data = self._last_stamp + 1, None
        self._last_stamp, self._last = stamp, output
        self._commands.publish(data or self._message(output, stamp))
        if self._controller is not None:
            self._send_to_controller(output, stamp, measured)

    def _send_to_controller(self, output: Output, stamp: int, measured: Array) -> None:
        """The same for the controller, which wants all of its joints."""
        try:
            goals = self._full.complete(
                output.names, output.positions, measured, time.monotonic(), output.known
            )
            names, positions = list(goals), list(goals.values())
            if output.is_hold:
                is_at_rest = not output.velocities.any()
                self._controller.hold(stamp, names, positions, is_at_rest)
            else:
                self._controller.publish(stamp, names, positions)
        except RobotError as error:  # of joints whose place nobody knows yet, or any more
            self._warnings.warn('output', f'not sent to the controller: {error}')

    def send_last(self, clock: int) -> None:
        """The last command once more, when nothing else can be computed. clock: ns."""
        if self._last is not None:
            self._last_stamp = max(clock, self._last_stamp + 1)
            self._commands.publish(self._message(self._last, self._last_stamp))

    def _message(self, output: Output, stamp: int) -> JointState:
        names, positions = list(output.names), array('d', output.positions.tobytes())
        message = JointState(name=names, position=positions)
        message.header.stamp = time_message(stamp)
        return message

    def wait_until_received(self) -> None:
        """Waits until the arm has the last command: it is lost if the process ends before."""
        self._commands.wait_for_all_acked(Duration(seconds=LAST_WAIT))

    def intervene(self, intervention: Intervention) -> None:
        """Keeps an intervention for `flush`."""
        self._lasting.take(intervention, time.monotonic())
        self._waiting.append((self._interventions, intervention_message(intervention)))

    def note(self, intervention: Intervention) -> None:
        """Marks the episode with an intervention."""
        if intervention.act in SPOKEN:
            return
        reason, act = intervention.reason, intervention.act.name.lower()
        text = f'gate {act}: {reason.cause}: {reason.text}'
        self._waiting.append(
            (
                self._events,
                event_message(
                    EpisodeEvent.NOTE,
                    intervention.episode_id,
                    intervention.stamp,
                    text,
                    act,
                    reason.cause,
                ),
            )
        )

    def note_limits(self, text: str, moment: Moment, episode_id: str) -> None:
        """Marks the episode with a change of limits."""
        event = event_message(
            EpisodeEvent.NOTE, episode_id, moment.clock, f'gate limits: {text}', 'limits',
            Cause.OPERATOR,
        )  # fmt: skip
        self._waiting.append((self._events, event))

    def note_stopped(self, reason: Reason, moment: Moment, episode_id: str) -> None:
        """Marks an episode that begins under a stop of before it."""
        text = f'gate stopped: nothing is sent before a reset: {reason.cause}: {reason.text}'
        event = event_message(
            EpisodeEvent.NOTE, episode_id, moment.clock, text, 'begun_stopped', reason.cause
        )
        self._waiting.append((self._events, event))

    def announce(self, kind: str, reason: Reason, moment: Moment, episode_id: str) -> None:
        """A stop, or the begin or end of a takeover, as an event."""
        text = f'gate: {reason.cause}: {reason.text}'
        event = event_message(ANNOUNCED[kind], episode_id, moment.clock, text, kind, reason.cause)
        self._waiting.append((self._events, event))

    def flush(self, gate: CommandGate, moment: Moment, latency: float) -> None:
        """Publishes what has been kept, and the state if it has changed or is due; logs what
        lasts.
        """
        while self._waiting:
            publisher, message = self._waiting.popleft()
            publisher.publish(message)
        self._lasting.note_passed(gate.counts.passed + gate.counts.limited)
        now = moment.monotonic / SECOND
        if gate.version != self._shown or now >= self._next_state:
            self._shown, self._next_state = gate.version, now + self._state_period
            self._state.publish(state_message(gate, moment, latency))
            for text in self._lasting.texts(time.monotonic()):
                self._warnings.warn('lasting', text)

    def close(self) -> None:
        """Takes the publishers off the node."""
        if self._controller is not None:
            self._controller.close()
        self._watch.close()
        for publisher in (self._commands, self._interventions, self._state, self._events):
            self._node.destroy_publisher(publisher)


def event_message(
    kind: int, episode_id: str, stamp: int, text: str, act: str, cause: str
) -> EpisodeEvent:
    """An event of the gate."""
    event = EpisodeEvent(type=kind, episode_id=episode_id, source=SOURCE, text=text)
    event.header.stamp = time_message(stamp)
    event.attributes = [KeyValue(key='act', value=act), KeyValue(key='cause', value=cause)]
    return event


def intervention_message(intervention: Intervention) -> GateIntervention:
    """An intervention as its message."""
    message = GateIntervention(action=int(intervention.act))
    message.header.stamp = time_message(intervention.stamp)
    return fill_fields(message, intervention, intervention.reason)


def state_message(gate: CommandGate, moment: Moment, latency: float) -> GateState:
    """The state as its message. latency: s, NaN if no command was sent on yet."""
    watch = gate.watch
    observation_age = watch.observation_age(moment)
    message = GateState(
        episode_id=gate.episode.episode_id,
        state=int(gate.status),
        cause=gate.reason.cause if gate.status in (GateState.HOLDING, GateState.STOPPED) else '',
        text=gate.reason.text,
        since=time_message(gate.since),
        command_age=watch.command_age(moment),
        observation_age=observation_age if math.isfinite(observation_age) else math.nan,
        heartbeat_age=watch.heartbeat_age(moment),
        latency=latency,
    )
    message.header.stamp = time_message(moment.clock)
    return fill_fields(message, gate.counts)
