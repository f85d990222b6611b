# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as every node declares them: described, refused with a clear message, and fixed where
they are read once."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node

from frame_ros.bringup.parameter_comments import meanings
from frame_ros.core.errors import SetupError

KINDS = {bool: 'true or false', int: 'a whole number', float: 'a number', str: 'a text'}


def declare(
    node: Node, name: str, default: Any, read_only: bool = True, is_word: bool = False
) -> Any:
    """Declares a parameter and returns its value, of the type of `default`.

    A whole number does for a decimal one, also in a list. The description is the comment in the
    node's file of defaults, config/<module of the node>.yaml.

    default: bool, int, float, str, or a list of one of them with at least one element. read_only:
    the node reads it once, so setting it later is refused. is_word: of a text: true and false,
    which ROS reads as no text, are meant as the words.

    Raises:
        SetupError: the value given is of another type.
    """
    text = meanings(_executable(node)).get(name, '')
    descriptor = ParameterDescriptor(description=text, read_only=read_only)
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except InvalidParameterTypeException:
        given = _given(node, name)
        is_switch = is_word and isinstance(given, bool)
        value = str(given).lower() if is_switch else converted(name, given, default)
    else:
        if value is None:  # what ROS makes of []
            raise SetupError(f'{name} is empty; it must be {kind_of(default)}')
        return value
    return node.declare_parameter(name, value, descriptor, ignore_override=True).value


def converted(name: str, given: Any, default: Any) -> Any:
    """`given` as the type of `default`: whole numbers become decimal ones.

    Raises:
        SetupError: it is of another type.
    """
    if isinstance(default, float) and type(given) is int:
        return float(given)
    is_list = isinstance(default, list) and isinstance(given, list)
    if is_list and isinstance(default[0], float) and all(type(v) in (int, float) for v in given):
        return [float(value) for value in given]
    raise SetupError(f'{name} is {given!r}; it must be {kind_of(default)}')


def kind_of(default: Any) -> str:
    """In words, what a parameter with this default may be."""
    if isinstance(default, list):
        empty = " (the empty list is [''])" if isinstance(default[0], str) else ''
        return f'a list, each element {KINDS[type(default[0])]}{empty}'
    return KINDS[type(default)]


def _executable(node: Node) -> str:
    """The name of the node's module, whatever the node is called."""
    path = Path(getattr(sys.modules.get(type(node).__module__), '__file__', None) or '')
    return path.parent.name if path.stem == 'node' else path.stem


def _given(node: Node, name: str) -> Any:
    """The value on the command line or in a file of parameters, whatever its type."""
    value = node.declare_parameter(name, None, ParameterDescriptor(dynamic_typing=True)).value
    node.undeclare_parameter(name)
    return value.tolist() if isinstance(value, array) else value
