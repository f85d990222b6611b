# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Some fields of serialised messages, read and written without making the messages.

Where a field lies follows from the type's definition and from the lengths of the texts and
sequences in front of it. Those, and the texts that are read, are nearly always as in a message
before: its layout is kept, and the numbers of the next are read in place.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.cdr import ENCAPSULATION, Field, Layout, trace
from frame_ros.bags.definitions import find_definition, parse_fields
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND

Serialised = bytes | memoryview  # a message, of bytes

MOST_LAYOUTS = 8  # publishers that take turns on one topic, each with its own names
PADDING = 4  # bytes, more than lie between a text and the next length
# NumPy's codes of numbers -> those of struct.
CODES = {
    '?': '?', 'u1': 'B', 'i1': 'b', 'u2': 'H', 'i2': 'h', 'u4': 'I', 'i4': 'i', 'u8': 'Q',
    'i8': 'q', 'f4': 'f', 'f8': 'd',
}  # fmt: skip


class FieldReader:
    """Reads the same fields of messages of one type. Any thread may read.

    Args:
        message_type: such as 'sensor_msgs/msg/JointState'.
        fields: dotted paths of numbers, texts, sequences of either, or times.
        types: definitions, as of `parse_fields`; by default those that are installed.
    """

    def __init__(
        self, message_type: str, fields: Sequence[str], types: Mapping[str, Any] | None = None
    ) -> None:
        """Raises BagError if the type has no definition here."""
        self._type, self._fields = message_type, tuple(fields)
        self._types = dict(types or _types_of(message_type))
        self._layouts: tuple[_Fields, ...] = ()

    def read(self, data: Serialised) -> list[Any]:
        """Returns the fields in their order: numbers, texts, times in ns, sequences of numbers as
        arrays that share the memory of `data`, sequences of texts as tuples.

        Raises:
            BagError, ValueError, struct.error: the bytes do not fit the definition.
        """
        return (self.layout(data) or self._learn(data)).read(data)

    def layout(self, data: Serialised) -> _Fields | None:
        """Returns the layout that a message shares with an earlier one; None if it is new."""
        for layout in self._layouts:
            if layout.fits(data):
                return layout
        return None

    def _learn(self, data: Serialised) -> _Fields:
        found = _Fields(
            trace(self._types, self._type, np.frombuffer(data, np.uint8)), self._fields, data
        )
        self._layouts = (found, *self._layouts[: MOST_LAYOUTS - 1])
        return found


class FieldWriter:
    """Writes numbers over those of a message; the next messages differ from it in nothing else."""

    def __init__(self, message_type: str, message: bytes, *groups: Sequence[str]) -> None:
        """message: serialised, with a header, and with as many elements as every other.

        groups: paths of what one value of `data` fills: of a sequence of float64, or of several.

        Raises:
            BagError: the message does not fit its definition.
        """
        layout = trace(_types_of(message_type), message_type, np.frombuffer(message, np.uint8))
        fields = {item.path: item for item in layout.fields}
        # rclpy hands out up to 7 bytes behind the message; strict readers refuse them.
        self._bytes = bytearray(message[: layout.size])
        order = '>' if layout.is_big_endian else '<'
        self._time = struct.Struct(f'{order}iI')  # seconds and nanoseconds follow one another
        self._time_offset = fields['header.stamp.sec'].offset
        size = (layout.size - ENCAPSULATION) // 8
        self._numbers = np.frombuffer(self._bytes, f'{order}f8', size, ENCAPSULATION)
        self._places = [_places([fields[path] for path in group]) for group in groups]

    def data(self, stamp: int, *values: NDArray[np.float64]) -> bytes:
        """Returns the message with a stamp, ns, and the numbers (N,) of each group."""
        for places, numbers in zip(self._places, values, strict=True):
            self._numbers[places] = numbers
        return self.stamped(stamp)

    def part(self, group: int) -> NDArray[np.float64]:
        """Returns the numbers (N,) of a group in the message itself: what is written into them is
        in the next `stamped`.

        Raises:
            ValueError: they do not follow one another.
        """
        places = self._places[group]
        if not isinstance(places, slice):
            raise ValueError(f'the numbers of group {group} are apart from each other')
        return self._numbers[places]

    def stamped(self, stamp: int) -> bytes:
        """Returns the message with a stamp, ns, and the numbers as they are."""
        self._time.pack_into(self._bytes, self._time_offset, *divmod(stamp, SECOND))
        return bytes(self._bytes)


