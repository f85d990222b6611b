# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Serialised messages (CDR) to arrays, many at once.

Messages of one topic mostly have one layout: the same lengths of texts and sequences, hence every
field at the same offset. The layout of the first is traced; all messages of its size whose length
words equal its own share it, and are read column by column. The others form the next groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.repeated_rows import chosen_rows, is_repeated, repeated
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import COLUMN, COLUMN_RATIO, ELEMENTS, Limit
from frame_ros.core.time import SECOND

# Kinds of rosbags' field descriptions.
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
SIZES = {
    'bool': '?', 'byte': 'u1', 'char': 'u1', 'octet': 'u1', 'int8': 'i1', 'uint8': 'u1',
    'int16': 'i2', 'uint16': 'u2', 'int32': 'i4', 'uint32': 'u4', 'int64': 'i8', 'uint64': 'u8',
    'float32': 'f4', 'float64': 'f8',
}  # fmt: skip
ENCAPSULATION = 4
MAX_GROUPS = 64
# Bytes of messages of one layout that are processed at once.
MATRIX = 16 << 20


class Messages(Protocol):
    """Serialised messages of one type, as the reader of a bag gives them."""

    lengths: NDArray[np.int64]

    def data(self, index: int) -> NDArray[np.uint8]:
        """Returns the bytes of one message."""

    def rows(self, indices: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """Returns the first `size` bytes of several messages, (n, size)."""


@dataclass
class Field:
    """Numbers of a message."""

    path: str
    offset: int  # of the first
    dtype: str  # NumPy's
    count: int | None  # None of one number


@dataclass
class Text:
    """Texts of a message. spans: first byte, and the one after the last, of each."""

    path: str
    spans: list[tuple[int, int]]
    is_scalar: bool


@dataclass
class Layout:
    """The location of each field of a message."""

    fields: list[Field] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    words: list[int] = field(default_factory=list)  # offsets of the length words that decide it
    structure_counts: dict[str, int] = field(default_factory=dict)
    is_big_endian: bool = False
    size: int = 0  # bytes in all


class _Tracer:
    """Walks one message along its type's definition."""

    def __init__(self, types: dict[str, Any], data: NDArray[np.uint8]) -> None:
        self._types = types
        self._data = data
        self.position = ENCAPSULATION
        if len(data) < ENCAPSULATION or data[0] != 0 or data[1] > 1:
            raise BagError(f'bytes {bytes(data[:4])!r} do not begin a CDR message')
        self.layout = Layout(is_big_endian=bool(data[1] == 0))
        self._order = '>' if data[1] == 0 else '<'
        self._elements_left = ELEMENTS.now

    def structure(self, message_type: str, prefix: str, is_recorded: bool = True) -> None:
        """Walks the fields of one structure, whose paths begin with `prefix`."""
        for name, (kind, detail) in self._types[message_type][1]:
            path = f'{prefix}{name}'
            if kind == BASE:
                self._base(path, detail[0], is_recorded)
            elif kind == NAME:
                self.structure(detail, path + '.', is_recorded)
            else:
                (kind_of_element, element), count = detail
                number = count if kind == ARRAY else self._length_word()
                if kind_of_element == BASE:
                    self._elements(path, element[0], number, is_recorded)
                else:
                    if is_recorded:
                        self.layout.structure_counts[path] = number
                    self._elements_left -= number
                    if self._elements_left < 0:
                        held = ELEMENTS.now - self._elements_left
                        raise BagError(f'one message holds {ELEMENTS.excess(held)}')
                    for _ in range(number):
                        self.structure(element, path + '.', is_recorded=False)

    def _base(self, path: str, kind: str, is_recorded: bool) -> None:
        if kind in ('string', 'bounded_string'):
            span = self._text()
            if is_recorded:
                self.layout.texts.append(Text(path, [span], True))
            return
        offset, dtype = self._numbers(kind, 1)
        if is_recorded:
            self.layout.fields.append(Field(path, offset, dtype, None))

    def _elements(self, path: str, kind: str, number: int, is_recorded: bool) -> None:
        if kind in ('string', 'bounded_string'):
            spans = [self._text() for _ in range(number)]
            if is_recorded:
                self.layout.texts.append(Text(path, spans, False))
            return
        offset, dtype = self._numbers(kind, number)
        if is_recorded:
            self.layout.fields.append(Field(path, offset, dtype, number))

    def _numbers(self, kind: str, number: int) -> tuple[int, str]:
        code = SIZES.get(kind)
        if code is None:
            raise BagError(f'fields of type {kind} cannot be read')
        size = 1 if code == '?' else int(code[1])
        if number:
            self._align(size)
        offset = self.position
        self._advance(size * number)
        return offset, self._order + code if size > 1 else code

    def _text(self) -> tuple[int, int]:
        length = self._length_word()
        start = self.position
        self._advance(length)
        return start, start + max(length - 1, 0)

    def _length_word(self) -> int:
        self._align(4)
        self._advance(4)
        self.layout.words.append(self.position - 4)
        word = self._data[self.position - 4 : self.position]
        number = int.from_bytes(bytes(word), 'big' if self.layout.is_big_endian else 'little')
        # An element has at least one byte: a larger number is no length.
        if number > len(self._data) - self.position:
            raise BagError(f'a length of {number} runs over a message of {len(self._data)} bytes')
        return number

    def _align(self, size: int) -> None:
        self.position += -(self.position - ENCAPSULATION) % size

    def _advance(self, count: int) -> None:
        self.position += count
        if self.position > len(self._data):
            raise BagError(f'a message of {len(self._data)} bytes is shorter than its definition')


def trace(types: dict[str, Any], message_type: str, data: NDArray[np.uint8]) -> Layout:
    """Returns the layout of one message.

    Raises:
        BagError: the bytes do not fit the definition.
    """
    tracer = _Tracer(types, data)
    tracer.structure(message_type, '')
    tracer.layout.size = tracer.position
    return tracer.layout


@dataclass
class _Group:
    indices: NDArray[np.int64]
    matrix: NDArray[np.uint8]
    layout: Layout


def _groups(
    types: dict[str, Any],
    message_type: str,
    messages: Messages,
    on_bad: Callable[[int, BagError], None],
) -> Iterator[_Group]:
    remaining: NDArray[np.int64] = np.arange(len(messages.lengths))
    made = 0
    while len(remaining):
        first = int(remaining[0])
        data = messages.data(first)
        try:
            layout = trace(types, message_type, data)
        except BagError as error:
            on_bad(first, error)
            remaining = remaining[1:]
            continue
        is_same = messages.lengths[remaining] == len(data)
        if made >= MAX_GROUPS:
            is_same[1:] = False
        is_left = ~is_same
        at_once = max(MATRIX // max(len(data), 1), 1)
        for places in np.split(*_every(np.flatnonzero(is_same), at_once)):
            matrix = messages.rows(remaining[places], len(data))
            is_like = (matrix[:, :2] == data[:2]).all(axis=1)
            for word in layout.words:
                is_like &= (matrix[:, word : word + 4] == data[word : word + 4]).all(axis=1)
            is_left[places[~is_like]] = True
            if is_like.any():
                same = matrix if is_like.all() else matrix[is_like]
                yield _Group(remaining[places[is_like]], same, layout)
            del matrix  # before the next is made
        made += 1
        remaining = remaining[is_left]


def _every(places: NDArray[np.int64], at_once: int) -> tuple[NDArray[np.int64], range]:
    """Returns places, and where to split them into parts no larger than `at_once`."""
    return places, range(at_once, len(places), at_once)


def decode(
    types: dict[str, Any],
    message_type: str,
    messages: Messages,
    paths: Collection[str] | None = None,
    on_bad: Callable[[int, BagError], None] | None = None,
) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
    """Returns the fields of many messages as columns.

    Args:
        types: type name -> definition, as `definitions.parse_fields` gives it.
        message_type: that of the messages.
        messages: N messages.
        paths: dotted names of the fields wanted; None: all. Those the type does not have are left
        out of the result. That of a time or duration gives it in ns.
        on_bad: called with index and error for each message that does not fit its definition.

    Raises:
        BagError: a field of all messages would take more memory than is allowed.

    Returns:
        Indices (T,) of the messages that were readable, and path -> column of T entries: a number
        or text per message; for arrays and sequences (T, K), shorter ones filled up with NaN, 0 or
        '', and `<path>.count` (T,). Of sequences of messages only that count.
    """
    times = {path for path in paths or () if _is_time(types, message_type, path)}
    parts = [f'{path}.{part}' for path in times for part in ('sec', 'nanosec')]
    builder = _Columns(None if paths is None else {*paths, *parts})
    bad: list[int] = []

    def note(index: int, error: BagError) -> None:
        bad.append(index)
        if on_bad is not None:
            on_bad(index, error)

    for group in _groups(types, message_type, messages, note):
        builder.add(group)
    indices, columns = builder.finish(note)
    for path in times:
        if not {f'{path}.sec', f'{path}.nanosec'} <= columns.keys():
            continue  # no messages, or a type of that name with other fields
        seconds = columns[f'{path}.sec'].astype(np.int64)
        columns[path] = seconds * SECOND + columns[f'{path}.nanosec'].astype(np.int64)
    return indices, columns


def _is_time(types: dict[str, Any], message_type: str, path: str) -> bool:
    name, _, rest = path.partition('.')
    kind, detail = dict(types[message_type][1]).get(name, (BASE, ''))
    if kind != NAME:
        return False
    return _is_time(types, detail, rest) if rest else detail.startswith('builtin_interfaces/msg/')


class _Columns:
    """Joins the groups' columns, in the order of the messages."""

    def __init__(self, paths: Collection[str] | None) -> None:
        self._paths = paths
        self._indices: list[NDArray[np.int64]] = []
        self._sizes: list[int] = []  # bytes of the messages of each group
        self._parts: dict[str, list[NDArray]] = {}

    def add(self, group: _Group) -> None:
        """Takes the wanted columns of messages of one layout."""
        number = len(group.indices)
        self._indices.append(group.indices)
        self._sizes.append(group.matrix.size)
        for item in group.layout.fields:
            if self._is_wanted(item.path):
                self._add_numbers(item, group.matrix)
        for text in group.layout.texts:
            if self._is_wanted(text.path):
                self._add_texts(text, group.matrix)
        for path, count in group.layout.structure_counts.items():
            if self._is_wanted(path):
                self._put(path + '.count', repeated(count, number))

    def finish(
        self, on_bad: Callable[[int, BagError], None]
    ) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
        """Returns the messages' indices (N,), in order, and field -> column (N, ...).

        on_bad: called for each message that is left out since it would make a column too large.

        Raises:
            BagError: a column is too large, though its messages are alike.
        """
        while (found := self._excess()) is not None:
            self._leave_out(*found, on_bad)
        if not self._indices:
            return np.zeros(0, np.int64), {}
        indices = np.concatenate(self._indices)
        is_ordered = bool((np.diff(indices) > 0).all())
        order = np.argsort(indices, kind='stable')
        columns = {}
        while self._parts:  # one column alone is in memory twice
            path = next(iter(self._parts))
            stacked = stack_rows(self._parts.pop(path))
            columns[path] = stacked if is_ordered else chosen_rows(stacked, order)
        return indices[order], columns

    @property
    def _limit(self) -> Limit:
        """Of a column: texts take more as an array than in the messages, and fill up short ones."""
        return Limit(max(COLUMN.amount, COLUMN_RATIO * sum(self._sizes)), COLUMN.unit)

    def _excess(self) -> tuple[str, int, int] | None:
        """Returns path, size in bytes, and largest group of a column that is too large."""
        if not self._indices:
            return None
        rows = sum(map(len, self._indices))
        for path, parts in self._parts.items():
            item = max(part.itemsize for part in parts)
            widths = [part.shape[1] if part.ndim > 1 else 1 for part in parts]
            size = rows * item * max(widths)
            if size > self._limit.now:
                of_each = [part.itemsize * width for part, width in zip(parts, widths)]
                return path, size, of_each.index(max(of_each))
        return None

    def _leave_out(
        self, path: str, size: int, group: int, on_bad: Callable[[int, BagError], None]
    ) -> None:
        error = BagError(f'{path} would take {self._limit.excess(size)}')
        indices = self._indices.pop(group)
        self._sizes.pop(group)
        if len(indices) >= sum(map(len, self._indices)):
            raise error
        for parts in self._parts.values():
            del parts[group]
        for index in indices.tolist():
            on_bad(index, error)

    def _is_wanted(self, path: str) -> bool:
        return self._paths is None or path in self._paths

    def _put(self, path: str, values: NDArray) -> None:
        self._parts.setdefault(path, []).append(values)

    def _add_numbers(self, item: Field, matrix: NDArray[np.uint8]) -> None:
        count = 1 if item.count is None else item.count
        dtype = np.dtype(item.dtype)
        part = np.ascontiguousarray(matrix[:, item.offset : item.offset + count * dtype.itemsize])
        if count == 0:
            values = np.zeros((len(matrix), 0), dtype.newbyteorder('='))
        else:
            values = part.view(dtype).astype(dtype.newbyteorder('='), copy=False)
        if item.count is None:
            self._put(item.path, values[:, 0])
            return
        self._put(item.path, values)
        self._put(item.path + '.count', repeated(count, len(matrix)))

    def _add_texts(self, text: Text, matrix: NDArray[np.uint8]) -> None:
        number = len(matrix)
        columns = [_texts(matrix[:, start:end]) for start, end in text.spans]
        if text.is_scalar:
            self._put(text.path, columns[0])
            return
        if not columns:
            values: NDArray = np.zeros((number, 0), '<U1')
        elif all(map(is_repeated, columns)):
            values = repeated(np.array([column[0] for column in columns]), number)
        else:
            values = np.stack(columns, axis=1)
        self._put(text.path, values)
        self._put(text.path + '.count', repeated(len(columns), number))


def _texts(part: NDArray[np.uint8]) -> NDArray[np.str_]:
    """Returns the texts in the rows of a byte matrix, (n, length) -> (n,)."""
    if len(part) == 0:
        return np.zeros(0, '<U1')
    first = bytes(part[0]).decode('utf-8', 'replace')
    if (part == part[0]).all():
        return repeated(first, len(part))
    return np.array([bytes(row).decode('utf-8', 'replace') for row in part])


def stack_rows(parts: list[NDArray]) -> NDArray:
    """Returns parts of different width stacked, padded with NaN, 0 or ''."""
    if all(map(is_repeated, parts)) and len({_row_key(part) for part in parts}) == 1:
        return repeated(parts[0][0], sum(map(len, parts)))
    if parts[0].ndim == 1 or len({part.shape[1] for part in parts}) == 1:
        return np.concatenate(parts)
    width = max(part.shape[1] for part in parts)
    dtype = np.result_type(*parts)
    fill: Any = np.nan if dtype.kind == 'f' else '' if dtype.kind == 'U' else 0
    stacked = np.full((sum(map(len, parts)), width), fill, dtype)
    row = 0
    for part in parts:
        stacked[row : row + len(part), : part.shape[1]] = part
        row += len(part)
    return stacked


def _row_key(part: NDArray) -> tuple[Any, ...]:
    """Returns a key that parts share whose first rows are the same."""
    return part.dtype, part.shape[1:], part[0].tobytes()
