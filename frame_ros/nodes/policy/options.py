# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's options."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.nodes.runtime.options import ManagedOptions
from frame_ros.policies.options import PolicyRunOptions

RUN_ON = ('episode', 'always')


@options
class PolicyOptions(PolicyRunOptions, ManagedOptions):
    """Policy node: runs one policy on one robot."""

    realtime_priority: int = option(
        40,
        'priority of the threads that command and receive, where the system permits it; 0: none',
        at_least=0,
        at_most=99,
    )
    run_on: str = option(
        'episode',
        'episode: acts from START to END (or STOP) of episode_events; always: without them too, '
        'but after a STOP (also one before it began) not until a START',
        choices=RUN_ON,
    )
    max_observation_age: float = option(
        0.5, 'with any input older than this there is no inference', unit='s', above=0.0
    )
    cameras: tuple[str, ...] = option(
        ('front', 'wrist'),
        'available cameras; topic <camera>/image_raw; only what the policy needs is subscribed',
    )
    pose_topics: tuple[str, ...] = option(
        ('object=ground_truth/object_pose', 'goal=ground_truth/goal_pose'),
        'available poses: name=topic',
    )
