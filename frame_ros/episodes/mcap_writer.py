# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writing MCAP files that lose next to nothing when their writer is killed.

Chunks are closed after a fixed time or size, whichever comes first, and handed to the operating
system at once. No compression and no checksums: as `ros2 bag record` does by default. One copy per
message: joining it into its chunk.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = 0x0B, 0x0C, 0x0D, 0x0E, 0x0F

MESSAGE_HEADER = struct.Struct('<BQHIQQ')
MESSAGE_FIELDS_SIZE = 22
RECORD_HEADER_SIZE = 9


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
    """Message records waiting to be written, and where each begins."""

    parts: list[bytes | memoryview] = field(default_factory=list)
    size: int = 0
    start: int = 0
    end: int = 0
    opened: float = 0.0
    index: dict[int, list[int]] = field(default_factory=dict)


class McapWriter:
    """Writes one MCAP file.

    Args:
        path: the file to make.
        profile: MCAP profile.
        library: name of the writing software.
        chunk_size: bytes after which a chunk is closed.
        flush_period: s after which an open chunk is closed.
    """

    def __init__(
        self,
        path: Path,
        profile: str = 'ros2',
        library: str = 'frame_ros',
        chunk_size: int = 4 << 20,
        flush_period: float = 0.25,
    ) -> None:
        self._file = open(path, 'wb', buffering=0)  # noqa: SIM115 - open as long as the writer
        self._position = 0
        self._chunk_size, self._flush_period = chunk_size, flush_period
        self._chunk = _Chunk()
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._chunk_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        self.counts: dict[int, int] = {}
        self.start: int | None = None
        self.end = 0
        self._put(MAGIC + _record(HEADER, _string(profile) + _string(library)))

    @property
    def message_count(self) -> int:
        """Messages written so far."""
        return sum(self.counts.values())

    @property
    def size(self) -> int:
        """Bytes so far, those of the open chunk included."""
        return self._position + self._chunk.size

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Returns the id of a new schema."""
        identity = len(self._schemas) + 1
        content = struct.pack('<H', identity) + _string(name) + _string(encoding) + _block(data)
        self._schemas.append(_record(SCHEMA, content))
        self._put(self._schemas[-1])
        return identity

    def add_channel(
        self, topic: str, schema: int, metadata: Mapping[str, str], encoding: str = 'cdr'
    ) -> int:
        """Returns the id of a new channel."""
        identity = len(self._channels) + 1
        content = struct.pack('<HH', identity, schema) + _string(topic) + _string(encoding)
        self._channels.append(_record(CHANNEL, content + _string_map(metadata)))
        self._put(self._channels[-1])
        self.counts[identity] = 0
        return identity

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Writes a metadata record. Several of one name are allowed; readers take the last."""
        record = _record(METADATA, _string(name) + _string_map(values))
        self._metadata_indexes.append(
            _record(METADATA_INDEX, struct.pack('<QQ', self._position, len(record)) + _string(name))
        )
        self._put(record)

    def write(
        self, channel: int, log_time: int, data: bytes | memoryview, publish_time: int = 0
    ) -> None:
        """Adds a message. log_time, publish_time: ns; publish_time 0: unknown, log_time is taken.

        Raises:
            OSError: the file cannot be written (disk full).
        """
        chunk = self._chunk
        if not chunk.parts:
            chunk.start, chunk.opened = log_time, time.monotonic()
        sequence = self.counts[channel]
        chunk.index.setdefault(channel, []).extend((log_time, chunk.size))
        chunk.parts.append(
            MESSAGE_HEADER.pack(
                MESSAGE,
                MESSAGE_FIELDS_SIZE + len(data),
                channel,
                sequence & 0xFFFFFFFF,
                log_time,
                publish_time or log_time,
            )
        )
        chunk.parts.append(data)
        chunk.size += MESSAGE_HEADER.size + len(data)
        chunk.start, chunk.end = min(chunk.start, log_time), max(chunk.end, log_time)
        self.counts[channel] = sequence + 1
        self.start = log_time if self.start is None else min(self.start, log_time)
        self.end = max(self.end, log_time)
        if chunk.size >= self._chunk_size:
            self.flush()

    def flush_if_due(self) -> None:
        """Closes the open chunk if it is older than the flush period."""
        if self._chunk.parts and time.monotonic() - self._chunk.opened >= self._flush_period:
            self.flush()

    def flush(self) -> None:
        """Closes the open chunk and hands it to the operating system."""
        chunk, self._chunk = self._chunk, _Chunk()
        if not chunk.parts:
            return
        head = struct.pack('<QQQI', chunk.start, chunk.end, chunk.size, 0) + _string('')
        head += struct.pack('<Q', chunk.size)
        record_size = len(head) + chunk.size
        chunk_position, chunk_length = self._position, RECORD_HEADER_SIZE + record_size
        indexes, index_positions = [], []
        index_position = chunk_position + chunk_length
        for channel, entries in chunk.index.items():
            array = struct.pack(f'<{len(entries)}Q', *entries)
            record = _record(MESSAGE_INDEX, struct.pack('<H', channel) + _block(array))
            index_positions.append(struct.pack('<HQ', channel, index_position))
            index_position += len(record)
            indexes.append(record)
        self._put(b''.join([struct.pack('<BQ', CHUNK, record_size), head, *chunk.parts, *indexes]))
        content = struct.pack('<QQQQ', chunk.start, chunk.end, chunk_position, chunk_length)
        content += _block(b''.join(index_positions))
        content += struct.pack('<Q', index_position - chunk_position - chunk_length) + _string('')
        content += struct.pack('<QQ', chunk.size, chunk.size)
        self._chunk_indexes.append(_record(CHUNK_INDEX, content))

    def finish(self) -> None:
        """Writes what is left, the summary and the footer, and closes the file."""
        self.flush()
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
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self._position += len(data)
