# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command lines of README and documentation, taken from their blocks and inline code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_blocks import PAGES, blocks, inline

SHELL = ('sh', 'bash', 'console')
# Inline code that begins so and has an argument is a command, not the name of one; or parameters
# and launch arguments alone.
COMMAND = re.compile(
    r'((?:\.venv-policy/bin/)?frame-ros|ros2|make|pip|python) (-m )?[^- ]|-p [a-z]|[a-z_.]+:=\S'
)


@dataclass(frozen=True)
class Command:
    """One command line as a shell would take it, without its comment. place: file and line."""

    place: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words, quotes taken away."""
        return shlex.split(self.text)


def documented_commands() -> Iterator[Command]:
    """Every command of every page, in order; what stands several times comes once."""
    seen = set()
    for place, text in _texts():
        for part in _parts(text):
            if part not in seen:
                seen.add(part)
                yield Command(place, part)


def _texts() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for code in blocks(page):
            if code.language in SHELL:
                yield code.place, code.text
        for code in inline(page):
            if COMMAND.match(code.text) and '...' not in code.text.replace('BAG...', ''):
                yield code.place, code.text


def _parts(text: str) -> Iterator[str]:
    """The commands of a block: continued lines and open quotes joined, comments left out, what
    `&&` joins apart.
    """
    lines: list[str] = []
    for line in text.replace('\\\n', ' ').splitlines():
        lines.append(line)
        joined = '\n'.join(lines)
        try:
            words = shlex.split(joined, comments=True)
        except ValueError:  # a quote is still open
            continue
        lines.clear()
        if words:
            bare = re.sub(r'\s+#\s.*$', '', joined.strip(), flags=re.MULTILINE)
            yield from (part.strip() for part in bare.split(' && '))
