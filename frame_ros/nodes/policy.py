# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node: observations in, actions out at a steady rate, and a message about every
inference.

Three threads: the executor receives, the inference thread calls the policy, the control thread
commands. Only the action queue stands between the last two, so a slow policy costs no tick.
"""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from frame_ros.episodes.data import EventType
from frame_ros.errors import FrameRosError, SetupError
from frame_ros.msg import EpisodeEvent, PolicyInference
from frame_ros.nodes.parameters import declare
from frame_ros.nodes.policy_control import ControlLoop
from frame_ros.nodes.policy_episode import ENDINGS, Boundary, EpisodeGate
from frame_ros.nodes.policy_inference import InferenceLoop
from frame_ros.nodes.policy_inputs import PolicyInputs, camera_topics, pose_topics, stamp_of
from frame_ros.nodes.policy_settings import PolicySettings, parse_pairs
from frame_ros.nodes.spinning import run_node
from frame_ros.policies.observation_buffer import ObservationBuffer
from frame_ros.policies.protocol import Policy
from frame_ros.robots import load_robot

OUTPUT_QOS = QoSProfile(depth=50)
EVENT_QOS = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
REPORT_PERIOD = 1.0  # s at least between two messages about the same kind of trouble


class PolicyNode(LifecycleNode):
    """Runs one policy on one robot.

    Subscribes: joint_states, episode_events, and the images and poses that the policy needs.
    Publishes: joint_commands, one per control tick while an episode runs; policy_inference, one per
    call of the policy.

    policy: one made by the caller, in place of the parameter `policy`. options: of rclpy's node.
    """

    def __init__(self, policy: Policy | None = None, **options: Any) -> None:
        super().__init__('policy', **options)
        PolicySettings.declare(self)
        autostart = declare(self, 'autostart', True)
        self._given_policy = policy
        self._policy: Policy | None = None
        self._inputs: PolicyInputs | None = None
        self._events: Subscription | None = None
        self._control: ControlLoop | None = None
        self._inference: InferenceLoop | None = None
        self._error: FrameRosError | None = None
        self._reported: dict[str, float] = {}
        self.add_on_set_parameters_callback(self._check_parameters)
        if autostart:
            self._start_up()

    def destroy_node(self) -> None:
        """Ends the threads first: they publish."""
        self._stop_threads()
        super().destroy_node()

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Loads the policy and makes the publishers."""
        return self._attempt(self._configure)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Subscribes and starts the threads."""
        super().on_activate(state)
        result = self._attempt(self._start_threads)
        if result != TransitionCallbackReturn.SUCCESS:
            self._stop_threads()
            super().on_deactivate(state)
        return result

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Ends the threads and the subscriptions; no command follows."""
        self._stop_threads()
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Lets go of the policy and the publishers."""
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Ends the threads and lets go of the policy."""
        self._stop_threads()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: State) -> TransitionCallbackReturn:
        """Back to unconfigured after a transition that raised."""
        self._stop_threads()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    @property
    def counters(self) -> dict[str, int]:
        """Calls, errors, dropped chunks, clipped values, missed ticks since it was activated."""
        if self._inference is None or self._control is None:
            return {}
        return {**self._inference.counters, 'missed_ticks': self._control.missed}

    def _attempt(self, transition: Callable[[], None]) -> TransitionCallbackReturn:
        """Runs a transition; rclpy says nothing about an exception in one, so it is logged here."""
        try:
            transition()
        except FrameRosError as error:
            self._error = error
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    def _start_up(self) -> None:
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != TransitionCallbackReturn.SUCCESS:
                raise self._error or SetupError('the node could not start; see the message above')

    def _configure(self) -> None:
        settings = PolicySettings.read(self)
        robot = load_robot(settings.robot)
        self._limits = robot.joint_limits
        self._policy = self._given_policy or settings.make_policy(self._limits)
        self._cameras = camera_topics(self._policy.cameras, settings.cameras)
        self._poses = pose_topics(
            self._policy.poses, parse_pairs('pose_topics', settings.pose_topics)
        )
        self._warm_up(self._policy)
        self._commands = self.create_lifecycle_publisher(JointState, 'joint_commands', OUTPUT_QOS)
        self._calls = self.create_lifecycle_publisher(
            PolicyInference, 'policy_inference', OUTPUT_QOS
        )
        checkpoint = f' ({self._policy.checkpoint})' if self._policy.checkpoint else ''
        inputs = ', '.join(['joint_states', *self._cameras.values(), *self._poses.values()])
        self.get_logger().info(
            f'policy {self._policy.name}{checkpoint} for {robot.name} at '
            f'{settings.control_rate:g} Hz '
            f'on {inputs}'
        )
        for note in getattr(self._policy, 'notes', ()):
            self.get_logger().warning(note)

    def _warm_up(self, policy: Policy) -> None:
        """Makes the first call, which in a network takes many times longer, outside an episode."""
        warm_up = getattr(policy, 'warm_up', None)
        if warm_up is None:
            return
        try:
            warm_up()
        except FrameRosError:
            raise
        except (
            Exception
        ) as error:  # a checkpoint whose parts do not fit each other fails here, in its own way
            self.get_logger().debug(traceback.format_exc())
            raise SetupError(
                f'policy {policy.name} {policy.checkpoint} fails on a test image: {error}'
            ) from error

    def _start_threads(self) -> None:
        assert self._policy is not None
        settings, policy, clock = PolicySettings.read(self), self._policy, self.get_clock()
        names = tuple(self._limits)
        queue = settings.make_queue(policy)
        gate = EpisodeGate(acts_always=settings.run_on == 'always')
        buffer = ObservationBuffer(
            names, policy.cameras, policy.poses, settings.max_observation_age
        )
        is_simulated = bool(self.get_parameter('use_sim_time').value)
        control = ControlLoop(
            settings.period,
            queue,
            gate,
            clock,
            is_simulated,
            self._commands,
            self._say_episode(gate),
        )
        self._control = control
        self._inference = InferenceLoop(
            policy=policy,
            queue=queue,
            buffer=buffer,
            limits=self._limits,
            clock=clock,
            publisher=self._calls,
            instruction=settings.instruction,
            seed=settings.seed,
            before_reset=self._set_quality,
            on_names=lambda found: setattr(control, 'names', found),
            report=self._report,
            retry=settings.period,
        )
        self._inputs = PolicyInputs(self, buffer, self._cameras, self._poses, names, self._report)
        self._events = self.create_subscription(
            EpisodeEvent, 'episode_events', lambda event: self._on_event(gate, event), EVENT_QOS
        )
        self._inference.start()
        control.start()

    def _stop_threads(self) -> None:
        if self._control is not None:
            self._control.stop()
        if self._inference is not None:
            self._inference.stop()
        if self._inputs is not None:
            self._inputs.close()
        if self._events is not None:
            self.destroy_subscription(self._events)
        if counters := self.counters:
            self.get_logger().info(
                'stopped; ' + ', '.join(f'{name} {count}' for name, count in counters.items())
            )
        self._control = self._inference = self._inputs = self._events = None

    def _release(self) -> None:
        if self._policy is not None:
            self.destroy_publisher(self._commands)
            self.destroy_publisher(self._calls)
        self._policy = None

    def _on_event(self, gate: EpisodeGate, event: EpisodeEvent) -> None:
        if event.type != EpisodeEvent.START and event.type not in ENDINGS:
            return
        seed = next((item.value for item in event.attributes if item.key == 'seed'), '')
        if seed and not seed.isdecimal():
            self.get_logger().error(
                f'the episode {event.episode_id} has seed {seed!r}; it must be a whole number'
            )
            seed = ''
        gate.add(
            Boundary(
                stamp=stamp_of(event.header),
                type=EventType(event.type),
                episode_id=event.episode_id,
                instruction=event.instruction,
                seed=int(seed) if seed else None,
            )
        )

    def _say_episode(self, gate: EpisodeGate) -> Callable[[], None]:
        def say() -> None:
            episode = gate.episode
            text = (
                'no episode: no commands'
                if episode is None
                else f'episode {episode.episode_id or "without a name"}'
            )
            self.get_logger().info(text)

        return say

    def _set_quality(self, policy: Policy) -> None:
        """The scripted policy's quality may be changed between two episodes."""
        if hasattr(policy, 'quality'):
            policy.quality = self.get_parameter('quality').value

    def _check_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'quality' and not 0.0 <= parameter.value <= 1.0:
                return SetParametersResult(
                    successful=False,
                    reason=f'quality is {parameter.value}; it must be between 0 and 1',
                )
        return SetParametersResult(successful=True)

    def _report(self, text: str) -> None:
        """Logs trouble, each kind at most once per REPORT_PERIOD.

        Texts that differ in numbers alone are one kind.
        """
        kind, now = re.sub(r'[\d.]+', '#', text), time.monotonic()
        if now - self._reported.get(kind, -REPORT_PERIOD) >= REPORT_PERIOD:
            self._reported[kind] = now
            self.get_logger().error(text)


def main() -> None:
    """Runs the node until it is told to stop."""
    sys.exit(run_node(PolicyNode))


if __name__ == '__main__':
    main()
