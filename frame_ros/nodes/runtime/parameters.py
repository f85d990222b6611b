# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Declared options as the parameters of a node."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from frame_ros.bringup.declared_nodes import (
    EVERY_NODE,
    as_parameter,
    from_parameter,
    users_of_names,
)
from frame_ros.bringup.parameter_comments import meanings
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import text_of
from frame_ros.core.options import (
    DOWNWARDS,
    FIXED,
    INT64,
    UNCONFIGURED,
    Option,
    OptionError,
    changed,
    check_names,
    flatten,
    from_values,
    walk,
)

Made = TypeVar('Made')


def declare_options(
    node: Node,
    kind: type[Made],
    on_change: Callable[[Made], None] = lambda options: None,
    check: Callable[[Made], None] = lambda options: None,
) -> Made:
    """Declares the parameters of a node, with descriptions and ranges, and returns its options.

    Args:
        on_change: gets the options whenever live ones were set.
        check: of the options that would then hold, after their own; raises FrameRosError to refuse
            them.

    Raises:
        OptionError: a value is of another type or out of range, or a parameter has a name that no
            node has.
    """
    declared = {option.name: option for option in walk(kind)}
    given = {name: _value(each) for name, each in node._parameter_overrides.items()}
    _check_given(given, declared)
    made = from_values(kind, {name: given[name] for name in declared if name in given})
    for option in walk(made):
        value = as_parameter(option.default)
        if value == [''] and option.item is not str:
            raise OptionError(option.name, f'is empty; it must be {option.expected}')
        node.declare_parameter(option.name, value, descriptor_of(option), ignore_override=True)
    if any(option.live != FIXED for option in declared.values()):
        _Live(node, made, declared, on_change, check)
    return made


def unconfigured(kind: Any) -> list[str]:
    """The parameters that can be set only while a managed node is not configured."""
    return [option.name for option in walk(kind) if option.live == UNCONFIGURED]


def descriptor_of(option: Option) -> ParameterDescriptor:
    """The description, range and choices of a parameter."""
    unit = f' [{option.unit}]' if option.unit else ''
    found = ParameterDescriptor(
        description=option.text + unit,
        additional_constraints=option.expected,
        read_only=option.live == FIXED,
    )
    lower = [b for b in (option.above, option.at_least) if b is not None]
    upper = [b for b in (option.below, option.at_most) if b is not None]
    if option.is_list or not (lower or upper):
        return found
    least = min([*lower, *option.besides])
    if option.kind is int:
        most = int(max([*upper, *option.besides])) if upper else INT64[-1]
        found.integer_range = [IntegerRange(from_value=int(least), to_value=most)]
    else:
        largest = float(max([*upper, *option.besides])) if upper else float('inf')
        found.floating_point_range = [FloatingPointRange(from_value=float(least), to_value=largest)]
    return found


class _Live:
    """Checks what is set while the node runs, as a whole, and hands the new options on."""

    def __init__(
        self,
        node: Node,
        made: Any,
        declared: Mapping[str, Option],
        on_change: Callable[[Any], None],
        check: Callable[[Any], None],
    ) -> None:
        self._options, self._declared = made, declared
        self._on_change, self._check_more = on_change, check
        self._started = flatten(made)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._take)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            self._check_more(self._changed(parameters))
        except FrameRosError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _take(self, parameters: list[Parameter]) -> None:
        options = self._changed(parameters)
        if options != self._options:
            self._options = options
            self._on_change(options)

    def _changed(self, parameters: list[Parameter]) -> Any:
        values = {p.name: _value(p) for p in parameters if p.name in self._declared}
        options = changed(self._options, values)
        for option in walk(options):
            started = self._started[option.name]
            if option.live == DOWNWARDS and option.is_above(started):
                raise OptionError(
                    option.name,
                    f'is {text_of(option.default)}; while the node runs it must be at most '
                    f'{text_of(started)}, as it was started',
                )
        return options


def _check_given(given: Collection[str], known: Collection[str]) -> None:
    """Refuses names that no node has, and plain names of a single other node that mean an option in
    a group of this one: a file may hold the parameters of several nodes.
    """
    unknown = [name for name in given if name not in known and not EVERY_NODE.fullmatch(name)]
    users = users_of_names() if unknown else Counter()
    for name in unknown:
        meant = [own for own in known if name in (own.rpartition('.')[2], own.replace('.', '_'))]
        if users[name] == 1 and meant:
            raise OptionError(repr(name), f'is no parameter; did you mean {meant[0]!r}?')
    check_names([name for name in unknown if not users[name]], known, 'parameter')


def _value(parameter: Parameter) -> Any:
    value = parameter.value
    if value is None:  # what ROS makes of []
        return ()
    return from_parameter(list(value) if isinstance(value, array) else value)


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
