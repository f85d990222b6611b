# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's inference thread.

An observation in, a chunk into the queue, and a message about the call.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock
from rclpy.publisher import Publisher

from frame_ros.errors import FrameRosError, PolicyError
from frame_ros.msg import PolicyInference
from frame_ros.nodes.policy_episode import PolicyEpisode
from frame_ros.policies.action_check import check_chunk
from frame_ros.policies.action_queue import ActionQueue, Arrival, Request
from frame_ros.policies.observation_buffer import ObservationBuffer
from frame_ros.policies.protocol import Inference, Observation, Policy, TokenStatistics

SECOND = 10**9
DEMAND_TIMEOUT = 0.1  # s between two looks at whether to stop
STOP_TIMEOUT = 5.0  # s
PAGE_SIZE = os.sysconf('SC_PAGE_SIZE')

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Call:
    """One finished call of the policy. Times of day are ns on the node's clock, durations are s.

    preprocess includes putting the observation together; cpu_time is that of the whole process.
    """

    episode: PolicyEpisode
    observation: Observation
    inference: Inference
    arrival: Arrival
    ready: int
    latency: float
    cpu_time: float


class InferenceLoop:
    """A thread that calls the policy whenever the queue wants a chunk.

    limits: every joint of the robot -> lower and upper limit, rad. instruction, seed: where the
    episode brings none; the seed counts on with the episodes. before_reset: called, in this thread,
    when an episode begins, before the policy is reset. on_names: gets the joint names of the chunks
    before the first chunk is used. report: gets errors in words. retry: s to wait after one.
    """

    def __init__(
        self,
        policy: Policy,
        queue: ActionQueue,
        buffer: ObservationBuffer,
        limits: Mapping[str, tuple[float, float]],
        clock: Clock,
        publisher: Publisher,
        instruction: str,
        seed: int,
        before_reset: Callable[[Policy], None],
        on_names: Callable[[tuple[str, ...]], None],
        report: Callable[[str], None],
        retry: float,
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._policy, self._queue, self._buffer, self._limits = policy, queue, buffer, limits
        self._clock, self._publisher = clock, publisher
        self._instruction, self._seed = instruction, seed
        self._before_reset, self._on_names, self._report, self._retry = (
            before_reset,
            on_names,
            report,
            retry,
        )
        self._episode: PolicyEpisode | None = None
        self._names: tuple[str, ...] = ()
        self._sequence = 0
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
        if self._thread.is_alive():
            self._report(
                f'the policy did not return within {STOP_TIMEOUT:g} s; its call is abandoned'
            )

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._queue.wait_for_demand(DEMAND_TIMEOUT) and not self._serve():
                self._stop.wait(self._retry)

    def _serve(self) -> bool:
        """Makes one call; returns whether it succeeded."""
        try:
            self._infer()
            return True
        except FrameRosError as error:
            self.counters['errors'] += 1
            self._report(str(error))
        except Exception as error:  # whatever a policy raises, the node goes on
            self.counters['errors'] += 1
            logger.debug('%s', traceback.format_exc())
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f'{Path(frame.filename).name}:{frame.lineno}'
            self._report(f'the policy raised {type(error).__name__} in {where}: {error}')
        return False

    def _infer(self) -> None:
        request = self._begin()
        if request is None:
            return
        begun, cpu = time.perf_counter(), time.process_time()
        episode = request.tag
        assert isinstance(episode, PolicyEpisode)
        now = self._clock.now().nanoseconds
        observation = self._buffer.build(
            now, episode.instruction or self._instruction, request.executed / SECOND
        )
        built = time.perf_counter() - begun
        inference = self._policy.infer(observation)
        inference = replace(
            inference, actions=self._check(inference), preprocess=inference.preprocess + built
        )
        arrival = self._queue.push(request, inference.actions, inference.dt)
        if self._stop.is_set():
            return
        latency, cpu = time.perf_counter() - begun, time.process_time() - cpu
        self.counters['calls'] += 1
        ready = self._clock.now().nanoseconds
        call = Call(episode, observation, inference, arrival, ready, latency, cpu)
        self._publisher.publish(inference_message(self._policy, call, self._sequence))
        self._sequence += 1

    def _begin(self) -> Request | None:
        """The request, with the policy reset if its episode is new; None if none runs any more."""
        request = self._queue.request()
        if request is None or request.tag is self._episode:
            return request
        episode = request.tag
        assert isinstance(episode, PolicyEpisode)
        self._before_reset(self._policy)
        self._policy.reset(self._seed + episode.number if episode.seed is None else episode.seed)
        self._episode = episode
        request = self._queue.request()
        return request if request is not None and request.tag is episode else None

    def _check(self, inference: Inference) -> NDArray[np.float64]:
        try:
            actions, clipped = check_chunk(inference, self._limits)
        except PolicyError:
            self.counters['dropped_chunks'] += 1
            raise
        if clipped:
            self.counters['clipped_values'] += sum(clipped.values())
            counts = ', '.join(f'{name} {count}' for name, count in clipped.items())
            self._report(
                f'actions outside the joint limits were clipped: {counts} (of {len(actions)} steps)'
            )
        if not self._names:
            self._names = inference.action_names
            self._on_names(self._names)
        if inference.action_names != self._names:
            self.counters['dropped_chunks'] += 1
            raise PolicyError(
                f'the chunk was dropped: it moves {inference.action_names}, the first moved '
                f'{self._names}'
            )
        return actions


def inference_message(policy: Policy, call: Call, sequence: int) -> PolicyInference:
    """PolicyInference.msg of one call."""
    inference, arrival = call.inference, call.arrival
    message = PolicyInference(
        episode_id=call.episode.episode_id,
        sequence=sequence,
        policy=policy.name,
        checkpoint=policy.checkpoint,
        instruction=call.observation.instruction,
        horizon=inference.actions.shape[0],
        action_dimension=inference.actions.shape[1],
        actions=_doubles(inference.actions),
        action_dt=float(inference.dt),
        action_space=inference.action_space,
        action_names=list(inference.action_names),
        action_units=list(inference.action_units),
        latency=call.latency,
        preprocess=float(inference.preprocess),
        forward=float(inference.forward),
        postprocess=float(inference.postprocess),
        transport=float(inference.transport),
        cpu_time=call.cpu_time,
        memory_rss=resident_memory(),
        memory_device=float(inference.memory_device),
        queue_depth=arrival.queue_depth,
        stalls=arrival.stalls,
        chunk_overlap=arrival.overlap,
    )
    _set_time(message.header.stamp, call.ready)
    _set_time(message.request_stamp, call.observation.stamp)
    _set_time(message.observation_stamp, call.observation.oldest_stamp)
    if inference.samples is not None:
        message.sample_count = len(inference.samples)
        message.samples = _doubles(inference.samples)
    if inference.tokens is not None:
        _set_tokens(message, inference.tokens)
    return message


def resident_memory() -> float:
    """Resident memory of this process in bytes.

    NaN where the system does not tell it as Linux does.
    """
    try:
        return float(int(Path('/proc/self/statm').read_text().split()[1]) * PAGE_SIZE)
    except (OSError, ValueError, IndexError):
        return float('nan')


def _set_tokens(message: PolicyInference, tokens: TokenStatistics) -> None:
    message.vocabulary_size = tokens.vocabulary_size
    message.token_max_probability = _doubles(tokens.max_probability)
    message.token_second_probability = _doubles(tokens.second_probability)
    message.token_sum_of_squares = _doubles(tokens.sum_of_squares)
    message.token_entropy = _doubles(tokens.entropy)
    message.token_chosen_probability = _doubles(tokens.chosen_probability)
    message.token_step = array('i', tokens.step.astype(np.int32).tobytes())
    message.token_dimension = array('i', tokens.dimension.astype(np.int32).tobytes())
    message.temperatures = _doubles(tokens.temperatures)
    message.token_max_at_temperature = _doubles(tokens.max_at_temperature)


def _set_time(stamp: object, nanoseconds: int) -> None:
    stamp.sec, stamp.nanosec = divmod(nanoseconds, SECOND)  # type: ignore[attr-defined]


def _doubles(values: NDArray) -> array:
    """A message takes an array.array hundreds of times faster than a NumPy array."""
    return array('d', np.asarray(values, dtype=np.float64).tobytes())
