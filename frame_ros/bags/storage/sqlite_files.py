# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SQLite files of bags, opened without ever writing into or next to them.

What a killed recorder had not yet put into its file lies in a companion (-wal, -journal), which
SQLite would merge on reading; so a copy of both is read.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from frame_ros.bags.storage.cut_sqlite import HEADER, rescued, whole_pages
from frame_ros.bags.storage.decompression import PACKED, unpacked_file
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import COPIED, open_file
from frame_ros.core.plain_text import counted

WAL, JOURNAL, SHARED = '-wal', '-journal', '-shm'
# Objects that a rosbag2 database never has, and that SQLite would run while it is read.
_COMPUTED = re.compile(r'\bVIRTUAL\b|\bAS\s*\(', re.IGNORECASE)
# The bytes of a database's header that declare a -wal file.
_VERSIONS, _OF_WAL = slice(18, 20), b'\2\2'
_BLOCK = 1 << 20


class SqliteFile:
    """A storage file, or a copy of it: unpacked, or merged with its companion.

    A copy is removed with the last reference.

    Attributes:
        problem: what is missing, or that the recorder was killed.
        is_cut: whether it was.

    Raises:
        BagError: it cannot be read, unpacked or copied.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.problem, self.is_cut = '', False
        self._query = 'immutable=1'
        self._content = file
        with ExitStack() as stack:
            if file.name.endswith(PACKED):
                self._content = stack.enter_context(unpacked_file(file))
            try:
                if not file.name.endswith(PACKED):
                    self._take_rest(stack)
                if not self.is_cut:
                    self._take_pages(stack)
            except (OSError, sqlite3.Error) as error:
                why = getattr(error, 'strerror', None) or error
                raise BagError(f'{file} cannot be read: {why}') from error
            weakref.finalize(self, stack.pop_all().close)

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Opens it for reading.

        Raises:
            BagError: it is not a bag, or SQLite failed.
        """
        try:
            open_file(self._content).close()
            address = f'{self._content.absolute().as_uri()}?{self._query}'
            with closing(sqlite3.connect(address, uri=True)) as database:
                database.text_factory = lambda text: text.decode('utf-8', 'replace')
                _check_tables(database, self._file, self.problem)
                yield database
        except OSError as error:
            raise BagError(f'{self._file} cannot be read: {error.strerror or error}') from error
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            # SQLite's errors, and sqlite3's for a table name that is not text.
            raise BagError(f'{self._file} cannot be read: {error}') from error

    def _take_rest(self, stack: ExitStack) -> None:
        """Copies the file with its companion, if there is one and it may be copied."""
        rest, name = unwritten(self._file), self._file.name
        if rest is None:
            if not (self._file.parent / 'metadata.yaml').exists() and _has_wal(self._file):
                self.problem = (
                    f'{name} has neither {name}{WAL} nor a metadata.yaml: if its recorder was '
                    'killed, its newest messages are missing'
                )
            return
        self.is_cut = True
        try:
            self._content = stack.enter_context(_copied(self._file, rest))
        except OSError as error:
            why = error.strerror or error
            self.problem = f'{rest.name} was not read, its messages are missing: {why}'
            return
        self._query = 'mode=ro' if rest.name.endswith(WAL) else 'mode=rw'
        self.problem = (
            f'{name} was not closed (killed recorder, or it still records): read with what '
            f'{rest.name} holds'
        )

    def _take_pages(self, stack: ExitStack) -> None:
        """Reads what comes before the end that is missing, if it is."""
        pages = whole_pages(self._content)
        if pages is None:
            return
        # Not a method, as that would keep this object, and with it the copy.
        check = partial(_check_tables, file=self._file)
        found, count = stack.enter_context(rescued(self._content, pages, check))
        self._content, self.is_cut = found, True
        self.problem = (
            f'{self._file.name} was cut (incomplete copy): {counted(count, "message")} could be '
            'read'
        )


def _check_tables(database: sqlite3.Connection, file: Path, problem: str = '') -> None:
    """Refuses files that are not bags, and computed content, which can take for ever.

    problem: what is known to be missing.
    """
    tables = database.execute('SELECT type, name, sql FROM sqlite_master').fetchall()
    for kind, name, text in tables:
        if kind == 'view' or (kind == 'table' and _COMPUTED.search(str(text))):
            raise BagError(f'{file} cannot be read: {name!r} is computed, not a table of messages')
    missing = {'topics', 'messages'} - {name for kind, name, _ in tables if kind == 'table'}
    if missing:
        lacks = f'it lacks the table {" and ".join(sorted(missing))}'
        hint = f'; {problem}' if problem else ''
        raise BagError(f'{file} is not a bag: {lacks}{hint}')


def unwritten(file: Path) -> Path | None:
    """Returns a database's companion with content not yet merged, if any; never a link."""
    for suffix in (WAL, JOURNAL):
        rest = f'{file.resolve()}{suffix}'
        if os.path.isfile(rest) and not os.path.islink(rest) and os.path.getsize(rest):
            return Path(rest)
    return None


def _has_wal(file: Path) -> bool:
    with open_file(file) as content:
        return content.read(HEADER)[_VERSIONS] == _OF_WAL


@contextmanager
def _copied(file: Path, rest: Path) -> Iterator[Path]:
    """Copies a database and its companion to a temporary folder.

    Raises:
        OSError: they cannot be copied, or have more bytes than are allowed.
    """
    size = file.stat().st_size + rest.stat().st_size
    if size > COPIED.now:
        raise OSError(f'a copy would have {COPIED.excess(size)}')
    with tempfile.TemporaryDirectory(prefix='frame_ros_') as folder:
        free = shutil.disk_usage(folder).free
        if size > free:
            raise OSError(f'a copy of {size} bytes has no room in {folder}: set TMPDIR')
        target = Path(folder) / file.resolve().name
        for source, copy in ((rest, target.with_name(rest.name)), (file, target)):
            with open_file(source) as content, copy.open('xb') as into:
                shutil.copyfileobj(content, into, _BLOCK)
        yield target
