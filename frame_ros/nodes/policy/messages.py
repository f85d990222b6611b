# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""PolicyInference.msg of one call of a policy."""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.msg import PolicyInference
from frame_ros.nodes.runtime.message_parts import fill_time
from frame_ros.policies.base import Policy
from frame_ros.policies.episode_gate import PolicyEpisode
from frame_ros.policies.execution.action_queue import Arrival
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics

PAGE_SIZE = os.sysconf('SC_PAGE_SIZE')


@dataclass(frozen=True)
class Call:
    """One finished call of the policy. Times of day are ns on the node's clock, durations are s.

    preprocess includes putting the observation together, and postprocess making joint positions of
    another action space; cpu_time is that of the whole process. execution_mode: of the queue.
    """

    episode: PolicyEpisode
    observation: Observation
    inference: Inference
    arrival: Arrival
    ready: int
    latency: float
    cpu_time: float
    execution_mode: str = ''


def inference_message(
    policy: Policy, fingerprint: str, call: Call, sequence: int
) -> PolicyInference:
    """PolicyInference.msg of one call. fingerprint: as `FingerprintText` gives it."""
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
        execution_mode=call.execution_mode,
        latency=call.latency,
        preprocess=float(inference.preprocess),
        forward=float(inference.forward),
        postprocess=float(inference.postprocess),
        transport=float(inference.transport),
        # A remote policy reports its cost on the server.
        cpu_time=float(getattr(inference, 'cpu_time', call.cpu_time)),
        memory_rss=float(getattr(inference, 'memory_rss', resident_memory())),
        memory_device=float(inference.memory_device),
        queue_depth=arrival.queue_depth,
        stalls=arrival.stalls,
        chunk_overlap=arrival.compared.overlap,
        chunk_consistency=arrival.compared.consistency,
        chunk_shift=arrival.compared.shift,
        policy_fingerprint=fingerprint,
    )
    fill_time(message.header.stamp, call.ready)
    fill_time(message.request_stamp, call.observation.stamp)
    fill_time(message.observation_stamp, call.observation.oldest_stamp)
    if inference.samples is not None:
        message.sample_count = len(inference.samples)
        message.samples = _doubles(inference.samples)
    if inference.tokens is not None:
        _set_tokens(message, inference.tokens)
    if inference.rephrasings and inference.rephrasing_confidences is not None:
        message.rephrasings = list(inference.rephrasings)
        message.rephrasing_confidences = _doubles(inference.rephrasing_confidences)
    if inference.features is not None:
        message.features = _doubles(inference.features)
        message.feature_source = inference.feature_source
    message.unavailable = [f'{what}: {why}' for what, why in inference.unavailable.items()]
    return message


def resident_memory() -> float:
    """Resident memory of this process in bytes.

    NaN if the system does not report it as Linux does.
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


def _doubles(values: NDArray) -> array:
    """A message takes an array.array hundreds of times faster than a NumPy array."""
    return array('d', np.asarray(values, dtype=np.float64).tobytes())
