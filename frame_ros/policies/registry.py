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


def make_policy(
    spec: str,
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
    **options: Any,
) -> Policy:
    """Makes the policy `spec`: a name of BUILDERS, or the folder of a LeRobot checkpoint.

    offered: what the caller knows of robot and machine (robot_joint_names, gripper_limits,
    device, ...); the policy's builder gets what it takes of it. required: of `offered` what a
    person asked for, so that the builder must take it -> what the person calls it. options: further
    keyword arguments of the builder, which must take them all, and which go before `offered`.

    Raises:
        PolicyError: `spec` is neither a known name nor a folder, or an option is unknown or
        missing.
    """
    if spec in BUILDERS:
        return call_builder(spec, builder_of(spec), offered or {}, required or {}, options)
    if Path(spec).expanduser().is_dir():
        folder = {'folder': spec, **options}
        return call_builder('lerobot', builder_of('lerobot'), offered or {}, required or {}, folder)
    raise PolicyError(
        f'there is no policy {spec!r}; known: {", ".join(BUILDERS)}, or the path of an existing '
        'checkpoint folder'
    )


def builder_of(name: str) -> Callable[..., Policy]:
    """The function that makes the policy `name` of BUILDERS."""
    module, function = BUILDERS[name]
    builder: Callable[..., Policy] = getattr(import_module(module), function)
    return builder


def call_builder(
    name: str,
    builder: Callable[..., Policy],
    offered: Mapping[str, Any],
    required: Mapping[str, str],
    options: Mapping[str, Any],
) -> Policy:
    """Calls `builder` with what it takes of `offered`, and all `options`; see `make_policy`.

    Raises:
        PolicyError: it does not take what is required, or an option is unknown or missing.
    """
    signature = inspect.signature(builder)
    takes = f'it takes: {", ".join(signature.parameters)}'
    if refused := [text for key, text in required.items() if key not in signature.parameters]:
        raise PolicyError(f'policy {name!r} does not take {", ".join(refused)}; {takes}')
    taken = {key: value for key, value in offered.items() if key in signature.parameters}
    arguments = {**taken, **options}
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise PolicyError(
            f'policy {name!r} does not take these options ({error}); {takes}'
        ) from error
    return builder(**arguments)
