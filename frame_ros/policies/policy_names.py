# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of policies: ours, and those that other installed packages register.

A package registers a policy by an entry point: `[project.entry-points."frame_ros.policies"]` with
`wave = "my_package.wave:Wave"`, the class of a `Policy`. It is imported when its policy is asked
for.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import nearest
from frame_ros.policies.own_policy import (
    Builder,
    builder_in,
    check_form,
    import_module,
    is_own_policy,
)

GROUP = 'frame_ros.policies'
# Name -> module and class. The module is imported when the policy is asked for.
OURS = {
    'scripted': 'frame_ros.policies.scripted.pick_place:ScriptedPickPlace',
    'scripted_tasks': 'frame_ros.policies.scripted.tasks:ScriptedTasks',
    'planted_weaknesses': 'frame_ros.policies.scripted.tasks:PlantedWeaknesses',
    'hold': 'frame_ros.policies.hold:HoldPolicy',
    'lerobot': 'frame_ros.policies.lerobot.loading:LeRobotCheckpoint',
    'remote': 'frame_ros.policies.remote.connecting:RemoteServer',
    'lerobot_grpc': 'frame_ros.policies.lerobot_server.client:LeRobotServerPolicy',
    'token_vla': 'frame_ros.policies.token_vla.loading:VlaCheckpoint',
    'replay': 'frame_ros.episodes.replay:BagReplay',
}
FURTHER = 'a checkpoint folder, or your own as module:Class or file.py:Class'
ANY_POLICY = f'{", ".join(OURS)}, {FURTHER}'


def own_class(name: str) -> Any:
    """Imports the class of a policy of ours."""
    module, _, attribute = OURS[name].partition(':')
    return getattr(importlib.import_module(module), attribute)


@cache
def installed() -> dict[str, list[EntryPoint]]:
    """Name -> the entry points that other packages register by it; names of ours stay ours."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        if entry.name not in OURS:
            found.setdefault(entry.name, []).append(entry)
    return found


def policies() -> tuple[str, ...]:
    """Every policy that can be named."""
    return (*OURS, *installed())


def load_installed(name: str) -> Builder:
    """Imports the policy that another package registers by `name`.

    Raises:
        PolicyError: several register it, or it cannot be imported, or is no policy.
    """
    entries = installed()[name]
    called = sorted(
        f'{entry.dist.name if entry.dist else "?"} ({entry.value})' for entry in entries
    )
    if len(entries) > 1:
        raise PolicyError(
            f'policy {name!r} is registered by {" and by ".join(called)}; uninstall all but one'
        )
    place, _, attribute = entries[0].value.partition(':')
    try:
        if not attribute.strip().isidentifier():
            raise PolicyError('an entry point must be of the form package.module:Class')
        return builder_in(import_module(place.strip()), attribute.strip(), entries[0].value)
    except PolicyError as error:
        raise PolicyError(
            f'policy {name!r}, registered in {GROUP} by the package {called[0]}: {error}'
        ) from error


def is_checkpoint(spec: str) -> bool:
    """Returns whether `spec` is the folder of a checkpoint, not a name."""
    return bool(spec) and spec not in policies() and Path(spec).expanduser().is_dir()


def check_name(spec: str) -> None:
    """Checks that there can be a policy `spec`; imports nothing.

    Raises:
        PolicyError: there is none.
    """
    if spec not in policies() and not is_checkpoint(spec):
        if not is_own_policy(spec):
            raise no_policy(spec)
        check_form(spec)


def no_policy(spec: str) -> PolicyError:
    """Returns the error for an unknown policy, with the nearest name.

    Raises:
        PolicyError: `spec` is a file without a class.
    """
    check_form(spec)
    near = nearest(spec, policies())
    hint = f'did you mean {near!r}?' if near else f'known: {", ".join(policies())}, or {FURTHER}'
    return PolicyError(f'there is no policy {spec!r}; {hint}')
