# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading MCAP files, whole or cut anywhere, as tables of message positions.

The file is mapped, not read; only record headers are parsed. Message bytes are views into the map.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.definitions import full_name
from frame_ros.bags.storage.decompression import PACKED, file_limit, unpack, unpacked_file
from frame_ros.bags.storage.mcap_writer import (
    CHANNEL,
    CHUNK,
    FOOTER,
    HEADER,
    MAGIC,
    MESSAGE,
    MESSAGE_FIELDS_SIZE,
    MESSAGE_INDEX,
    METADATA,
    RECORD_HEADER_SIZE,
    SCHEMA,
)
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import BYTES_PER_MESSAGE, MESSAGES, Limit, open_file

RECORD_HEADER = struct.Struct('<BQ')
MESSAGE_PREFIX = RECORD_HEADER_SIZE + MESSAGE_FIELDS_SIZE
# Cached bytes of a file's unpacked chunks, at most: those of small messages of half an hour.
MOST_UNPACKED = 256 << 20
MCAP_SUFFIXES = ('.mcap', f'.mcap{PACKED}')
# Records of a chunk; any other is damage.
IN_CHUNKS = (SCHEMA, CHANNEL, MESSAGE)
# One message: the start of its data in its segment, and the fields of its record.
ROW = np.dtype(
    [
        ('segment', '<i4'),
        ('channel', '<u2'),
        ('offset', '<i8'),
        ('length', '<i8'),
        ('received', '<i8'),
        ('published', '<i8'),
    ]
)
PREFIX = np.dtype(
    {
        'names': ['opcode', 'length', 'channel', 'log', 'publish'],
        'formats': ['u1', '<u8', '<u2', '<u8', '<u8'],
        'offsets': [0, 1, 9, 15, 23],
        'itemsize': MESSAGE_PREFIX,
    }
)

# The index of a chunk's messages of one channel: its id, and (N,) their offsets in the chunk.
_Index = tuple[int, NDArray[np.int64]]


@dataclass(frozen=True)
class Channel:
    """A channel and its schema, which is '' if the file has no definition."""

    topic: str
    message_type: str
    encoding: str
    schema_encoding: str
    definition: str
    metadata: dict[str, str]


@dataclass(frozen=True)
class _Segment:
    """Contiguous records: [start, end) of the file, or the unpacked content of a compressed part of
    it.

    size: bytes that it declares to unpack to.
    """

    start: int
    end: int
    compression: str = ''
    size: int = 0


def is_mcap(path: Path) -> bool:
    """Returns whether a file is MCAP by its name, compressed as a whole or not."""
    return path.name.endswith(MCAP_SUFFIXES)


def read_mcap(path: Path, wants: Callable[[Channel], bool] | None = None) -> McapFile:
    """Reads an MCAP file, or one that was compressed as a whole.

    wants: as `McapFile` takes it.

    Raises:
        BagError: it cannot be opened or unpacked, or is not MCAP.
    """
    if not path.name.endswith(PACKED):
        return McapFile(path, wants)
    with unpacked_file(path) as plain:
        return McapFile(plain, wants)  # mapped, it stays readable


