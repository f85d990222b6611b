# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writing MCAP files that lose next to nothing when their writer is killed.

Chunks are closed after a fixed time or size, whichever comes first, compressed with zstd, and
passed to the operating system at once. No checksums, like `ros2 bag record` by default. One copy
per message: joining it into its chunk. Channels of large messages (images) have chunks of their
own, so that readers of the others need not unpack them.

A failed write (disk full) leaves no trace in the file: it is cut back to its last whole record, the
messages are counted as dropped, and writing goes on when it is possible again.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.bags.storage.decompression import zstd
from frame_ros.core.errors import BagError, ValueRangeError

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = 0x0B, 0x0C, 0x0D, 0x0E, 0x0F

MESSAGE_HEADER = struct.Struct('<BQHIQQ')
MESSAGE_FIELDS_SIZE = 22
RECORD_HEADER_SIZE = 9
TIME_LIMIT = 1 << 64
COMPRESSION_LEVEL = 3
HIGHEST_LEVEL = 22
# If compression saves less than this share of a chunk of large messages, as of a real camera's
# noise, so many of the next ones are not compressed: it would cost time for nothing.
LEAST_SAVED, LEFT_PLAIN = 0.2, 15
# Size from which a channel's first message makes it one of large messages.
LARGE = 10_000


def check_level(level: int) -> None:
    """Raises ValueRangeError if there is no such level of compression."""
    if not 0 <= level <= HIGHEST_LEVEL:
        raise ValueRangeError(f'compression_level is {level}; it must be 0 to {HIGHEST_LEVEL}')


def _string(text: str) -> bytes:
    data = text.encode('utf-8', 'replace')
    return struct.pack('<I', len(data)) + data


def _block(data: bytes) -> bytes:
    return struct.pack('<I', len(data)) + data


def _string_map(values: Mapping[str, str]) -> bytes:
    return _block(b''.join(_string(key) + _string(value) for key, value in values.items()))


def _record(opcode: int, content: bytes) -> bytes:
    return struct.pack('<BQ', opcode, len(content)) + content


@dataclass
class _Chunk:
    """Message records waiting to be written, and their offsets. kept: arguments of `write` of those
    that must not get lost.
    """

    parts: list[bytes | memoryview] = field(default_factory=list)
    size: int = 0
    start: int = 0
    end: int = 0
    opened: float = 0.0
    index: dict[int, list[int]] = field(default_factory=dict)
    kept: list[tuple[int, int, bytes | memoryview, int]] = field(default_factory=list)


