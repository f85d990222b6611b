# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node: observations in, actions out at a steady rate, and a message about every
inference.

Three threads: the executor receives, the inference thread calls the policy, the control thread
commands and gives the heartbeat. Only the action queue stands between the last two, so a slow
policy costs no tick. A fourth shows observations to a policy that needs a history of them.
"""

from __future__ import annotations

import gc
import sys
import traceback
from typing import Any

from rclpy.publisher import Publisher

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.events import EventType
from frame_ros.core.name_values import parse_pairs
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.thread_priority import lower_priority
from frame_ros.core.time import stamp_ns
from frame_ros.core.topics import Topic
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.policy.control import ControlLoop
from frame_ros.nodes.policy.history import HistoryLoop
from frame_ros.nodes.policy.inference import InferenceLoop
from frame_ros.nodes.policy.inputs import PolicyInputs, camera_topics, pose_topics
from frame_ros.nodes.policy.options import PolicyOptions
from frame_ros.nodes.policy.problems import Problems
from frame_ros.nodes.policy.topics import (
    EPISODE_EVENTS,
    HEARTBEAT,
    INFERENCE,
    JOINT_COMMANDS,
    JOINT_STATES,
)
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.managed import ManagedNode, run_managed
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.policies.base import Policy
from frame_ros.policies.episode_gate import BOUNDARIES, Boundary, EpisodeGate
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.observation_buffer import ObservationBuffer
from frame_ros.policies.making import make_converter, make_policy_of, make_queue, make_task
from frame_ros.robots import load_robot


class PolicyNode(ManagedNode):
    """Runs one policy on one robot.

    Subscribes: joint_states, episode_events, and the images and poses that the policy needs.
    Publishes: joint_commands, one per control tick while it acts in an episode; policy_heartbeat,
    one per control tick while it is active; policy_inference, one per call of the policy; on
    episode_events a note of each kind of trouble in an episode.

    policy: one made by the caller, in place of the parameter `policy`. options: of rclpy's node.
    """

    def __init__(self, policy: Policy | None = None, **options: Any) -> None:
        super().__init__('policy', **options)
        self.options = declare_options(
            self, PolicyOptions, lambda options: setattr(self, 'options', options)
        )
        self._given_policy = policy
        self._policy: Policy | None = None
        self._inputs: PolicyInputs | None = None
        self._events: FittingSubscription | None = None
        self._control: ControlLoop | None = None
        self._inference: InferenceLoop | None = None
        self._abandoned: InferenceLoop | None = None
        self._history: HistoryLoop | None = None
        self._buffer: ObservationBuffer | None = None
        self._publishers: list[Publisher] = []
        self.autostart(self.options.autostart)

    @property
    def counters(self) -> dict[str, int]:
        """Calls, errors, dropped and unused chunks, clipped values, missed ticks, inputs that came
        out of order, since it was activated.
        """
        if self._inference is None or self._control is None or self._buffer is None:
            return {}
        return {
            **self._inference.counters,
            'missed_ticks': self._control.ticks.missed,
            'reordered_inputs': self._buffer.reordered,
        }

    def _configure(self) -> None:
        settings = self.options
        robot = load_robot(settings.robot)
        self.readiness.hardware_id = robot.name
        self._limits, self._continuous = robot.joint_limits, robot.continuous
        self._converter = make_converter(settings, robot)
        self._task = make_task(settings)
        self._policy = self._given_policy or make_policy_of(settings, robot)
        make_queue(settings, self._policy)  # reports parameters that contradict each other
        self._cameras = camera_topics(self._policy.cameras, settings.cameras)
        self._poses = pose_topics(
            self._policy.poses, parse_pairs('pose_topics', settings.pose_topics)
        )
        self._warm_up(self._policy)
        self._make_publishers()
        checkpoint = f' ({self._policy.checkpoint})' if self._policy.checkpoint else ''
        inputs = ', '.join([JOINT_STATES.name, *self._cameras.values(), *self._poses.values()])
        self.get_logger().info(
            f'policy {self._policy.name}{checkpoint} for {robot.name} at '
            f'{settings.control_rate:g} Hz '
            f'on {inputs}, {settings.execution}'
        )
        for fact in self._policy.facts:
            self.get_logger().info(fact)
        for note in self._policy.notes:
            self.get_logger().warning(note)

    def _make_publishers(self) -> None:
        def make(topic: Topic) -> Publisher:
            publisher = self.create_lifecycle_publisher(*published(topic))
            self._publishers.append(publisher)
            return publisher

        self._commands = make(JOINT_COMMANDS)
        self._heartbeats = make(HEARTBEAT)
        self._calls = make(INFERENCE)
        notes = make(EPISODE_EVENTS)
        self._problems = Problems(RepeatedWarnings(self.get_logger()), self.get_clock(), notes)

    def _warm_up(self, policy: Policy) -> None:
        """Makes the first call, which in a network takes many times longer, outside an episode."""
        try:
            policy.warm_up()
        except FrameRosError:
            raise
        except (
            Exception
        ) as error:  # a checkpoint whose parts do not fit each other fails here, in its own way
            self.get_logger().debug(traceback.format_exc())
            raise SetupError(
                f'policy {policy.name} {policy.checkpoint} fails on a test image: {error}'
            ) from error

    def _start(self) -> None:
        assert self._policy is not None
        if self._abandoned is not None and self._abandoned.is_alive:
            raise SetupError(
                'the policy has still not returned from a call that was abandoned; try again when '
                'it has, or restart the node'
            )
        settings, policy, names = self.options, self._policy, tuple(self._limits)
        queue = make_queue(settings, policy)
        gate = EpisodeGate(acts_always=settings.run_on == 'always')
        buffer = ObservationBuffer(
            names, policy.cameras, policy.poses, settings.max_observation_age
        )
        self._buffer = buffer
        self._inference = self._make_inference(settings, policy, queue, buffer)
        self._control = self._make_control(settings, queue, gate, self._inference)
        self._history = self._make_history(policy, buffer, gate, self._inference)
        self._inputs = PolicyInputs(
            self,
            buffer,
            self._cameras,
            self._poses,
            names,
            self._problems.report,
            max(0, settings.realtime_priority - 1),
            self._continuous,
        )
        self._events = FittingSubscription(
            self, EPISODE_EVENTS, lambda event: self._on_event(gate, event), is_called=True
        )
        # The collector must not stop all threads to look through a network's objects again.
        gc.collect()
        gc.freeze()
        self._inference.start()
        if self._history is not None:
            self._history.start()
        self._control.start()

    def _make_inference(
        self,
        settings: PolicyOptions,
        policy: Policy,
        queue: ActionQueue,
        buffer: ObservationBuffer,
    ) -> InferenceLoop:
        return InferenceLoop(
            policy=policy,
            task=self._task,
            queue=queue,
            buffer=buffer,
            limits=self._limits,
            converter=self._converter,
            clock=self.get_clock(),
            publisher=self._calls,
            before_reset=self._set_quality,
            on_names=lambda found: setattr(self._control, 'names', found),
            problems=self._problems,
            retry=settings.period,
            control_rate=settings.control_rate,
            continuous=self._continuous,
        )

    def _make_control(
        self,
        settings: PolicyOptions,
        queue: ActionQueue,
        gate: EpisodeGate,
        inference: InferenceLoop,
    ) -> ControlLoop:
        def on_change() -> None:
            inference.forget_problem()
            self._log_episode(gate)

        return ControlLoop(
            period=settings.period,
            queue=queue,
            gate=gate,
            clock=self.get_clock(),
            is_simulated=self._is_simulated,
            commands=self._commands,
            heartbeats=self._heartbeats,
            on_change=on_change,
            health=inference.health,
            priority=settings.realtime_priority,
        )

    def _make_history(
        self,
        policy: Policy,
        buffer: ObservationBuffer,
        gate: EpisodeGate,
        inference: InferenceLoop,
    ) -> HistoryLoop | None:
        if not policy.needs_history:
            return None

        def is_on() -> bool:
            return gate.acting is not None and inference.episode is gate.acting

        return HistoryLoop(
            policy=policy,
            buffer=buffer,
            clock=self.get_clock(),
            is_simulated=self._is_simulated,
            is_on=is_on,
            report=self._problems.report,
        )

    @property
    def _is_simulated(self) -> bool:
        return bool(self.get_parameter('use_sim_time').value)

    def _stop(self) -> None:
        if self._control is not None:
            self._control.stop()
        if self._history is not None:
            self._history.stop()
        if self._inference is not None:
            self._inference.stop()
            self._abandoned = self._inference if self._inference.is_alive else None
        if self._inputs is not None:
            self._inputs.close()
        if self._events is not None:
            self._events.destroy()
        if counters := self.counters:
            self.get_logger().info(
                'stopped; ' + ', '.join(f'{name} {count}' for name, count in counters.items())
            )
        self._control = self._inference = self._history = self._inputs = self._events = None
        lower_priority()
        gc.unfreeze()

    def _release(self) -> None:
        for publisher in self._publishers:
            self.destroy_publisher(publisher)
        self._publishers.clear()
        policy, self._policy = self._policy, None
        if policy is None or self._given_policy is not None:
            return
        try:
            policy.close()
        except Exception as error:  # whatever a policy raises, the node ends
            self.get_logger().error(f'policy {policy.name} cannot be closed: {error}')

    def _on_event(self, gate: EpisodeGate, event: EpisodeEvent) -> None:
        if event.type not in BOUNDARIES:
            return
        seed = next((item.value for item in event.attributes if item.key == 'seed'), '')
        if seed and not seed.isdecimal():
            self.get_logger().error(
                f'the episode {event.episode_id} has seed {seed!r}; it must be a whole number'
            )
            seed = ''
        gate.add(
            Boundary(
                stamp=stamp_ns(event.header.stamp),
                type=EventType(event.type),
                episode_id=event.episode_id,
                instruction=event.instruction,
                seed=int(seed) if seed else None,
            )
        )

    def _log_episode(self, gate: EpisodeGate) -> None:
        if gate.episode is None:
            text = 'no episode: no commands'
        elif gate.acting is None:
            text = 'the teleoperator has taken over: no commands until the end of the intervention'
        else:
            text = f'episode {gate.episode.episode_id or "without a name"}'
        self.get_logger().info(text)

    def _set_quality(self, policy: Policy) -> None:
        """The scripted policy's quality may be changed between two episodes."""
        if policy.quality is not None:
            policy.quality = self.options.quality


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_managed(PolicyNode))
