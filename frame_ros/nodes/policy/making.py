# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that the parameters of the policy node describe, and how its actions are meant."""

from __future__ import annotations

from frame_ros.core.name_values import parse_options
from frame_ros.nodes.policy.inference import Task
from frame_ros.nodes.policy.options import PolicyOptions
from frame_ros.policies.base import Policy
from frame_ros.policies.choices import offered_of, required_of
from frame_ros.policies.execution.action_queue import ENSEMBLING, ActionQueue
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.registry import make_policy
from frame_ros.policies.rephrasing.rephrasings import load_rephrasings
from frame_ros.policies.rephrasing.schedule import RephraseSchedule
from frame_ros.robots import Robot


def make_policy_of(settings: PolicyOptions, robot: Robot) -> Policy:
    """The policy.

    Raises:
        FrameRosError: it is unknown, or does not take what was set for it, or cannot be loaded.
    """
    options = parse_options('policy_options', settings.policy_options)
    required = required_of(settings)
    return make_policy(settings.policy, offered_of(settings, robot), required, **options)


def make_converter(settings: PolicyOptions, robot: Robot) -> ActionConverter:
    """Converter that makes joint positions of chunks in other action spaces.

    Raises:
        FrameRosError: an option is unknown or out of its range.
    """
    options = {
        'delta_reference': settings.delta_reference,
        'ee_frame': settings.ee_frame,
        'gripper': settings.gripper_convention,
        **parse_options('action_options', settings.action_options),
    }
    return ActionConverter(robot, **options)


def make_queue(settings: PolicyOptions, policy: Policy) -> ActionQueue:
    """The action queue.

    n_action_steps 0 is the policy's own number, if it has one; ensembling is made for a new chunk
    at every step, whatever that number.

    Raises:
        ValueRangeError: two parameters contradict each other.
    """
    own = 0 if settings.execution == ENSEMBLING else policy.n_action_steps
    return ActionQueue(
        settings.period,
        settings.alignment,
        settings.n_action_steps or own,
        None if settings.prefetch < 0 else settings.prefetch,
        settings.execution,
        settings.blend,
        settings.ensemble_coefficient,
        settings.interpolate,
    )


def make_task(settings: PolicyOptions) -> Task:
    """The instruction, seed, samples and rephrasings that the policy gets.

    Raises:
        FrameRosError: the file of rephrasings cannot be read.
    """
    file = settings.rephrasings_file
    texts = tuple(filter(None, map(str.strip, settings.rephrasings)))
    schedule = RephraseSchedule(
        texts, load_rephrasings(file) if file else None, settings.rephrase_every
    )
    return Task(settings.instruction, settings.seed, settings.samples, schedule)
