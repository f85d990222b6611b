# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 bags in other storage than MCAP: sqlite3 files, compressed or not, and messages
compressed one by one.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.storage.decompression import unpack, zstd
from frame_ros.bags.storage.sqlite_files import JOURNAL, SHARED, WAL, SqliteFile
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import UNPACKED_PART

# A compressed message begins with these bytes; CDR never does.
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
SUFFIXES = ('.db3', '.db3.zstd')
CDR = 'cdr'  # the serialization of ROS 2
# Messages that are valid; SQLite lets every column hold anything.
READABLE = "typeof(timestamp) = 'integer' AND typeof(data) = 'blob'"
ORDER = 'ORDER BY timestamp, id'
# Bytes of messages that are read at once, and of those that are kept of a bag.
BLOCK, MOST_KEPT = 4 << 20, 256 << 20


@dataclass
class OtherTopic:
    """One topic: times of its messages, the blocks of bytes that they are in, and where in these;
    blocks are read on request.
    """

    topic: str
    message_type: str
    definition: str
    encoding: str
    places: _Places
    buffer: Callable[[int], NDArray[np.uint8]]


@dataclass
class _Places:
    """Of each message of a topic: when it was received (ns), its row in the file, its block, and
    its bytes there.
    """

    received: array[int] = field(default_factory=lambda: array('q'))
    rows: array[int] = field(default_factory=lambda: array('q'))
    blocks: array[int] = field(default_factory=lambda: array('q'))
    offsets: array[int] = field(default_factory=lambda: array('q'))
    lengths: array[int] = field(default_factory=lambda: array('q'))


class KeptBlocks:
    """Blocks of the files of a bag that were read last, of `MOST_KEPT` bytes at most."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[tuple[Path, int], NDArray[np.uint8]] = OrderedDict()
        self._size = 0

    def get(
        self, file: Path, block: int, read: Callable[[int], NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        """Returns a block of a file. read: reads it, where it is not kept."""
        found = self._blocks.pop((file, block), None)
        if found is None:
            found = read(block)
            self._size += len(found)
            while self._blocks and self._size > MOST_KEPT:
                self._size -= len(self._blocks.popitem(last=False)[1])
        self._blocks[file, block] = found
        return found


class _Blocks:
    """Messages of a file, those of one topic that follow each other a few MB at a time: a topic as
    a whole may not fit into memory.
    """

    def __init__(self, path: Path, file: SqliteFile, kept: KeptBlocks) -> None:
        self._path, self._file, self._kept = path, file, kept
        # Of each block the rows of its messages, and their lengths.
        self._rows: list[array[int]] = []
        self._lengths: list[array[int]] = []
        self._newest: dict[int, tuple[int, int]] = {}  # topic -> its last block, and its bytes

    def add(self, topic: int, row: int, length: int) -> tuple[int, int]:
        """Adds a message; returns its block and its offset there."""
        block, size = self._newest.get(topic, (-1, 0))
        if block < 0 or size + length > BLOCK:
            block, size = len(self._rows), 0
            self._rows.append(array('q'))
            self._lengths.append(array('q'))
        self._rows[block].append(row)
        self._lengths[block].append(length)
        self._newest[topic] = block, size + length
        return block, size

    def read(self, block: int) -> NDArray[np.uint8]:
        """Returns a block's bytes."""
        return self._kept.get(self._path, block, self._read)

    def _read(self, block: int) -> NDArray[np.uint8]:
        found = []
        with self._file.opened() as database:
            for row, length in zip(self._rows[block], self._lengths[block], strict=True):
                (data,) = database.execute(
                    "SELECT data FROM messages WHERE rowid = ? AND typeof(data) = 'blob'", (row,)
                ).fetchone() or (b'',)
                # Of the length that it had also where the file has changed meanwhile.
                found.append(data[:length].ljust(length, b'\0'))
        return np.frombuffer(b''.join(found), np.uint8)


def is_other_storage(path: Path) -> bool:
    """Returns whether a file is of a kind that this module reads."""
    return path.name.endswith(SUFFIXES)


@dataclass
class OtherStorage:
    """A storage file: its topics with CDR messages, and its faults. lost: messages without a time,
    bytes or topic. other_encodings: of each other topic with messages.
    """

    topics: list[OtherTopic]
    problem: str
    is_cut: bool
    lost: int = 0
    other_encodings: dict[str, str] = field(default_factory=dict)


