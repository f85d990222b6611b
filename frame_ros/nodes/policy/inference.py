# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's inference thread.

An observation in, a chunk into the queue, and a message about the call.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock
from rclpy.publisher import Publisher

from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.core.repeated_warnings import START_UP
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among
from frame_ros.nodes.policy.control import Health
from frame_ros.nodes.policy.messages import Call, inference_message
from frame_ros.nodes.policy.problems import Problems
from frame_ros.policies.base import Policy
from frame_ros.policies.episode_gate import PolicyEpisode
from frame_ros.policies.execution.action_check import check_chunk
from frame_ros.policies.execution.action_queue import ActionQueue, Request
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.execution.commanded import observed_joints
from frame_ros.policies.execution.inference_check import (
    REPHRASINGS,
    check_own_chunk,
    with_usable_extras,
)
from frame_ros.policies.execution.observation_buffer import AwaitedInputError, ObservationBuffer
from frame_ros.policies.fingerprint import FingerprintText
from frame_ros.policies.making import Task
from frame_ros.policies.own_policy import raised_text
from frame_ros.policies.protocol import Inference, Observation, for_policy

DEMAND_TIMEOUT = 0.1  # s between two looks at whether to stop
STOP_TIMEOUT = 5.0  # s
LONGEST_PAUSE = 0.5  # s after a call that raised; it doubles from one such call to the next

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ActionSource:
    """The source of an executed action; stamps in ns."""

    observation_stamp: int  # of the oldest input
    request_stamp: int  # when the inference began


