# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that the parameters of the policy node describe, and how its actions are meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_options
from frame_ros.nodes.policy.options import PolicyOptions
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_spaces import ActionConverter, ActionSpaceOptions
from frame_ros.policies.offered_arguments import offered_of, required_of
from frame_ros.policies.registry import make_policy
from frame_ros.robots import Robot


def make_policy_of(settings: PolicyOptions, limits: Mapping[str, tuple[float, float]]) -> Policy:
    """The policy. limits: every joint of the robot -> lower and upper limit, rad.

    Raises:
        FrameRosError: it is unknown, or does not take what was set for it, or cannot be loaded.
    """
    options = parse_options('policy_options', settings.policy_options)
    required = required_of(settings, PolicyOptions())
    return make_policy(settings.policy, offered_of(settings, limits), required, **options)


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
    known = [option.name for option in fields(ActionSpaceOptions)]
    if unknown := [name for name in options if name not in known]:
        raise SetupError(f'parameter action_options holds {unknown}; there are {", ".join(known)}')
    return ActionConverter(robot, **options)
