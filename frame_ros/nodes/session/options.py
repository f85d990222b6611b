# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The session node's options."""

from __future__ import annotations

from frame_ros.core.options import option, options, rule
from frame_ros.robots.profiles import DEFAULT_ROBOT


@options
class SessionOptions:
    """Session node: runs episodes in the simulated scene."""

    episodes: int = option(5, 'number of episodes', at_least=1)
    seed: int = option(0, 'seed of the first scene; episode i has seed + i', at_least=0)
    qualities: tuple[float, ...] = option(
        (1.0,),
        'quality of the scripted policy, one per episode, in turn',
        at_least=0.0,
        at_most=1.0,
    )
    timeout: float = option(
        20.0, 'time of an episode after which it ends with OUTCOME_TIMEOUT', unit='s', above=0.0
    )
    settle: float = option(
        1.0,
        'time between the outcome and the end, so that the end of the motion is recorded',
        unit='s',
        at_least=0.0,
    )
    ready_timeout: float = option(
        180.0, 'time to wait for all nodes before the first episode', unit='s', at_least=0.0
    )
    call_timeout: float = option(
        30.0, 'time to wait for the answer of a service', unit='s', above=0.0
    )
    instruction: str = option(
        'pick up the cube and put it in the bin', 'task that the policy is given'
    )
    object: str = option('cube', 'object that is manipulated')
    scene_topic: str = option(
        '',
        'topic of the scene that the simulator runs, std_msgs/String, whose instruction and target '
        "the episode has instead; '': none",
    )
    scene_instruction: bool = option(
        True, "with scene_topic: the instruction is the scene's; false: `instruction`"
    )
    robot: str = option(DEFAULT_ROBOT, 'arm, for the metadata')
    world: str = option('', 'world that it is in, for the metadata; empty: our simulator')
    policy: str = option(
        'scripted', "name of the policy, for the metadata; 'scripted' has a quality"
    )
    checkpoint: str = option('', 'source of its weights, for the metadata')
    operator_name: str = option('', 'supervisor, for the metadata')
    nodes: tuple[str, ...] = option(
        (),
        'nodes that must be ready before the first episode; others are waited for once they run',
    )

    @rule('qualities', 'one number or more')
    def _has_quality(self) -> bool:
        return len(self.qualities) > 0
