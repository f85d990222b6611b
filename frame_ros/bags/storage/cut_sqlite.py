# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SQLite files of bags whose end is missing, as of a copy that was broken off: what comes before
the first lost page is read into a database of its own.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from frame_ros.core.input_files import COPIED, open_file

HEADER = 100
_MAGIC = b'SQLite format 3\0'
_PAGES = slice(28, 32)
_BLOCK = 1 << 20
# Tables of a bag, and the columns that are read.
_TABLES = {
    'topics': 'id, name, type, serialization_format',
    'message_definitions': 'topic_type, encoded_message_definition, encoding',
    'messages': 'id, topic_id, timestamp, data',
}


def whole_pages(file: Path) -> tuple[int, int] | None:
    """Returns how many pages a database has, and their size in bytes, if it declares more than
    there are; None if it does not.

    Raises:
        OSError: it cannot be read.
    """
    with open_file(file) as content:
        header = content.read(HEADER)
    if len(header) < HEADER or not header.startswith(_MAGIC):
        return None
    (size,) = struct.unpack('>H', header[16:18])
    size = 65536 if size == 1 else size
    (changes, pages, valid_for) = struct.unpack('>24xI I 60xI', header[:96])
    if size < 512 or changes != valid_for or file.stat().st_size >= pages * size:
        return None
    return file.stat().st_size // size, size


@contextmanager
def rescued(
    file: Path, pages: tuple[int, int], check: Callable[[sqlite3.Connection], None]
) -> Iterator[tuple[Path, int]]:
    """Yields a temporary database with what can be read of one whose end is missing, and how many
    messages that are.

    Args:
        pages: as `whole_pages` gives them.
        check: raises for a database that must not be read.

    Raises:
        OSError: it cannot be copied, or has more bytes than are allowed.
        sqlite3.Error: its tables cannot be read.
    """
    count, size = pages
    if count * size > COPIED.now:
        raise OSError(f'a copy would have {COPIED.excess(count * size)}')
    with tempfile.TemporaryDirectory(prefix='frame_ros_') as folder:
        if 2 * count * size > shutil.disk_usage(folder).free:
            raise OSError(f'a copy of {2 * count * size} bytes has no room in {folder}: set TMPDIR')
        cut, whole = Path(folder) / 'cut.db3', Path(folder) / file.name
        _copy_pages(file, cut, count, size)
        with (
            closing(sqlite3.connect(f'{cut.as_uri()}?immutable=1', uri=True)) as source,
            closing(sqlite3.connect(whole)) as target,
        ):
            check(source)
            messages = _copy_rows(source, target, count * size)
        cut.unlink()
        yield whole, messages


def _copy_pages(file: Path, copy: Path, count: int, size: int) -> None:
    """Copies whole pages, and declares that there are no more."""
    left = count * size
    with open_file(file) as source, copy.open('xb') as target:
        while left and (block := source.read(min(_BLOCK, left))):
            target.write(block)
            left -= len(block)
        target.seek(_PAGES.start)
        target.write(struct.pack('>I', count))


def _copy_rows(source: sqlite3.Connection, target: sqlite3.Connection, most: int) -> int:
    """Copies tables up to the first page that is lost; returns how many messages.

    most: bytes of messages; more are not in the file.
    """
    source.text_factory = lambda text: text.decode('utf-8', 'replace')
    found = {
        name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    copied = 0
    for table, columns in _TABLES.items():
        if table not in found:
            continue
        key = columns.replace('id', 'id INTEGER PRIMARY KEY', 1) if table == 'messages' else columns
        target.execute(f'CREATE TABLE {table}({key})')
        insert = f'INSERT INTO {table} VALUES({", ".join("?" * (columns.count(",") + 1))})'
        for row in _until_lost(source, f'SELECT {columns} FROM {table} NOT INDEXED'):
            target.execute(insert, row)
            if table == 'messages':
                copied += 1
                most -= len(row[-1]) if isinstance(row[-1], bytes) else 0
            if most < 0:
                break
    target.commit()
    return copied


def _until_lost(source: sqlite3.Connection, query: str) -> Iterator[tuple]:
    try:
        yield from source.execute(query)
    except sqlite3.DatabaseError:
        return
