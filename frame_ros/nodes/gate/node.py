# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate node: the one node in the path of the robot.

It monitors and limits the commands of a policy; it is no certified safety function, and takes the
place of no emergency stop.

One plain thread receives, decides and sends, and looks at the watchdogs, all by the monotonic
clock. It takes what stops the arm first, then what is measured, then the newest commands; woken by
a command alone, soon after it looked at everything, it sends that on first. The executor serves
lifecycle and parameters, and may be as busy as it likes.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from std_srvs.srv import Trigger

from frame_ros.bags.message_readers import ReadJointState
from frame_ros.core.health import Level, Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.thread_priority import raise_priority, raise_receiving
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import POLICY, TELEOPERATOR, CommandGate
from frame_ros.gate.episode import END, START
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.measured_turns import MeasuredTurns
from frame_ros.gate.records import GateStatus, InterventionLog, Moment, Output, Reason
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.gate.event_intake import HeardEvent
from frame_ros.nodes.gate.inputs import COMMAND_TOPICS, GateInputs
from frame_ros.nodes.gate.options import GateOptions, limit_changes
from frame_ros.nodes.gate.outputs import GateOutputs
from frame_ros.nodes.gate.topics import JOINT_COMMANDS, JOINT_STATES, RESET, STOP
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.managed import ManagedNode, run_managed
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.polled_service import PolledService
from frame_ros.nodes.runtime.publisher_identity import Publishers, node_of
from frame_ros.robots import Robot

SWITCH_INTERVAL = 0.0005  # s that another thread may keep the interpreter's lock
SHORTEST_WAIT = 0.0005  # s
REST_TIME = 2.0  # s that the arm may be braked for when the gate ends
LONGEST_AGO = SECOND  # ns that something may have waited; the system clock may have been set
OBSTACLE_PERIOD = SECOND // 20  # ns between two looks whether an episode may begin
BOUNDARIES = {EpisodeEvent.START: START, EpisodeEvent.END: END}


