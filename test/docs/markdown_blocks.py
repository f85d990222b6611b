# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The code of the documentation, as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Those that `make docs` writes are derived from what other tests hold.
WRITTEN = ROOT / 'docs' / 'reference', ROOT / 'docs' / '_build'
PAGES = (
    ROOT / 'README.md',
    ROOT / 'CONTRIBUTING.md',
    *sorted(
        page
        for page in (ROOT / 'docs').glob('**/*.md')
        if not any(page.is_relative_to(folder) for folder in WRITTEN)
    ),
)
# Those of a list are indented.
BLOCK = re.compile(r'^( *)```(\w*)[^\n]*\n(.*?)^ *```', re.MULTILINE | re.DOTALL)
INLINE = re.compile(r'`([^`]+)`')


@dataclass(frozen=True)
class Code:
    """A fenced block or a piece of inline code. language: '' where none is named."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """File and line, for a message."""
        return f'{self.page.relative_to(ROOT)}:{self.line}'


def blocks(page: Path) -> Iterator[Code]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding='utf-8')
    for found in BLOCK.finditer(text):
        margin = re.compile(f'^{found[1]}', re.MULTILINE)  # of the list, not of the code
        line = text.count('\n', 0, found.start()) + 2
        yield Code(page, line, found[2], margin.sub('', found[3]))


def inline(page: Path) -> Iterator[Code]:
    """Texts between single backticks, outside the blocks."""
    text = page.read_text(encoding='utf-8')
    outside = BLOCK.sub(lambda block: '\n' * block[0].count('\n'), text)
    for found in INLINE.finditer(outside):
        words = ' '.join(found[1].split())
        yield Code(page, outside.count('\n', 0, found.start()) + 1, '', words)
