# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of a topic in a file: where the bytes of each lie, compressed one by one or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.storage.decompression import file_limit
from frame_ros.bags.storage.other_storage import decompressed, decompressed_length, is_compressed
from frame_ros.core.errors import BagError

# Bytes up to which an index of each is quicker than a view of all places, and takes little memory.
FEW = 8192


@dataclass
class MessageTable:
    """The messages of one topic in one file, N of them, in the order of their receive times."""

    received: NDArray[np.int64]  # (N,) ns
    published: NDArray[np.int64]  # (N,) ns
    written: NDArray[np.int64]  # (N,) places in the order of the file
    segments: NDArray[np.int64]  # (N,) location of each one's bytes
    offsets: NDArray[np.int64]  # (N,) location of each one's bytes
    lengths: NDArray[np.int64]  # (N,) location of each one's bytes
    buffers: Any

    def __len__(self) -> int:
        return len(self.received)

    def data(self, index: int) -> NDArray[np.uint8]:
        """Returns the serialised bytes of one message."""
        start = int(self.offsets[index])
        buffer = self.buffers(int(self.segments[index]))
        return buffer[start : start + int(self.lengths[index])]

    def rows(self, indices: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """Returns the first `size` bytes of several messages, no shorter ones, (n, size)."""
        result = np.empty((len(indices), size), np.uint8)
        segments, offsets = self.segments[indices], self.offsets[indices]
        # Each stretch of one segment: messages lie in the order of the file.
        ends = np.flatnonzero(np.diff(segments, append=-1)) + 1
        begin = 0
        for end in ends.tolist():
            buffer = self.buffers(int(segments[begin]))
            if size * (end - begin) <= FEW:
                places = offsets[begin:end, None] + np.arange(size)
                result[begin:end] = buffer[places]
            else:
                windows = np.lib.stride_tricks.sliding_window_view(buffer, size)
                result[begin:end] = windows[offsets[begin:end]]
            begin = end
        return result


@dataclass
class CompressedTable(MessageTable):
    """Messages that were compressed one by one; lengths are unpacked ones."""

    def __post_init__(self) -> None:
        self._stored = self.lengths
        most = file_limit(int(self._stored.sum()))
        self.lengths = np.zeros(len(self), np.int64)
        total = 0
        for index in range(len(self)):
            self.lengths[index] = decompressed_length(self._compressed(index))
            total += int(self.lengths[index])
            if total > most.now:
                raise BagError(f'its compressed messages unpack to {most.excess(total)}')

    def _compressed(self, index: int) -> NDArray[np.uint8]:
        start = int(self.offsets[index])
        buffer = self.buffers(int(self.segments[index]))
        return buffer[start : start + int(self._stored[index])]

    def data(self, index: int) -> NDArray[np.uint8]:
        """Returns the serialised bytes of one message; of a damaged one, the stored bytes."""
        return decompressed(self._compressed(index))

    def rows(self, indices: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """Returns the first `size` bytes of several messages that are at least as long, (n, size);
        255 where one is damaged."""
        result = np.full((len(indices), size), 255, np.uint8)
        for row, index in enumerate(indices.tolist()):
            data = self.data(index)
            if len(data) >= size:
                result[row] = data[:size]
        return result


def table_of(*fields: Any) -> MessageTable:
    """Returns a table, which decompresses its messages if the first is compressed."""
    table = MessageTable(*fields)
    is_packed = len(table) > 0 and is_compressed(table.data(0))
    return CompressedTable(*fields) if is_packed else table