class InferenceLoop:
    """A thread that calls the policy whenever the queue wants a chunk.

    limits: every joint of the robot -> lower and upper limit, rad. converter: makes joint positions
    of chunks in other action spaces. before_reset: called, in this thread, when an episode begins,
    before the policy is reset. on_names: gets the joint names of the chunks before the first chunk
    is used. retry: s to wait after an error, more where the policy itself raises again and again.
    control_rate: Hz, of the commands. continuous: joints that turn without end.
    """

    def __init__(
        self,
        policy: Policy,
        task: Task,
        queue: ActionQueue,
        buffer: ObservationBuffer,
        limits: Mapping[str, tuple[float, float]],
        converter: ActionConverter,
        clock: Clock,
        publisher: Publisher,
        before_reset: Callable[[Policy], None],
        on_names: Callable[[tuple[str, ...]], None],
        problems: Problems,
        retry: float,
        control_rate: float,
        continuous: Sequence[str] = (),
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._policy, self._task, self._queue, self._buffer = policy, task, queue, buffer
        self._limits, self._converter, self._continuous = limits, converter, continuous
        self._clock, self._publisher = clock, publisher
        self._before_reset, self._on_names = before_reset, on_names
        self._problems, self._retry = problems, retry
        self._problem, self._raised = '', 0
        self._fingerprint = FingerprintText(policy, control_rate)
        self.episode: PolicyEpisode | None = None
        self._names: tuple[str, ...] = ()
        self._sequence = 0
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='inference', daemon=True)

    def start(self) -> None:
        """Begins to serve the queue."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the call that runs, for which it waits STOP_TIMEOUT at most."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT)
        if self.is_alive:
            self._problems.report(
                f'the policy did not return within {STOP_TIMEOUT:g} s; its call is abandoned'
            )

    @property
    def is_alive(self) -> bool:
        """True if its thread still runs: after `stop`, because the policy has not returned."""
        return self._thread.is_alive()

    def health(self) -> Health:
        """Errors so far, and what is wrong now."""
        return Health(self.counters['errors'], self._problem)

    def forget_problem(self) -> None:
        """Forgets what was wrong in the last episode."""
        self._problem = ''

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._queue.wait_for_demand(DEMAND_TIMEOUT) and not self._serve():
                self._stop.wait(min(self._retry * 2**self._raised, LONGEST_PAUSE))

    def _serve(self) -> bool:
        """Makes one call; returns whether it succeeded."""
        request = self._queue.request()
        if request is None:
            return True
        try:
            self._infer(request)
            self._problem, self._raised = '', 0
            return True
        except AwaitedInputError as error:
            text, self._raised = str(error), 0
            if self._is_starting(request):
                self._problem = text
                return False
        except FrameRosError as error:
            text, self._raised = str(error), 0
        except (Exception, SystemExit) as error:  # whatever a policy raises, the node goes on
            self._raised = min(self._raised + 1, 9)
            logger.debug('%s', traceback.format_exc())
            text = f'the policy {raised_text(error)}'
        if not self._stop.is_set():
            self._fail(request, text)
        return False

    def _is_starting(self, request: Request) -> bool:
        """Returns whether inputs are merely awaited: at the start of a policy that acts without an
        episode, which nobody begins once all nodes are ready.
        """
        assert isinstance(request.tag, PolicyEpisode)
        return not request.tag.start and time.monotonic() - self._began < START_UP

    def _fail(self, request: Request, text: str) -> None:
        assert isinstance(request.tag, PolicyEpisode)
        self.counters['errors'] += 1
        if self._queue.is_current(request):
            self._problem = text
        self._problems.report(text, request.tag.episode_id)

    def _infer(self, request: Request) -> None:
        current = self._begin(request)
        if current is None:
            return
        begun, cpu = time.perf_counter(), time.process_time()
        assert self.episode is not None
        observation, reason = self._observe(self.episode, current)
        built = time.perf_counter() - begun
        commanded = (
            {} if current.last is None else dict(zip(self._names, current.last, strict=True))
        )
        inference, executable, converted = self._call(observation, commanded, reason)
        source = ActionSource(observation.oldest_stamp, observation.stamp)
        stood = observed_joints(observation, executable.action_names)
        turning = continuous_among(executable.action_names, self._continuous)
        arrival = self._queue.push(
            current, executable.actions, executable.dt, source, stood, turning
        )
        if self._stop.is_set():
            return
        if not arrival.is_used:
            self.counters['unused_chunks'] += 1
        latency, cpu = time.perf_counter() - begun, time.process_time() - cpu
        self.counters['calls'] += 1
        inference = replace(
            inference,
            preprocess=inference.preprocess + built,
            postprocess=inference.postprocess + converted,
        )
        ready, mode = self._clock.now().nanoseconds, self._queue.mode
        call = Call(self.episode, observation, inference, arrival, ready, latency, cpu, mode)
        fingerprint = self._fingerprint.of(observation)
        message = inference_message(self._policy, fingerprint, call, self._sequence)
        self._publisher.publish(message)
        self._sequence += 1

    def _begin(self, request: Request) -> Request | None:
        """The request, with the policy reset if its episode is new; None if none runs any more."""
        if request.tag is self.episode:
            return request
        episode = request.tag
        assert isinstance(episode, PolicyEpisode)
        self._before_reset(self._policy)
        seed = self._task.seed + episode.number if episode.seed is None else episode.seed
        self._policy.reset(seed)
        self._converter.reset()
        self._task.rephrasings.restart()
        self.episode = episode
        current = self._queue.request()
        return current if current is not None and current.tag is episode else None

    def _observe(self, episode: PolicyEpisode, request: Request) -> tuple[Observation, str]:
        """Returns what the policy is to see; and why there are no rephrasings, where some are
        due.
        """
        instruction = episode.instruction or self._task.instruction
        if not instruction and self._policy.needs_instruction:
            raise PolicyError(
                f'no inference: policy {self._policy.name} needs an instruction, but the START '
                'event brings none and the parameter instruction is empty'
            )
        now = self._clock.now().nanoseconds
        observation = self._buffer.build(now, instruction, request.executed / SECOND)
        rephrasings, reason = self._task.rephrasings.next(instruction)
        return replace(observation, rephrasings=rephrasings, start=episode.start), reason

    def _call(
        self, observation: Observation, commanded: Mapping[str, float], reason: str
    ) -> tuple[Inference, Inference, float]:
        """The inference as it is to be published, as it is to be executed, and how long (s) it took
        to make the one of the other.

        commanded: joint -> what was commanded last before the observation; empty: nothing yet.
        reason: why there are no rephrasings.
        """
        inference = self._policy.infer(for_policy(observation))
        begun = time.perf_counter()
        try:
            check_own_chunk(inference)
            inference = with_usable_extras(inference, observation, self._task.samples)
            if reason:
                unavailable = {**inference.unavailable, REPHRASINGS: reason}
                inference = replace(inference, unavailable=unavailable)
            positions = self._converter.to_joint_positions(inference, observation, commanded)
            executable = replace(positions, actions=self._check(positions))
        except FrameRosError:
            self.counters['dropped_chunks'] += 1
            raise
        shown = executable if positions is inference else inference
        return shown, executable, time.perf_counter() - begun

    def _check(self, inference: Inference) -> NDArray[np.float64]:
        """The actions, clipped to the joint limits."""
        actions, clipped = check_chunk(inference, self._limits)
        if self._converter.unreachable_steps:
            self.counters['unreachable_steps'] = self._converter.unreachable_steps
        if clipped:
            self.counters['clipped_values'] += sum(clipped.values())
            counts = ', '.join(f'{name} {count}' for name, count in clipped.items())
            self._problems.report(
                f'actions outside the joint limits were clipped: {counts} (of {len(actions)} steps)'
            )
        if not self._names:
            self._names = inference.action_names
            self._on_names(self._names)
        if inference.action_names != self._names:
            raise PolicyError(
                f'the chunk was dropped: it moves {inference.action_names}, the first moved '
                f'{self._names}'
            )
        return actions
