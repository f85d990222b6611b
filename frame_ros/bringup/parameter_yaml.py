# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writes config/<node>.yaml, the commented files of the default parameters, from the options that
each node declares: `python -m frame_ros.bringup.parameter_yaml`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import yaml

from frame_ros.bringup.declared_nodes import as_parameter, node_names, options_of
from frame_ros.core.options import DOWNWARDS, LIVE, UNCONFIGURED, Option, walk
from frame_ros.core.shared_files import share_directory

COMMENT = 36  # column at which the comments begin, where the values leave room
CHANGES = {
    LIVE: 'live',
    DOWNWARDS: 'live, up to its value at start',
    UNCONFIGURED: 'while unconfigured',
}
HEAD = """\
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# {about}
# The values are the defaults. live: can be set while the node runs.
# This file is written by `python -m frame_ros.bringup.parameter_yaml`.
/**:
  ros__parameters:
"""


def parameter_yaml(kind: Any) -> str:
    """The file of default parameters of the node with these options."""
    return HEAD.format(about=about(kind)) + ''.join(_lines(walk(kind)))


def about(kind: Any) -> str:
    """First paragraph of the docstring of a class."""
    return ' '.join(inspect.cleandoc(kind.__doc__ or '').partition('\n\n')[0].split())


def sections(declared: Iterable[Option]) -> dict[str, list[Option]]:
    """Group -> its options, those without a group first."""
    found: dict[str, list[Option]] = {'': []}
    for option in declared:
        found.setdefault(option.name.rpartition('.')[0], []).append(option)
    return found


def constraints(option: Option) -> str:
    """Unit, range or choices of an option, and when it can be changed, in short."""
    allowed = ', or '.join([*(f'{value:g}' for value in option.besides), option.range])
    has_bounds = bool(option.range)
    return '; '.join(
        filter(None, [allowed if has_bounds else option.unit, CHANGES.get(option.live)])
    )


def described(option: Option) -> str:
    """Meaning of an option with the names that are known, and its constraints."""
    limits = constraints(option)
    return option.help + (f' [{limits}]' if limits else '')


def text_of_value(value: Any) -> str:
    """A value as YAML, in one line."""
    text: str = yaml.safe_dump(as_parameter(value), default_flow_style=True, width=10_000)
    return text.removesuffix('...\n').strip()


def _lines(declared: Iterable[Option]) -> Iterator[str]:
    for group, found in sections(declared).items():
        indent = '      ' if group else '    '
        if group:
            yield f'\n    # {found[0].group}\n    {group}:\n'
        for option in found:
            line = f'{indent}{option.name.rpartition(".")[2]}: {text_of_value(option.default)}'
            text = described(replace(option, known=()))  # one more name changes no file
            yield f'{line.ljust(COMMENT)}  # {text}\n'


def main() -> None:
    """Writes the files of all nodes."""
    for node in node_names():
        path = share_directory() / 'config' / f'{node}.yaml'
        path.write_text(parameter_yaml(options_of(node)), encoding='utf-8')


if __name__ == '__main__':
    main()
