# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that options describe, its queue of actions, and the meaning of its actions."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_options
from frame_ros.core.options import evolved
from frame_ros.policies.base import Policy
from frame_ros.policies.choices import offered_of, required_of
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.execution.options import ENSEMBLING
from frame_ros.policies.options import PolicyRunOptions
from frame_ros.policies.registry import check_acts_without_scene, make_policy
from frame_ros.policies.rephrasing.rephrasings import load_rephrasings, problem_of
from frame_ros.policies.rephrasing.schedule import RephraseSchedule
from frame_ros.robots import Robot


@dataclass(frozen=True)
class Task:
    """Requests to the policy, in addition to the chunk.

    Attributes:
        instruction: where the episode brings none.
        seed: likewise; it counts on with the episodes.
        samples: number of them that is expected with each inference.
        rephrasings: of the prompt ensemble.
    """

    instruction: str
    seed: int
    samples: int
    rephrasings: RephraseSchedule


def make_policy_of(options: PolicyRunOptions, robot: Robot) -> Policy:
    """The policy.

    Raises:
        FrameRosError: it is unknown, does not take what was set for it, cannot be loaded, or acts
            in known scenes only.
    """
    check_acts_without_scene(options.policy)
    given = parse_options('policy_options', options.policy_options)
    required = required_of(options)
    return make_policy(options.policy, offered_of(options, robot), required, **given)


def make_converter(options: PolicyRunOptions, robot: Robot) -> ActionConverter:
    """Converter that makes joint positions of chunks in other action spaces.

    Raises:
        FrameRosError: an option is unknown or out of its range.
    """
    chosen = {
        'delta_reference': options.delta_reference,
        'ee_frame': options.ee_frame,
        'gripper': options.gripper_convention,
        **parse_options('action_options', options.action_options),
    }
    return ActionConverter(robot, **chosen)


def make_queue(options: PolicyRunOptions, policy: Policy) -> ActionQueue:
    """The action queue.

    n_action_steps 0 is the policy's own number, if it has one; ensembling is made for a new chunk
    at every step, whatever that number.
    """
    own = 0 if options.execution == ENSEMBLING else policy.n_action_steps
    steps = options.n_action_steps or own
    return ActionQueue(options.period, evolved(options, n_action_steps=steps))


def make_task(options: PolicyRunOptions) -> Task:
    """The instruction, seed, samples and rephrasings that the policy gets.

    Raises:
        FrameRosError: the file of rephrasings cannot be read, or one of those that are given is
            none, such as the instruction itself, or occurs twice.
    """
    file = options.rephrasings_file
    texts = tuple(filter(None, map(str.strip, options.rephrasings)))
    for index, text in enumerate(texts):
        if problem := problem_of(text, options.instruction, texts[:index]):
            raise SetupError(f'rephrasing {index + 1}, {text[:80]!r}: {problem}')
    schedule = RephraseSchedule(
        texts, load_rephrasings(file) if file else None, options.rephrase_every
    )
    return Task(options.instruction, options.seed, options.samples, schedule)