def is_storage_companion(path: Path) -> bool:
    """Returns whether a file, by its name, is one that SQLite keeps with a storage file."""
    return path.name.endswith(tuple(f'.db3{suffix}' for suffix in (WAL, JOURNAL, SHARED)))


def read_other_storage(path: Path, kept: KeptBlocks) -> OtherStorage:
    """Returns the content of a storage file. kept: blocks of the same bag.

    Raises:
        BagError: it cannot be read.
    """
    file = SqliteFile(path)
    with file.opened() as database:
        definitions = _definitions(database)
        blocks = _Blocks(path, file, kept)
        places: dict[int, _Places] = {}
        for topic, stamp, row, length in database.execute(
            'SELECT topic_id, timestamp, rowid, length(data) FROM messages '
            f'WHERE {READABLE} {ORDER}'
        ):
            of_topic = places.setdefault(topic, _Places())
            block, offset = blocks.add(topic, row, length)
            of_topic.received.append(stamp)
            of_topic.rows.append(row)
            of_topic.blocks.append(block)
            of_topic.offsets.append(offset)
            of_topic.lengths.append(length)
        topics = [
            OtherTopic(
                name,
                message_type,
                *definitions.get(message_type, ('', '')),
                places.get(number, _Places()),
                blocks.read,
            )
            for number, name, message_type, encoding in _topics(database)
            if encoding == CDR
        ]
        others = {
            name: encoding
            for number, name, _, encoding in _topics(database)
            if encoding != CDR and number in places
        }
        (lost,) = database.execute(
            f'SELECT count(*) FROM messages WHERE NOT ({READABLE}) '
            'OR topic_id NOT IN (SELECT id FROM topics)'
        ).fetchone()
    return OtherStorage(topics, file.problem, file.is_cut, lost, others)


def time_span(file: Path) -> tuple[set[tuple[str, str]], int, int] | None:
    """(topic, type) of all topics of a storage file, and its first and last receive time, ns; None
    if it holds no message.

    Raises:
        BagError: it cannot be read.
    """
    with SqliteFile(file).opened() as database:
        topics = {(name, kind) for _, name, kind, encoding in _topics(database) if encoding == CDR}
        (span,) = database.execute(
            f'SELECT min(timestamp), max(timestamp) FROM messages WHERE {READABLE}'
        )
        return None if span[0] is None else (topics, span[0], span[1])


def _topics(database: sqlite3.Connection) -> list[tuple[int, str, str, str]]:
    """Returns number, name, type and encoding of the topics."""
    rows = database.execute('SELECT id, name, type, serialization_format FROM topics ORDER BY id')
    return [
        (number, name, message_type, str(encoding))
        for number, name, message_type, encoding in rows
        if isinstance(name, str) and isinstance(message_type, str)
    ]


def _definitions(database: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Returns type -> definition and its encoding; none before rosbag2's schema 4."""
    (count,) = database.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'message_definitions'"
    ).fetchone()
    if not count:
        return {}
    rows = database.execute(
        'SELECT topic_type, encoded_message_definition, encoding FROM message_definitions'
    )
    return {row[0]: (row[1], row[2]) for row in rows if all(isinstance(each, str) for each in row)}


def is_compressed(data: NDArray[np.uint8]) -> bool:
    """Returns whether a message was compressed by rosbag2's compression_mode `message`."""
    return bytes(data[: len(ZSTD_MAGIC)]) == ZSTD_MAGIC


def decompressed(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns the bytes of a message, decompressed if needed; damaged ones, and those above the
    limit, unchanged, which is not CDR.
    """
    if not is_compressed(data):
        return data
    content = data.tobytes()
    declared = _declared(content)
    try:
        unpacked = unpack(content, 'zstd', declared)
    except BagError:
        return data
    return data if declared > len(unpacked) else np.frombuffer(unpacked, np.uint8)


def decompressed_length(data: NDArray[np.uint8]) -> int:
    """Returns the length of `decompressed`, from the head of the data if that declares it."""
    if not is_compressed(data):
        return len(data)
    declared = _declared(data.tobytes())
    if declared > UNPACKED_PART.now:
        return len(data)
    return declared or len(decompressed(data))


def _declared(content: bytes) -> int:
    """Returns the declared unpacked size of a zstd frame; 0 if it has none."""
    module = zstd()
    try:
        return int(module.get_frame_info(content).decompressed_size or 0)
    except (module.ZstdError, ValueError):
        return 0
