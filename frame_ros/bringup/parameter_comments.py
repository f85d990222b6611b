# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Meanings of parameters, from the comments of the files of defaults, config/<node>.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from frame_ros.core.errors import SetupError
from frame_ros.core.shared_files import share_directory

_PARAMETER = re.compile(r'    (?P<name>\w+):\s*(?P<default>.*?)\s*(?:\s#\s+(?P<text>.*))?$')
_COMMENT = re.compile(r'^    # (?P<text>.*)$')


def parameters(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(name, default, meaning) of every parameter; the comment is on its line, or else above."""
    above = ''
    for line in lines:
        if comment := _COMMENT.match(line):
            above = comment['text']
        elif parameter := _PARAMETER.match(line):
            yield parameter['name'], parameter['default'], parameter['text'] or above
            above = ''


@cache
def meanings(node: str) -> dict[str, str]:
    """Parameter -> what it means, of the node with this executable; empty without its file."""
    try:
        text = (share_directory() / 'config' / f'{node}.yaml').read_text(encoding='utf-8')
    except (SetupError, OSError):
        return {}
    return {name: meaning for name, _, meaning in parameters(text.splitlines())}
