# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Decompression of zstd and lz4 in bags, never to more than is allowed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from frame_ros.core.errors import BagError
from frame_ros.core.input_files import (
    UNPACKED_FILE,
    UNPACKED_PART,
    UNPACKED_RATIO,
    Limit,
    open_file,
)

PACKED = '.zstd'
# Bytes that are read from a compressed file at a time.
BLOCK = 1 << 18
# zstd frames of a compressed file: rosbag2 writes one.
MOST_FRAMES = 10_000


def zstd() -> Any:
    """Returns the module `compression.zstd`, or its replacement before Python 3.14."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def file_limit(size: int) -> Limit:
    """Returns the limit of the unpacked size of a file of `size` bytes."""
    return Limit(max(UNPACKED_FILE.amount, UNPACKED_RATIO * size), 'bytes')


def unpack(data: bytes, compression: str, declared: int = 0) -> bytes:
    """Unpacks a chunk or a message; of data that is cut, as much as is there.

    declared: bytes that it should have, where that is known, else 0.

    Raises:
        BagError: it is damaged, has more bytes than declared or than are allowed, or its
            compression is not known.
    """
    limit = UNPACKED_PART.now
    if declared > limit:
        raise BagError(f'it would unpack to {UNPACKED_PART.excess(declared)}')
    most = declared or limit
    content = _decompress(data, compression, most + 1)
    if len(content) <= most:
        return content
    if declared:
        raise BagError(f'it unpacks to more than the {declared} bytes that it declares')
    raise BagError(f'it unpacks to {UNPACKED_PART.excess(len(content))}')


def _decompress(data: bytes, compression: str, most: int) -> bytes:
    """Returns the first bytes, at most so many."""
    if compression == 'lz4':
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

        try:
            return bytes(LZ4FrameDecompressor().decompress(data, most))
        except (RuntimeError, ValueError, EOFError) as error:
            raise BagError(str(error)) from error
    if compression == 'zstd':
        module = zstd()
        try:
            return bytes(module.ZstdDecompressor().decompress(data, most))
        except (module.ZstdError, ValueError, EOFError) as error:
            raise BagError(str(error)) from error
    raise BagError(f'chunk compression {compression!r} is unknown; known are lz4 and zstd')


@contextmanager
def unpacked_file(path: Path) -> Iterator[Path]:
    """Yields a temporary, unpacked copy of a .zstd file, of the same name without that suffix.

    Raises:
        BagError: it cannot be read, is damaged, or unpacks to more than is allowed.
    """
    with tempfile.TemporaryDirectory(prefix='frame_ros_') as folder:
        target = Path(folder) / path.name.removesuffix(PACKED)
        try:
            with open_file(path) as source, target.open('xb') as file:
                _unpack_stream(source, file, file_limit(path.stat().st_size))
        except OSError as error:
            raise BagError(f'{path} cannot be unpacked: {error.strerror or error}') from error
        except BagError as error:
            raise BagError(f'{path} cannot be unpacked: {error}') from error
        yield target


def _unpack_stream(source: IO[bytes], target: IO[bytes], limit: Limit) -> None:
    module = zstd()
    decompressor, written, frames, rest = module.ZstdDecompressor(), 0, 1, b''
    while block := rest or source.read(BLOCK):
        if decompressor.eof:
            decompressor, frames = module.ZstdDecompressor(), frames + 1
        if frames > MOST_FRAMES:
            raise BagError(f'it has more than {MOST_FRAMES} frames of zstd')
        try:
            while True:
                part = decompressor.decompress(block, BLOCK)
                written += len(part)
                if written > limit.now:
                    raise BagError(f'it unpacks to {limit.excess(written)}')
                target.write(part)
                block = b''
                if decompressor.eof or decompressor.needs_input:
                    break
        except module.ZstdError as error:
            raise BagError(f'it is damaged ({error})') from error
        rest = decompressor.unused_data if decompressor.eof else b''
    if not written:
        is_cut = source.tell() > 0 and not decompressor.eof
        what = 'was cut before the end of its first block' if is_cut else 'holds no data of zstd'
        raise BagError(f'it {what}')
