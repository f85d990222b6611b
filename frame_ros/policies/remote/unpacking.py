# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading msgpack from whoever is on the other side, without copying what is large.

msgpack's own reader copies every image into fresh memory, which costs more than all the rest of a
message; and it bounds each list, not all of them, so that 32 MB of empty ones become 2 GB. The
format is that of github.com/msgpack/msgpack/blob/master/spec.md, without extensions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

MAX_ITEMS = 65536  # of all lists and maps together: what is larger belongs into an array
MAX_DEPTH = 32  # of lists and maps in each other
VIEWED_FROM = 32 * 1024  # bytes; what is smaller is copied

_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    code: struct.Struct(f'>{kind}')
    for code, kind in zip((*range(0xCA, 0xD4),), 'fdBHIQbhiq', strict=True)
}
# First byte -> what it begins, and the bytes of its length.
_SIZED = {
    0xC4: ('binary', 1),
    0xC5: ('binary', 2),
    0xC6: ('binary', 4),
    0xD9: ('text', 1),
    0xDA: ('text', 2),
    0xDB: ('text', 4),
    0xDC: ('list', 2),
    0xDD: ('list', 4),
    0xDE: ('map', 2),
    0xDF: ('map', 4),
}


class Unpacker:
    """Reads one message.

    on_map: is given every map, innermost first, and returns what stands for it. In a map, binaries
    of VIEWED_FROM bytes and more are views of `data`, in lists too; keys are texts or bytes.
    """

    def __init__(self, data: memoryview, on_map: Callable[[dict[Any, Any]], Any]) -> None:
        self._data, self._on_map = data, on_map
        self._at, self._items = 0, 0

    def unpack(self) -> Any:
        """Returns the message.

        Raises:
            ValueError: the bytes are no message, or hold more than one, or too many items.
        """
        value = self._value(0)
        if self._at != len(self._data):
            raise ValueError(f'{len(self._data) - self._at} bytes are left over')
        return value

    def _value(self, depth: int) -> Any:
        code = self._take(1)[0]
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 0x100
        if code < 0xC0:
            return self._short(code, depth)
        if code in _NUMBERS:
            number = _NUMBERS[code]
            return number.unpack(self._take(number.size))[0]
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code not in _SIZED:
            raise ValueError(f'byte {code:#x} begins an extension, or nothing that is known')
        kind, width = _SIZED[code]
        size = int.from_bytes(self._take(width), 'big')
        if kind == 'binary':
            data = self._take(size)
            return data if size >= VIEWED_FROM else bytes(data)
        if kind == 'text':
            return str(self._take(size), 'utf-8')
        return self._list(size, depth) if kind == 'list' else self._map(size, depth)

    def _short(self, code: int, depth: int) -> Any:
        """A value whose size is in its first byte."""
        if code >= 0xA0:
            return str(self._take(code & 0x1F), 'utf-8')
        return self._list(code & 0xF, depth) if code >= 0x90 else self._map(code & 0xF, depth)

    def _list(self, size: int, depth: int) -> list[Any]:
        self._enter(size, depth)
        return [self._value(depth + 1) for _ in range(size)]

    def _map(self, size: int, depth: int) -> Any:
        self._enter(size, depth)
        result: dict[Any, Any] = {}
        for _ in range(size):
            key = self._value(depth + 1)
            if not isinstance(key, str | bytes):
                raise ValueError(f'a key is {type(key).__name__}; texts and bytes are expected')
            result[key] = self._value(depth + 1)
        return self._on_map(result)

    def _enter(self, size: int, depth: int) -> None:
        self._items += size + 1
        if self._items > MAX_ITEMS or depth >= MAX_DEPTH:
            raise ValueError(
                f'more than {MAX_ITEMS} values, or more than {MAX_DEPTH} lists in each other'
            )

    def _take(self, size: int) -> memoryview:
        end = self._at + size
        if end > len(self._data):
            raise ValueError('the message is cut')
        data, self._at = self._data[self._at : end], end
        return data
