# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 bags in storage other than plain MCAP: sqlite3 and compressed files, read through
`rosbags`, and messages compressed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.zstandard import zstd
from frame_ros.errors import BagError

# A compressed message begins with these bytes; CDR never does.
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
SUFFIXES = ('.db3', '.db3.zstd', '.mcap.zstd')


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


def read_other_storage(
    source: Path,
) -> tuple[list[OtherTopic], dict[str, str]]:
    """Returns the topics and custom data of a bag's folder that has a metadata.yaml, or of one
    storage file.

    Raises:
        BagError: it cannot be read.
    """
    topics = []
    with _open(source) as reader:
        custom = dict(reader.storage.metadata.custom or {})
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
                    _buffer(source, connection.id),
                )
            )
    return topics, custom


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
def _open(source: Path) -> Iterator[Any]:
    from rosbags.rosbag2 import Reader

    try:
        with Reader(source) as reader:
            yield reader
    except Exception as error:  # rosbags raises whatever the bytes lead it to
        raise BagError(f'{source} cannot be read: {error}') from error


def _buffer(source: Path, connection_id: int) -> Callable[[int], NDArray[np.uint8]]:
    @lru_cache(maxsize=1)
    def load(segment: int) -> NDArray[np.uint8]:
        with _open(source) as reader:
            chosen = [c for c in reader.connections if c.id == connection_id]
            data = b''.join(bytes(data) for _, _, data in reader.messages(connections=chosen))
        return np.frombuffer(data, np.uint8)

    return load


def is_compressed(data: NDArray[np.uint8]) -> bool:
    """Whether the bytes of a message are those of rosbag2's compression_mode `message`."""
    return bytes(data[: len(ZSTD_MAGIC)]) == ZSTD_MAGIC


def decompressed(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns the bytes of a message, decompressed if they were compressed; damaged ones as they
    are, which is no CDR."""
    if not is_compressed(data):
        return data
    module = zstd()
    try:
        return np.frombuffer(module.decompress(data.tobytes()), np.uint8)
    except (module.ZstdError, ValueError, EOFError, MemoryError):
        return data


def decompressed_length(data: NDArray[np.uint8]) -> int:
    """Returns how many bytes `decompressed` gives, by the head of the data where that says so."""
    if not is_compressed(data):
        return len(data)
    module, content = zstd(), data.tobytes()
    try:
        size = module.get_frame_info(content).decompressed_size
        if size is not None and module.get_frame_size(content) == len(content):
            return int(size)
    except (module.ZstdError, ValueError):
        return len(data)
    return len(decompressed(data))
