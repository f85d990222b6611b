# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of NumPy arrays as msgpack, in the framing that OpenPI's servers and clients use.

An array is a map with the bytes keys `__ndarray__`, `data`, `dtype`, `shape`; a NumPy scalar is one
with `__npgeneric__`, `data`, `dtype` (openpi-client 0.1.2). Nothing that is decoded is executed:
there are numbers, texts, bytes, lists and maps, and no others.
"""

from __future__ import annotations

import math
import re
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError, PolicyError, install_hint
from frame_ros.policies.remote.unpacking import Unpacker

# Holds ten images of 1280x720.
MAX_MESSAGE_SIZE = 32 * 1024 * 1024  # bytes
# Bytes from which a message is read by our own reader, see `unpacking`.
LARGE = 64 * 1024
MAX_DIMENSIONS = 32  # of an array, as NumPy had it before 2.0

_ARRAY, _SCALAR, _DATA, _DTYPE, _SHAPE = (
    b'__ndarray__',
    b'__npgeneric__',
    b'data',
    b'dtype',
    b'shape',
)
# Booleans, integers, floating numbers, bytes and texts of fixed width, as numpy.dtype.str has them.
_DTYPES = re.compile(r'[<>|=]?([biuf]\d{1,2}|[SU][1-9]\d{0,8})')
_KINDS = 'biufSU'


class Encoder:
    """Messages to bytes, again and again into one buffer: fresh memory for a few images costs more
    than copying them. Not thread-safe.

    max_size: bytes at most.

    Raises:
        MissingExtraError: msgpack is not installed.
    """

    def __init__(self, max_size: int = MAX_MESSAGE_SIZE) -> None:
        self._max_size = max_size
        self._packer = _new_packer()

    def encode(self, message: Any) -> memoryview:
        """Returns a message as bytes, which stay until the next call. It may hold NumPy arrays and
        scalars, numbers, texts, bytes, None, and lists, tuples and maps of them.

        Raises:
            PolicyError: something else is in it, such as an array of objects, or it is too large.
        """
        try:
            self._packer.reset()
        except BufferError:  # somebody still holds the last one, such as an error's traceback
            self._packer = _new_packer()
        try:
            self._packer.pack(message)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise PolicyError(f'the message cannot be encoded: {error}') from error
        data = memoryview(self._packer.getbuffer())
        _check_size(len(data), self._max_size)
        return data


def encode(message: Any, max_size: int = MAX_MESSAGE_SIZE) -> bytes:
    """Returns a message as bytes; see `Encoder`."""
    return bytes(Encoder(max_size).encode(message))


def decode(data: bytes | bytearray | memoryview, max_size: int = MAX_MESSAGE_SIZE) -> Any:
    """Returns the message that `encode` was given. Tuples have become lists. Arrays cannot be
    written to; large ones of bytes, which images are, are views of `data` and need it unchanged.

    max_size: bytes at most.

    Raises:
        PolicyError: the bytes are no such message, are cut, or are too many.
        MissingExtraError: msgpack is not installed.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise PolicyError(f'a message is {type(data).__name__}; bytes are expected')
    _check_size(len(data), max_size)
    try:
        if len(data) >= LARGE:
            return _owned(Unpacker(memoryview(data).toreadonly(), _unpack).unpack())
        return import_msgpack().unpackb(
            data, object_hook=_unpack, ext_hook=_refuse_extension, strict_map_key=True
        )
    # msgpack names its own errors; Python's are for texts that are not UTF-8, keys that cannot be
    # keys, scalars that their type cannot hold, and nesting without end.
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, OSError) as error:
        raise PolicyError(
            f'a message of {len(data)} bytes is not msgpack as OpenPI uses it: '
            f'{str(error) or type(error).__name__}'
        ) from error


