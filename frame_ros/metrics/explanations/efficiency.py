# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of the efficiency metrics: latency, compute, control rate."""

from __future__ import annotations

from frame_ros.metrics.explanations.entry import Explanation

_CHUNKS = (
    'Per call, not per action: a policy that returns 50 actions a call may take 50 times as long '
    'at the same rate. Compare with chunk length and control rate beside it. '
)
_FEW = 'With few calls in an episode a high percentile is close to the largest one. '
_FIRST = 'The first call (compilation, caches) is in it. '
_PART = 'It is what the policy says of itself; parts that it does not time are missing. '

EFFICIENCY = {
    'il': Explanation(
        'IL = mean over calls of (end − begin)',
        'How long the policy thinks for each chunk of actions, whole call with transport.',
        f'{_CHUNKS}{_FIRST}It belongs to this machine under this load. Asynchronous inference '
        'hides latency from the robot: look at stalls and `observation_age` too.',
    ),
    'il_last': Explanation(
        'end − begin of the newest call',
        'The latency right now; of an episode it is that of the last call. Its mean is `il`.',
        f'{_CHUNKS}One call says little about the next.',
    ),
    'il_p50': Explanation(
        'median of the calls so far, interpolated linearly',
        'The usual latency; slow outliers do not move it.',
        f'{_CHUNKS}It hides the slow calls that stall a robot: see `il_p95` and `il_p99`.',
    ),
    'il_p95': Explanation(
        '95th percentile of the calls so far, interpolated linearly',
        'The latency that one call in twenty exceeds.',
        f'{_FEW}{_CHUNKS}{_FIRST}',
    ),
    'il_p99': Explanation(
        '99th percentile of the calls so far, interpolated linearly',
        'The latency that one call in a hundred exceeds: what buffers must be sized for.',
        f'{_FEW}Below 100 calls it is no more than the largest. {_FIRST}',
    ),
    'il_jitter': Explanation(
        '√( mean (ILᵢ − IL)² )          population standard deviation over calls',
        'How unevenly long calls take.',
        f'{_FIRST}One slow call dominates it; two modes (a cache hit or not) look like jitter.',
    ),
    'il_preprocess': Explanation(
        'mean time from the observation to the model’s input',
        'What image resizing, normalising and tokenising cost.',
        f'{_PART}Work that the GPU does later shows up in another part.',
    ),
    'il_forward': Explanation(
        'mean time in the model',
        'What the network itself costs.',
        f'{_PART}Without waiting for the GPU it measures the launching of kernels only. {_CHUNKS}',
    ),
    'il_postprocess': Explanation(
        'mean time from the model’s output to actions',
        'What denormalising and unpacking cost.',
        f'{_PART}Reading the result back may wait for the GPU: time of the forward pass then shows '
        'up here.',
    ),
    'il_transport': Explanation(
        'mean time of the call − time that the policy server reports',
        'What the network between robot and policy server costs, both ways.',
        'It needs only durations, no common clock, but serialising images counts as transport.',
    ),
    'ct': Explanation(
        'CT = process CPU seconds / decision steps',
        'What one inference costs the CPU, over all threads: more than the latency if several '
        'cores work.',
        'The GPU is not in it, so a policy on a GPU looks cheap. Threads that wait by spinning '
        'look busy.',
    ),
    'mu': Explanation(
        'MU = maxₜ ( resident memoryₜ + device memoryₜ )',
        'How much memory the policy process needs at its peak: whether it fits on the robot.',
        'Resident memory counts shared libraries too, some 0.3 to 1 GB with torch, and depends on '
        'the allocator. Device memory is what the process allocated, not what the driver reserved. '
        'A remote policy’s memory is that of its server.',
    ),
    'control_rate': Explanation(
        '(actions − 1) / (time from the first to the last)',
        'How often actions really were executed: what all difference-based metrics were sampled '
        'at.',
        'A mean hides pauses: see `control_rate_worst`. By header stamps: actions stamped ahead of '
        'time look regular.',
    ),
    'control_rate_now': Explanation(
        'the same over the last second',
        'Whether the loop keeps its rate right now.',
        'Short pauses move it for a second. Of an episode it is that of the last second; the mean '
        'is `control_rate`.',
    ),
    'control_rate_worst': Explanation(
        'minₜ ( actions since the newest one at least a second before t / the time they took )',
        'The worst second: one long stall shows here and nowhere else.',
        'By intervals, so a steady loop is its own worst second, and a pause longer than a second '
        'counts with its whole length. Episodes shorter than a second have none.',
    ),
    'observation_age': Explanation(
        'begin of the inference − oldest stamp among its inputs',
        'How stale the world was that the policy saw.',
        'By stamps: a camera driver that stamps on arrival hides its own delay. Without '
        'synchronised clocks between machines it means nothing.',
    ),
    'queue_depth': Explanation(
        'actions not yet executed when the new chunk arrived',
        'How close inference is to starving the robot: at 0 it has waited.',
        'Neither high nor low is better: a deep queue means safety from stalls, and actions that '
        'were decided long ago.',
    ),
}
