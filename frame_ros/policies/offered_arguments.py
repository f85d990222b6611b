# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the policy that the parameters of the policy node describe.

It imports no ROS.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from frame_ros.core.errors import SetupError

# What make_policy is offered -> the parameter that the user sets for it. Set to anything but its
# default, the policy must take it.
ASKED = {
    'folder': 'checkpoint',
    'samples': 'samples',
    'temperatures': 'temperatures',
    'device': 'device',
    'units': 'units',
    'camera_names': 'camera_names',
    'action_rate': 'action_rate',
}


def offered_of(settings: Any, limits: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Arguments that every policy is offered, see `make_policy`; and quality and dt (s between two
    control ticks), for those made to test with. settings: has the node's parameters as attributes.
    """
    offered = {
        'robot_joint_names': tuple(limits),
        'joint_limits': dict(limits),
        'gripper_limits': {name: pair for name, pair in limits.items() if 'gripper' in name},
        'device': settings.device,
        'units': settings.units,
        'action_rate': settings.action_rate or settings.control_rate,
        'camera_names': parse_pairs('camera_names', settings.camera_names.split(',')) or None,
        'samples': settings.samples,
        'temperatures': tuple(settings.temperatures),
        'seed': settings.seed,
        'dt': 1.0 / settings.control_rate,
        'quality': settings.quality,
    }
    if settings.checkpoint:
        offered['folder'] = settings.checkpoint
    return offered


def required_of(settings: Any, defaults: Any) -> dict[str, str]:
    """Returns what the policy must take, because it was set to something else than its default:
    argument -> what the user calls it.
    """
    return {
        key: f'the parameter {name}'
        for key, name in ASKED.items()
        if _plain(getattr(settings, name)) != _plain(getattr(defaults, name))
    }


def parse_options(parameter: str, texts: Iterable[str]) -> dict[str, Any]:
    """'name=value' texts -> {name: value}; a value that is JSON is read as such, any other is taken
    as text.

    Raises:
        SetupError: a text is not of that form, or names one option twice.
    """
    return {name: _value(text) for name, text in parse_pairs(parameter, tuple(texts)).items()}


def parse_pairs(parameter: str, texts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """'a=b' texts -> {a: b}; empty texts are left out.

    Raises:
        SetupError: a text is not of that form, or names one thing twice.
    """
    pairs: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        name, sign, value = (part.strip() for part in text.partition('='))
        if not (name and sign and value) or name in pairs:
            raise SetupError(
                f'parameter {parameter} holds {text!r}; it must hold name=value, each name once'
            )
        pairs[name] = value
    return pairs


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError(name)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value
