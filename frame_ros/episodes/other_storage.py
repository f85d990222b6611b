# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 bags in storage other than MCAP: sqlite3 files, also compressed ones, read through
`rosbags`, and messages compressed one by one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.unpacking import PACKED, unpack, unpacked_file, zstd
from frame_ros.errors import BagError
from frame_ros.input_files import UNPACKED_PART, open_file

# A compressed message begins with these bytes; CDR never does.
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
SUFFIXES = ('.db3', '.db3.zstd')
# What a database of rosbag2 never holds, and SQLite would run while it is read.
_COMPUTED = re.compile(r'\bVIRTUAL\b|\bAS\s*\(', re.IGNORECASE)


@dataclass
class OtherTopic:
    """One topic: times and sizes of its messages, and a buffer that holds them one behind the
    other, read when asked."""

    topic: str
    message_type: str
    definition: str
    encoding: str
    received: list[int]
    lengths: list[int]
    buffer: Callable[[int], NDArray[np.uint8]]


def is_other_storage(path: Path) -> bool:
    """Whether a file is of a kind that this module reads."""
    return path.name.endswith(SUFFIXES)


def read_other_storage(file: Path) -> list[OtherTopic]:
    """Returns the topics of a storage file.

    Raises:
        BagError: it cannot be read.
    """
    topics = []
    with _open(file) as reader:
        for connection in reader.connections:
            received, lengths = [], []
            for _, stamp, data in reader.messages(connections=[connection]):
                received.append(stamp)
                lengths.append(len(data))
            encoding = {'MSG': 'ros2msg', 'IDL': 'ros2idl'}.get(connection.msgdef.format.name, '')
            topics.append(
                OtherTopic(
                    connection.topic,
                    connection.msgtype,
                    connection.msgdef.data,
                    encoding,
                    received,
                    lengths,
                    _buffer(file, connection.id),
                )
            )
    return topics


def time_span(file: Path) -> tuple[set[tuple[str, str]], int, int] | None:
    """(topic, type) of all topics of a storage file, and its first and last receive time, ns; None
    if it holds no message.

    Raises:
        BagError: it cannot be read.
    """
    with _open(file) as reader:
        if not reader.message_count:
            return None
        topics = {(c.topic, c.msgtype) for c in reader.connections}
        # rosbags' end is behind the last message.
        return topics, int(reader.start_time), int(reader.end_time) - 1


@contextmanager
def _open(file: Path) -> Iterator[Any]:
    """Opens a storage file, unpacked if it is compressed."""
    from rosbags.rosbag2 import Reader

    if file.name.endswith(PACKED):
        with unpacked_file(file) as plain, _open(plain) as reader:
            yield reader
        return
    try:
        open_file(file).close()
        _check_database(file)
        with Reader(file) as reader:
            yield reader
    except OSError as error:
        raise BagError(f'{file} cannot be read: {error.strerror or error}') from error
    except BagError:
        raise
    except Exception as error:  # rosbags raises whatever the bytes lead it to
        raise BagError(f'{file} cannot be read: {error}') from error


def _check_database(file: Path) -> None:
    """Refuses a database with views or computed columns, which can run for ever."""
    with closing(sqlite3.connect(f'{file.absolute().as_uri()}?immutable=1', uri=True)) as database:
        for kind, name, text in database.execute('SELECT type, name, sql FROM sqlite_master'):
            if kind == 'view' or (kind == 'table' and _COMPUTED.search(str(text))):
                raise BagError(f'{file} cannot be read: {name!r} is computed, no table of messages')


def _buffer(file: Path, connection_id: int) -> Callable[[int], NDArray[np.uint8]]:
    @lru_cache(maxsize=1)
    def load(segment: int) -> NDArray[np.uint8]:
        with _open(file) as reader:
            chosen = [c for c in reader.connections if c.id == connection_id]
            data = b''.join(bytes(data) for _, _, data in reader.messages(connections=chosen))
        return np.frombuffer(data, np.uint8)

    return load


def is_compressed(data: NDArray[np.uint8]) -> bool:
    """Whether the bytes of a message are those of rosbag2's compression_mode `message`."""
    return bytes(data[: len(ZSTD_MAGIC)]) == ZSTD_MAGIC


def decompressed(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns the bytes of a message, decompressed if they were compressed; damaged ones, and those
    that would have more bytes than are allowed, as they are, which is no CDR."""
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
    """Returns how many bytes `decompressed` gives, by the head of the data where that says so."""
    if not is_compressed(data):
        return len(data)
    declared = _declared(data.tobytes())
    if declared > UNPACKED_PART.now:
        return len(data)
    return declared or len(decompressed(data))


def _declared(content: bytes) -> int:
    """The bytes that a zstd frame says it unpacks to; 0 where it does not say."""
    module = zstd()
    try:
        return int(module.get_frame_info(content).decompressed_size or 0)
    except (module.ZstdError, ValueError):
        return 0
