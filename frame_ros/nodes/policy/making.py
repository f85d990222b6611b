# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that the parameters of the policy node describe, and how its actions are meant."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_options
from frame_ros.episodes.recorded_actions import recorded_actions
from frame_ros.nodes.policy.options import PolicyOptions
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_spaces import ActionConverter, ActionSpaceOptions
from frame_ros.policies.offered_arguments import offered_of, required_of
from frame_ros.policies.registry import BUILDERS, builder_of, call_builder, make_policy
from frame_ros.policies.replay import ReplayPolicy
from frame_ros.robots import Robot

REPLAY = 'replay'


def make_policy_of(settings: PolicyOptions, limits: Mapping[str, tuple[float, float]]) -> Policy:
    """The policy. limits: every joint of the robot -> lower and upper limit, rad.

    Raises:
        FrameRosError: it is unknown, or does not take what was set for it, or cannot be loaded.
    """
    offered = offered_of(settings, limits)
    required = required_of(settings, PolicyOptions())
    options = parse_options('policy_options', settings.policy_options)
    if settings.policy == REPLAY:
        return load_replay(settings, offered, required, options)
    if settings.checkpoint and settings.policy not in BUILDERS and _is_folder(settings.policy):
        raise SetupError(
            f'policy is the folder {settings.policy!r} and checkpoint is {settings.checkpoint!r}; '
            'one of them must be empty, or policy a name'
        )
    if settings.policy in BUILDERS and not settings.checkpoint and 'folder' not in options:
        folder = inspect.signature(builder_of(settings.policy)).parameters.get('folder')
        if folder is not None and folder.default is folder.empty:
            _refuse_empty_checkpoint(settings.policy, 'its folder')
    return make_policy(settings.policy, offered, required, **options)


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


def load_replay(
    settings: PolicyOptions,
    offered: Mapping[str, Any],
    required: Mapping[str, str],
    options: Mapping[str, Any],
) -> Policy:
    """The joint commands of a bag as a policy. options: of `recorded_actions` and `ReplayPolicy`.

    Raises:
        FrameRosError: there is no bag, nothing in it can be replayed, or an option is unknown.
    """
    if not settings.checkpoint:
        _refuse_empty_checkpoint(REPLAY, 'a bag, or a folder of bags')
    of_reading = inspect.signature(recorded_actions).parameters
    reading = {name: value for name, value in options.items() if name in of_reading}
    actions = recorded_actions(Path(settings.checkpoint).expanduser(), **reading)
    given = {name: value for name, value in options.items() if name not in of_reading}
    given |= {
        'stamps': actions.stamps,
        'positions': actions.positions,
        'names': actions.names,
        'checkpoint': settings.checkpoint,
    }
    still = {key: name for key, name in required.items() if key != 'folder'}
    return call_builder(REPLAY, ReplayPolicy, offered, still, given)


def _is_folder(path: str) -> bool:
    return Path(path).expanduser().is_dir()


def _refuse_empty_checkpoint(policy: str, what: str) -> NoReturn:
    raise SetupError(
        f'policy is {policy!r}, but the parameter checkpoint is empty; it must be {what}'
    )
