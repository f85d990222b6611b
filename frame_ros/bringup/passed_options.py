# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run that are parameters of its nodes: the node declares them, the run passes them
on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import attrs

from frame_ros.bringup.declared_nodes import as_parameter, parameters_of
from frame_ros.bringup.demo_robots import Value
from frame_ros.bringup.node_process import absolute
from frame_ros.core.options import FIXED, Option


@dataclass(frozen=True)
class Destination:
    """Nodes that an option of a run is passed on to.

    Attributes:
        nodes: that have the parameter; the first declares it.
        parameter: its name.
        convert: makes the parameter of the option's value.
    """

    nodes: tuple[str, ...]
    parameter: str
    convert: Callable[[Any], Value]

    def declared(self, node: str = '') -> Option:
        """The parameter as a node declares it; without a name as the first."""
        return parameters_of(node or self.nodes[0])[self.parameter]


def passed(
    parameter: str,
    *nodes: str,
    default: Any = None,
    text: str = '',
    convert: Callable[[Any], Value] = as_parameter,
) -> Any:
    """Declares an option of a run by a parameter of a node, whose module is imported when an object
    is made.

    default, text: where they differ from the node's. Other arguments: as the attributes of
    Destination.
    """
    to = Destination(nodes, parameter, convert)

    def declared() -> Option:
        found = to.declared()
        value = found.default if default is None else default
        return replace(found, default=value, text=text or found.text, live=FIXED)

    return attrs.field(
        factory=lambda: declared().default, metadata={Option: declared, Destination: to}
    )


def passed_parameters(options: Any, node: str, are_given: bool) -> dict[str, Value]:
    """The parameters of a node that an object of options passes on.

    are_given: those that the user gave, else the others, where they are not the node's defaults.
    """
    found = {}
    for field in attrs.fields(type(options)):
        to = field.metadata.get(Destination)
        if to is None or node not in to.nodes:
            continue
        value = to.convert(getattr(options, field.name))
        default = to.convert(field.metadata[Option]().default)
        is_given = field.name in options.given or value != default
        of_node = as_parameter(to.declared(node).default)
        if is_given == are_given and (is_given or value != of_node):
            found[to.parameter] = value
    return found


def path_parameter(value: Any) -> Value:
    """One path or several, for a process whose working folder may differ; empty: none."""
    if isinstance(value, str):
        return absolute(value) if value else ''
    return as_parameter([absolute(path) for path in value])