class McapWriter:
    """Writes one MCAP file.

    Args:
        path: the file to make; never one that exists.
        profile: MCAP profile.
        library: name of the writing software.
        chunk_size: bytes after which a chunk is closed.
        flush_period: s after which an open chunk is closed.
        compression_level: of zstd; 0: none. A chunk that would not become smaller is left as it is.

    Attributes:
        counts: channel -> messages in the file and the open chunks.
        dropped: channel -> messages that were in a chunk that could not be written.
        start, end: receive times of what is in the file, ns.
    """

    def __init__(
        self,
        path: Path,
        profile: str = 'ros2',
        library: str = 'frame_ros',
        chunk_size: int = 4 << 20,
        flush_period: float = 0.25,
        compression_level: int = COMPRESSION_LEVEL,
    ) -> None:
        self._file = open(path, 'xb', buffering=0)  # noqa: SIM115 - open as long as the writer
        self._position = 0
        self._chunk_size, self._flush_period = chunk_size, flush_period
        self._level = compression_level
        self._chunks = {False: _Chunk(), True: _Chunk()}  # by whether they hold large messages
        self._is_large: dict[int, bool] = {}
        self._left_plain = 0  # chunks of large messages still to be left as they are
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._chunk_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        self._is_torn = False
        self._sequences: Counter[int] = Counter()
        self.counts: dict[int, int] = {}
        self.dropped: Counter[int] = Counter()
        self.start: int | None = None
        self.end = 0
        try:
            self._put(MAGIC + _record(HEADER, _string(profile) + _string(library)))
        except OSError:
            self.close()
            raise

    @property
    def message_count(self) -> int:
        """Messages written so far."""
        return sum(self.counts.values())

    @property
    def size(self) -> int:
        """Bytes so far, those of the open chunks, not yet compressed, included."""
        return self._position + sum(chunk.size for chunk in self._chunks.values())

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Returns the id of a new schema."""
        identity = len(self._schemas) + 1
        content = struct.pack('<H', identity) + _string(name) + _string(encoding) + _block(data)
        record = _record(SCHEMA, content)
        self._put(record)
        self._schemas.append(record)
        return identity

    def add_channel(
        self, topic: str, schema: int, metadata: Mapping[str, str], encoding: str = 'cdr'
    ) -> int:
        """Returns the id of a new channel."""
        identity = len(self._channels) + 1
        content = struct.pack('<HH', identity, schema) + _string(topic) + _string(encoding)
        record = _record(CHANNEL, content + _string_map(metadata))
        self._put(record)
        self._channels.append(record)
        self.counts[identity] = 0
        return identity

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Writes a metadata record. Several of one name are allowed; readers take the last."""
        record = _record(METADATA, _string(name) + _string_map(values))
        index = struct.pack('<QQ', self._position, len(record)) + _string(name)
        self._put(record)
        self._metadata_indexes.append(_record(METADATA_INDEX, index))

    def write(
        self,
        channel: int,
        log_time: int,
        data: bytes | memoryview,
        publish_time: int = 0,
        keep: bool = False,
    ) -> None:
        """Adds a message.

        Args:
            log_time, publish_time: ns. A publish_time that MCAP cannot hold (0 and less: unknown)
            is replaced by log_time.
            keep: if its chunk cannot be written, it waits for the next one.

        Raises:
            BagError: log_time is out of range; the message is not added.
            OSError: the chunk cannot be written (disk full); see `flush`.
        """
        if not 0 <= log_time < TIME_LIMIT:
            raise BagError(f'a receive time must be 0 to 2^64 - 1 ns, not {log_time}')
        if not 0 < publish_time < TIME_LIMIT:
            publish_time = log_time
        is_large = self._is_large.setdefault(channel, len(data) >= LARGE)
        chunk = self._add(channel, log_time, data, publish_time)
        if keep:
            chunk.kept.append((channel, log_time, data, publish_time))
        if chunk.size >= self._chunk_size:
            self._close_chunk(is_large)

    def _add(
        self, channel: int, log_time: int, data: bytes | memoryview, publish_time: int
    ) -> _Chunk:
        chunk = self._chunks[self._is_large[channel]]
        sequence = self._sequences[channel] & 0xFFFFFFFF
        size = MESSAGE_FIELDS_SIZE + len(data)
        head = MESSAGE_HEADER.pack(MESSAGE, size, channel, sequence, log_time, publish_time)
        if not chunk.parts:
            chunk.start, chunk.opened = log_time, time.monotonic()
        chunk.index.setdefault(channel, []).extend((log_time, chunk.size))
        chunk.parts += (head, data)
        chunk.size += len(head) + len(data)
        chunk.start, chunk.end = min(chunk.start, log_time), max(chunk.end, log_time)
        self.counts[channel] += 1
        self._sequences[channel] += 1
        return chunk

    def flush_if_due(self) -> None:
        """Closes each open chunk that is older than the flush period; raises as `flush`."""
        due = time.monotonic() - self._flush_period
        self._close_chunks([n for n, c in self._chunks.items() if c.parts and c.opened <= due])

    def flush(self, is_last: bool = False) -> None:
        """Closes the open chunks and hands them to the operating system.

        Raises:
            OSError: one cannot be written. The file is as before, the chunk's messages are counted
            in `dropped`; those to be kept wait in the next chunk, unless `is_last`.
        """
        self._close_chunks(list(self._chunks), is_last)

    def _close_chunks(self, which: list[bool], is_last: bool = False) -> None:
        problem: OSError | None = None
        for is_large in which:
            try:
                self._close_chunk(is_large, is_last)
            except OSError as error:
                problem = problem or error
        if problem is not None:
            raise problem

    def _close_chunk(self, is_large: bool, is_last: bool = False) -> None:
        chunk, self._chunks[is_large] = self._chunks[is_large], _Chunk()
        if not chunk.parts:
            return
        is_written = False
        try:
            self._put_chunk(chunk, is_large)
            is_written = True
        finally:
            if not is_written:
                self._drop(chunk, [] if is_last else chunk.kept)
        self.start = chunk.start if self.start is None else min(self.start, chunk.start)
        self.end = max(self.end, chunk.end)

    def settle(self) -> None:
        """Writes what it can, messages to be kept in a second try; counts the rest as dropped."""
        for is_last in (False, True):
            with contextlib.suppress(OSError):
                self.flush(is_last)

    def _put_chunk(self, chunk: _Chunk, is_large: bool) -> None:
        compression, records = self._compressed(chunk, is_large)
        size = sum(map(len, records))
        head = struct.pack('<QQQI', chunk.start, chunk.end, chunk.size, 0) + _string(compression)
        head += struct.pack('<Q', size)
        record_size = len(head) + size
        chunk_position, chunk_length = self._position, RECORD_HEADER_SIZE + record_size
        indexes, index_positions = [], []
        index_position = chunk_position + chunk_length
        for channel, entries in chunk.index.items():
            array = struct.pack(f'<{len(entries)}Q', *entries)
            record = _record(MESSAGE_INDEX, struct.pack('<H', channel) + _block(array))
            index_positions.append(struct.pack('<HQ', channel, index_position))
            index_position += len(record)
            indexes.append(record)
        self._put(b''.join([struct.pack('<BQ', CHUNK, record_size), head, *records, *indexes]))
        content = struct.pack('<QQQQ', chunk.start, chunk.end, chunk_position, chunk_length)
        content += _block(b''.join(index_positions))
        content += struct.pack('<Q', index_position - chunk_position - chunk_length)
        content += _string(compression) + struct.pack('<QQ', size, chunk.size)
        self._chunk_indexes.append(_record(CHUNK_INDEX, content))

    def _compressed(
        self, chunk: _Chunk, is_large: bool
    ) -> tuple[str, Sequence[bytes | memoryview]]:
        """Returns the compression's name, '' for none, and a chunk's records as stored."""
        if self._level == 0:
            return '', chunk.parts
        if is_large and self._left_plain:
            self._left_plain -= 1
            return '', chunk.parts
        data = zstd().compress(b''.join(chunk.parts), self._level)
        if is_large and len(data) > (1.0 - LEAST_SAVED) * chunk.size:
            self._left_plain = LEFT_PLAIN
        return ('zstd', [data]) if len(data) < chunk.size else ('', chunk.parts)

    def _drop(self, chunk: _Chunk, kept: list[tuple[int, int, bytes | memoryview, int]]) -> None:
        for channel, entries in chunk.index.items():
            self.counts[channel] -= len(entries) // 2
            self.dropped[channel] += len(entries) // 2
        for message in kept:
            self.dropped[message[0]] -= 1
            self._add(*message).kept.append(message)

    def finish(self) -> None:
        """Writes what is left, the summary and the footer, and closes the file.

        Raises:
            OSError: the summary cannot be written; `close` is still to be called.
        """
        self.settle()
        self._put(_record(DATA_END, struct.pack('<I', 0)))
        summary_start = position = self._position
        summary, offsets = [], []
        for opcode, records in self._summary_groups():
            if not records:
                continue
            length = sum(map(len, records))
            offsets.append(_record(SUMMARY_OFFSET, struct.pack('<BQQ', opcode, position, length)))
            summary += records
            position += length
        footer = _record(FOOTER, struct.pack('<QQI', summary_start, position, 0))
        self._put(b''.join([*summary, *offsets, footer, MAGIC]))
        self.close()

    def close(self) -> None:
        """Closes the file as it is, without a summary if `finish` did not run."""
        self._file.close()

    def _summary_groups(self) -> list[tuple[int, list[bytes]]]:
        return [
            (SCHEMA, self._schemas),
            (CHANNEL, self._channels),
            (STATISTICS, [self._statistics()]),
            (CHUNK_INDEX, self._chunk_indexes),
            (METADATA_INDEX, self._metadata_indexes),
        ]

    def _statistics(self) -> bytes:
        counts = b''.join(struct.pack('<HQ', *item) for item in self.counts.items())
        content = struct.pack(
            '<QHIIIIQQ',
            self.message_count,
            len(self._schemas),
            len(self._channels),
            0,
            len(self._metadata_indexes),
            len(self._chunk_indexes),
            self.start or 0,
            self.end,
        )
        return _record(STATISTICS, content + _block(counts))

    def _put(self, data: bytes) -> None:
        """Appends to the file all or nothing."""
        if self._is_torn:
            self._mend()
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            self._is_torn = True
            with contextlib.suppress(OSError):
                self._mend()
            raise
        self._position += len(data)

    def _mend(self) -> None:
        """Cuts off a partially written record."""
        self._file.seek(self._position)
        self._file.truncate()
        self._is_torn = False