def import_msgpack() -> ModuleType:
    """msgpack.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import msgpack
    except ImportError as error:
        raise MissingExtraError(
            f'a remote policy needs msgpack, which is not installed: {install_hint("remote")}'
        ) from error
    module: ModuleType = msgpack
    return module


def _new_packer() -> Any:
    return import_msgpack().Packer(default=_pack, autoreset=False)


def _check_size(size: int, max_size: int) -> None:
    if size > max_size:
        raise PolicyError(
            f'a message has {size} bytes; at most {max_size} are allowed (max_message_size)'
        )


def _pack(value: Any) -> dict[bytes, Any]:
    if not isinstance(value, np.ndarray | np.generic):
        raise TypeError(f'{type(value).__name__} is not allowed in it')
    if value.dtype.kind not in _KINDS or not value.dtype.itemsize:
        raise TypeError(f'arrays of type {value.dtype} are not allowed in it')
    if isinstance(value, np.generic):
        return {_SCALAR: True, _DATA: value.item(), _DTYPE: value.dtype.str}
    flat = np.ascontiguousarray(value).reshape(-1)
    return {
        _ARRAY: True,
        _DATA: flat.view(np.uint8).data if flat.size else b'',
        _DTYPE: value.dtype.str,
        _SHAPE: value.shape,
    }


def _unpack(message: dict[Any, Any]) -> Any:
    if _ARRAY in message:
        return _array(message)
    if _SCALAR in message:
        return _scalar(_dtype(message.get(_DTYPE)), _owned(message.get(_DATA)))
    return {key: _owned(value) for key, value in message.items()}


def _scalar(dtype: np.dtype[Any], value: Any) -> Any:
    """NumPy makes something of any value, and 1 GB of zeros of the number of bytes 10**9."""
    expected = {'S': bytes, 'U': str}.get(dtype.kind, bool | int | float)
    if not isinstance(value, expected):
        raise PolicyError(f'a scalar of type {dtype} comes as {type(value).__name__}')
    return dtype.type(value)


def _owned(value: Any) -> Any:
    """Binaries outside arrays, as bytes of their own."""
    if isinstance(value, memoryview):
        return bytes(value)
    return [_owned(entry) for entry in value] if isinstance(value, list) else value


def _array(message: dict[Any, Any]) -> NDArray[Any]:
    data, shape = message.get(_DATA), message.get(_SHAPE)
    dtype = _dtype(message.get(_DTYPE))
    if not isinstance(data, bytes | memoryview):
        raise PolicyError(f"an array's data are {type(data).__name__}; bytes are expected")
    if (
        not isinstance(shape, list)
        or len(shape) > MAX_DIMENSIONS
        or not all(type(n) is int and n >= 0 for n in shape)
    ):
        raise PolicyError(
            f"an array's shape is {str(shape)[:100]}; a list of at most {MAX_DIMENSIONS} whole "
            'numbers is expected'
        )
    if math.prod(shape) * dtype.itemsize != len(data):
        raise PolicyError(
            f'an array of shape {str(shape)[:100]} and type {dtype} comes with {len(data)} bytes; '
            f'it needs {math.prod(shape) * dtype.itemsize}'
        )
    # A view of wider numbers would begin anywhere; they are copied to where they may begin.
    owned = data if dtype.itemsize == 1 else bytes(data)
    array: NDArray[Any] = np.ndarray(shape, dtype, buffer=owned)
    if dtype.kind == 'U':
        _check_characters(array)
    return array


def _check_characters(array: NDArray[Any]) -> None:
    """Python raises SystemError when somebody looks at a text with other characters."""
    codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
        raise PolicyError('an array of texts holds characters that Unicode does not have')


def _dtype(name: Any) -> np.dtype[Any]:
    text = name.decode('ascii', 'replace') if isinstance(name, bytes) else name
    if not isinstance(text, str) or not _DTYPES.fullmatch(text):
        raise PolicyError(
            f"an array's type is {str(name)[:100]!r}; one such as '<f8' or '|u1' is expected: "
            'booleans, integers, floating numbers, texts'
        )
    return np.dtype(text)


def _refuse_extension(code: int, data: bytes) -> Any:
    raise PolicyError(f'the message holds a msgpack extension of type {code}, which is not allowed')
