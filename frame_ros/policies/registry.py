# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frame_ros.errors import PolicyError
from frame_ros.policies.protocol import Policy


def make_policy(spec: str, **options: Any) -> Policy:
    """Makes the policy `spec`: 'scripted', 'hold', 'lerobot' (option `folder`), or the folder of a
    LeRobot checkpoint.

    options: the keyword arguments of `ScriptedPickPlace`, `HoldPolicy` or `load_lerobot_policy`.

    Raises:
        PolicyError: `spec` is neither a known name nor a folder, or an option is unknown or
        missing.
    """
    if spec in BUILDERS:
        return _call(spec, BUILDERS[spec](), options)
    if Path(spec).expanduser().is_dir():
        return _call('lerobot', _lerobot(), {'folder': spec, **options})
    raise PolicyError(
        f'there is no policy {spec!r}; known: {", ".join(BUILDERS)}, or the path of an existing '
        'checkpoint folder'
    )


def _scripted() -> Callable[..., Policy]:
    from frame_ros.policies.scripted import ScriptedPickPlace

    return ScriptedPickPlace


def _lerobot() -> Callable[..., Policy]:
    from frame_ros.policies.lerobot import load_lerobot_policy

    return load_lerobot_policy


def _hold() -> Callable[..., Policy]:
    from frame_ros.policies.hold import HoldPolicy

    return HoldPolicy


BUILDERS: dict[str, Callable[[], Callable[..., Policy]]] = {
    'scripted': _scripted,
    'hold': _hold,
    'lerobot': _lerobot,
}


def _call(name: str, builder: Callable[..., Policy], options: dict[str, Any]) -> Policy:
    signature = inspect.signature(builder)
    try:
        signature.bind(**options)
    except TypeError as error:
        raise PolicyError(
            f'policy {name!r} does not take these options ({error}); it takes: '
            f'{", ".join(signature.parameters)}'
        ) from error
    return builder(**options)
