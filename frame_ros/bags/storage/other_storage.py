# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 bags in other storage than MCAP: sqlite3 files, compressed or not, and messages
compressed one by one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
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
# Messages that are valid; SQLite lets every column hold anything.
READABLE = "typeof(timestamp) = 'integer' AND typeof(data) = 'blob'"
ORDER = 'ORDER BY timestamp, id'


@dataclass
class OtherTopic:
    """One topic: times and sizes of its messages, and their bytes, read on request."""

    topic: str
    message_type: str
    definition: str
    encoding: str
    received: list[int]
    lengths: list[int]
    buffer: Callable[[int], NDArray[np.uint8]]


def is_other_storage(path: Path) -> bool:
    """Returns whether a file is of a kind that this module reads."""
    return path.name.endswith(SUFFIXES)


@dataclass
class OtherStorage:
    """A storage file: its topics with CDR messages, and its faults."""

    topics: list[OtherTopic]
    problem: str
    is_cut: bool


def is_storage_companion(path: Path) -> bool:
    """Returns whether a file, by its name, is one that SQLite keeps with a storage file."""
    return path.name.endswith(tuple(f'.db3{suffix}' for suffix in (WAL, JOURNAL, SHARED)))


def read_other_storage(path: Path) -> OtherStorage:
    """Returns the content of a storage file.

    Raises:
        BagError: it cannot be read.
    """
    file = SqliteFile(path)
    with file.opened() as database:
        definitions = _definitions(database)
        received: dict[int, list[int]] = {}
        lengths: dict[int, list[int]] = {}
        for topic, stamp, length in database.execute(
            f'SELECT topic_id, timestamp, length(data) FROM messages WHERE {READABLE} {ORDER}'
        ):
            received.setdefault(topic, []).append(stamp)
            lengths.setdefault(topic, []).append(length)
        topics = [
            OtherTopic(
                name,
                message_type,
                *definitions.get(message_type, ('', '')),
                received.get(number, []),
                lengths.get(number, []),
                _buffer(file, number),
            )
            for number, name, message_type in _topics(database)
        ]
    return OtherStorage(topics, file.problem, file.is_cut)


def time_span(file: Path) -> tuple[set[tuple[str, str]], int, int] | None:
    """(topic, type) of all topics of a storage file, and its first and last receive time, ns; None
    if it holds no message.

    Raises:
        BagError: it cannot be read.
    """
    with SqliteFile(file).opened() as database:
        topics = {(name, message_type) for _, name, message_type in _topics(database)}
        (span,) = database.execute(
            f'SELECT min(timestamp), max(timestamp) FROM messages WHERE {READABLE}'
        )
        return None if span[0] is None else (topics, span[0], span[1])


def _topics(database: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """Returns number, name and type of the topics whose messages are CDR."""
    rows = database.execute('SELECT id, name, type, serialization_format FROM topics ORDER BY id')
    return [
        (number, name, message_type)
        for number, name, message_type, encoding in rows
        if isinstance(name, str) and isinstance(message_type, str) and encoding == 'cdr'
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


def _buffer(file: SqliteFile, number: int) -> Callable[[int], NDArray[np.uint8]]:
    @lru_cache(maxsize=1)
    def load(segment: int) -> NDArray[np.uint8]:
        with file.opened() as database:
            rows = database.execute(
                f'SELECT data FROM messages WHERE topic_id = ? AND {READABLE} {ORDER}', (number,)
            )
            return np.frombuffer(b''.join(data for (data,) in rows), np.uint8)

    return load


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
