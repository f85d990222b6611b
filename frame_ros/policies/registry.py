# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name, made and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.core.errors import PolicyError, SetupError
from frame_ros.policies.base import Policy
from frame_ros.policies.own_policy import is_own_policy, load_own_policy
from frame_ros.policies.policy_names import (
    OURS,
    installed,
    is_checkpoint,
    load_installed,
    no_policy,
    own_class,
    policies,
)
from frame_ros.policies.source import Source, source_of
from frame_ros.policies.trial import try_own_policy


def find_source(spec: str) -> Source:
    """Returns the source of the policy `spec`: a name, or the user's own as module:Class or
    file.py:Class.

    Raises:
        PolicyError: `spec` is neither, or the class cannot be imported.
    """
    if spec in OURS:
        return source_of(spec, own_class(spec))
    if spec in installed():
        return source_of(spec, load_installed(spec))
    if is_own_policy(spec):
        return source_of(spec, load_own_policy(spec))
    raise no_policy(spec)


def make_policy(
    spec: str,
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
    **options: Any,
) -> Policy:
    """Makes the policy `spec`: a name, the folder of a LeRobot checkpoint, or the user's own class,
    as module:Class or file.py:Class.

    Args:
        offered: what the caller knows of robot and machine (robot_joint_names, gripper_limits,
            device, ...); the policy gets those that are options of it.
        required: names in `offered` that the user asked for, so that the policy must take them ->
            what the user calls them.
        options: further options, all of which it must take, and which take precedence over
            `offered`.

    Raises:
        FrameRosError: `spec` is none of these, or an option is unknown or missing or out of range,
            or the policy cannot be made.
    """
    name, values = _named(spec, offered or {})
    source = find_source(name)
    return source.make(source.arguments(values, required or {}, options))


def check_policy(
    spec: str,
    offered: Mapping[str, Any],
    required: Mapping[str, str],
    options: Mapping[str, Any],
    is_tried: bool = True,
) -> None:
    """Checks the options and the files of a policy without loading weights or connecting. The
    user's own class is imported in a process of its own, and made there if it `is_tried`.

    spec, offered, required, options: as of `make_policy`.

    Raises:
        FrameRosError: as of `make_policy`.
    """
    name, values = _named(spec, offered)
    if name not in policies() and is_own_policy(name):
        try_own_policy(name, options, values if is_tried else None, required)
        return
    source = find_source(name)
    source.check(source.arguments(values, required, options))


def check_acts_without_scene(spec: str) -> None:
    """Checks that one of our policies acts where nothing says what the true scene is: in the nodes.

    Raises:
        PolicyError: it does not; the text says which does.
    """
    if spec in OURS and own_class(spec).needs_scene:
        raise PolicyError(
            f'the policy {spec} must know every object of the scene, as in `frame-ros scenes run`; '
            'in the scenes of the demo and of the simulator node the policy scripted acts'
        )


def _named(spec: str, offered: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The policy's name, and what it is offered; a folder is a checkpoint of LeRobot."""
    if not is_checkpoint(spec):
        return spec, offered
    if checkpoint := offered.get('folder'):
        raise SetupError(
            f'policy is the folder {spec!r} and checkpoint is {checkpoint!r}; one of them must be '
            'empty, or policy a name'
        )
    return 'lerobot', {**offered, 'folder': spec}