def _places(fields: Sequence[Field]) -> slice | NDArray[np.intp]:
    """Returns where float64 lie, counted in such behind the encapsulation."""
    places = np.concatenate(
        [(item.offset - ENCAPSULATION) // 8 + np.arange(item.count or 1) for item in fields]
    )
    is_in_line = len(places) > 0 and bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if is_in_line else places


class _Fields:
    """The location of the wanted fields in messages with the same texts and layout-deciding
    bytes.
    """

    def __init__(self, layout: Layout, fields: Sequence[str], data: Serialised) -> None:
        self._values: list[Any] = [None] * len(fields)  # texts, and what is empty
        self._scalars: list[tuple[int, int]] = []  # places among the fields and among the numbers
        self._times: list[tuple[int, int, int]] = []
        self._arrays: list[tuple[int, np.dtype[Any], int, int]] = []
        numbers = {item.path: item for item in layout.fields}
        texts = {text.path: text for text in layout.texts}
        single = sorted(
            (numbers[each] for path in fields for each in (path, f'{path}.sec', f'{path}.nanosec')
             if each in numbers and numbers[each].count is None),
            key=lambda item: item.offset,
        )  # fmt: skip
        index = {item.path: place for place, item in enumerate(single)}
        spans: list[tuple[int, int]] = [(0, 2)]
        last = 0
        for place, path in enumerate(fields):
            if path in texts:
                text = texts[path]
                found = tuple(_text(data, *span) for span in text.spans)
                self._values[place] = found[0] if text.is_scalar else found
                spans += [(start, end + 1) for start, end in text.spans]
                last = max([last, *(end for _, end in text.spans)]) if found else layout.size
            elif f'{path}.nanosec' in index:
                self._times.append((place, index[f'{path}.sec'], index[f'{path}.nanosec']))
            elif path in index:
                self._scalars.append((place, index[path]))
            elif path in numbers:
                item = numbers[path]
                last = max(last, item.offset)
                if item.count:
                    self._arrays.append((place, np.dtype(item.dtype), item.count, item.offset))
                else:
                    self._values[place] = np.empty(0, item.dtype)
            else:
                raise BagError(f'there is no field {path} that is a number, a text or a time')
        last = max([last, *(item.offset for item in single)])
        spans += [(word, word + 4) for word in layout.words if word < last]
        self._mark = _span_reader(_joined(spans))
        self._marks = self._mark.unpack_from(data)
        self._numbers = _numbers(single, layout.is_big_endian)
        ends = (offset + count * dtype.itemsize for _, dtype, count, offset in self._arrays)
        self._least = max(self._mark.size, self._numbers.size, *ends)

    def fits(self, data: Serialised) -> bool:
        """Returns whether a message is of this layout."""
        return len(data) >= self._least and self._mark.unpack_from(data) == self._marks

    def read(self, data: Serialised) -> list[Any]:
        """Returns the fields of a message that fits."""
        found = self._values.copy()
        numbers = self._numbers.unpack_from(data)
        for place, index in self._scalars:
            found[place] = numbers[index]
        for place, seconds, rest in self._times:
            if numbers[rest] >= SECOND:
                raise ValueError(f'a time with {numbers[rest]} ns in its nanosec field')
            found[place] = numbers[seconds] * SECOND + numbers[rest]
        for place, dtype, count, offset in self._arrays:
            found[place] = np.frombuffer(data, dtype, count, offset)
        return found


def _types_of(message_type: str) -> dict[str, Any]:
    return parse_fields(message_type, find_definition(message_type).text)


def _text(data: Serialised, start: int, end: int) -> str:
    return bytes(data[start:end]).decode('utf-8', 'replace')


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns spans in order; those between which only padding fits are one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] < PADDING:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _span_reader(spans: Sequence[tuple[int, int]]) -> struct.Struct:
    """Returns what takes spans, in order, out of a message."""
    ends = [0, *(end for _, end in spans)]
    gaps = (f'{start - end}x{stop - start}s' for end, (start, stop) in zip(ends, spans))
    return struct.Struct('<' + ''.join(gaps))


def _numbers(fields: Sequence[Field], is_big_endian: bool) -> struct.Struct:
    """Returns what unpacks numbers of a message, from its begin; fields: by their offsets."""
    code, end = '>' if is_big_endian else '<', 0
    for item in fields:
        kind = CODES[item.dtype.lstrip('<>')]
        code += f'{item.offset - end}x{kind}'
        end = item.offset + struct.calcsize(f'<{kind}')
    return struct.Struct(code)
