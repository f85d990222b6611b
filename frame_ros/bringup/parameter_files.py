# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that a user gives to nodes: in a launch argument, or in a ROS 2 file of parameters.

It imports no ROS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from frame_ros.bringup.declared_nodes import (
    EVERY_NODE,
    as_parameter,
    from_parameter,
    node_names,
    options_of,
    parameters_of,
)
from frame_ros.bringup.demo_robots import Value
from frame_ros.bringup.node_process import Process
from frame_ros.bringup.parameter_sections import Sections, plain, read_file
from frame_ros.bringup.run_options import RunOptions
from frame_ros.core.errors import SetupError
from frame_ros.core.options import OptionError, check_names, flat, from_values, nearest


def given_parameters(options: RunOptions, node: str) -> dict[str, Value]:
    """Parameters that the user sets of one of our nodes: those of the file, above them those of the
    argument <node>_parameters.

    Raises:
        SetupError: the node has no such parameter: a limit that is misspelt must not be missed.
    """
    of_file = _of_node(read_file(options.params_file), node, options)
    known = parameters_of(node)  # a section of several nodes also holds those of others
    of_file = {n: v for n, v in of_file.items() if n in known or EVERY_NODE.fullmatch(n)}
    return {
        **_checked(node, 'params_file', of_file),
        **_checked(node, f'{node}_parameters', flat(options.parameters_of(node))),
    }


def robot_parameters(options: RunOptions) -> dict[str, dict[str, Value]]:
    """Node -> its parameters in the profile of the robot.

    Raises:
        SetupError: there is no such node or parameter, or a value cannot be.
    """
    profile = options.profile
    if profile.simulation is not None:
        where = f'{profile.label}: simulation.parameters'
        _of_robot(where, profile.simulation.parameters)
    return _of_robot(f'{profile.label}: parameters', profile.parameters)


def _of_robot(where: str, given: Sections) -> dict[str, dict[str, Value]]:
    try:
        check_names(given, node_names(), 'node')
    except OptionError as error:
        raise SetupError(f'{where}: {error}') from None
    return {node: _checked(node, where, flat(values)) for node, values in given.items()}


def _checked(node: str, where: str, given: Mapping[str, Any]) -> dict[str, Value]:
    """The parameters of a node as ROS 2 has them.

    Raises:
        SetupError: a value is of another type or out of range, or it has no such parameter.
    """
    _check_names(node, given, where)
    declared, found = parameters_of(node), {}
    for name, value in given.items():
        try:
            found[name] = as_parameter(declared[name].checked(from_parameter(value)))
        except KeyError:
            found[name] = plain(where, name, value)
        except OptionError as error:
            raise SetupError(f'{where}: {name} of the node {node} {error.problem}') from None
    return found


def _check_together(process: Process) -> None:
    """Raises SetupError for parameters of one of our nodes that contradict each other."""
    own = {
        n: from_parameter(v) for n, v in process.parameters.items() if not EVERY_NODE.fullmatch(n)
    }
    try:
        from_values(options_of(process.executable), own)
    except OptionError as error:
        raise SetupError(f'the parameters of {process.name}: {error}') from None


def with_given(processes: list[Process], options: RunOptions) -> list[Process]:
    """The processes with what the user sets of each, above all else.

    Raises:
        SetupError: the file cannot be read, or names a node or a parameter that does not exist.
    """
    sections = read_file(options.params_file)
    _check_sections(sections, processes, options)
    found = []
    for process in processes:
        if process.config is not None:
            given = given_parameters(options, process.executable)
        else:
            of_file = _of_node(sections, process.name, options)
            given = {name: plain('params_file', name, value) for name, value in of_file.items()}
        found.append(replace(process, parameters={**process.parameters, **given}))
        if process.config is not None:
            _check_together(found[-1])
    return found


def _of_node(sections: Sections, node: str, options: RunOptions) -> dict[str, Any]:
    """Parameters of a node in the sections, patterns first: its own name takes precedence."""
    names = [name for name in sections if _matches(name, node, options.namespace)]
    found: dict[str, Any] = {}
    for name in sorted(names, key=lambda name: '*' not in name):
        found.update(sections[name])
    return found


def _matches(section: str, node: str, namespace: str) -> bool:
    """Tells a section of a node: `gate` wherever it runs, `/left/gate`, `/**`, `/*/gate`."""
    if not section.startswith(('/', '*')):
        return section.rpartition('/')[2] == node and (
            '/' not in section or section == f'{namespace.strip("/")}/{node}'
        )
    pattern = re.escape(f'/{section.strip("/")}').replace(r'/\*\*', '(/[^/]+)*')
    full = '/' + '/'.join(filter(None, (namespace.strip('/'), node)))
    return re.fullmatch(pattern.replace(r'\*', '[^/]+'), full) is not None


def _check_sections(sections: Sections, processes: list[Process], options: RunOptions) -> None:
    """Refuses a parameter that none of a section's nodes has, and a plain name of no node of ours.

    A section with a full name, such as /right/gate, may be of another run.
    """
    nodes = set(node_names())
    for section, values in sections.items():
        if not set(section) & set('/*') and section not in nodes | {p.name for p in processes}:
            raise SetupError(
                f'params_file names the node {section!r}; there are {", ".join(sorted(nodes))}'
            )
        met = [p for p in processes if _matches(section, p.name, options.namespace)]
        if '*' not in section and len(met) == 1 and met[0].config is not None:
            _check_names(met[0].executable, values, 'params_file')
        elif met and all(process.config is not None for process in met):
            known = {name for process in met for name in parameters_of(process.executable)}
            for name in values:
                if name not in known and not EVERY_NODE.fullmatch(name):
                    near = nearest(name, known)
                    hint = f'; did you mean {near!r}?' if near else ''
                    raise SetupError(
                        f'params_file: no node of {section} has a parameter {name!r}{hint}'
                    )


def _check_names(node: str, given: Iterable[str], where: str) -> None:
    names = [name for name in given if not EVERY_NODE.fullmatch(name)]
    try:
        check_names(names, parameters_of(node), f'parameter of the node {node}')
    except OptionError as error:
        raise SetupError(f'{where}: {error}') from None