class GateNode(ManagedNode):
    """Limits what a policy sends to an arm, and holds or stops the arm when something is missing.

    Subscribes: policy_commands, policy_heartbeat, joint_states, teleop_commands, takeover,
    episode_events. Publishes: joint_commands, gate_state, gate_interventions, and events on
    episode_events. Services: ~/stop, ~/reset.
    """

    def __init__(self, **options: Any) -> None:
        """Raises FrameRosError for a robot, a limit or another parameter that cannot be used."""
        super().__init__('gate', **options)
        self.options = declare_options(self, GateOptions, self._change, self._check)
        self._started = self.options
        self._robot: Robot | None = None
        self._limiter: CommandLimiter | None = None  # one for all activations
        self.gate: CommandGate | None = None
        self._outputs: GateOutputs | None = None
        self._inputs: GateInputs | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._lock = threading.RLock()  # of the gate and its outputs
        self._is_simulated = bool(self.get_parameter('use_sim_time').value)
        self._obstacle, self._next_obstacle = '', 0  # of a first command
        self._policies: frozenset[bytes] | None = None  # who publishes commands
        self._latency = math.nan
        self._looked = Moment(0, 0)  # when the watchdogs were looked at last
        self._has_taken_over = False
        self._warnings = RepeatedWarnings(self.get_logger())
        self._polled_services: tuple[PolledService, ...] = (
            PolledService(self, *endpoint(STOP), self._on_stop),
            PolledService(self, *endpoint(RESET), self._on_reset),
        )
        self.autostart(self.options.autostart)

    def _check(self, options: GateOptions) -> None:
        """Refuses limits for another number of joints, or above those at start."""
        robot = self._robot  # a configuration that fails takes it away in another thread
        if robot is not None:
            options.limits.check_at_most(self._started.limits, robot)

    def _change(self, options: GateOptions) -> None:
        with self._lock:
            before, self.options = self.options, options
            text = limit_changes(before, options)
            if self._outputs is None:
                return
            self._use_options()
            if text and self.gate is not None:
                self._outputs.note_limits(text, self._moment(), self.gate.episode.episode_id)
        if text:
            self.get_logger().warning(f'the limits are changed: {text}')

    def _use_options(self) -> None:
        """Takes the options that are live into force."""
        options = self.options
        assert self._robot is not None and self._limiter is not None and self._outputs is not None
        self._outputs.set_state_rate(options.state_rate)
        self._limiter.limit_to(options.limits.of(self._robot), options.workspace.speed)

    def _configure(self) -> None:
        options = self.options
        robot = options.load_robot()
        self.readiness.hardware_id = robot.name
        limiter = self._started.make_limiter(robot)
        outputs = GateOutputs(self, options, robot, limiter.limits.names)
        with self._lock:  # what was set since, too
            self._robot, self._limiter, self._outputs = robot, limiter, outputs
            self._use_options()
        limits = limiter.limits
        turns = MeasuredTurns(limits.is_endless)  # of all activations, too
        self._make_gate = lambda: CommandGate(
            limiter,
            robot.joint_names,
            options,
            InterventionLog(outputs.intervene, outputs.note),
            self._announce,
            self._is_simulated,
            turns,
        )
        self._make_gate()  # reports what is wrong with it now
        rates = zip(limits.names, limits.velocity, limits.units, strict=True)
        self.get_logger().info(
            f'{robot.name}: at most '
            + ', '.join(f'{name} {speed:.3g} {unit}/s' for name, speed, unit in rates)
            + '; this is no certified safety function, keep the emergency stop at hand'
        )

    def _start(self) -> None:
        self.gate = self._make_gate()
        self.gate.activate(self._moment())
        self._has_taken_over = False
        assert self._outputs is not None
        self._senders = Publishers(self)
        self._inputs = GateInputs(
            self,
            self._polled_services,
            self._outputs.events_identity,
            self.options.command_rate_limit,
        )
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, name='gate', daemon=True)
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._serve_by_thread(True)
        self._thread.start()

    def _stop(self) -> None:
        """The arm is braked, and held by a last command."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._serve_by_thread(False)
        if self._inputs is not None:
            self._inputs.close()
            self._inputs = None
        if self.gate is not None:
            counts = ', '.join(f'{name} {count}' for name, count in vars(self.gate.counts).items())
            self.get_logger().info(f'ended; {counts}')
        self.gate = None

    def _serve_by_thread(self, is_served: bool) -> None:
        for service in self._polled_services:
            service.set_polled(is_served)

    def _release(self) -> None:
        with self._lock:
            outputs, self._robot, self._limiter, self._outputs = self._outputs, None, None, None
        if outputs is not None:
            outputs.close()

    # The thread.

    def _run(self) -> None:
        raise_priority(self.options.realtime_priority)
        raise_receiving(self.options.realtime_priority)
        while not self._ending.is_set():
            try:
                self._turn()
            except Exception:
                self._fail(traceback.format_exc())
        try:
            self._come_to_rest()
        except Exception:
            self._fail(traceback.format_exc())

    def _turn(self) -> None:
        """Waits until there is something, or a watchdog may be overdue, and does what there is to
        do: what stops the arm first, then what is measured, then the newest commands, or these
        first if nothing is urgent or late.
        """
        gate, inputs, outputs = self.gate, self._inputs, self._outputs
        assert gate is not None and inputs is not None and outputs is not None
        source = TELEOPERATOR if self._has_taken_over else POLICY
        is_urgent = inputs.wait(source, self._timeout(gate), time.monotonic_ns())
        with self._lock:
            waited = (time.monotonic_ns() - self._looked.monotonic) / SECOND
            is_late = waited > self.options.limits.longest_period
            if not is_urgent and not is_late:  # commands need not wait for a look at all of it
                self._take_commands(gate, inputs)
            self._take_urgent(gate, inputs, outputs)
            self._take_states(gate, inputs)
            if is_urgent or is_late:
                self._take_commands(gate, inputs)
            self._looked = moment = self._moment()
            self._send(gate.tick(moment))
            if moment.monotonic > self._next_obstacle:
                self._next_obstacle = moment.monotonic + OBSTACLE_PERIOD
                self._obstacle = gate.obstacle(moment, self._policies)
            outputs.flush(gate, moment, self._latency)

    def _come_to_rest(self) -> None:
        """Brakes the arm, for at most REST_TIME, and holds it with a last command."""
        gate, inputs, outputs = self.gate, self._inputs, self._outputs
        assert gate is not None and inputs is not None and outputs is not None
        deadline = time.monotonic() + REST_TIME
        is_moving = True
        with self._lock:
            while is_moving and time.monotonic() < deadline:
                self._take_states(gate, inputs)
                moment = self._moment()
                self._send(gate.deactivate(moment))
                outputs.flush(gate, moment, self._latency)
                is_moving = gate.is_moving(moment)
                if is_moving:
                    time.sleep(self.options.period)
            outputs.wait_until_received()
        if is_moving:
            self.get_logger().error(f'the arm was not at rest after {REST_TIME:g} s')

    def _take_urgent(self, gate: CommandGate, inputs: GateInputs, outputs: GateOutputs) -> None:
        for service in self._polled_services:
            service.poll()
        for heard in inputs.events():
            self._on_event(gate, heard)
        for has_taken_over in inputs.takeovers():
            self._has_taken_over = has_taken_over
            self._send(gate.set_takeover(has_taken_over, self._moment()))
        other = outputs.other_publisher()
        if other is not None:
            text = f'{self._senders.named(outputs.topic, other)} publishes {outputs.topic} too'
            gate.doubt(Reason(Cause.SECOND_PUBLISHER, text), self._moment())
            # Also where the gate commands nothing, and so has nothing to stop.
            self._warnings.warn(outputs.topic, f'{text}: that reaches the arm unchecked')

    def _take_states(self, gate: CommandGate, inputs: GateInputs) -> None:
        for joints, publisher, received in inputs.joint_states.take():
            topic = JOINT_STATES.name
            problem = gate.on_joint_states(
                joints.names,
                joints.positions,
                joints.stamp,
                self._moment(received),
                self._senders.named(topic, publisher),
            )
            # Where nothing is commanded nothing is stopped: an arm may be set elsewhere.
            is_idle = gate.status == GateStatus.IDLE
            say = self._warnings.inform if is_idle else self._warnings.warn
            say(topic, problem and f'{topic}: {problem}')
        for beat, received in inputs.heartbeats():
            gate.on_heartbeat(beat, self._moment(received))

    def _take_commands(self, gate: CommandGate, inputs: GateInputs) -> None:
        for source, intake in inputs.commands.items():
            now, thinned = time.monotonic_ns(), intake.thinned
            for command, publisher, received in intake.take(now):
                self._take(gate, source, command, publisher, received)
            gate.leave_out(source, intake.thinned - thinned)
            flood = intake.flood(now)
            if flood is not None:
                gate.doubt(flood, self._moment())

    def _take(
        self,
        gate: CommandGate,
        source: str,
        command: ReadJointState,
        publisher: bytes,
        received: int,
    ) -> None:
        output = gate.on_command(
            source,
            command.stamp,
            command.names,
            command.positions,
            self._moment(),
            self._senders.named(COMMAND_TOPICS[source].name, publisher),
        )
        if output is None:
            return
        is_same = output.positions is command.positions
        self._send(output, command.data if is_same else None)
        if not output.is_hold:
            self._latency = (time.time_ns() - received) / SECOND

    def _on_event(self, gate: CommandGate, heard: HeardEvent) -> None:
        event = heard.event
        if event.type == EpisodeEvent.STOP:
            text = f'{event.source or "somebody"}: {event.text or "stop"}'
            self._send(
                gate.on_episode_stop(event.episode_id, heard.is_history, text, self._moment())
            )
        elif event.type in BOUNDARIES:
            stamp = stamp_ns(event.header.stamp)
            gate.on_boundary(BOUNDARIES[event.type], event.episode_id, stamp)
            is_begun = event.type == EpisodeEvent.START and not heard.is_history
            if is_begun and gate.status == GateStatus.STOPPED and self._outputs is not None:
                self._outputs.note_stopped(gate.reason, self._moment(), event.episode_id)
                text = _stop_text(gate.reason)
                self.get_logger().error(f'an episode begins while the gate is {text}')

    def _timeout(self, gate: CommandGate) -> float:
        """s until the next look: a period, or less if a watchdog may be overdue before."""
        due = gate.next_deadline(self._looked)
        if due is None:
            return self.options.period
        left = (due - time.monotonic_ns()) / SECOND
        return min(max(left, SHORTEST_WAIT), self.options.period)

    def _send(self, output: Output | None, data: bytes | None = None) -> None:
        if output is not None and self.gate is not None and self._outputs is not None:
            self._outputs.send(output, self.gate.measured, data, self.gate.set_backs)

    def _fail(self, text: str) -> None:
        """Something that must not happen has happened: a stop, whatever else fails."""
        gate, outputs, moment = self.gate, self._outputs, self._moment()
        assert gate is not None and outputs is not None

        def stop() -> None:
            last_line = text.strip().splitlines()[-1]
            output = gate.stop(Reason(Cause.INTERNAL_ERROR, last_line), moment)
            self._send(output or gate.tick(moment))
            outputs.flush(gate, moment, self._latency)

        def send_last() -> None:
            gate.status = GateStatus.STOPPED
            outputs.send_last(moment.clock)

        with self._lock:
            self._is_done(stop) or self._is_done(send_last)
        self._is_done(lambda: self._warnings.fail('gate', text))
        self._ending.wait(self.options.period)

    def _is_done(self, action: Callable[[], None]) -> bool:
        """Returns whether it could be done; the thread goes on in any case."""
        try:
            action()
        except Exception:
            with contextlib.suppress(Exception):
                self._warnings.fail('gate', traceback.format_exc())
            return False
        return True

    # What the executor's thread does, the services only while the gate's thread does not.

    def problem(self) -> str:
        """Returns why the node is not at work, or an episode had better not begin: an arm that no
        policy is to command may be guided by hand, or driven past the gate.
        """
        topic = self.resolve_topic_name(COMMAND_TOPICS[POLICY].name)
        publishers = self.get_publishers_info_by_topic(topic)
        self._policies = frozenset(bytes(each.endpoint_gid) for each in publishers)
        obstacle = self._obstacle if self._policies and self.gate is not None else ''
        return super().problem() or obstacle

    def health(self) -> Iterator[Status]:
        """Yields the limits that were lowered, whether the gate is stopped, and whether several
        publish where only one may.
        """
        yield Status('limits', Level.OK, limit_changes(self._started, self.options) or 'as started')
        gate = self.gate
        if gate is not None:
            is_stopped = gate.status == GateStatus.STOPPED
            text = _stop_text(gate.reason) if is_stopped else gate.status.name.lower()
            yield Status('state', Level.ERROR if is_stopped else Level.OK, text)
        for topic in (each.name for each in (*COMMAND_TOPICS.values(), JOINT_COMMANDS)):
            names = sorted(
                node_of(info)
                for info in self.get_publishers_info_by_topic(self.resolve_topic_name(topic))
            )
            level = Level.WARN if len(names) > 1 else Level.OK
            text = f'{len(names)} publishers: {", ".join(names)}' if names else 'no publisher'
            yield Status(topic, level, text)

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._with_gate(self._stop_by_hand)
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._with_gate(
            lambda gate: gate.reset(self._moment())
        )
        return response

    def _stop_by_hand(self, gate: CommandGate) -> tuple[bool, str]:
        self._send(gate.stop(Reason(Cause.OPERATOR, 'by the service stop'), self._moment()))
        return True, f'stopped: {gate.reason.cause}: {gate.reason.text}'

    def _with_gate(self, action: Callable[[CommandGate], tuple[bool, str]]) -> tuple[bool, str]:
        with self._lock:
            if self.gate is None or self._outputs is None:
                return False, 'the gate is not active: no command passes it'
            result = action(self.gate)
            self._outputs.flush(self.gate, self._moment(), self._latency)
            return result

    def _announce(self, kind: str, reason: Reason, moment: Moment) -> None:
        assert self.gate is not None and self._outputs is not None
        self._outputs.announce(kind, reason, moment, self.gate.episode.episode_id)
        if kind == 'stop':
            self.get_logger().error(_stop_text(reason))

    def _moment(self, received: int | None = None) -> Moment:
        """Now, or when something was received (ns of the system clock), which may wait a period."""
        system = time.time_ns()
        ago = 0 if received is None else min(max(system - received, 0), LONGEST_AGO)
        clock = self.get_clock().now().nanoseconds if self._is_simulated else system
        return Moment(time.monotonic_ns() - ago, clock - ago)


def _stop_text(reason: Reason) -> str:
    return (
        f'stopped: {reason.cause}: {reason.text}; nothing is sent to the arm before ~/reset, which '
        'is refused while the cause persists'
    )


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_managed(GateNode))
