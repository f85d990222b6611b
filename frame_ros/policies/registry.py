# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name: ours, and those that other installed packages register.

A package registers a policy by an entry point: `[project.entry-points."frame_ros.policies"]` with
`wave = "my_package.wave:Wave"`, the class of a `Policy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from frame_ros.core.errors import PolicyError, SetupError
from frame_ros.policies.base import Policy
from frame_ros.policies.own_policy import check_form, is_own_policy, load_own_policy
from frame_ros.policies.source import Source, source_of
from frame_ros.policies.trial import try_own_policy

GROUP = 'frame_ros.policies'
# Name -> module and class. The module is imported when the policy is asked for.
OURS = {
    'scripted': 'frame_ros.policies.scripted.pick_place:ScriptedPickPlace',
    'hold': 'frame_ros.policies.hold:HoldPolicy',
    'lerobot': 'frame_ros.policies.lerobot.loading:LeRobotCheckpoint',
    'remote': 'frame_ros.policies.remote.connecting:RemoteServer',
    'lerobot_grpc': 'frame_ros.policies.lerobot_server.client:LeRobotServerPolicy',
    'token_vla': 'frame_ros.policies.token_vla.loading:VlaCheckpoint',
    'replay': 'frame_ros.episodes.replay:BagReplay',
}
FURTHER = 'a checkpoint folder, or your own as module:Class or file.py:Class'


@cache
def policies() -> dict[str, str]:
    """Name -> module and class, of every policy that can be named; ours take precedence."""
    return {**{entry.name: entry.value for entry in entry_points(group=GROUP)}, **OURS}


def find_source(spec: str) -> Source:
    """What makes the policy `spec`: a name, or the user's own as module:Class or file.py:Class.

    Raises:
        PolicyError: `spec` is neither, or the class cannot be imported.
    """
    if place := policies().get(spec):
        module, _, name = place.partition(':')
        try:
            return source_of(spec, getattr(import_module(module), name))
        except (ImportError, AttributeError) as error:
            if spec in OURS:
                raise
            raise PolicyError(f'policy {spec!r} is registered as {place}: {error}') from error
    if is_own_policy(spec):
        return source_of(spec, load_own_policy(spec))
    check_form(spec)
    raise PolicyError(f'there is no policy {spec!r}; known: {", ".join(policies())}, or {FURTHER}')


def make_policy(
    spec: str,
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
    **options: Any,
) -> Policy:
    """Makes the policy `spec`: a name, the folder of a LeRobot checkpoint, or the user's own class,
    as module:Class or file.py:Class.

    offered: what the caller knows of robot and machine (robot_joint_names, gripper_limits,
    device, ...); the policy gets those that are options of it. required: names in `offered` that
    the user asked for, so that the policy must take them -> what the user calls them. options:
    further options, all of which it must take, and which take precedence over `offered`.

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


def check_policy_name(spec: str, values: Mapping[str, Any]) -> None:
    """Checks that there can be a policy `spec`, and that the options are given that it needs.

    values: options that are given.

    Raises:
        FrameRosError: there is no such policy, an option is missing, or the form is wrong.
    """
    name, values = _named(spec, values)
    if name not in policies() and is_own_policy(name):
        check_form(name)
    else:
        find_source(name).check_needs(values)


def _named(spec: str, offered: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The policy's name, and what it is offered; a folder is a checkpoint of LeRobot."""
    if not spec or spec in policies() or not Path(spec).expanduser().is_dir():
        return spec, offered
    if checkpoint := offered.get('folder'):
        raise SetupError(
            f'policy is the folder {spec!r} and checkpoint is {checkpoint!r}; one of them must be '
            'empty, or policy a name'
        )
    return 'lerobot', {**offered, 'folder': spec}
