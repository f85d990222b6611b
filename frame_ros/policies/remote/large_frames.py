# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of a few images over a websocket without fresh memory for each, which costs more than
copying them: one frame (RFC 6455, section 5.2) masked into, and unmasked in, memory that stays.

Of websockets it uses parts that are not its documented interface: by that alone the bar of 5 ms per
inference is missed (benchmarks/remote.py on an idle machine: 4.0 ms, and 7.8 ms without). Where
they are missing, or the stream is in the middle of something else, its own way is taken, which is
slower and the same.
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST = 64 * 1024  # bytes; smaller messages, and longer headers, are left to websockets
CHUNK = 16 * 1024  # bytes read at once while no large message is coming
MOST_BUFFERS = 4  # kept of a connection
_HEADER = struct.Struct('!BBQ4s')
_FINAL_BINARY, _MASKED_LONG = 0x82, 0xFF
# The header ends where the payload's first word begins.
_START = 16


class FrameWriter:
    """Sends a client's messages. Not thread-safe."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint32)

    def send(self, connection: Any, data: bytes | memoryview) -> None:
        """Sends a message over a connection of websockets.sync; its errors are those of that."""
        if len(data) < SMALLEST or not hasattr(connection, 'send_context'):
            connection.send(data)
            return
        frame = self._frame(data)
        with connection.send_context():
            connection.socket.sendall(frame)

    def _frame(self, data: bytes | memoryview) -> memoryview:
        size, key = len(data), secrets.token_bytes(4)
        words, whole = -(-size // 4), size // 4
        if len(self._memory) < _START // 4 + words:
            self._memory = np.empty(_START // 4 + words + words // 4, np.uint32)
        payload = self._memory[_START // 4 :]
        mask = np.frombuffer(key, np.uint32)[0]
        np.bitwise_xor(np.frombuffer(data, np.uint32, whole), mask, out=payload[:whole])
        if rest := bytes(data[4 * whole :]):
            payload[whole] = np.frombuffer(rest.ljust(4, b'\0'), np.uint32)[0] ^ mask
        memory = self._memory.view(np.uint8).data
        begin = _START - _HEADER.size
        _HEADER.pack_into(memory, begin, _FINAL_BINARY, _MASKED_LONG, size, key)
        return memory[begin : _START + size]


class Inbox:
    """Takes in one large message at a time, in memory that is used again as soon as nobody looks at
    what it held: a policy may keep an image for as long as it likes.

    messages: those that have come whole, in their order.
    """

    def __init__(self) -> None:
        self.messages: deque[memoryview] = deque()
        self._buffers: list[bytearray] = []
        self._rest = memoryview(b'')  # where what is still to come goes
        self._words: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._size, self._key = 0, b''

    @property
    def is_receiving(self) -> bool:
        """True if a message has come in part."""
        return len(self._rest) > 0

    @property
    def rest(self) -> memoryview:
        """The place of the bytes that are still to come; call `received` after writing some."""
        return self._rest

    def begin(self, size: int, key: bytes) -> None:
        """A frame of so many bytes, at least one, follows; it is masked with this key."""
        buffer = self._free_buffer(-(-size // 4) * 4)
        self._words = np.frombuffer(buffer, np.uint32, -(-size // 4))
        self._rest, self._size, self._key = memoryview(buffer)[:size], size, key

    def received(self, count: int) -> None:
        """So many bytes more have been written to `rest`."""
        self._rest = self._rest[count:]
        if not self._rest:
            words, self._words = self._words, np.empty(0, np.uint32)
            np.bitwise_xor(words, np.frombuffer(self._key, np.uint32)[0], out=words)
            self.messages.append(words.view(np.uint8).data[: self._size])

    def _free_buffer(self, size: int) -> bytearray:
        """A buffer that no view holds on to: Python refuses to resize one that is looked at."""
        for buffer in self._buffers:
            try:
                buffer.append(0)
                buffer.pop()
            except BufferError:
                continue
            if len(buffer) >= size:
                return buffer
            self._buffers.remove(buffer)
            break
        made = bytearray(size + size // 8)  # the next one may be somewhat larger
        self._buffers = [*self._buffers[-MOST_BUFFERS + 1 :], made]
        return made


def large_frame_connection(max_size: int) -> type[Any]:
    """A server's connection class of websockets.asyncio that takes large messages into an Inbox.
    Such a message comes as an empty one, with the bytes in `inbox.messages`; see `receive`.
    """
    from websockets.asyncio.server import ServerConnection
    from websockets.frames import Frame, Opcode

    class LargeFrameConnection(ServerConnection, asyncio.BufferedProtocol):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.inbox = Inbox()
            self._chunk = memoryview(bytearray(CHUNK))

        def get_buffer(self, sizehint: int) -> memoryview:
            """Returns the buffer for the transport's next bytes: of large messages the final
            one.
            """
            return self.inbox.rest if self.inbox.is_receiving else self._chunk

        def buffer_updated(self, count: int) -> None:
            """So many bytes have been written there."""
            if self.inbox.is_receiving:
                self._received(count)
            else:
                self.data_received(bytes(self._chunk[:count]))

        def data_received(self, data: bytes) -> None:
            """Takes what came; the rest of a large frame goes straight into the inbox."""
            while self._begins_large_frame(data):
                _, _, size, key = _HEADER.unpack_from(data)
                self.inbox.begin(size, key)
                part = data[_HEADER.size : _HEADER.size + size]
                self.inbox.rest[: len(part)] = part
                data = data[_HEADER.size + size :]
                self._received(len(part))
            if data:
                super().data_received(data)

        def _received(self, count: int) -> None:
            self.inbox.received(count)
            if not self.inbox.is_receiving:
                self.process_event(Frame(Opcode.BINARY, b''))

        def _begins_large_frame(self, data: bytes) -> bool:
            if len(data) < _HEADER.size or data[0] != _FINAL_BINARY or data[1] != _MASKED_LONG:
                return False
            protocol = self.protocol
            return (
                SMALLEST <= _HEADER.unpack_from(data)[2] <= max_size
                and not self.inbox.messages
                and hasattr(self, 'process_event')
                and protocol.state.name == 'OPEN'
                and getattr(getattr(protocol, 'reader', None), 'buffer', None) == b''
                and getattr(protocol, 'expect_continuation_frame', None) is False
            )

    return LargeFrameConnection


async def receive(connection: Any) -> memoryview | str:
    """The next message. websockets raises ConnectionClosed where there is none."""
    message: bytes | str = await connection.recv()
    if message == b'' and connection.inbox.messages:
        large: memoryview = connection.inbox.messages.popleft()
        return large
    return message if isinstance(message, str) else memoryview(message)
