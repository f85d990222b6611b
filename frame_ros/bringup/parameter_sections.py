# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 files of parameters, by the names of nodes and the patterns that head their sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from frame_ros.bringup.demo_robots import Value
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.options import INT64, KINDS, flat
from frame_ros.core.strict_yaml import load_yaml

KEY = 'ros__parameters'
Sections = Mapping[str, Mapping[str, Any]]  # name of a node, or a pattern -> its parameters


def read_file(path: str) -> Sections:
    """Node -> parameters, of a file as `ros2 run --params-file` takes it; none without a path.

    Raises:
        SetupError: the file cannot be read, or is none of parameters.
    """
    if not path:
        return {}
    try:
        content = load_yaml(read_text(Path(path).expanduser()))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problem = ' '.join(str(error).split())
        raise SetupError(f'params_file {path!r} cannot be read: {problem}') from None
    sections: dict[str, dict[str, Any]] = {}
    _collect(path, '', content, sections)
    return sections


def names_for_several(arguments: Sequence[str]) -> set[str]:
    """Parameters in the sections of several nodes, such as /**, of the files of parameters that a
    command line names.

    Raises:
        SetupError: a file cannot be read, or is none of parameters.
    """
    files = [path for flag, path in pairwise(arguments) if flag == '--params-file']
    sections = [item for path in files for item in read_file(path).items()]
    return {name for section, values in sections if section.endswith('*') for name in values}


def plain(where: str, name: str, value: Any) -> Value:
    """The value of a parameter that no node of ours declares, as ROS 2 takes it.

    where: the source of the value, for the message.

    Raises:
        SetupError: ROS 2 has no such value: null, an empty list, a list of lists, a date, or a
            whole number beyond 64 bits.
    """
    items = value if isinstance(value, list) else [value]
    if {*map(type, items)} == {int, float}:
        items = [float(item) for item in items]
    kinds = {*map(type, items)}
    has_room = kinds != {int} or all(item in INT64 for item in items)
    if len(kinds) == 1 and kinds <= {*KINDS} and has_room:
        return items if isinstance(value, list) else value
    shown = 'null' if value is None else repr(value)
    raise SetupError(
        f'{where}: {name} is {shown}; a parameter is true or false, a number, a text, or a list of '
        f'one of them that is not empty'
    )


def _collect(path: str, name: str, content: Any, sections: dict[str, dict[str, Any]]) -> None:
    if not isinstance(content, dict) or not content:
        raise SetupError(
            f'params_file {path!r} must hold parameters by node, '
            f'<node>: {{{KEY}: {{<parameter>: <value>}}}}; {name or "its content"} is {content!r}'
        )
    for key, value in content.items():
        if key == KEY and not isinstance(value or {}, dict):
            raise SetupError(
                f'params_file {path!r} must hold parameters under {KEY}, not {value!r}'
            )
        if key == KEY:
            sections.setdefault(name, {}).update(flat(value or {}))
        else:
            _collect(path, f'{name}/{str(key).strip("/")}' if name else str(key), value, sections)
