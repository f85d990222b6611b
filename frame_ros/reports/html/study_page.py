# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A self-contained HTML page of tables and figures over many episodes: text, tables and plotly
descriptions in, the look and script of the reports out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from frame_ros.core.input_files import valid_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.version import package_version
from frame_ros.reports.html.page_frame import page_frame

# Tones of a cell.
PLAIN, GOOD, BAD, QUIET, STRONG = '', 'good', 'bad', 'quiet', 'strong'


@dataclass(frozen=True)
class Cell:
    """A cell of a table that needs more than its text.

    Attributes:
        tone: PLAIN, GOOD, BAD, QUIET or STRONG.
        hint: shown when the pointer rests on it.
        below: smaller, under the text.
        href: where a click leads, within the page or to a file in its folder.
        strength: 0 to 1, of the tone's colour behind the text.
        anchor: name under which a link within the page leads here.
        links: (text, href) of further links, under the text.
    """

    text: str
    tone: str = PLAIN
    hint: str = ''
    below: str = ''
    href: str = ''
    strength: float = 0.0
    anchor: str = ''
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        header: texts of the columns.
        rows: of texts or `Cell`s, as long as the header.
        caption: a line above it.
        numbers: places of the columns that are aligned as numbers.
        above: (text, columns that it spans) of a row above the header; empty: none.
        is_sortable: whether a click on a heading sorts the rows.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    caption: str = ''
    numbers: frozenset[int] = frozenset()
    above: Sequence[tuple[str, int]] = ()
    is_sortable: bool = False

    def cells(self, row: Sequence[str | Cell]) -> list[Cell]:
        """Returns a row, each of it a cell."""
        return [each if isinstance(each, Cell) else Cell(each) for each in row]


@dataclass(frozen=True)
class Figure:
    """A plotly figure: `data` (traces) and `layout`, with numbers as `plot_numbers` makes them.

    Attributes:
        caption: its content in words, also for those who do not see it.
        kind: of the figure, for the page's script; '' draws it as it is.
    """

    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    caption: str
    kind: str = ''

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.layout.get('height', 400))

    def as_data(self) -> dict[str, Any]:
        """Returns it as the page's script takes it."""
        return {'kind': self.kind, 'data': list(self.data), 'layout': dict(self.layout)}


@dataclass(frozen=True)
class Part:
    """A card of the page: heading, paragraphs, then its tables and figures in their order."""

    heading: str
    paragraphs: Sequence[str] = ()
    content: Sequence[Table | Figure] = ()
    anchor: str = ''
    is_folded: bool = False


@dataclass(frozen=True)
class StudyPage:
    """The page.

    Attributes:
        kicker: the kind of page, in small letters above the title.
        headline: the result in one sentence; `verdict`: more sentences below it.
        warnings: what makes a number doubtful.
        facts: (name, value) below the title.
    """

    title: str
    kicker: str
    headline: str
    verdict: Sequence[str] = ()
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    parts: Sequence[Part] = field(default_factory=list)


def build_study_page(page: StudyPage, made: datetime | None = None) -> str:
    """Returns the page as HTML, in which all texts stay text. made: when, now by default.

    Raises:
        SetupError: plotly's script is not installed.
    """
    template, frame = page_frame('study.html')
    return template.render(
        page=page,
        version=package_version(),
        made=(made or datetime.now(timezone.utc)).strftime('%Y-%m-%d %H:%M UTC'),
        is_table=lambda each: isinstance(each, Table),
        **frame,
    )


def write_study_page(page: StudyPage, path: str | Path) -> Path:
    """Writes the page whole or not at all; returns the path.

    Raises:
        SetupError: plotly's script is not installed, or the file cannot be written.
    """
    write_whole(Path(path), valid_text(build_study_page(page)), 'the page')
    return Path(path)
