# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 files of parameters, by the names of nodes and the patterns that head their sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.options import flat
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
