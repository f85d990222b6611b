# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values of parameters as every way of starting a node passes them on: what ROS 2 has no type for
is refused before anything starts.

It imports no ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.bringup.demo_robots import Value
from frame_ros.core.errors import SetupError

KINDS = (bool, int, float, str)
INT64 = range(-(2**63), 2**63)


def as_parameters(
    where: str, given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Value]:
    """Parameters as ROS 2 takes them: of a list of whole numbers and others all become decimal
    ones, and an empty list of texts is [''], as ROS 2 knows no type of an empty one.

    where: what the user calls their source, for the message. defaults: of the node.

    Raises:
        SetupError: ROS 2 has no such value: null, an empty list of numbers, a list of lists, a
            date, or a whole number beyond 64 bits.
    """
    return {name: _value(where, name, value, defaults.get(name)) for name, value in given.items()}


def _value(where: str, name: str, value: Any, default: Any) -> Value:
    if value == [] and isinstance(default, list) and default and isinstance(default[0], str):
        return ['']
    if isinstance(value, (list, tuple)) and value:
        items = list(value)
        kinds = {type(item) for item in items}
        if kinds == {int, float}:
            return [float(item) for item in items]
        if len(kinds) == 1 and all(map(_has_type, items)):
            return items
    elif _has_type(value):
        return value
    shown = 'null' if value is None else repr(value)
    raise SetupError(
        f'{where}: {name} is {shown}; a parameter is true or false, a number, a text, or a list of '
        f'one of them that is not empty'
    )


def _has_type(value: Any) -> bool:
    return type(value) in KINDS and (type(value) is not int or value in INT64)
