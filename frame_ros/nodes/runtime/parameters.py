# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Declared options as the parameters of a node."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from frame_ros.bringup.declared_nodes import (
    EVERY_NODE,
    as_parameter,
    from_parameter,
    node_names,
    parameters_of,
)
from frame_ros.bringup.parameter_sections import names_for_several
from frame_ros.core.errors import FrameRosError
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
        description=option.help + unit,
        additional_constraints=option.expected,
        read_only=option.live == FIXED,
    )
    lower = [b for b in (option.above, option.at_least) if b is not None]
    upper = [b for b in (option.below, option.at_most) if b is not None]
    if option.is_list or not (lower or upper):
        return found
    is_whole = option.kind is int
    ends = (INT64[0], INT64[-1]) if is_whole else (-math.inf, math.inf)
    least = min([*lower, *option.besides]) if lower else ends[0]
    most = max([*upper, *option.besides]) if upper else ends[1]
    if is_whole:
        found.integer_range = [IntegerRange(from_value=int(least), to_value=int(most))]
    else:
        found.floating_point_range = [
            FloatingPointRange(from_value=float(least), to_value=float(most))
        ]
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
    """Refuses names that are no parameters of this node. One of another node is left alone where a
    file gives it to several nodes, as in a section `/**`.
    """
    unknown = [name for name in given if name not in known and not EVERY_NODE.fullmatch(name)]
    if unknown:
        shared = names_for_several(sys.argv) & set().union(*map(parameters_of, node_names()))
        check_names([name for name in unknown if name not in shared], known, 'parameter')


def _value(parameter: Parameter) -> Any:
    value = parameter.value
    if value is None:  # what ROS makes of []
        return ()
    return from_parameter(list(value) if isinstance(value, array) else value)