class McapFile:
    """One MCAP file.

    Args:
        path: of the file.
        wants: whether the messages of a channel are needed; None: those of all are. A chunk whose
            index names no such channel is not unpacked, and rows of other channels may be missing.

    Attributes:
        channels: id -> Channel.
        rows: (N,) structured array of dtype ROW, in the order of the file.
        metadata: record name -> key -> text, the last record of a name.
        is_truncated: whether the end is missing.

    Raises:
        BagError: it cannot be opened, or is not MCAP.
    """

    def __init__(self, path: Path, wants: Callable[[Channel], bool] | None = None) -> None:
        self.path = path
        self._wants = wants
        self.channels: dict[int, Channel] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        self.problems: list[str] = []
        self.profile = ''
        self.is_truncated = True
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._rows: list[NDArray] = []
        self._loose: list[tuple[int, int]] = []
        self._bytes = _map(path)
        self._most_unpacked = file_limit(len(self._bytes))
        self._most_rows = Limit(
            max(MESSAGES.amount, len(self._bytes) // BYTES_PER_MESSAGE), MESSAGES.unit
        )
        self._unpacked_in_all = self._row_count = self._left_out = 0
        self._segments = [_Segment(0, len(self._bytes))]
        self._unpacked: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()
        self._unpacked_size = 0
        self._scan()
        self.rows = np.concatenate([np.zeros(0, ROW), *self._rows])
        self._rows.clear()

    def take_rows(self) -> NDArray:
        """Returns `rows` and leaves none, for a caller that keeps them in a form of its own."""
        rows, self.rows = self.rows, np.zeros(0, ROW)
        return rows

    def buffer(self, segment: int) -> NDArray[np.uint8]:
        """Returns the bytes that the offsets of a segment's rows count in."""
        if segment == 0:
            return self._bytes
        found = self._unpacked.pop(segment, None)
        if found is None:
            found = self._unpack(segment)
            self._unpacked_size += len(found)
            while self._unpacked and self._unpacked_size > MOST_UNPACKED:
                self._unpacked_size -= len(self._unpacked.popitem(last=False)[1])
        self._unpacked[segment] = found
        return found

    # -- the file's records ------------------------------------------------------------

    def _scan(self) -> None:
        size = len(self._bytes)
        if size == 0:
            self.problems.append(f'{self.path.name} is empty (0 bytes)')
            return
        if bytes(self._bytes[: len(MAGIC)]) != MAGIC[:size]:
            raise BagError(
                f'{self.path} is not an MCAP file: it does not begin with the MCAP magic'
            )
        chunk: _Segment | None = None
        indexes: list[_Index] = []
        for opcode, start, end in self._records(len(MAGIC), size):
            if chunk is not None and opcode != MESSAGE_INDEX:
                self._take_chunk(chunk, indexes)
                chunk, indexes = None, []
            if opcode == CHUNK:
                chunk = self._chunk_segment(start, end)
            elif opcode == MESSAGE_INDEX:
                indexes.append(self._index(start, end))
            elif opcode == MESSAGE:
                self._loose.append((start - RECORD_HEADER_SIZE, end))
            elif opcode == FOOTER:
                self.is_truncated = False
                break
            else:
                self._take_record(opcode, bytes(self._bytes[start:end]))
        if chunk is not None:
            # The file ends here: some of the chunk's indexes may be missing.
            self._take_chunk(chunk, [])
        self._take_loose()
        if self._left_out and not self.is_truncated:
            self.problems.append(
                f'{self.path.name} is damaged: {self._left_out:,} bytes of its chunks could not be '
                'read, with the messages in them'
            )

    def _records(self, position: int, size: int) -> Iterator[tuple[int, int, int]]:
        """Yields opcode, start and end of each record; of a cut chunk, the end of the file."""
        while position + RECORD_HEADER_SIZE <= size:
            opcode, length = RECORD_HEADER.unpack_from(self._bytes.data, position)
            start = position + RECORD_HEADER_SIZE
            position = start + length
            if position > size:
                if opcode == CHUNK:
                    yield opcode, start, size
                return
            if opcode == 0:
                self.problems.append(f'{self.path.name}: no valid record at byte {start - 9}')
                return
            yield opcode, start, position

    def _take_record(self, opcode: int, content: bytes) -> None:
        try:
            if opcode == HEADER:
                self.profile = _Cursor(content).text()
            elif opcode == SCHEMA:
                cursor = _Cursor(content)
                identity = cursor.number('<H')
                self._schemas[identity] = (cursor.text(), cursor.text(), cursor.text())
            elif opcode == CHANNEL:
                self._take_channel(_Cursor(content))
            elif opcode == METADATA:
                cursor = _Cursor(content)
                name = cursor.text()
                self.metadata[name] = cursor.texts()
        except (struct.error, ValueError) as error:
            self.problems.append(f'{self.path.name}: a damaged record was left out ({error})')

    def _take_channel(self, cursor: _Cursor) -> None:
        identity, schema = cursor.number('<H'), cursor.number('<H')
        topic, encoding = cursor.text(), cursor.text()
        name, schema_encoding, definition = self._schemas.get(schema, ('', '', ''))
        name = full_name(name) if encoding == 'cdr' else name
        self.channels[identity] = Channel(
            topic, name, encoding, schema_encoding, definition, cursor.texts()
        )

    # -- messages ----------------------------------------------------------------------

    def _chunk_segment(self, start: int, end: int) -> _Segment | None:
        cursor = _Cursor(bytes(self._bytes[start : min(end, start + 256)]))
        try:
            cursor.skip(16)
            declared = cursor.number('<Q')
            cursor.skip(4)
            compression, size = cursor.text(), cursor.number('<Q')
        except (struct.error, ValueError):
            return None
        begin = start + cursor.position
        return _Segment(begin, min(end, begin + size), compression, declared)

    def _index(self, start: int, end: int) -> _Index:
        channel = int.from_bytes(bytes(self._bytes[start : start + 2]), 'little')
        entries = self._bytes[start + 6 : end]
        offsets = entries[: len(entries) // 16 * 16].view('<u8').reshape(-1, 2)[:, 1]
        return channel, offsets.astype(np.int64)

    def _wanted(self, indexes: list[_Index]) -> list[_Index]:
        """Returns the indexes of channels that are wanted, or not known."""
        if self._wants is None:
            return indexes
        known = self.channels
        return [each for each in indexes if each[0] not in known or self._wants(known[each[0]])]

    def _take_chunk(self, chunk: _Segment, all_indexes: list[_Index]) -> None:
        indexes = [offsets for _, offsets in self._wanted(all_indexes)]
        if all_indexes and not indexes:
            return
        segment, base = 0, chunk.start
        if chunk.compression:
            self._segments.append(chunk)
            segment, base = len(self._segments) - 1, 0
        buffer = self.buffer(segment)
        self._unpacked_in_all += len(buffer) if segment else 0
        if self._unpacked_in_all > self._most_unpacked.now:
            raise BagError(
                f'{self.path}: its chunks unpack to '
                f'{self._most_unpacked.excess(self._unpacked_in_all)}'
            )
        end = len(buffer) if segment else chunk.end
        if indexes:
            positions = np.sort(np.concatenate(indexes)) + base
            rows = self._rows_at(segment, buffer, positions, end)
            if rows is not None and set(np.unique(rows['channel'])) <= set(self.channels):
                self._add_rows(rows)
                return
        self._walk_chunk(segment, buffer, base, end)

    def _walk_chunk(self, segment: int, buffer: NDArray[np.uint8], position: int, end: int) -> None:
        positions = []
        while position + RECORD_HEADER_SIZE <= end:
            opcode, length = RECORD_HEADER.unpack_from(buffer.data, position)
            after = position + RECORD_HEADER_SIZE + length
            if after > end or opcode not in IN_CHUNKS:
                break
            if opcode == MESSAGE:
                positions.append(position)
                self._check_count(len(positions))
            else:
                self._take_record(opcode, bytes(buffer[position + RECORD_HEADER_SIZE : after]))
            position = after
        self._left_out += end - position
        rows = self._rows_at(segment, buffer, np.array(positions, np.int64), end)
        if rows is not None:
            self._add_rows(rows)

    def _add_rows(self, rows: NDArray) -> None:
        self._check_count(len(rows))
        self._row_count += len(rows)
        self._rows.append(rows)

    def _check_count(self, more: int) -> None:
        count = self._row_count + more
        if count > self._most_rows.now:
            raise BagError(f'{self.path} holds {self._most_rows.excess(count)}')

    def _take_loose(self) -> None:
        positions = np.array([start for start, _ in self._loose], np.int64)
        rows = self._rows_at(0, self._bytes, positions, len(self._bytes))
        if rows is not None:
            self._rows.append(rows)

    @staticmethod
    def _rows_at(
        segment: int, buffer: NDArray[np.uint8], positions: NDArray[np.int64], end: int
    ) -> NDArray | None:
        """Returns the rows of the messages at `positions`; None if there is none at one."""
        if len(positions) == 0:
            return np.zeros(0, ROW)
        # An index may contain any position: sums of such overflow.
        if positions.min() < 0 or positions.max() > end - MESSAGE_PREFIX:
            return None
        windows = np.lib.stride_tricks.sliding_window_view(buffer, MESSAGE_PREFIX)
        head = np.ascontiguousarray(windows[positions]).view(PREFIX)[:, 0]
        lengths = head['length'].astype(np.int64) - MESSAGE_FIELDS_SIZE
        is_valid = (head['opcode'] == MESSAGE) & (lengths >= 0)
        ends = positions + MESSAGE_PREFIX + lengths
        # Each after the one before: an index may contain one message a million times.
        if not is_valid.all() or ends.max() > end or (positions[1:] < ends[:-1]).any():
            return None
        rows = np.zeros(len(positions), ROW)
        rows['segment'], rows['channel'] = segment, head['channel']
        rows['offset'], rows['length'] = positions + MESSAGE_PREFIX, lengths
        rows['received'], rows['published'] = head['log'], head['publish']
        return rows

    def _unpack(self, segment: int) -> NDArray[np.uint8]:
        part = self._segments[segment]
        data = bytes(self._bytes[part.start : part.end])
        try:
            return np.frombuffer(unpack(data, part.compression, part.size), np.uint8)
        except BagError as error:
            self.problems.append(
                f'{self.path.name}: a {part.compression!r} chunk of {len(data)} bytes '
                f'is damaged ({error})'
            )
            return np.zeros(0, np.uint8)


class _Cursor:
    """Reads MCAP's little-endian fields one after another."""

    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from(code, self._data, self.position)
        self.position += struct.calcsize(code)
        return int(value)

    def skip(self, count: int) -> None:
        self.position += count

    def text(self) -> str:
        """Reads a string: its length in bytes, then UTF-8."""
        length = self.number('<I')
        data = self._data[self.position : self.position + length]
        if len(data) != length:
            raise ValueError(f'a text of {length} bytes runs over its record')
        self.position += length
        return data.decode('utf-8', 'replace')

    def texts(self) -> dict[str, str]:
        """Reads a map of strings: its length in bytes, then keys and values in turn."""
        end = self.number('<I') + self.position
        values: dict[str, str] = {}
        while self.position < end:
            key = self.text()
            values[key] = self.text()
        return values


def _map(path: Path) -> NDArray[np.uint8]:
    try:
        with open_file(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                return np.zeros(0, np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        raise BagError(f'cannot open {path}: {error.strerror}') from error
