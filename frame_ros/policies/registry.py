# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.policies.base import Policy
from frame_ros.policies.own_policy import (
    as_policy,
    check_form,
    is_own_policy,
    load_own_policy,
    raised_text,
)

# Name -> module and function that makes the policy; the module is imported when it is asked for.
BUILDERS: dict[str, tuple[str, str]] = {
    'scripted': ('frame_ros.policies.scripted.pick_place', 'ScriptedPickPlace'),
    'hold': ('frame_ros.policies.hold', 'HoldPolicy'),
    'lerobot': ('frame_ros.policies.lerobot', 'load_lerobot_policy'),
    'remote': ('frame_ros.policies.remote', 'connect_remote_policy'),
    'lerobot_grpc': ('frame_ros.policies.lerobot_server.client', 'connect_lerobot_server'),
    'token_vla': ('frame_ros.policies.token_vla', 'load_token_vla'),
}


def make_policy(
    spec: str,
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
    **options: Any,
) -> Policy:
    """Makes the policy `spec`: a name of BUILDERS, the folder of a LeRobot checkpoint, or the
    user's own class, as module:Class or file.py:Class.

    offered: what the caller knows of robot and machine (robot_joint_names, gripper_limits,
    device, ...); the policy's builder gets what it takes of it. required: of `offered` what a
    person asked for, so that the builder must take it -> what the person calls it. options: further
    keyword arguments of the builder, which must take them all, and which go before `offered`.

    Raises:
        PolicyError: `spec` is none of these, or an option is unknown or missing, or the user's
        own class cannot be imported, made or used.
    """
    if spec in BUILDERS:
        return call_builder(spec, builder_of(spec), offered or {}, required or {}, options)
    if Path(spec).expanduser().is_dir():
        folder = {'folder': spec, **options}
        return call_builder('lerobot', builder_of('lerobot'), offered or {}, required or {}, folder)
    if is_own_policy(spec):
        return make_own_policy(spec, offered or {}, required or {}, options)
    check_form(spec)
    raise PolicyError(
        f'there is no policy {spec!r}; known: {", ".join(BUILDERS)}, or the path of an existing '
        'checkpoint folder, or your own as module:Class or file.py:Class'
    )


def make_own_policy(
    spec: str,
    offered: Mapping[str, Any],
    required: Mapping[str, str],
    options: Mapping[str, Any],
) -> Policy:
    """Makes the user's own policy; arguments and errors as of `make_policy`."""
    builder = load_own_policy(spec)
    try:
        policy = call_builder(spec, builder, offered, required, options)
    except FrameRosError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise PolicyError(f'making the policy {spec} {raised_text(error)}') from error
    return as_policy(policy, spec)


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
    taken = {key: value for key, value in offered.items() if key in signature.parameters}
    check_options(name, builder, required, options)
    arguments = {**taken, **options}
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise _not_taken(name, builder, error) from error
    return builder(**arguments)


def check_options(
    name: str, builder: Callable[..., Policy], required: Mapping[str, str], options: Iterable[str]
) -> None:
    """Checks that `builder` takes what is required, and the options of these names.

    Raises:
        PolicyError: it does not.
    """
    signature = inspect.signature(builder)
    if refused := [text for key, text in required.items() if key not in signature.parameters]:
        takes = ', '.join(signature.parameters)
        raise PolicyError(f'policy {name!r} does not take {", ".join(refused)}; it takes: {takes}')
    try:
        signature.bind_partial(**dict.fromkeys(options))
    except TypeError as error:
        raise _not_taken(name, builder, error) from error


def _not_taken(name: str, builder: Callable[..., Policy], error: TypeError) -> PolicyError:
    takes = ', '.join(inspect.signature(builder).parameters)
    return PolicyError(f'policy {name!r} does not take these options ({error}); it takes: {takes}')
