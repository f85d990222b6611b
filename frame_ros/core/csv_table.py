# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""CSV files that people edit in spreadsheets: a first line of column names, then rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.input_files import read_text

# As spreadsheets write them; the one that the first line has most of counts.
SEPARATORS = ',;\t'


class CsvTable:
    """A CSV file. Commas, semicolons or tabs separate.

    Attributes:
        path: of the file.
        names: of the columns, without spaces around them.
    """

    def __init__(self, path: str | Path, what: str) -> None:
        """what: content of the file in words, for errors, such as 'labels'.

        Raises:
            SetupError: the file cannot be read.
            ValueRangeError: its first line is damaged.
        """
        self.path = Path(path).expanduser()
        try:
            text = read_text(self.path).removeprefix('\ufeff')
        except UnicodeDecodeError as error:
            raise SetupError(
                f'the {what} {str(path)!r} cannot be read: {error}; save the file as UTF-8'
            ) from error
        except OSError as error:
            raise SetupError(f'the {what} {str(path)!r} cannot be read: {error}') from error
        self._separator = max(SEPARATORS, key=text.partition('\n')[0].count)
        lines = StringIO(text, newline='')
        self._reader = csv.reader(
            lines, delimiter=self._separator, skipinitialspace=True, strict=True
        )
        self.names = [name.strip() for name in next(self._cells(), [])]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the line number and the cells of each row that is not empty, as many as there are
        names, without spaces around them. The rows can be read once.

        Raises:
            ValueRangeError: a row has more cells than there are names, or quotes that do not match.
        """
        for cells in self._cells():
            found = [cell.strip() for cell in cells]
            if any(found[len(self.names) :]):
                raise ValueRangeError(
                    f'{self.path}, line {self._reader.line_num}: {len(cells)} values, but the '
                    f'first line names {len(self.names)} columns; quote a text that holds '
                    f'{self._separator!r}'
                )
            if any(found):
                missing = len(self.names) - len(found)
                yield self._reader.line_num, found[: len(self.names)] + [''] * missing

    def _cells(self) -> Iterator[list[str]]:
        try:
            yield from self._reader
        except csv.Error as error:
            raise ValueRangeError(
                f'{self.path}, line {self._reader.line_num}: {error}; a quotation mark that begins '
                'a value ends it, too, and is doubled within'
            ) from error
