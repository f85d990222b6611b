# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from frame_ros.errors import PolicyError
from frame_ros.policies.protocol import Policy

# Name -> module and function that makes the policy; the module is imported when it is asked for.
BUILDERS: dict[str, tuple[str, str]] = {
    'scripted': ('frame_ros.policies.scripted', 'ScriptedPickPlace'),
    'hold': ('frame_ros.policies.hold', 'HoldPolicy'),
    'lerobot': ('frame_ros.policies.lerobot', 'load_lerobot_policy'),
    'remote': ('frame_ros.policies.remote', 'connect_remote_policy'),
    'lerobot_grpc': ('frame_ros.policies.lerobot_grpc', 'connect_lerobot_server'),
    'token_vla': ('frame_ros.policies.token_vla', 'load_token_vla'),
}


def make_policy(spec: str, offered: Mapping[str, Any] | None = None, **options: Any) -> Policy:
    """Makes the policy `spec`: a name of BUILDERS, or the folder of a LeRobot checkpoint.

    offered: what the caller knows of robot and machine (robot_joint_names, gripper_limits,
    device, ...); the policy's builder gets what it takes of it. options: further keyword arguments
    of the builder, which must take them all.

    Raises:
        PolicyError: `spec` is neither a known name nor a folder, or an option is unknown or
        missing.
    """
    if spec in BUILDERS:
        return _call(spec, builder_of(spec), offered or {}, options)
    if Path(spec).expanduser().is_dir():
        return _call('lerobot', builder_of('lerobot'), offered or {}, {'folder': spec, **options})
    raise PolicyError(
        f'there is no policy {spec!r}; known: {", ".join(BUILDERS)}, or the path of an existing '
        'checkpoint folder'
    )


def builder_of(name: str) -> Callable[..., Policy]:
    """The function that makes the policy `name` of BUILDERS."""
    module, function = BUILDERS[name]
    builder: Callable[..., Policy] = getattr(import_module(module), function)
    return builder


def _call(
    name: str,
    builder: Callable[..., Policy],
    offered: Mapping[str, Any],
    options: dict[str, Any],
) -> Policy:
    signature = inspect.signature(builder)
    taken = {key: value for key, value in offered.items() if key in signature.parameters}
    arguments = {**taken, **options}
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise PolicyError(
            f'policy {name!r} does not take these options ({error}); it takes: '
            f'{", ".join(signature.parameters)}'
        ) from error
    return builder(**arguments)
